//! Executions near a failing one: its schedule with one preemption left out, made elsewhere, or given to another thread.
//!
//! Most of what they do is the same, so those that pass show best what the failure depends on.

use std::collections::BTreeSet;
use std::rc::Rc;

use threadbare_target::Execution;
use threadbare_trace::ThreadId;
use threadbare_wire::SwitchRecord;

use crate::minimise::{is_preemption, replay};
use crate::strategy::Plan;

/// How many operations a preemption is moved, to either side.
const STEPS: usize = 3;

/// Plans that follow a failing execution except for one preemption; those that leave one out come first.
///
/// Each is made when it is asked for: where many threads take turns there are as many as switches times threads, each
/// as long as the schedule.
pub fn neighbours(failing: &Execution) -> impl Iterator<Item = Plan> {
    let switches = &failing.switches;
    let choices = || (0..switches.len()).filter(|at| is_preemption(&switches[*at]));
    let without = choices().map(|at| [&switches[..at], &switches[at + 1..]].concat());
    // That a thread blocks is no choice, but which one is scheduled next is.
    let threads: BTreeSet<ThreadId> = switches.iter().flat_map(|it| [it.from, it.to]).collect();
    let threads: Rc<[ThreadId]> = threads.into_iter().collect();
    let given = (0..switches.len()).flat_map(move |at| {
        let SwitchRecord { from, to, .. } = switches[at];
        let threads = threads.clone();
        let others = (0..threads.len()).map(move |it| threads[it]).filter(move |it| *it != from && *it != to);
        others.map(move |to| changed(switches, at, SwitchRecord { to, ..switches[at] }))
    });
    let moved = choices().flat_map(move |at| {
        let ops = operations_around(failing, &switches[at]);
        ops.into_iter().map(move |op| changed(switches, at, SwitchRecord { op, ..switches[at] }))
    });
    without.chain(given).chain(moved).map(|schedule| replay(&schedule))
}

fn changed(switches: &[SwitchRecord], at: usize, switch: SwitchRecord) -> Vec<SwitchRecord> {
    let mut schedule = switches.to_vec();
    schedule[at] = switch;
    schedule
}

/// The visible operations of a thread before and after the one at which it was stopped.
fn operations_around(failing: &Execution, switch: &SwitchRecord) -> Vec<u32> {
    let own = failing.events.iter().filter(|event| event.thread == switch.from);
    let mut ops: Vec<u32> =
        own.filter(|it| it.kind().is_some_and(|kind| !kind.only_names())).map(|it| it.op).collect();
    ops.sort_unstable();
    ops.dedup();
    let here = ops.partition_point(|op| *op < switch.op);
    let later = ops[here..].iter().filter(|op| **op != switch.op).take(STEPS);
    ops[here.saturating_sub(STEPS)..here].iter().rev().chain(later).copied().collect()
}

#[cfg(test)]
mod tests {
    use threadbare_sched::Parameters;
    use threadbare_trace::{Event, EventKind, SwitchReason};

    use super::*;

    #[test]
    fn one_preemption_is_left_out_or_moved() {
        let switch = |from: u16, op: u32, to: u16, why: SwitchReason| SwitchRecord {
            from: ThreadId(from),
            op,
            to: ThreadId(to),
            reason: why as u8,
            ..SwitchRecord::default()
        };
        let event =
            |op: u32| Event { thread: ThreadId(1), op, kind: EventKind::Read as u8, ..Event::default() };
        let mut failing = Execution::before_threads(
            threadbare_trace::Failure {
                kind: threadbare_trace::FailureKind::Abort,
                message: String::new(),
                thread: ThreadId(0),
                stack: Vec::new(),
            },
            String::new(),
        );
        failing.events = [1, 3, 6, 7].map(event).to_vec();
        failing.switches =
            vec![switch(0, 5, 1, SwitchReason::Blocked), switch(1, 6, 2, SwitchReason::Chosen)];
        let schedules: Vec<Vec<(u16, u32, u16)>> = neighbours(&failing)
            .map(|plan| match &plan.policy.parameters {
                Parameters::Replay(replay) => {
                    replay.switches.iter().map(|it| (it.from.0, it.op, it.to.0)).collect()
                }
                _ => Vec::new(),
            })
            .collect();
        let expected: [&[(u16, u32, u16)]; 6] = [
            &[(0, 5, 1)],
            &[(0, 5, 2), (1, 6, 2)],
            &[(0, 5, 1), (1, 6, 0)],
            &[(0, 5, 1), (1, 3, 2)],
            &[(0, 5, 1), (1, 1, 2)],
            &[(0, 5, 1), (1, 7, 2)],
        ];
        assert_eq!(schedules, expected);
    }
}
