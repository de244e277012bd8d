//! Executions that continue from a checkpoint of an earlier one with the same prefix.
//!
//! While executions are made in this way, the server's only copy is stopped before the first step; copies of it run the plans, and
//! leave copies of themselves behind. All of these end with the next ordinary run.

use std::sync::Arc;

use threadbare_sched::PolicySpec;
use threadbare_trace::ThreadId;
use threadbare_wire::{CheckpointRecord, Leaving, MOST_LEFT, Order, ReplyKind, Request, SwitchRecord, flags};

use crate::execution::Execution;
use crate::server::{CopyReport, Server};
use crate::server_error::RunError;
use crate::steering::{HOME, Snapshot, Stop};

/// How executions are to leave copies behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckpointSpacing {
    /// The visible steps from one to the next.
    pub gap: u64,
    /// The most that one execution leaves; more than [`MOST_LEFT`] are not possible.
    pub most: usize,
}

/// A copy that was left behind.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    record: CheckpointRecord,
    /// What was run when it was left.
    pub run: Arc<Execution>,
}

/// What came of a run that may leave copies behind.
pub struct Ran {
    /// The execution, whole.
    pub run: Arc<Execution>,
    /// The copies that it left behind.
    pub left: Vec<Checkpoint>,
}

impl Checkpoint {
    /// The visible steps that need not be made again.
    pub fn steps(&self) -> u64 {
        self.record.steps
    }

    /// The switches before it.
    pub fn switches(&self) -> &[SwitchRecord] {
        &self.run.switches[..self.record.switches as usize]
    }

    /// The running thread, and its operation that comes next.
    pub fn next_operation(&self) -> (ThreadId, u32) {
        (self.record.thread, self.record.op)
    }

    fn is_whole(&self) -> bool {
        let (record, run) = (&self.record, &*self.run);
        let touches = run.touches.as_ref().map_or(0, Vec::len) as u64;
        record.events <= run.events.len() as u64
            && record.switches <= run.switches.len() as u64
            && record.contexts <= run.contexts.len() as u64
            && record.touches <= touches
            && record.decisions == 0
    }
}

impl Server {
    /// Runs a plan from its beginning, or from a checkpoint whose switches are a prefix of it; then the policy's switches are the rest. Returns the
    /// execution, as if it had been made from its beginning, with the copies that it left behind. None if no copies can be made.
    pub fn run_from(
        &mut self,
        from: Option<&Checkpoint>,
        policy: &PolicySpec,
        flags: u32,
        spacing: CheckpointSpacing,
    ) -> Result<Option<Ran>, RunError> {
        // Copies in the middle of executions would find the files of others.
        if self.place.is_known() {
            return Ok(None);
        }
        let _turn = self.place.take_turn();
        let ran = self.run_from_in_turn(from, policy, flags, spacing);
        let changes = self.changes_outside(self.baseline.file_changes);
        self.put_files_back();
        if changes {
            self.place.becomes_known();
        }
        // Others may have been in the way: once more, alone.
        if changes && ran.is_ok() && self.place.has_company() { Ok(None) } else { ran }
    }

    fn run_from_in_turn(
        &mut self,
        from: Option<&Checkpoint>,
        policy: &PolicySpec,
        flags: u32,
        spacing: CheckpointSpacing,
    ) -> Result<Option<Ran>, RunError> {
        let flags = self.options.flags | flags | flags::CHECKPOINTS;
        if self.copies.refuses || (from.is_none() && !self.stop_before_first_step(policy, flags)?) {
            return Ok(None);
        }
        self.prepare(policy, flags)?;
        if let Some(checkpoint) = from {
            self.restore_records(checkpoint);
        }
        let begin = from.map_or(0, Checkpoint::steps);
        let leaving = self.leaving(begin, spacing);
        self.memory.control_mut().leaving = leaving;
        let slot = from.map_or(HOME, |checkpoint| checkpoint.record.slot);
        if !self.memory.give_order(slot, Order::Split, HOME) {
            return Err(self.lost());
        }
        let Some(reply) = self.await_end()? else {
            self.copies.refuses |= from.is_none();
            return Ok(None);
        };
        let mut run = self.collect(flags, &reply)?;
        if let (Some((number, _)), Some(checkpoint)) = (&mut run.divergence, from) {
            *number += checkpoint.record.switches;
        }
        let run = Arc::new(run);
        let control = self.memory.control();
        let left = control.checkpoints.iter().take(control.leaving.left as usize);
        let left: Vec<Checkpoint> =
            left.map(|record| Checkpoint { record: *record, run: Arc::clone(&run) }).collect();
        for checkpoint in &left {
            self.copies.stopped.insert(checkpoint.record.slot, checkpoint.record.process);
        }
        let (kept, broken) = left.into_iter().partition(Checkpoint::is_whole);
        self.forget(broken);
        Ok(Some(Ran { run, left: kept }))
    }

