//! Patterns that no execution has shown although nothing that is known speaks against them: what to try next.
//!
//! As in the paper (§4.2), they are predicted from the accesses that executions have shown, not from the code. What creation and
//! join of threads, locks and a thread's own writes rule out is left out; whether a branch or a wait allows the rest is
//! not looked into. Those of one variable (1 to 8) are made here, those of two in `two_variables.rs`.

use std::collections::{BTreeMap, HashSet};

use threadbare_patterns::{AccessType, ObjectId, Pattern, PatternKey, PatternSet, mix, pair, triple};
use threadbare_trace::{Event, EventKind, ThreadId};

use super::access_order::AccessOrders;
use super::accesses::{Circumstances, Observed, SiteAccess, Variable};
use super::two_variables::two_variables;

/// A memory-access pattern that may be possible, and was not shown.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct UncoveredPattern {
    /// Its number.
    pub pattern: u8,
    /// Where each of its variables lies, that of the first step first; addresses in some execution.
    pub addresses: Vec<u64>,
    /// Where in the program's own code each step is made, as code addresses.
    pub places: Vec<u64>,
}

/// The patterns that may be possible, and were not shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UncoveredPatterns {
    /// The patterns: those of one variable before those of two, the longer ones first, which say more.
    pub patterns: Vec<UncoveredPattern>,
    /// There are more of one variable, or may be.
    pub more_of_one: bool,
    /// There are more of two variables, or may be.
    pub more_of_two: bool,
}

/// Nobody reads more, and a program with many places has millions. Those of one and of two variables count by themselves.
const MOST: usize = 10_000;

/// An access with its circumstances.
pub(super) type Known<'a> = (&'a SiteAccess, &'a Circumstances);

/// The accesses of a campaign.
#[derive(Default)]
pub(super) struct Candidates {
    variables: BTreeMap<ObjectId, Variable>,
    access_orders: AccessOrders,
    /// What threads have done in whole executions, as numbers.
    ways: HashSet<u64>,
    /// The threads that did something new in the execution looked at last.
    on_new_ways: Vec<ThreadId>,
}

impl Candidates {
    /// Whether some thread does other things in this execution than in all before. What is known of accesses is about
    /// what threads do one by one, so nothing else has to be looked at.
    pub fn is_new(&mut self, events: &[Event]) -> bool {
        let mut ways: Vec<u64> = Vec::new();
        for event in events {
            let Event { thread, kind, pc, addr, .. } = *event;
            if ways.len() <= thread.index() {
                ways.resize(thread.index() + 1, 0);
            }
            let way = &mut ways[thread.index()];
            // A created or joined thread, or the size of a block; but what is in memory does not matter.
            let is_about = !event.kind().is_some_and(EventKind::accesses_memory);
            let value = if is_about { event.value } else { u64::from(event.size) };
            *way = [u64::from(kind), pc, addr, value].into_iter().fold(*way, mix);
        }
        let is_new = |(thread, way): (usize, u64)| {
            self.ways.insert(mix(way, thread as u64)).then_some(ThreadId(thread as u16))
        };
        self.on_new_ways = ways.into_iter().enumerate().filter_map(is_new).collect();
        !self.on_new_ways.is_empty()
    }

    /// Takes in the execution that was asked about last.
    pub fn add(&mut self, mut observed: Observed) {
        for (thread, access_order) in observed.take_walks() {
            if self.on_new_ways.contains(&thread) {
                self.access_orders.add(thread, access_order);
            }
        }
        for (object, variable) in observed.finish() {
            self.variables.entry(object).or_default().merge(variable);
        }
    }

