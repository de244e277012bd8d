//! Def-use pairs of shared memory (Yang, Souter and Pollock, "All-du-path coverage for parallel programs"): a statement
//! that writes, and one that reads the value written.
//!
//! As there, definition and use may be of different threads or of the same one: that a thread finds what it has
//! written itself is what happens when no other thread comes in between. Memory that only one thread touches has no
//! pairs. What is possible is estimated: any write of another thread, and any earlier one of the same thread, may be the
//! one whose value is read.

use threadbare_happens_before::{AccessedBytes, ShadowMemory, reused_range};
use threadbare_trace::ThreadId;

use super::{Criterion, ObservedExecution, PairSets, PlacePair, Total};

/// What is known of a piece of memory.
#[derive(Clone, Default)]
struct Variable {
    /// The statement whose value it has.
    definition: Option<u64>,
    writers: Vec<(ThreadId, u64)>,
    readers: Vec<(ThreadId, u64)>,
    /// The threads that touch it: the first one, and whether there are others.
    owner: Option<ThreadId>,
    is_shared: bool,
    /// What was found while only one thread was known to touch it.
    held_back: PairSets,
}

/// See the module's description.
#[derive(Default)]
pub struct DefUse {
    pairs: PairSets,
}

impl Variable {
    fn touched_by(&mut self, thread: ThreadId, found: &mut PairSets) {
        let owner = *self.owner.get_or_insert(thread);
        if owner != thread && !self.is_shared {
            self.is_shared = true;
            let PairSets { mut estimated, mut covered } = std::mem::take(&mut self.held_back);
            found.estimated.append(&mut estimated);
            found.covered.append(&mut covered);
        }
    }

    fn read(&mut self, thread: ThreadId, place: u64, found: &mut PairSets) {
        let found = if self.is_shared { found } else { &mut self.held_back };
        if !self.readers.contains(&(thread, place)) {
            self.readers.push((thread, place));
        }
        // A write of the same thread is known here only if it came before.
        found
            .estimated
            .extend(self.writers.iter().map(|(_, first)| PlacePair { first: *first, second: place }));
        if let Some(first) = self.definition {
            found.covered.insert(PlacePair { first, second: place });
        }
    }

    fn write(&mut self, thread: ThreadId, place: u64, found: &mut PairSets) {
        let found = if self.is_shared { found } else { &mut self.held_back };
        self.definition = Some(place);
        if !self.writers.contains(&(thread, place)) {
            self.writers.push((thread, place));
            let others = self.readers.iter().filter(|(reader, _)| *reader != thread);
            found.estimated.extend(others.map(|(_, second)| PlacePair { first: place, second: *second }));
        }
    }
}

impl Criterion for DefUse {
    fn name(&self) -> &'static str {
        "def-use"
    }

    fn unit(&self) -> &'static str {
        "def-use pairs"
    }

    fn observe(&mut self, seen: &ObservedExecution<'_>) {
        let mut memory: ShadowMemory<Variable> = ShadowMemory::default();
        for event in seen.events {
            let Some(kind) = event.kind() else { continue };
            if let Some((first, last)) = reused_range(event, kind) {
                memory.forget(first, last);
            } else if let Some(touch) = AccessedBytes::of(event, kind) {
                let (thread, place) = (event.thread, seen.place(event));
                memory.visit(touch.addr, touch.len, |_, variable| {
                    variable.touched_by(thread, &mut self.pairs);
                    if touch.reads {
                        variable.read(thread, place, &mut self.pairs);
                    }
                    if touch.writes {
                        variable.write(thread, place, &mut self.pairs);
                    }
                });
            }
        }
    }

    fn covered(&self) -> u64 {
        self.pairs.covered.len() as u64
    }

    fn total(&self) -> Total {
        Total::Estimated(self.pairs.required())
    }

    fn pairs(&self) -> Option<PairSets> {
        Some(self.pairs.clone())
    }
}

#[cfg(test)]
mod tests {
    use threadbare_trace::{Event, EventKind};

    use super::*;

    fn step(thread: u16, pc: u64, kind: EventKind) -> Event {
        Event { thread: ThreadId(thread), pc, addr: 64, size: 8, kind: kind as u8, ..Event::default() }
    }

    fn observed(executions: &[&[Event]]) -> PairSets {
        let mut criterion = DefUse::default();
        executions.iter().for_each(|events| criterion.observe(&ObservedExecution::plain(events)));
        criterion.pairs
    }

    fn pairs(list: &[(u64, u64)]) -> std::collections::BTreeSet<PlacePair> {
        list.iter().map(|(first, second)| PlacePair { first: *first, second: *second }).collect()
    }

    #[test]
    fn a_read_uses_the_last_write_and_could_have_used_others() {
        use EventKind::{Read, Write};
        // T1 writes at 1 and reads at 2; T2 writes at 3.
        let found = observed(&[&[step(1, 1, Write), step(1, 2, Read), step(2, 3, Write)]]);
        assert_eq!(found.covered, pairs(&[(1, 2)]));
        assert_eq!(found.estimated, pairs(&[(1, 2), (3, 2)]));
        let other: &[Event] = &[step(1, 1, Write), step(2, 3, Write), step(1, 2, Read)];
        let found = observed(&[&[step(1, 1, Write), step(1, 2, Read), step(2, 3, Write)], other]);
        assert_eq!(found.covered, found.estimated);
    }

    #[test]
    fn a_thread_does_not_read_what_it_writes_later() {
        use EventKind::{Read, Write};
        let found = observed(&[&[step(1, 1, Read), step(1, 2, Write), step(2, 3, Read)]]);
        assert_eq!(found.estimated, pairs(&[(2, 3)]));
    }

    #[test]
    fn memory_of_one_thread_has_no_pairs() {
        use EventKind::{Read, Write};
        assert_eq!(observed(&[&[step(1, 1, Write), step(1, 2, Read)]]), PairSets::default());
    }

    #[test]
    fn an_update_uses_and_defines() {
        let update = EventKind::AtomicUpdate;
        let found = observed(&[&[step(1, 1, update), step(2, 2, update), step(1, 3, EventKind::AtomicRead)]]);
        assert_eq!(found.covered, pairs(&[(1, 2), (2, 3)]));
    }

    #[test]
    fn memory_that_is_allocated_anew_holds_nobodys_value() {
        let again = Event { value: 8, ..step(2, 9, EventKind::Alloc) };
        let found = observed(&[&[step(1, 1, EventKind::Write), again, step(2, 2, EventKind::Read)]]);
        assert_eq!(found.covered, pairs(&[]));
    }
}