    /// Whether executions can still continue from a checkpoint.
    pub fn keeps(&self, checkpoint: &Checkpoint) -> bool {
        let CheckpointRecord { slot, process, .. } = checkpoint.record;
        let knows_all = self.copies.known == (self.learned(), self.pool());
        knows_all && self.copies.stopped.get(&slot) == Some(&process)
    }

    /// Discards checkpoints.
    pub fn forget(&mut self, checkpoints: Vec<Checkpoint>) {
        for checkpoint in checkpoints {
            if self.copies.stopped.get(&checkpoint.record.slot) == Some(&checkpoint.record.process) {
                self.discard(Snapshot(checkpoint.record.slot));
            }
        }
    }

    /// Makes sure that a copy is stopped before the first step, and knows all that the server has learned. Returns whether it is.
    fn stop_before_first_step(&mut self, policy: &PolicySpec, flags: u32) -> Result<bool, RunError> {
        let known = (self.learned(), self.pool());
        if self.copies.at_beginning && self.copies.known == known {
            return Ok(true);
        }
        self.end_steering()?;
        self.prepare(policy, flags)?;
        (self.copies.active, self.copies.at_beginning, self.copies.known) = (true, true, known);
        self.request(Request::Steer)?;
        Ok(matches!(self.await_stop(HOME)?, Stop::Paused(_)))
    }

    /// Where the next execution may leave copies behind.
    fn leaving(&mut self, begin: u64, spacing: CheckpointSpacing) -> Leaving {
        let most = spacing.most.min(MOST_LEFT);
        let mut slots = [0; MOST_LEFT];
        for (slot, free) in slots.iter_mut().zip(self.copies.free_slots()).take(most) {
            *slot = free;
        }
        let first = if most == 0 { 0 } else { begin.saturating_add(spacing.gap.max(1)) };
        Leaving { first, gap: spacing.gap, slots, most: most as u32, left: 0 }
    }

    /// Restores what the execution had recorded up to a checkpoint.
    fn restore_records(&mut self, checkpoint: &Checkpoint) {
        let Checkpoint { record, run } = checkpoint;
        let layout = *self.memory.layout();
        let touches = run.touches.as_deref().unwrap_or_default();
        // SAFETY: each area is written with the type the layout sizes it for; what is written came out of it.
        unsafe {
            self.memory.write(layout.events, 0, &run.events[..record.events as usize]);
            self.memory.write(layout.switches, 0, &run.switches[..record.switches as usize]);
            self.memory.write(layout.contexts, 0, &run.contexts[..record.contexts as usize]);
            self.memory.write(layout.touches, 0, &touches[..record.touches as usize]);
        }
        let control = self.memory.control_mut();
        control.steps = record.steps;
        control.events = record.events;
        control.switches = record.switches;
        control.contexts = record.contexts;
        control.touches = record.touches;
        control.threads = record.threads;
        control.peak_threads = record.peak_threads;
    }

    /// Waits for the end of the copy that runs; none if it was not made.
    fn await_end(&mut self) -> Result<Option<CopyReport>, RunError> {
        loop {
            let reply = self.await_report()?;
            match reply.kind {
                ReplyKind::Refused => return Ok(None),
                ReplyKind::Ended if reply.process == self.memory.control().child => return Ok(Some(reply)),
                // Others were asked to end, or the system ended them.
                ReplyKind::Ended => self.copies.has_ended(reply.process),
                ReplyKind::Paused | ReplyKind::Serving | ReplyKind::AllEnded => return Err(self.lost()),
            }
        }
    }
}