    /// The patterns that may be possible and are not in the set.
    pub fn uncovered(&self, covered: &PatternSet) -> UncoveredPatterns {
        let mut found = UncoveredPatterns::default();
        let mut known = covered.clone();
        for list in [triples, pairs] {
            for (object, variable) in &self.variables {
                list(variable, &mut |pattern, steps| {
                    let sites: Vec<_> =
                        steps.iter().map(|(site_access, _)| (site_access.site, *object)).collect();
                    let key = Pattern::with_id(pattern).and_then(|it| PatternKey::of(&it, &sites));
                    if key.is_some_and(|key| known.insert(key)) {
                        found.more_of_one = found.patterns.len() >= MOST;
                        if !found.more_of_one {
                            let places = steps.iter().map(|(_, facts)| facts.place).collect();
                            let addresses = vec![variable.bytes.1];
                            found.patterns.push(UncoveredPattern { pattern, addresses, places });
                        }
                    }
                    !found.more_of_one
                });
            }
        }
        let of_one = found.patterns.len();
        let address = |object: &ObjectId| self.variables.get(object).map_or(0, |it: &Variable| it.bytes.1);
        let is_whole = two_variables(&self.variables, &self.access_orders, &mut |pattern, steps| {
            let sites = steps.map(|(object, (site_access, _))| (site_access.site, object));
            if !PatternKey::of(pattern, &sites).is_some_and(|key| known.insert(key)) {
                return true;
            }
            let has_room = found.patterns.len() - of_one < MOST;
            if has_room {
                let places = steps.iter().map(|(_, (_, facts))| facts.place).collect();
                let other = steps.iter().find(|(object, _)| *object != steps[0].0);
                let objects = [Some(&steps[0]), other].into_iter().flatten();
                let addresses = objects.map(|(object, _)| address(object)).collect();
                found.patterns.push(UncoveredPattern { pattern: pattern.id, addresses, places });
            }
            has_room
        });
        found.more_of_two = !is_whole || self.access_orders.is_cut;
        found
    }
}

/// Is given a pattern that may be possible; says whether more are wanted.
type Take<'a> = &'a mut dyn FnMut(u8, &[Known<'_>]) -> bool;

/// Patterns 1 to 3.
fn pairs(variable: &Variable, take: Take<'_>) {
    for first in &variable.site_accesses {
        for second in variable.site_accesses.iter().filter(|it| can_follow(first, *it)) {
            let pattern = pair(writes(first.0), writes(second.0));
            if pattern.is_some_and(|pattern| !take(pattern, &[first, second])) {
                return;
            }
        }
    }
}

/// Patterns 4 to 8.
fn triples(variable: &Variable, take: Take<'_>) {
    for ((before, after), throughout) in &variable.spans {
        let circumstances = |site_access| Some((site_access, variable.site_accesses.get(site_access)?));
        let (Some(before), Some(after)) = (circumstances(before), circumstances(after)) else { continue };
        for remote in &variable.site_accesses {
            let is_kept_out = throughout.exclude(&remote.1.locks);
            if is_kept_out || !can_follow(before, remote) || !can_follow(remote, after) {
                continue;
            }
            let pattern = triple(writes(before.0), writes(remote.0), writes(after.0));
            if pattern.is_some_and(|pattern| !take(pattern, &[before, remote, after])) {
                return;
            }
        }
    }
}

fn writes(site_access: &SiteAccess) -> bool {
    site_access.manner == AccessType::Writes
}

/// Whether creation and join put an access after one of another thread, not before it.
pub(super) fn is_turned((earlier, before): Known<'_>, (later, after): Known<'_>) -> bool {
    before.joined.contains(&later.thread) || after.unborn.contains(&earlier.thread)
}

/// Whether an access can come after one of another thread, with no write in between, as far as is known.
pub(super) fn can_follow((earlier, before): Known<'_>, (later, after): Known<'_>) -> bool {
    // Before the later thread can come, the earlier one writes once more; or the later one has written since.
    let is_overwritten = before.is_updated
        || before.rewritten_under.exclude(&after.locks)
        || after.written_under.exclude(&before.locks)
        || before.rewritten_unborn.contains(&later.thread)
        || after.written_joined.contains(&earlier.thread);
    earlier.thread != later.thread && !is_turned((earlier, before), (later, after)) && !is_overwritten
}
