//! Atomicity violations of two variables: patterns 9 to 17 under locks.
//!
//! A *section* is the time between a thread's taking its first lock and releasing its last one. In a section a
//! variable is written if any step writes it, and otherwise read. Two variables x and y are
//!
//! * *torn* by a thread if it writes x and not y in one section and y and not x in its next one
//!   (or reads only x in the one and only y in the other);
//! * *whole* if it writes both (or only reads both) in one section, with a lock kept between.
//!
//! A torn pair of one thread and a whole or torn pair of another are reported if together they are one of the
//! patterns, no two of the accesses are in an enforced order, and for each variable a lock keeps the two accesses to it
//! apart; where that is not so, there is a race to report instead. It is *predicted* if
//! elsewhere in the trace the two variables are written as a whole, which says that they belong
//! together, and no condition was waited for in the sections; otherwise *suspected*.
//!
//! Sections with more than sixteen variables are judged by the first sixteen, and no more than 65,536 couples of
//! variables are followed at a time: those that only one thread has used go first.

use std::collections::{BTreeMap, BTreeSet};

use threadbare_happens_before::{AccessedBytes, LockChange, reused_range};
use threadbare_patterns::{self as patterns, AccessType, PatternRole, Variable};
use threadbare_trace::{Event, EventKind};

use crate::atomicity::StampedAccess;
use crate::detector::Detector;
use crate::finding::{Certainty, Finding, FindingKind, FindingSet};
use crate::synchronization::Synchronization;

/// How many variables of a section are looked at.
const VARIABLES: usize = 16;
/// How many couples of variables are followed.
const COUPLES: usize = 1 << 16;
/// How many pairs of accesses by the same code are kept, if their threads knew different things.
const KEPT: usize = 4;

/// What a section did to a variable.
#[derive(Clone)]
struct Use {
    addr: u64,
    end: u64,
    read: Option<(StampedAccess, StampedAccess)>,
    written: Option<(StampedAccess, StampedAccess)>,
}

#[derive(Default)]
struct Sections {
    /// The section in progress.
    now: Vec<Use>,
    /// The one before.
    before: Vec<Use>,
}

/// Two accesses of a thread to two variables.
#[derive(Clone)]
struct Two {
    first: StampedAccess,
    second: StampedAccess,
    torn: bool,
}

/// What is known of two variables.
#[derive(Default)]
struct Couple {
    /// They are written as a whole somewhere.
    together: bool,
    twos: Vec<Two>,
    found: FindingSet,
    /// Found, but only suspected for other reasons than `together`.
    weak: FindingSet,
}

/// Finds atomicity violations on two variables.
#[derive(Default)]
pub struct MultiVariable {
    synchronization: Synchronization,
    sections: Vec<Sections>,
    /// By the two addresses, lower one first.
    couples: BTreeMap<(u64, u64), Couple>,
    /// The same keys, higher one first.
    by_higher: BTreeSet<(u64, u64)>,
    found: FindingSet,
}

impl Use {
    fn manner(&self) -> AccessType {
        AccessType::of(self.written.is_some())
    }

    /// The first and the last step in the section's manner.
    fn steps(&self) -> Option<&(StampedAccess, StampedAccess)> {
        self.written.as_ref().or(self.read.as_ref())
    }

    fn overlaps(&self, other: &Use) -> bool {
        self.addr <= other.end && other.addr <= self.end
    }
}

impl Two {
    fn is_like(&self, other: &Two) -> bool {
        self.first.is_like(&other.first) && self.second.is_like(&other.second) && self.torn == other.torn
    }

    fn manner(&self) -> AccessType {
        AccessType::of(self.first.writes)
    }
}

impl Couple {
    fn add(&mut self, s: &Synchronization, new: Two) {
        self.together |= !new.torn && new.manner() == AccessType::Writes;
        for old in std::mem::take(&mut self.twos) {
            if old.first.access.thread != new.first.access.thread {
                self.judge(s, &new, &old);
                self.judge(s, &old, &new);
            }
            self.twos.push(old);
        }
        let thread = new.first.access.thread;
        let knows_as_much = |old: &Two| {
            old.first.enforced.clock.differs_only_in(thread, &new.first.enforced.clock)
                && old.second.enforced.clock.differs_only_in(thread, &new.second.enforced.clock)
        };
        let same: Vec<usize> = (0..self.twos.len()).filter(|old| self.twos[*old].is_like(&new)).collect();
        match same.last() {
            Some(&last) if knows_as_much(&self.twos[last]) => self.twos[last] = new,
            _ => {
                if same.len() >= KEPT {
                    self.twos.remove(same[KEPT / 2]);
                }
                self.twos.push(new);
            }
        }
    }

