//! The detectors' definitions written down as directly as possible: every pair of events is asked,
//! order is reachability in a graph.

// Rows and columns of an order are numbers on purpose.
#![allow(clippy::needless_range_loop)]

use std::collections::BTreeSet;

use threadbare_patterns::{self as patterns, AccessType, PatternRole, Variable};
use threadbare_trace::{Event, EventKind, ThreadId};

use super::VARIABLES;

/// A trace with what came before what.
pub struct Naive<'a> {
    pub events: &'a [Event],
    before: Vec<Vec<bool>>,
}

pub fn kind(event: &Event) -> EventKind {
    event.kind().expect("a known kind")
}

fn is_lock(kind: EventKind) -> bool {
    matches!(kind, EventKind::Lock | EventKind::ReadLock)
}

pub fn is_atomic(event: &Event) -> bool {
    use EventKind::*;
    matches!(kind(event), AtomicRead | AtomicWrite | AtomicUpdate | AtomicFailed)
}

pub fn reads(event: &Event) -> bool {
    use EventKind::*;
    matches!(kind(event), Read | AtomicRead | AtomicUpdate | AtomicFailed)
}

pub fn writes(event: &Event) -> bool {
    kind(event).writes()
}

fn bytes(event: &Event) -> std::ops::Range<u64> {
    event.addr..event.addr + u64::from(event.size)
}

impl<'a> Naive<'a> {
    pub fn new(events: &'a [Event], with_locks: bool) -> Naive<'a> {
        let count = events.len();
        let mut before = vec![vec![false; count]; count];
        for j in 0..count {
            for i in 0..j {
                before[i][j] = edge(events, i, j, with_locks);
            }
        }
        close(&mut before);
        // Whoever learned of a step inside a critical section acquires the lock after its end.
        while !with_locks && follow_sections(events, &mut before) {
            close(&mut before);
        }
        Naive { events, before }
    }

    pub fn ordered(&self, i: usize, j: usize) -> bool {
        i == j || self.before[i.min(j)][i.max(j)]
    }

    /// The locks held at an event, each with the event that acquired it and whether it is held alone.
    pub fn held(&self, at: usize) -> Vec<(u64, usize, bool)> {
        let mut held: Vec<(u64, usize, bool)> = Vec::new();
        for (index, event) in self.events[..at].iter().enumerate() {
            if event.thread == self.events[at].thread {
                match kind(event) {
                    EventKind::Lock => held.push((event.addr, index, true)),
                    EventKind::ReadLock => held.push((event.addr, index, false)),
                    EventKind::Unlock => held.retain(|(lock, ..)| *lock != event.addr),
                    _ => {}
                }
            }
        }
        held
    }

    pub fn excluded(&self, i: usize, j: usize) -> bool {
        let other = self.held(j);
        self.held(i).iter().any(|(a, _, x)| other.iter().any(|(b, _, y)| a == b && (*x || *y)))
    }

    fn accesses(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.events.len()).filter(|index| kind(&self.events[*index]).accesses_memory())
    }

    /// The sites of racing accesses.
    pub fn races(&self, with_locks: bool) -> BTreeSet<Vec<u64>> {
        let mut found = BTreeSet::new();
        for i in self.accesses() {
            for j in self.accesses().filter(|j| *j > i) {
                let (a, b) = (&self.events[i], &self.events[j]);
                let overlap = bytes(a).start < bytes(b).end && bytes(b).start < bytes(a).end;
                if a.thread != b.thread
                    && overlap
                    && (writes(a) || writes(b))
                    && !(is_atomic(a) && is_atomic(b))
                    && !self.ordered(i, j)
                    && (!with_locks || !self.excluded(i, j))
                {
                    found.insert(BTreeSet::from([a.pc, b.pc]).into_iter().collect());
                }
            }
        }
        found
    }

