//! What creation, join and barriers order, and nothing else.

use std::collections::HashMap;

use threadbare_happens_before::VectorClock;
use threadbare_trace::{Event, EventKind, ThreadId};

/// For each thread and each of its times, what has surely come before.
#[derive(Clone, Default, Debug)]
pub struct OrderClocks {
    /// By thread, then by time.
    known: Vec<Vec<VectorClock>>,
}

impl OrderClocks {
    /// Reads the order out of an execution's events; all but those that create, join and pass barriers are left aside.
    pub fn of(events: &[Event]) -> OrderClocks {
        let mut clocks = OrderClocks::default();
        let mut barriers: HashMap<u64, Barrier> = HashMap::new();
        for event in events {
            let Some(kind) = event.kind() else { continue };
            if !kind.orders_threads() {
                continue;
            }
            let before = clocks.latest(event.thread);
            let mut after = before.clone();
            let other = ThreadId(event.value as u16);
            match kind {
                EventKind::Create => clocks.begin(other, before),
                EventKind::Join => after.join(&clocks.latest(other)),
                EventKind::BarrierArrive => {
                    barriers.entry(event.addr).or_default().arriving.join(&before);
                }
                EventKind::BarrierLeave => {
                    after.join(barriers.entry(event.addr).or_default().round(event.value));
                }
                // All other kinds were left aside by `orders_threads`.
                _ => {}
            }
            clocks.advance(event.thread, after);
        }
        clocks
    }

    /// Whether what a thread did at its time `earlier` comes before what another one does at its time `later`, in every execution.
    pub fn is_before(&self, (thread, earlier): (ThreadId, u32), (other, later): (ThreadId, u32)) -> bool {
        self.seen(other, later, thread).is_some_and(|seen| seen >= earlier)
    }

    /// The last time of `thread` that surely came before what `other` does at this time; none if it need not have begun.
    fn seen(&self, other: ThreadId, time: u32, thread: ThreadId) -> Option<u32> {
        self.known.get(other.index())?.get(time as usize)?.get(thread).checked_sub(1)
    }

    /// The times at which `thread` may be between two times of `other`: from after what came before the first up to what
    /// does not come after the second. None if there are none.
    pub fn between(&self, thread: ThreadId, other: ThreadId, entered: u32, left: u32) -> Option<(u32, u32)> {
        let first = self.seen(other, entered, thread).map_or(0, |seen| seen + 1);
        let times = self.known.get(thread.index()).map_or(1, |times| times.len().max(1)) as u32;
        // What `thread` has seen of `other` only grows.
        let is_not_after = |time: u32| self.seen(thread, time, other).is_none_or(|seen| seen < left);
        let (mut low, mut high) = (first, times);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_not_after(middle) { low = middle + 1 } else { high = middle }
        }
        (low > first).then(|| (first, low - 1))
    }

    fn begin(&mut self, thread: ThreadId, clock: VectorClock) {
        *self.times(thread) = vec![clock];
    }

    /// What the thread knows now. A clock counts times from 1, so that 0 says that nothing of a thread is known.
    fn latest(&mut self, thread: ThreadId) -> VectorClock {
        let times = self.times(thread);
        let mut clock = times.last().cloned().unwrap_or_default();
        clock.set(thread, times.len() as u32);
        clock
    }

    fn advance(&mut self, thread: ThreadId, clock: VectorClock) {
        self.times(thread).push(clock);
    }

    fn times(&mut self, thread: ThreadId) -> &mut Vec<VectorClock> {
        if self.known.len() <= thread.index() {
            self.known.resize_with(thread.index() + 1, || vec![VectorClock::default()]);
        }
        &mut self.known[thread.index()]
    }
}

/// Threads wait for each other here. The last one to arrive leaves first, before anybody can arrive for the next round.
#[derive(Default)]
struct Barrier {
    arriving: VectorClock,
    rounds: HashMap<u64, VectorClock>,
}

impl Barrier {
    fn round(&mut self, number: u64) -> &VectorClock {
        let arrived = &mut self.arriving;
        self.rounds.entry(number).or_insert_with(|| std::mem::take(arrived))
    }
}
