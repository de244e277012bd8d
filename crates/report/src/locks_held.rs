//! The locks that a thread holds while it makes a step.

use std::collections::BTreeMap;
use std::sync::Arc;

use threadbare_happens_before::{HeldLock, LockSets, Mode};
use threadbare_trace::{Event, ThreadId};

use crate::Names;
use crate::describe::meant_kind;

/// The locks held during each event of an execution. A lock that the event itself takes or gives up is
/// not among them: its own words say that.
pub(crate) struct HeldLocks {
    during: Vec<Arc<Vec<HeldLock>>>,
    at_end: LockSets,
}

impl HeldLocks {
    /// Follows the locks through an execution.
    pub(crate) fn of(events: &[Event], names: &dyn Names) -> HeldLocks {
        let mut locks = LockSets::default();
        let follow = |(index, event): (usize, &Event)| {
            let before = Arc::clone(locks.held(event.thread));
            if let Some(kind) = meant_kind(event, names) {
                locks.observe(index, event, kind);
            }
            let after = locks.held(event.thread);
            if after.len() < before.len() { Arc::clone(after) } else { before }
        };
        let during = events.iter().enumerate().map(follow).collect();
        HeldLocks { during, at_end: locks }
    }

    /// The locks held during an event, in order of acquisition.
    pub(crate) fn during(&self, event: usize) -> &[HeldLock] {
        self.during.get(event).map_or(&[], |held| &held[..])
    }

    /// The locks that a thread holds when the execution ends.
    pub(crate) fn at_end(&mut self, thread: ThreadId) -> &[HeldLock] {
        self.at_end.held(thread)
    }
}

/// The names of acquired locks, as of their acquisitions.
pub(crate) struct LockNames(BTreeMap<(usize, u64), String>);

impl LockNames {
    /// Looks up the names of all these locks, in the order of the trace: that is how names are found fast.
    pub(crate) fn of<'a>(held: impl IntoIterator<Item = &'a HeldLock>, names: &dyn Names) -> LockNames {
        let mut all: BTreeMap<(usize, u64), String> =
            held.into_iter().map(|held| ((held.since, held.lock), String::new())).collect();
        for ((since, lock), name) in &mut all {
            *name = lock_name(*since, *lock, names);
        }
        LockNames(all)
    }

    /// The locks as a person reads them: `m, cache (read)`. Which function a local lock belongs to was
    /// said where it was taken.
    pub(crate) fn text(&self, held: &[HeldLock]) -> String {
        let named = |held: &HeldLock| {
            let name = self.0.get(&(held.since, held.lock)).map_or("", String::as_str);
            let name = name.split(" (in ").next().unwrap_or(name);
            if held.mode == Mode::Shared { format!("{name} (read)") } else { name.to_string() }
        };
        held.iter().map(named).collect::<Vec<_>>().join(", ")
    }
}

/// The name of a lock as of the event that took it.
pub(crate) fn lock_name(since: usize, lock: u64, names: &dyn Names) -> String {
    names.object_at(since, lock).unwrap_or_else(|| "a lock without a name".to_string())
}