    /// The sites of conflicts under a common lock that nothing orders, the later one first.
    pub fn turnable(&self) -> BTreeSet<Vec<u64>> {
        let mut found = BTreeSet::new();
        for i in self.accesses() {
            for j in self.accesses().filter(|j| *j > i) {
                let (a, b) = (&self.events[i], &self.events[j]);
                let overlap = bytes(a).start < bytes(b).end && bytes(b).start < bytes(a).end;
                let is_plain = !is_atomic(a) && !is_atomic(b);
                let conflict = a.thread != b.thread && overlap && (writes(a) || writes(b));
                if is_plain && conflict && self.excluded(i, j) && !self.ordered(i, j) {
                    found.insert(vec![b.pc, a.pc]);
                }
            }
        }
        found
    }

    /// Pattern and sites of atomicity violations on one variable.
    pub fn violations(&self) -> BTreeSet<(u8, Vec<u64>)> {
        let mut found = BTreeSet::new();
        let all: BTreeSet<u64> = self.accesses().flat_map(|index| bytes(&self.events[index])).collect();
        for byte in all {
            let on: Vec<usize> =
                self.accesses().filter(|i| bytes(&self.events[*i]).contains(&byte)).collect();
            for &p in &on {
                let thread = self.events[p].thread;
                let Some(&c) = on.iter().find(|c| **c > p && self.events[**c].thread == thread) else {
                    continue;
                };
                for &r in on.iter().filter(|r| self.events[**r].thread != thread) {
                    found.extend(self.violation(p, r, c));
                }
            }
        }
        found
    }

    fn violation(&self, p: usize, r: usize, c: usize) -> Option<(u8, Vec<u64>)> {
        let [first, remote, last] = [p, r, c].map(|index| &self.events[index]);
        let update = |event: &Event| kind(event) == EventKind::AtomicUpdate;
        if update(first) || update(last) || self.ordered(p, r) || self.ordered(r, c) {
            return None;
        }
        let locked_out = |at: usize| self.events[at].thread != first.thread || self.excluded(at, r);
        if (p..=c).all(locked_out) {
            return None;
        }
        let manners = [(writes(remote), true), (reads(remote), false)];
        let ids = manners
            .iter()
            .filter(|(can, _)| *can)
            .filter_map(|(_, remote_writes)| patterns::triple(writes(first), *remote_writes, writes(last)));
        let id = ids.into_iter().find(|id| (4..=7).contains(id))?;
        if [first, remote, last].into_iter().all(is_atomic) && first.pc == last.pc {
            let mut between = self.events[p + 1..c].iter();
            if id != 7 || between.any(|event| event.thread == first.thread) {
                return None;
            }
        }
        Some((id, vec![first.pc, remote.pc, last.pc]))
    }

    /// The sites of the accesses that leave a variable unprotected, for each byte.
    pub fn undisciplined(&self) -> BTreeSet<(u64, usize)> {
        let mut found = BTreeSet::new();
        let all: BTreeSet<u64> = self.accesses().flat_map(|index| bytes(&self.events[index])).collect();
        for byte in all {
            let on: Vec<usize> =
                self.accesses().filter(|i| bytes(&self.events[*i]).contains(&byte)).collect();
            // Each access that comes after all earlier ones begins a phase; what follows it is shared.
            let takes_over =
                |place: usize| on[..place].iter().all(|earlier| self.ordered(*earlier, on[place]));
            let begins: Vec<usize> = (0..on.len()).filter(|place| takes_over(*place)).collect();
            for (number, &begin) in begins.iter().enumerate() {
                let end = begins.get(number + 1).copied().unwrap_or(on.len());
                let shared = &on[begin + 1..end];
                let bad = (1..=shared.len()).find(|length| {
                    let so_far = &shared[..*length];
                    let thread = |index: &usize| self.events[*index].thread;
                    let written = |index: &&usize| writes(&self.events[**index]);
                    let writers: BTreeSet<_> = so_far.iter().filter(written).map(thread).collect();
                    // Who alone writes knows without a lock what it reads.
                    let is_own =
                        |it: &&usize| writers.len() == 1 && writers.contains(&thread(it)) && !written(it);
                    let needing: Vec<usize> = so_far.iter().filter(|it| !is_own(it)).copied().collect();
                    !writers.is_empty() && self.common(&needing).is_empty()
                });
                found.extend(bad.map(|length| (byte, shared[length - 1])));
            }
        }
        found
    }