    fn says_something(&self) -> bool {
        let thread = |two: &Two| two.first.access.thread;
        self.together || self.twos.iter().any(|two| thread(two) != thread(&self.twos[0]))
    }

    /// Reports the patterns in which `a` begins.
    fn judge(&mut self, s: &Synchronization, a: &Two, b: &Two) {
        let all_concurrent = [&a.first, &a.second]
            .iter()
            .all(|mine| mine.may_swap_with(&b.first) && mine.may_swap_with(&b.second));
        if !a.torn || !all_concurrent {
            return;
        }
        let same_order = a.first.access.object == b.first.access.object;
        let (b_x, b_y) = if same_order { (&b.first, &b.second) } else { (&b.second, &b.first) };
        if !s.locks.exclude(a.first.locks, b_x.locks) || !s.locks.exclude(a.second.locks, b_y.locks) {
            return;
        }
        let (x, y) = (Variable::X, Variable::Y);
        let a_steps = [(PatternRole::A, a.manner(), x), (PatternRole::A, a.manner(), y)];
        let step = |variable| (PatternRole::B, b.manner(), variable);
        let around = |one, two| [(a_steps[0], &a.first), one, two, (a_steps[1], &a.second)];
        if same_order {
            self.report(s, around((step(x), b_x), (step(y), b_y)));
            return;
        }
        self.report(s, around((step(y), b_y), (step(x), b_x)));
        if b.torn {
            let crossed = [(a_steps[0], &a.first), (step(y), b_y), (a_steps[1], &a.second), (step(x), b_x)];
            self.report(s, crossed);
        }
    }

    fn report(&mut self, s: &Synchronization, steps: [(patterns::PatternStep, &StampedAccess); 4]) {
        let Some(pattern) = patterns::find(&steps.map(|(step, _)| step)) else { return };
        let steps = steps.map(|(_, step)| step);
        let mut locks: Vec<u64> =
            steps.iter().flat_map(|step| s.locks.set(step.locks).locks()).map(|(lock, _)| *lock).collect();
        locks.sort_unstable();
        locks.dedup();
        let finding = Finding {
            kind: FindingKind::Atomicity,
            certainty: Certainty::Suspected,
            pattern: Some(pattern.id),
            object: steps[0].access.object,
            at: steps.iter().map(|step| step.access.event).max().unwrap_or(0),
            accesses: steps.iter().map(|step| step.access).collect(),
            locks,
            count: 1,
        };
        if steps.iter().any(|step| step.waited()) {
            self.weak.add(finding);
        } else {
            let happened = steps.windows(2).all(|two| two[0].access.event < two[1].access.event);
            let certainty = if happened { Certainty::Observed } else { Certainty::Predicted };
            self.found.add(Finding { certainty, ..finding });
        }
    }

    fn into_findings(self) -> impl Iterator<Item = Finding> {
        let found = self.found.into_sorted().into_iter().map(move |finding| match self.together {
            true => finding,
            false => Finding { certainty: Certainty::Suspected, ..finding },
        });
        found.chain(self.weak.into_sorted())
    }
}

impl MultiVariable {
    fn sections(&mut self, thread: usize) -> &mut Sections {
        if self.sections.len() <= thread {
            self.sections.resize_with(thread + 1, Sections::default);
        }
        &mut self.sections[thread]
    }

    fn touch(&mut self, index: usize, event: &Event, kind: EventKind, touch: AccessedBytes) {
        let s = &mut self.synchronization;
        if s.locks.held(event.thread).is_empty() || touch.atomic {
            return;
        }
        let step = StampedAccess::new(s, index, event, kind, touch, 0);
        let now = &mut self.sections(event.thread.index()).now;
        let place = match now.iter().position(|known| known.addr == touch.addr) {
            Some(place) => place,
            None if now.len() == VARIABLES => return,
            None => {
                let end = touch.addr + (touch.len - 1);
                now.push(Use { addr: touch.addr, end, read: None, written: None });
                now.len() - 1
            }
        };
        let known = &mut now[place];
        known.end = known.end.max(touch.addr + (touch.len - 1));
        let slot = if touch.writes { &mut known.written } else { &mut known.read };
        match slot {
            Some((_, last)) => *last = step,
            None => *slot = Some((step.clone(), step)),
        }
    }

