//! Checkpoint and restart (§7.6.4 of the thesis on total replay): a schedule that has a prefix in common with an earlier execution is
//! run from the end of that prefix, or a little before.
//!
//! Executions leave copies of themselves behind every so many steps. A schedule can continue from one if it has the
//! switches that led there, and its next one comes no earlier. The execution that results is the same as from the beginning.

use std::collections::VecDeque;
use std::sync::Arc;

use threadbare_sched::{Parameters, PolicySpec, SwitchPoint};
use threadbare_target::{Checkpoint, CheckpointSpacing, Execution, Ran, RunError, Server};
use threadbare_trace::Outcome;
use threadbare_wire::SwitchRecord;

use crate::strategy::Plan;

/// The steps from one checkpoint to the next, at least, by default. To make a copy takes some tenths of a millisecond
/// (`threadbare-bench total` counts copies and time), in which many steps can be made again.
pub const CHECKPOINT_GAP: u64 = 2_000;

/// How many copies are kept.
const MOST_KEPT: usize = 16;

/// How many copies one execution leaves behind.
const MOST_LEFT: usize = 8;

/// What continuing from checkpoints has saved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spared {
    /// Executions that continued from a checkpoint.
    pub executions: u64,
    /// The steps that they did not have to make again.
    pub steps: u64,
    /// The copies that were left behind.
    pub copies: u64,
}

/// The checkpoints of a server.
pub(crate) struct Checkpoints {
    /// The steps from one to the next; none if there are to be none.
    gap: Option<u64>,
    /// Those that were used last come last.
    kept: VecDeque<Kept>,
    /// The steps of the longest execution: one that is shorter than the gap leaves nothing behind.
    longest: u64,
    pub(crate) spared: Spared,
}

struct Kept {
    checkpoint: Checkpoint,
    seed: u64,
    flags: u32,
}

impl Checkpoints {
    pub(crate) fn new(gap: Option<u64>) -> Checkpoints {
        Checkpoints { gap, kept: VecDeque::new(), longest: 0, spared: Spared::default() }
    }

    /// Runs a plan, from a checkpoint if one has a prefix of its switches.
    pub(crate) fn run(
        &mut self,
        server: &mut Server,
        plan: &Plan,
        flags: u32,
    ) -> Result<Execution, RunError> {
        let run = match (self.gap.filter(|gap| *gap < self.longest), switches(plan)) {
            (Some(gap), Some(switches)) => {
                self.kept.retain(|kept| server.keeps(&kept.checkpoint));
                self.run_from_any(server, plan, flags, gap, switches)?
            }
            _ => None,
        };
        let run = match run {
            Some(run) => run,
            None => {
                self.kept.clear();
                server.run(&plan.policy, flags)?
            }
        };
        self.longest = self.longest.max(run.steps);
        Ok(run)
    }

    /// Runs a plan from the nearest checkpoint, or from the beginning if there is none; nothing if no copies can be made.
    fn run_from_any(
        &mut self,
        server: &mut Server,
        plan: &Plan,
        flags: u32,
        gap: u64,
        switches: &[SwitchPoint],
    ) -> Result<Option<Execution>, RunError> {
        // Over all of a long execution, and not only over its beginning.
        let gap = gap.max(self.longest / (MOST_LEFT as u64 + 1));
        let spacing = CheckpointSpacing { gap, most: MOST_LEFT };
        let seed = plan.policy.seed;
        let fits = |kept: &&Kept| {
            (kept.seed, kept.flags) == (seed, flags) && is_on_schedule(&kept.checkpoint, switches)
        };
        let nearest = self.kept.iter().filter(fits).map(|kept| kept.checkpoint.steps()).max();
        let place = self.kept.iter().position(|kept| fits(&kept) && Some(kept.checkpoint.steps()) == nearest);
        if let Some(used) = place.and_then(|place| self.kept.remove(place)) {
            let rest = without_first(&plan.policy, used.checkpoint.switches().len());
            let ran = server.run_from(Some(&used.checkpoint), &rest, flags, spacing)?;
            if let Some(Ran { run, left }) = ran {
                self.spared.executions += 1;
                self.spared.steps += used.checkpoint.steps();
                self.kept.push_back(used);
                return Ok(Some(self.keep(server, run, left, seed, flags)));
            }
            server.forget(vec![used.checkpoint]);
        }
        let ran = server.run_from(None, &plan.policy, flags, spacing)?;
        Ok(ran.map(|Ran { run, left }| self.keep(server, run, left, seed, flags)))
    }

    /// Keeps what an execution left behind, as far as others can continue from it.
    fn keep(
        &mut self,
        server: &mut Server,
        run: Arc<Execution>,
        left: Vec<Checkpoint>,
        seed: u64,
        flags: u32,
    ) -> Execution {
        self.spared.copies += left.len() as u64;
        let whole = Execution::clone(&run);
        let is_of_use = run.divergence.is_none()
            && run.discovered.is_empty()
            && !run.stalled
            && !matches!(run.outcome, Outcome::Uncontrolled(_));
        if is_of_use {
            self.kept.extend(left.into_iter().map(|checkpoint| Kept { checkpoint, seed, flags }));
        } else {
            server.forget(left);
        }
        let too_many = self.kept.len().saturating_sub(MOST_KEPT);
        server.forget(self.kept.drain(..too_many).map(|kept| kept.checkpoint).collect());
        whole
    }
}

/// The switches of a plan that follows some, or is led by some, and may continue from checkpoints.
fn switches(plan: &Plan) -> Option<&[SwitchPoint]> {
    match &plan.policy.parameters {
        _ if !plan.checkpoints => None,
        Parameters::Replay(replay) => Some(&replay.switches),
        Parameters::Guidance(guidance) => Some(&guidance.lead),
        // No other policy is told beforehand where to switch.
        _ => None,
    }
}

/// What is left of a policy after so many switches.
fn without_first(policy: &PolicySpec, made: usize) -> PolicySpec {
    let parameters = match policy.parameters.clone() {
        Parameters::Replay(mut replay) => {
            replay.switches.drain(..made);
            replay.into()
        }
        Parameters::Guidance(mut guidance) => {
            guidance.lead.drain(..made);
            guidance.into()
        }
        other => other,
    };
    PolicySpec { parameters, ..*policy }
}

/// Whether an execution that follows these switches passes a checkpoint, and has at least one switch to make after it: without
/// one it may switch earlier.
fn is_on_schedule(checkpoint: &Checkpoint, switches: &[SwitchPoint]) -> bool {
    let made = checkpoint.switches();
    let is_same = |(made, switch): (&SwitchRecord, &SwitchPoint)| {
        (made.from, made.op, made.to) == (switch.from, switch.op, switch.to)
    };
    let (thread, op) = checkpoint.next_operation();
    let next = switches.get(made.len());
    made.iter().zip(switches).all(is_same) && next.is_some_and(|next| next.from == thread && next.op >= op)
}
