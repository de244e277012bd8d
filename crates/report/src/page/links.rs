//! What connects the steps of an execution: values, threads, signals and locks.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use threadbare_happens_before::{LockChange, LockSets, Mode};
use threadbare_trace::{Event, EventKind, ThreadId, kinds};

use crate::Names;
use crate::describe::meant_kind;
use crate::locks_held::lock_name;

/// An arrow between two steps, by their places in the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub(super) struct Link {
    from: usize,
    to: usize,
    kind: &'static str,
}

/// A time in which a lock is held, by places in the list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct Span {
    thread: u16,
    lock: String,
    from: usize,
    to: usize,
    shared: bool,
    /// It is never given up.
    open: bool,
}

/// The arrows whose ends are both drawn; `positions` says where events are drawn.
pub(super) fn links(events: &[Event], positions: &BTreeMap<usize, usize>) -> Vec<Link> {
    use EventKind::*;
    let mut found = Vec::new();
    let mut written: HashMap<u64, usize> = HashMap::new();
    let mut signalled: HashMap<u64, usize> = HashMap::new();
    let mut created: HashMap<u64, usize> = HashMap::new();
    let mut last: HashMap<ThreadId, usize> = HashMap::new();
    let mut add = |from: usize, to: usize, kind: &'static str| {
        if let (Some(&from), Some(&to)) = (positions.get(&from), positions.get(&to)) {
            found.push(Link { from, to, kind });
        }
    };
    for (index, event) in events.iter().enumerate() {
        let Some(kind) = event.kind() else { continue };
        let other = |from: &&usize| events[**from].thread != event.thread;
        if kind.reads_value()
            && let Some(from) = written.get(&event.addr).filter(other)
        {
            add(*from, index, "reads-from");
        }
        if (kind == CondWake || kind == FutexWoken)
            && let Some(from) = signalled.get(&event.addr).filter(other)
        {
            add(*from, index, "wakes");
        }
        if positions.contains_key(&index)
            && let Some(from) = created.remove(&u64::from(event.thread.0))
        {
            add(from, index, "fork");
        }
        match kind {
            Write | AtomicWrite | AtomicUpdate => drop(written.insert(event.addr, index)),
            CondSignal | CondBroadcast | FutexWake => drop(signalled.insert(event.addr, index)),
            Create => drop(created.insert(event.value, index)),
            Join => {
                let joined = u16::try_from(event.value).ok().and_then(|id| last.get(&ThreadId(id)));
                joined.into_iter().for_each(|from| add(*from, index, "join"));
            }
            Read | ReadRange | WriteRange | AtomicRead | AtomicFailed => {}
            CondWait | CondWake | CondTimeout | FutexWait | FutexWoken | FutexTimeout => {}
            Start | Exit | Detach | JoinFailed | Cancel | Fence | Signal | Frame => {}
            kinds!(lock | barrier | semaphore | once | heap | object | pause | outside) => {}
        }
        if positions.contains_key(&index) {
            last.insert(event.thread, index);
        }
    }
    found
}

/// The times in which locks are held, as far as they are drawn.
pub(super) fn spans(events: &[Event], names: &dyn Names, positions: &BTreeMap<usize, usize>) -> Vec<Span> {
    let Some(end) = positions.values().next_back() else { return Vec::new() };
    let mut locks = LockSets::default();
    let mut found = Vec::new();
    let mut held: BTreeMap<(u64, ThreadId), (usize, String, Mode)> = BTreeMap::new();
    let mut add = |thread: ThreadId, since: usize, until: Option<usize>, lock: String, mode: Mode| {
        let from = positions.range(since..).next().map(|(_, position)| *position);
        let to = match until {
            Some(until) => positions.range(..=until).next_back().map(|(_, position)| *position),
            None => Some(*end),
        };
        if let (Some(from), Some(to)) = (from, to)
            && from <= to
        {
            let (shared, open) = (mode == Mode::Shared, until.is_none());
            found.push(Span { thread: thread.0, lock, from, to, shared, open });
        }
    };
    for (index, event) in events.iter().enumerate() {
        let Some(kind) = meant_kind(event, names) else { continue };
        match locks.observe(index, event, kind) {
            Some(LockChange::Taken(lock, mode)) => {
                held.insert((lock, event.thread), (index, lock_name(index, lock, names), mode));
            }
            Some(LockChange::Released(gone)) => {
                if let Some((since, name, mode)) = held.remove(&(gone.lock, event.thread)) {
                    add(event.thread, since, Some(index), name, mode);
                }
            }
            None => {}
        }
    }
    for ((_, thread), (since, name, mode)) in held {
        add(thread, since, None, name, mode);
    }
    found
}