    fn end_section(&mut self, thread: usize) {
        let sections = self.sections(thread);
        if sections.now.is_empty() {
            return;
        }
        let now = std::mem::take(&mut sections.now);
        let before = std::mem::replace(&mut sections.before, now.clone());
        for (place, x) in now.iter().enumerate() {
            for y in &now[place + 1..] {
                self.whole(x, y);
            }
        }
        for x in &before {
            for y in &now {
                self.torn(x, y, &before, &now);
            }
        }
    }

    fn whole(&mut self, x: &Use, y: &Use) {
        let (Some((x_step, _)), Some((y_step, _))) = (x.steps(), y.steps()) else { return };
        if x.manner() != y.manner() || x.overlaps(y) {
            return;
        }
        let (first, second) = match x_step.access.event < y_step.access.event {
            true => (x_step, y_step),
            false => (y_step, x_step),
        };
        let kept = self.synchronization.locks.kept(&first.held, &second.held);
        if !self.synchronization.locks.set(kept).locks().is_empty() {
            self.couple(Two { first: first.clone(), second: second.clone(), torn: false });
        }
    }

    fn torn(&mut self, x: &Use, y: &Use, before: &[Use], now: &[Use]) {
        let (Some((_, first)), Some((second, _))) = (x.steps(), y.steps()) else { return };
        let too = |other: &Use, variable: &Use| {
            other.overlaps(variable)
                && (x.manner() == AccessType::Reads || other.manner() == AccessType::Writes)
        };
        let separate = !before.iter().any(|other| too(other, y)) && !now.iter().any(|other| too(other, x));
        if x.manner() == y.manner() && separate && !x.overlaps(y) {
            self.couple(Two { first: first.clone(), second: second.clone(), torn: true });
        }
    }

    fn couple(&mut self, two: Two) {
        let (x, y) = (two.first.access.object, two.second.access.object);
        let (lower, higher) = (x.min(y), x.max(y));
        if self.couples.len() >= COUPLES && !self.couples.contains_key(&(lower, higher)) {
            self.make_room();
        }
        self.by_higher.insert((higher, lower));
        let couple = self.couples.entry((lower, higher)).or_default();
        couple.add(&self.synchronization, two);
    }

    /// Forgets couples that say nothing yet; if there are too few of those, all.
    fn make_room(&mut self) {
        self.couples.retain(|_, couple| couple.says_something());
        if self.couples.len() > COUPLES / 2 {
            for couple in std::mem::take(&mut self.couples).into_values() {
                for finding in couple.into_findings() {
                    self.found.add(finding);
                }
            }
        }
        self.by_higher = self.couples.keys().map(|(lower, higher)| (*higher, *lower)).collect();
    }

    fn forget(&mut self, first: u64, last: u64) {
        let range = (first, 0)..=(last, u64::MAX);
        let mut ended: Vec<(u64, u64)> = self.couples.range(range.clone()).map(|(key, _)| *key).collect();
        ended.extend(self.by_higher.range(range).map(|(higher, lower)| (*lower, *higher)));
        for (lower, higher) in ended {
            self.by_higher.remove(&(higher, lower));
            for finding in self.couples.remove(&(lower, higher)).into_iter().flat_map(Couple::into_findings) {
                self.found.add(finding);
            }
        }
        let gone = |addr: u64| (first..=last).contains(&addr);
        for sections in &mut self.sections {
            sections.now.retain(|known| !gone(known.addr));
            sections.before.retain(|known| !gone(known.addr));
        }
    }
}

impl Detector for MultiVariable {
    fn name(&self) -> &'static str {
        "atomicity of two variables"
    }

    fn observe(&mut self, index: usize, event: &Event) {
        let Some(kind) = event.kind() else { return };
        let change = self.synchronization.before(index, event, kind);
        if matches!(change, Some(LockChange::Released(_)))
            && self.synchronization.locks.held(event.thread).is_empty()
        {
            self.end_section(event.thread.index());
        }
        if let Some(touch) = AccessedBytes::looked_at(event, kind)
            && kind != EventKind::Free
        {
            self.touch(index, event, kind, touch);
        }
        if let Some((first, last)) = reused_range(event, kind) {
            self.forget(first, last);
        }
        self.synchronization.after(event, kind);
    }

    fn findings(self: Box<Self>) -> Vec<Finding> {
        let mut found = self.found;
        for finding in self.couples.into_values().flat_map(Couple::into_findings) {
            found.add(finding);
        }
        found.into_sorted()
    }
}
