//! Which pairs of accesses can be interrupted by another thread's, and how sure that is.

use std::collections::BTreeSet;

use threadbare_happens_before::{HeldLock, LockChange, NumberMap};
use threadbare_trace::{Event, EventKind};

use super::consecutive_pair::ConsecutivePair;
use super::stamped_access::StampedAccess;
use crate::finding::{Access, Certainty, Finding, FindingKind, FindingSet};
use crate::synchronization::Synchronization;

/// What was found so far.
#[derive(Default)]
pub struct Verdicts {
    findings: FindingSet,
    /// Stale values across critical sections, to be judged when it is known which locks are used with
    /// condition variables.
    stale: FindingSet,
    /// Where the findings of a pattern and its sites are, stale or not, for they are found over and over.
    places: NumberMap<(u8, bool, u64, u64, u64), usize>,
    /// The locks that are used with condition variables.
    monitors: BTreeSet<u64>,
    /// The lock that each thread released last: signals are often sent right after.
    released: Vec<u64>,
}

/// How sure it is, and whether it is about a stale value.
type Verdict = (Certainty, bool);

fn weigh(s: &Synchronization, pair: &ConsecutivePair, r: &StampedAccess, id: u8) -> Option<Verdict> {
    let (p, c) = (pair.p(), pair.c());
    let happened = p.access.event < r.access.event && r.access.event < c.access.event;
    let sure = if happened { Certainty::Observed } else { Certainty::Predicted };
    if p.atomic && r.atomic && c.atomic {
        return match id == 7 && pair.is_adjacent() {
            true => Some((sure, false)),
            false => (p.access.pc != c.access.pc).then_some((Certainty::Suspected, false)),
        };
    }
    let (before, after) = (s.locks.exclude(p.locks, r.locks), s.locks.exclude(r.locks, c.locks));
    if before && after {
        let stale = id == 7 && !p.waited() && !c.waited();
        return Some((if stale { sure } else { Certainty::Suspected }, stale));
    }
    let handed_over = (before || p.is_handed_over(r)) && (after || r.is_handed_over(c));
    Some((if handed_over { Certainty::Suspected } else { sure }, false))
}

impl Verdicts {
    /// Judges whether r can interrupt the pair.
    pub fn judge(&mut self, s: &Synchronization, pair: &ConsecutivePair, r: &StampedAccess, addr: u64) {
        let Some(id) = pair.pattern(r.reads, r.writes) else { return };
        let (p, c) = (pair.p(), pair.c());
        let locked_out = || pair.gaps.iter().all(|gap| s.locks.exclude(*gap, r.locks));
        if !p.may_swap_with(r) || !r.may_swap_with(c) || locked_out() {
            return;
        }
        let Some((certainty, stale)) = weigh(s, pair, r, id) else { return };
        let set = if stale { &mut self.stale } else { &mut self.findings };
        let key = (id, stale, p.access.pc, r.access.pc, c.access.pc);
        let known = self.places.get(&key);
        if known.is_some_and(|place| set.met_again(*place, certainty)) {
            return;
        }
        // A lock of one thread's own keeps nobody out.
        let common = [p, c].into_iter().flat_map(|step| s.locks.common(step.locks, r.locks));
        let locks: BTreeSet<u64> = common.collect();
        let place = set.add(Finding {
            kind: FindingKind::Atomicity,
            certainty,
            pattern: Some(id),
            object: addr,
            at: p.access.event.max(c.access.event).max(r.access.event),
            accesses: [p, r, c].map(|step| Access { object: addr, ..step.access }).to_vec(),
            locks: locks.into_iter().collect(),
            count: 1,
        });
        self.places.insert(key, place);
    }

    /// Notes which locks are used together with condition variables.
    pub fn note_monitor(
        &mut self,
        event: &Event,
        kind: EventKind,
        change: Option<LockChange>,
        held: &[HeldLock],
    ) {
        use EventKind::*;
        let thread = event.thread.index();
        if self.released.len() <= thread {
            self.released.resize(thread + 1, 0);
        }
        if let Some(LockChange::Released(held)) = change {
            self.released[thread] = held.lock;
        }
        match kind {
            CondWait => {
                self.monitors.insert(event.value);
            }
            CondSignal | CondBroadcast if held.is_empty() => {
                self.monitors.insert(self.released[thread]);
            }
            CondSignal | CondBroadcast => self.monitors.extend(held.iter().map(|held| held.lock)),
            // No other kind is about a condition variable and its mutex.
            _ => {}
        }
    }

    /// Everything found, surest first.
    pub fn into_findings(self) -> Vec<Finding> {
        let mut findings = self.findings;
        for finding in self.stale.into_sorted() {
            let takes_turns = finding.locks.iter().any(|lock| self.monitors.contains(lock));
            let certainty = if takes_turns { Certainty::Suspected } else { finding.certainty };
            findings.add(Finding { certainty, ..finding });
        }
        findings.into_sorted()
    }
}
