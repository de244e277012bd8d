//! MAP-coverage: the memory-access patterns that were shown, of an estimated number (Zhao et al., "Achieving high
//! MAP-coverage through pattern constraint reduction", §2.4).

mod access_order;
mod accesses;
#[cfg(test)]
mod oracle;
mod two_variables;
mod uncovered;

use std::collections::{BTreeMap, BTreeSet};

use threadbare_happens_before::AccessedBytes;
use threadbare_patterns::{
    AccessType, Limits, Matcher, ObjectId, Objects, PatternSet, SiteId, VariableChange,
};
use threadbare_trace::ThreadId;

use self::accesses::Observed;
use self::uncovered::Candidates;
pub use self::uncovered::{UncoveredPattern, UncoveredPatterns};
use super::{Criterion, ObservedExecution, Total};

/// Who accesses a variable, and from where.
#[derive(Default)]
struct Accessed {
    readers: BTreeSet<SiteId>,
    writers: BTreeSet<SiteId>,
    threads: BTreeSet<ThreadId>,
}

/// See the module's description.
#[derive(Default)]
pub struct MapCoverage {
    covered: PatternSet,
    variables: BTreeMap<ObjectId, Accessed>,
    candidates: Candidates,
}

impl MapCoverage {
    /// The patterns that were shown.
    pub fn patterns(&self) -> &PatternSet {
        &self.covered
    }

    /// The shared variables that somebody writes: from how many places each is read and written.
    fn sites(&self) -> impl Iterator<Item = (u128, u128)> {
        let shared = self.variables.values().filter(|it| it.threads.len() > 1 && !it.writers.is_empty());
        shared.map(|it| (it.readers.len() as u128, it.writers.len() as u128))
    }

    /// T_C, the over-estimate of how many patterns there are: all choices of sites, variable by variable for
    /// patterns 1 to 8, and for every two variables for patterns 9 to 17.
    fn estimate(&self) -> u64 {
        let (mut one, mut writes, mut both) = (0, PairSum::default(), PairSum::default());
        for (reads, written) in self.sites() {
            one += 2 * reads * written + written * written;
            one += reads * reads * written + 3 * reads * written * written + written * written * written;
            writes.add(written * written);
            both.add(written * reads);
        }
        u64::try_from(one + 3 * writes.total() + 6 * both.total()).unwrap_or(u64::MAX)
    }
}

/// The sum of the products of all pairs of some numbers.
#[derive(Default)]
struct PairSum {
    sum: u128,
    pairs: u128,
}

impl PairSum {
    fn add(&mut self, number: u128) {
        self.pairs += self.sum * number;
        self.sum += number;
    }

    fn total(&self) -> u128 {
        self.pairs
    }
}

impl Criterion for MapCoverage {
    fn name(&self) -> &'static str {
        "map"
    }

    fn unit(&self) -> &'static str {
        "memory-access patterns"
    }

    fn observe(&mut self, seen: &ObservedExecution<'_>) {
        let limits = Limits::default();
        let mut objects = Objects::new(Vec::new(), &limits);
        let mut matcher = Matcher::new(limits);
        let (mut changes, mut found) = (Vec::new(), Vec::new());
        let mut observed = self.candidates.is_new(seen.events).then(Observed::default);
        for (index, event) in seen.events.iter().enumerate() {
            objects.observe(index, event, &mut changes);
            let touch = event.kind().and_then(|kind| AccessedBytes::of(event, kind));
            if let Some(observed) = &mut observed {
                observed.event(index, event);
            }
            for change in changes.drain(..) {
                match change {
                    VariableChange::Access(access) => {
                        let variable = self.variables.entry(access.object).or_default();
                        variable.threads.insert(access.thread);
                        match access.manner {
                            AccessType::Reads => variable.readers.insert(access.site),
                            AccessType::Writes => variable.writers.insert(access.site),
                        };
                        matcher.observe(&access, &mut found);
                        self.covered.extend(found.drain(..).map(|occurrence| occurrence.key));
                        if let (Some(observed), Some(touch)) = (&mut observed, touch) {
                            let (bytes, is_update) = ((touch.len, touch.addr), touch.reads && touch.writes);
                            observed.access(&access, seen.place(event), bytes, is_update);
                        }
                    }
                    VariableChange::Split { whole, part } => {
                        matcher.split(whole, part);
                        observed.iter_mut().for_each(|it| it.split(whole, part));
                    }
                    VariableChange::Forget(object) => {
                        matcher.forget(object);
                        observed.iter_mut().for_each(|it| it.forget(object));
                    }
                }
            }
        }
        observed.into_iter().for_each(|it| self.candidates.add(it));
    }

    fn covered(&self) -> u64 {
        self.covered.len() as u64
    }

    fn total(&self) -> Total {
        Total::Estimated(self.estimate())
    }

    fn uncovered_patterns(&self) -> Option<UncoveredPatterns> {
        Some(self.candidates.uncovered(&self.covered))
    }
}

