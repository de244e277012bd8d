//! The fewest context switches that still fail.
//!
//! A failing interleaving found at random switches far more often than its failure needs. Delta
//! debugging over the *preemptions* (switches away from a thread that was enabled) leaves
//! those without which the program passes; every candidate is verified by running it. Switches at
//! a thread's end or at an operation it could not make are not choices and follow by themselves.
//! What remains may still be a detour, so a systematic search looks for the same failure with even
//! fewer preemptions as long as runs are left.

use std::collections::HashMap;

use threadbare_sched::Replay;
use threadbare_target::Execution;
use threadbare_trace::{Failure, SwitchReason, ThreadId};
use threadbare_wire::SwitchRecord;

use crate::history::History;
use crate::strategies::dfs::Dfs;
use crate::strategy::{Plan, Strategy as _};

/// Runs a plan's policy; none if that is not possible any more.
pub type Follow<'a> = dyn FnMut(&Plan) -> Option<Execution> + 'a;

/// Removes preemptions from a failing execution until none can be removed alone, or until `budget`
/// runs were made. Returns the shortest failing execution, and whether it is 1-minimal.
pub fn minimise(failing: Execution, budget: usize, follow: &mut Follow<'_>) -> (Execution, bool) {
    let Some(failure) = failing.outcome.failure().cloned() else { return (failing, false) };
    let mut search = Search { failure, best: failing, runs_left: budget, follow };
    let mut is_minimal = search.remove_all();
    for bound in 0.. {
        let fewest = search.preemptions().len();
        if bound >= fewest || search.runs_left == 0 {
            break;
        }
        if let Some(run) = search.find_within(bound as u32) {
            let other = std::mem::replace(&mut search.best, run);
            let minimal = search.remove_all();
            if search.preemptions().len() < fewest {
                is_minimal = minimal;
            } else {
                search.best = other;
            }
        }
    }
    (search.best, is_minimal)
}

/// A plan that follows these switches.
pub fn replay(switches: &[SwitchRecord]) -> Plan {
    Plan::new(Replay::of(switches), 0, "replay")
}

/// Whether two failures are the same one: of the same kind at the same place.
pub fn is_same_failure(a: &Failure, b: &Failure) -> bool {
    a.kind == b.kind && a.places() == b.places()
}

/// Whether a switch was a choice: the thread was enabled.
pub fn is_preemption(switch: &SwitchRecord) -> bool {
    !matches!(switch.why(), Some(SwitchReason::Blocked | SwitchReason::Ended))
}

/// The same switches, except that a thread which was switched to and stopped again before it did
/// anything is left out.
fn without_detours(switches: &[SwitchRecord]) -> Vec<SwitchRecord> {
    let mut direct: Vec<SwitchRecord> = Vec::new();
    // Each thread's next operation; that of one that has never run is its first.
    let mut next_op: HashMap<ThreadId, u32> = HashMap::new();
    for switch in switches {
        let op_before = next_op.insert(switch.from, switch.op).unwrap_or(1);
        match direct.last_mut() {
            Some(before)
                if before.to == switch.from && op_before == switch.op && before.from != switch.to =>
            {
                before.to = switch.to;
            }
            _ => direct.push(*switch),
        }
    }
    direct
}

struct Search<'a, 'b> {
    failure: Failure,
    best: Execution,
    runs_left: usize,
    follow: &'a mut Follow<'b>,
}

impl Search<'_, '_> {
    /// Delta debugging; says whether it came to its end.
    fn remove_all(&mut self) -> bool {
        loop {
            let through = self.remove_preemptions();
            let direct = without_detours(&self.best.switches);
            if !through || self.runs_left == 0 || direct.len() == self.best.switches.len() {
                return through;
            }
            match self.try_schedule(&direct, self.preemptions().len()) {
                Some(shorter) => self.best = shorter,
                None => return through,
            }
        }
    }

    fn remove_preemptions(&mut self) -> bool {
        let mut chunk = self.preemptions().len().div_ceil(2).max(1);
        while self.runs_left > 0 {
            if self.remove_chunks(chunk) {
                chunk = chunk.min(self.preemptions().len().max(1));
            } else if chunk == 1 {
                // With no run left the last ones may not have been tried.
                return self.runs_left > 0;
            } else {
                chunk = chunk.div_ceil(2);
            }
        }
        false
    }

    /// Looks through the interleavings with at most `bound` preemptions for the same failure.
    fn find_within(&mut self, bound: u32) -> Option<Execution> {
        const MOST_RUNS: usize = 2000;
        let mut walk = Dfs::within(bound);
        for _ in 0..MOST_RUNS {
            let plan = walk.plan(1, 1, &History::default()).pop()?;
            let run = self.run(&plan)?;
            if self.is_the_failure(&run) {
                return Some(run);
            }
            walk.learn(&[(&plan, &run)], false, &|| false).ok()?;
        }
        None
    }

    /// Runs a plan. Once that is not possible any more, nothing else is tried.
    fn run(&mut self, plan: &Plan) -> Option<Execution> {
        self.runs_left = self.runs_left.checked_sub(1)?;
        let run = (self.follow)(plan);
        if run.is_none() {
            self.runs_left = 0;
        }
        run
    }

    fn is_the_failure(&self, run: &Execution) -> bool {
        run.outcome.failure().is_some_and(|failure| is_same_failure(failure, &self.failure))
    }

    /// The places of the preemptions in the best schedule.
    fn preemptions(&self) -> Vec<usize> {
        let switches = self.best.switches.iter().enumerate();
        switches.filter(|(_, switch)| is_preemption(switch)).map(|(place, _)| place).collect()
    }

    /// Tries to do without each run of `chunk` preemptions; says whether any could go.
    fn remove_chunks(&mut self, chunk: usize) -> bool {
        let mut removed = false;
        let mut first = 0;
        loop {
            let places = self.preemptions();
            let Some(out) = places.get(first..).filter(|rest| !rest.is_empty()) else { return removed };
            let out = &out[..chunk.min(out.len())];
            let kept: Vec<SwitchRecord> = (self.best.switches.iter().enumerate())
                .filter(|(place, _)| out.binary_search(place).is_err())
                .map(|(_, switch)| *switch)
                .collect();
            if self.runs_left == 0 {
                return removed;
            }
            match self.try_schedule(&kept, places.len()) {
                // What came after has moved up into the place of what went.
                Some(shorter) => {
                    self.best = shorter;
                    removed = true;
                }
                None => first += chunk,
            }
        }
    }

    /// Runs a schedule; the execution, if it fails in the same way with fewer preemptions.
    fn try_schedule(&mut self, switches: &[SwitchRecord], preemptions: usize) -> Option<Execution> {
        let run = self.run(&replay(switches))?;
        let fewer = run.switches.iter().filter(|switch| is_preemption(switch)).count() < preemptions;
        (self.is_the_failure(&run) && fewer).then_some(run)
    }
}