    /// The sections of a thread that access memory: from its first lock to no lock, as the accesses in them.
    fn sections(&self, thread: ThreadId) -> Vec<Vec<usize>> {
        let mut sections = vec![Vec::new()];
        let mut taken = 0;
        for (index, event) in self.events.iter().enumerate().filter(|(_, event)| event.thread == thread) {
            match kind(event) {
                EventKind::Lock | EventKind::ReadLock => taken += 1,
                EventKind::Unlock => {
                    taken -= 1;
                    if taken == 0 {
                        sections.push(Vec::new());
                    }
                }
                kind if kind.accesses_memory() && taken > 0 => {
                    sections.last_mut().expect("one is open").push(index);
                }
                _ => {}
            }
        }
        // A section that has not ended says nothing yet.
        sections.pop();
        sections.retain(|section| !section.is_empty());
        sections
    }

    /// All pairs of accesses of a thread that are torn or whole.
    fn twos(&self, thread: ThreadId) -> Vec<(usize, usize, bool)> {
        let sections = self.sections(thread);
        let on = |section: &[usize], variable: u64| -> Vec<usize> {
            section.iter().copied().filter(|index| self.events[*index].addr == variable).collect()
        };
        // What a section does to a variable, and its first and last step that do it.
        let manner = |section: &[usize], variable: u64| {
            let all = on(section, variable);
            let wrote = all.iter().any(|index| writes(&self.events[*index]));
            let steps: Vec<usize> =
                all.into_iter().filter(|index| writes(&self.events[*index]) == wrote).collect();
            steps.first().map(|first| (wrote, *first, steps[steps.len() - 1]))
        };
        let mut twos = Vec::new();
        for (number, section) in sections.iter().enumerate() {
            for (x, y) in [(VARIABLES[0], VARIABLES[1]), (VARIABLES[1], VARIABLES[0])] {
                if let (Some((a, i, _)), Some((b, j, _))) = (manner(section, x), manner(section, y)) {
                    let kept = self.held(i).into_iter().any(|held| self.held(j).contains(&held));
                    if a == b && i < j && kept {
                        twos.push((i, j, false));
                    }
                }
                let Some(next) = sections.get(number + 1) else { continue };
                if let (Some((a, _, i)), Some((b, j, _))) = (manner(section, x), manner(next, y)) {
                    let too =
                        |other: Option<(bool, usize, usize)>| other.is_some_and(|(wrote, ..)| wrote || !a);
                    if a == b && !too(manner(section, y)) && !too(manner(next, x)) {
                        twos.push((i, j, true));
                    }
                }
            }
        }
        twos
    }

    /// Pattern and sites of atomicity violations on two variables.
    pub fn torn_couples(&self) -> BTreeSet<(u8, Vec<u64>)> {
        let threads: BTreeSet<ThreadId> = self.events.iter().map(|event| event.thread).collect();
        let mut found = BTreeSet::new();
        for a in &threads {
            for b in threads.iter().filter(|b| *b != a) {
                for (e1, e2, torn) in self.twos(*a) {
                    for (f1, f2, other_torn) in self.twos(*b) {
                        if torn {
                            found.extend(self.torn_couple([e1, e2], [f1, f2], other_torn));
                        }
                    }
                }
            }
        }
        found
    }