#[cfg(test)]
mod tests {
    use threadbare_trace::{Event, EventKind};

    use super::*;
    use threadbare_patterns::TraceMatcher;

    fn access(thread: u16, pc: u64, kind: EventKind, addr: u64) -> Event {
        Event { thread: ThreadId(thread), pc, addr, size: 8, kind: kind as u8, ..Event::default() }
    }

    /// The example of §3: three reads in one thread, four reads and a write in another, of one variable.
    fn example() -> Vec<Event> {
        let reads = |thread: u16, sites: &'static [u64]| {
            sites.iter().map(move |site| access(thread, *site, EventKind::Read, 64))
        };
        let mut events: Vec<Event> = reads(1, &[6, 8, 11]).chain(reads(2, &[19, 20, 22, 25])).collect();
        events.push(access(2, 26, EventKind::Write, 64));
        events
    }

    #[test]
    fn the_estimate_is_that_of_the_formula() {
        let mut coverage = MapCoverage::default();
        coverage.observe(&ObservedExecution::plain(&example()));
        // Seven reads and one write: 2·7·1 + 1 + 49·1 + 3·7·1 + 1.
        assert_eq!(coverage.total(), Total::Estimated(14 + 1 + 49 + 21 + 1));
        // A second variable with two reads and two writes, by hand.
        let second = [(1, 30, EventKind::Read), (1, 31, EventKind::Write), (2, 32, EventKind::Read)];
        let mut events: Vec<Event> = second.map(|(thread, pc, kind)| access(thread, pc, kind, 128)).into();
        events.push(access(2, 33, EventKind::Write, 128));
        coverage.observe(&ObservedExecution::plain(&events));
        let (own, joined) = (2 * 4 + 4 + 8 + 3 * 8 + 8, 3 * 4 + 6 * (7 * 4));
        assert_eq!(coverage.total(), Total::Estimated(86 + own + joined));
    }

    #[test]
    fn private_variables_and_those_that_nobody_writes_have_no_patterns() {
        let mut coverage = MapCoverage::default();
        coverage.observe(&ObservedExecution::plain(&[
            access(1, 1, EventKind::Read, 64),
            access(2, 2, EventKind::Read, 64),
            access(1, 3, EventKind::Write, 128),
        ]));
        assert_eq!((coverage.covered(), coverage.total()), (0, Total::Estimated(0)));
    }

    #[test]
    fn what_several_executions_show_counts_once() {
        let events = example();
        let mut turned = events.clone();
        turned.rotate_right(1);
        let mut coverage = MapCoverage::default();
        coverage.observe(&ObservedExecution::plain(&events));
        let first = coverage.covered();
        assert_eq!(first, TraceMatcher::patterns_of(&events).len() as u64);
        coverage.observe(&ObservedExecution::plain(&events));
        assert_eq!(coverage.covered(), first);
        coverage.observe(&ObservedExecution::plain(&turned));
        let both: PatternSet = TraceMatcher::patterns_of(&events)
            .iter()
            .chain(TraceMatcher::patterns_of(&turned).iter())
            .collect();
        assert_eq!(coverage.covered(), both.len() as u64);
        assert!(coverage.covered() > first);
    }
}
