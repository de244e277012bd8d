//! Critical sections of a lock that became known from inside.
//!
//! Whoever learns of a step inside a critical section, and then acquires the same lock, acquires it after the
//! section has ended: that order is enforced, since the two sections cannot overlap. A thread that is
//! created or signalled under a lock and takes that lock first is the usual case.

use std::sync::Arc;

use threadbare_trace::ThreadId;

use crate::clocks::{Epoch, VectorClock};

/// How many sections are kept before it is asked which of them still matter.
const FEW: usize = 16;

struct Open {
    thread: ThreadId,
    from: u32,
    alone: bool,
    depth: u32,
}

struct Known {
    thread: ThreadId,
    /// The times of the thread at which it was inside.
    inside: std::ops::Range<u32>,
    alone: bool,
    /// What it knew when it left.
    clock: Arc<VectorClock>,
}

/// The critical sections of one lock.
#[derive(Default)]
pub struct Sections {
    open: Vec<Open>,
    known: Vec<Known>,
    limit: usize,
}

impl Sections {
    /// A thread that knows this enters. Returns what it knows then, if that is more.
    pub fn enter(&mut self, thread: ThreadId, alone: bool, clock: &VectorClock) -> Option<VectorClock> {
        if let Some(open) = self.open.iter_mut().find(|open| open.thread == thread) {
            open.depth += 1;
            return None;
        }
        let from = clock.get(thread);
        self.open.push(Open { thread, from, alone, depth: 1 });
        let mut learned: Option<VectorClock> = None;
        loop {
            let now = learned.as_ref().unwrap_or(clock);
            let is_inside = |known: &&Known| {
                known.thread != thread
                    && (known.alone || alone)
                    && known.inside.contains(&now.get(known.thread))
            };
            let Some(known) = self.known.iter().find(is_inside) else { return learned };
            let other = Arc::clone(&known.clock);
            learned.get_or_insert_with(|| clock.clone()).join(&other);
        }
    }

    /// A thread leaves. Says whether others may have learned of it while it was inside.
    pub fn leave(&mut self, thread: ThreadId, clock: &Arc<VectorClock>) -> bool {
        let Some(place) = self.open.iter().position(|open| open.thread == thread) else { return false };
        self.open[place].depth -= 1;
        if self.open[place].depth > 0 {
            return false;
        }
        let Open { from, alone, .. } = self.open.swap_remove(place);
        let until = clock.get(thread);
        if until == from {
            return false;
        }
        self.known.push(Known { thread, inside: from..until, alone, clock: Arc::clone(clock) });
        true
    }

    /// Drops the sections that everybody knows from beginning to end, whenever they have doubled.
    pub fn thin_out(&mut self, is_known_to_all: impl Fn(Epoch) -> bool) {
        if self.known.len() > self.limit.max(FEW) {
            self.known
                .retain(|known| !is_known_to_all(Epoch { thread: known.thread, time: known.inside.end }));
            self.limit = 2 * self.known.len();
        }
    }
}
