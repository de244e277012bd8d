//! Concurrent pairs: two statements of different threads that were executed one right after the other (the event
//! pairs of Bron et al., "Applications of synchronization coverage"; see also Lu, Jiang and Zhou, "A study of interleaving
//! coverage criteria").
//!
//! A statement is a step that a trace has: an access to shared memory, or synchronization. How many pairs there are is
//! over-estimated: any two statements that different threads have executed.

use std::collections::{BTreeMap, BTreeSet};

use threadbare_trace::ThreadId;

use super::{Criterion, ObservedExecution, PlacePair, Total};

/// Who executes a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Executed {
    /// One thread, as far as executions have shown.
    By(ThreadId),
    BySeveral,
}

/// See the module's description.
#[derive(Default)]
pub struct ConcurrentPairs {
    covered: BTreeSet<PlacePair>,
    statements: BTreeMap<u64, Executed>,
}

impl ConcurrentPairs {
    /// All pairs of statements, without those of which only one thread executes both.
    fn estimate(&self) -> u64 {
        let mut alone: BTreeMap<ThreadId, u64> = BTreeMap::new();
        for executed in self.statements.values() {
            if let Executed::By(thread) = executed {
                *alone.entry(*thread).or_default() += 1;
            }
        }
        let all = self.statements.len() as u64;
        all * all - alone.values().map(|count| count * count).sum::<u64>()
    }
}

impl Criterion for ConcurrentPairs {
    fn name(&self) -> &'static str {
        "concurrent-pairs"
    }

    fn unit(&self) -> &'static str {
        "concurrent pairs"
    }

    fn observe(&mut self, seen: &ObservedExecution<'_>) {
        let mut before: Option<(ThreadId, u64)> = None;
        let steps = seen.events.iter().filter(|event| event.kind().is_some_and(|kind| !kind.only_names()));
        for event in steps {
            let (thread, place) = (event.thread, seen.place(event));
            let executed = self.statements.entry(place).or_insert(Executed::By(thread));
            if *executed != Executed::By(thread) {
                *executed = Executed::BySeveral;
            }
            if let Some((other, first)) = before.replace((thread, place))
                && other != thread
            {
                self.covered.insert(PlacePair { first, second: place });
            }
        }
    }

    fn covered(&self) -> u64 {
        self.covered.len() as u64
    }

    fn total(&self) -> Total {
        Total::Estimated(self.estimate())
    }
}

#[cfg(test)]
mod tests {
    use threadbare_trace::{Event, EventKind};

    use super::*;

    fn step(thread: u16, pc: u64) -> Event {
        Event { thread: ThreadId(thread), pc, kind: EventKind::Read as u8, ..Event::default() }
    }

    #[test]
    fn neighbours_of_different_threads_count_once() {
        let mut criterion = ConcurrentPairs::default();
        criterion.observe(&ObservedExecution::plain(&[
            step(1, 1),
            step(1, 2),
            step(2, 3),
            step(1, 2),
            step(2, 3),
        ]));
        let expected = [(2, 3), (3, 2)].map(|(first, second)| PlacePair { first, second });
        assert_eq!(criterion.covered, BTreeSet::from(expected));
        // Statements 1 and 2 are T1's, 3 is T2's: (1,3), (3,1), (2,3), (3,2).
        assert_eq!(criterion.total(), Total::Estimated(4));
        // Now T2 executes 1 as well: all nine but (2,2) and (3,3).
        criterion.observe(&ObservedExecution::plain(&[step(2, 1)]));
        assert_eq!(criterion.total(), Total::Estimated(7));
    }

    #[test]
    fn what_only_names_memory_comes_between_nobody() {
        let name = Event { kind: EventKind::Alloc as u8, ..step(1, 9) };
        let mut criterion = ConcurrentPairs::default();
        criterion.observe(&ObservedExecution::plain(&[step(1, 1), name, step(2, 2)]));
        assert_eq!(criterion.covered(), 1);
    }
}