    fn torn_couple(&self, a: [usize; 2], b: [usize; 2], other_torn: bool) -> Vec<(u8, Vec<u64>)> {
        if a.iter().any(|i| b.iter().any(|j| self.ordered(*i, *j))) {
            return Vec::new();
        }
        let same = |i: usize, j: usize| self.events[i].addr == self.events[j].addr;
        if a.iter().any(|i| b.iter().any(|j| same(*i, *j) && !self.excluded(*i, *j))) {
            return Vec::new();
        }
        // Every order of the four that keeps the two of each thread in order and begins with the first thread.
        let mut orders = vec![[a[0], b[0], b[1], a[1]]];
        if other_torn {
            orders.push([a[0], b[0], a[1], b[1]]);
        }
        let step = |index: usize| {
            let event = &self.events[index];
            let role = if a.contains(&index) { PatternRole::A } else { PatternRole::B };
            let variable = if same(index, a[0]) { Variable::X } else { Variable::Y };
            (role, AccessType::of(writes(event)), variable)
        };
        let found = orders.into_iter().filter_map(|order| {
            let pattern = patterns::find(&order.map(step))?;
            Some((pattern.id, order.map(|index| self.events[index].pc).to_vec()))
        });
        found.collect()
    }

    fn common(&self, accesses: &[usize]) -> BTreeSet<u64> {
        let sets = accesses.iter().map(|index| {
            let event = &self.events[*index];
            let held = self.held(*index).into_iter().filter(|(_, _, alone)| *alone || !writes(event));
            let mut held: BTreeSet<u64> = held.map(|(lock, ..)| lock).collect();
            held.extend(is_atomic(event).then_some(u64::MAX));
            held
        });
        sets.reduce(|a, b| a.intersection(&b).copied().collect()).unwrap_or_default()
    }
}

/// Makes the order transitive.
fn close(before: &mut [Vec<bool>]) {
    let count = before.len();
    for k in 0..count {
        for i in 0..k {
            if before[i][k] {
                for j in k + 1..count {
                    before[i][j] |= before[k][j];
                }
            }
        }
    }
}

/// The release of a lock that was acquired at `at`.
fn release(events: &[Event], at: usize) -> Option<usize> {
    let is_release = |event: &Event| {
        event.thread == events[at].thread && event.addr == events[at].addr && kind(event) == EventKind::Unlock
    };
    Some(at + events[at..].iter().position(is_release)?)
}

/// Orders whole sections where a step inside the one comes before the acquisition of the other.
fn follow_sections(events: &[Event], before: &mut [Vec<bool>]) -> bool {
    let mut changed = false;
    let taken: Vec<usize> = (0..events.len()).filter(|index| is_lock(kind(&events[*index]))).collect();
    for &one in &taken {
        for &two in taken.iter().filter(|two| events[**two].addr == events[one].addr && **two > one) {
            let Some(end) = release(events, one) else { continue };
            let exclude = kind(&events[one]) == EventKind::Lock || kind(&events[two]) == EventKind::Lock;
            let is_inside = |step: &usize| events[*step].thread == events[one].thread;
            let inside = (one..=end).filter(is_inside).any(|step| step < two && before[step][two]);
            if exclude && inside && end < two && !before[end][two] {
                before[end][two] = true;
                changed = true;
            }
        }
    }
    changed
}

/// Whether the earlier event comes before the later one by itself.
fn edge(events: &[Event], i: usize, j: usize, with_locks: bool) -> bool {
    use EventKind::*;
    let (a, b) = (&events[i], &events[j]);
    if a.thread == b.thread {
        return true;
    }
    let number = |thread: u64, event: &Event| u64::from(event.thread.0) == thread;
    match (kind(a), kind(b)) {
        (Create, _) if number(a.value, b) => true,
        (_, Join) if number(b.value, a) => true,
        (SemPost, SemWait) => a.addr == b.addr,
        (AtomicWrite | AtomicUpdate, AtomicRead | AtomicUpdate | AtomicFailed) if a.addr == b.addr => {
            !events[i + 1..j].iter().any(|other| kind(other) == AtomicWrite && other.addr == a.addr)
        }
        (Unlock, taken) if with_locks && is_lock(taken) && a.addr == b.addr => {
            let acquired = events[..i]
                .iter()
                .rev()
                .find(|other| other.thread == a.thread && other.addr == a.addr && is_lock(kind(other)));
            taken == Lock || acquired.is_some_and(|other| kind(other) == Lock)
        }
        _ => false,
    }
}
