//! Running a schedule that was solved for, and seeing whether the program followed it.

use threadbare_happens_before::LockSets;
use threadbare_order::{Forest, Path, SolvedSchedule, SolvedSwitch, StepId};
use threadbare_sched::{Parameters, Replay, SwitchPoint};
use threadbare_target::Execution;
use threadbare_trace::{Awaited, Failure, FailureKind, ThreadId, Waiting};

use crate::strategy::Plan;

/// A plan that follows a schedule, then schedules a thread if that is asked for, and then lets all threads run to their ends
/// without preempting any. The events come back with the execution.
pub(crate) fn plan(schedule: &SolvedSchedule, forest: &Forest, then: Option<ThreadId>, seed: u64) -> Plan {
    let mut turns = schedule.turns(forest, ThreadId::MAIN);
    let last = schedule.steps.last().map(|id| forest.step(*id));
    let (from, op) = last.map_or((ThreadId::MAIN, 1), |step| (step.thread, step.op));
    let mut main_last = true;
    match then {
        Some(to) if to != from => {
            let (op, pc) = forest.next_operation(from, schedule.steps.last().copied());
            turns.push(SolvedSwitch { from, op, pc, to });
        }
        // Main, which is scheduled last otherwise, and a thread that spins stay running only under a policy that lets every thread do so.
        Some(_) => main_last = false,
        // It has to be given how far main runs.
        None if from == ThreadId::MAIN && last.is_some() => {
            turns.push(SolvedSwitch { from, op, pc: 0, to: from })
        }
        None => {}
    }
    let switch = |turn: &SolvedSwitch| SwitchPoint { from: turn.from, op: turn.op, to: turn.to };
    let switches = turns.iter().map(switch).collect();
    Plan { trace: true, ..Plan::new(Replay { switches, main_last }, seed, "") }
}

/// What identifies a plan: the schedule that it follows, if it follows one.
pub(crate) type PlanKey = Option<Replay>;

/// What identifies this plan.
pub(crate) fn plan_key(plan: &Plan) -> PlanKey {
    match &plan.policy.parameters {
        Parameters::Replay(replay) => Some(replay.clone()),
        _ => None,
    }
}

/// The thread that brought the process down, if it was one thread's doing: a failure that shows in what one thread has
/// seen. Who ends the process in order lets the others go first.
pub(crate) fn brought_down_by(run: &Execution) -> Option<ThreadId> {
    use FailureKind::*;
    let failure = run.outcome.failure()?;
    match failure.kind {
        Assertion | Abort | Segfault | Exception => Some(failure.thread),
        Exit | Deadlock | Hang | UseAfterFree | Misuse => None,
    }
}

/// The threads that may have more to do than an execution has shown. The one that has ended the process has not, and one that waits
/// for a lock that it holds itself has not either; one that waits for another thread to end becomes runnable when that one ends,
/// and not otherwise.
pub(crate) fn unfinished_threads(run: &Execution) -> Vec<ThreadId> {
    let waiting = run.outcome.failure().map(Failure::waiting).unwrap_or_default();
    let mut locks = LockSets::default();
    for (index, event) in run.events.iter().enumerate().filter(|_| !waiting.is_empty()) {
        if let Some(kind) = event.kind() {
            locks.observe(index, event, kind);
        }
    }
    let mut is_blocked_for_ever = |it: &Waiting| match it.awaits {
        Awaited::Lock(lock) => locks.held(it.thread).iter().any(|held| held.lock == lock),
        Awaited::End => true,
        Awaited::Signal(_) | Awaited::Semaphore(_) | Awaited::Other => false,
    };
    let stay: Vec<ThreadId> =
        waiting.iter().filter(|it| is_blocked_for_ever(it)).map(|it| it.thread).collect();
    let may_continue = |thread: &ThreadId| !stay.contains(thread) && run.ended_by != Some(*thread);
    (0..run.threads as u16).map(ThreadId).filter(may_continue).collect()
}

/// Whether an execution made the steps of a schedule in their order. What the last step of each thread saw is its own
/// affair; that it was made is not.
pub(crate) fn followed(schedule: &[StepId], path: &Path, forest: &Forest) -> bool {
    let mut made = path.steps.iter().map(|id| forest.step(*id)).peekable();
    schedule.iter().map(|id| forest.step(*id)).all(|wanted| {
        // Nobody is stopped before its end.
        while made.next_if(|made| made.only_ends() && !wanted.only_ends()).is_some() {}
        made.next().is_some_and(|made| {
            wanted.thread == made.thread && wanted.parent == made.parent && wanted.op == made.op
        })
    })
}
