//! Checkpoints: copies of the program that an execution leaves behind, so that others with the same beginning can
//! continue from there.
//!
//! What happens up to a checkpoint must not depend on what the schedule says of later steps. Where a thread yielded by itself that is
//! not so, since it waits longer while a schedule has switches left; and where the schedule stops a thread at memory of its own
//! there is no step without it. No copies are left behind there.

use std::ffi::c_int;

use threadbare_sched::Policy as _;
use threadbare_wire::{CheckpointRecord, MOST_LEFT, ReplyKind, Status, flags};

use crate::engine::Engine;
use crate::{server, steered, sys, threads};

/// Where copies are left behind.
pub struct Checkpoints {
    /// The visible steps after which the next one is due.
    next: u64,
    /// What the program had written when its first thread was about to start.
    written: i64,
}

impl Default for Checkpoints {
    fn default() -> Checkpoints {
        Checkpoints { next: u64::MAX, written: 0 }
    }
}

impl Checkpoints {
    /// What comes from now on may depend on what the schedule says of later steps.
    pub fn leave_no_more(&mut self) {
        self.next = u64::MAX;
    }
}

/// If the plan asks for it, stays before the first step, and returns in each copy that is to run a plan.
pub fn stop_at_the_beginning(engine: &Engine) {
    if engine.shared.control().plan.flags & flags::CHECKPOINTS == 0 {
        return;
    }
    engine.world.checkpoints.borrow_mut().written = written();
    server::report(ReplyKind::Paused);
    steered::take_orders(engine);
    take_up(engine);
}

/// Leaves a copy behind at this decision if it is time, and returns in each copy that is to continue from here with
/// another plan.
#[inline]
pub fn leave_one_if_due(engine: &Engine) {
    if engine.shared.control().steps >= engine.world.checkpoints.borrow_mut().next {
        leave_one(engine);
    }
}

#[cold]
fn leave_one(engine: &Engine) {
    let fiber = engine.current();
    if engine.policy.borrow_mut().stop_before(fiber.id) == Some(fiber.pending.borrow_mut().index) {
        return;
    }
    let mut control = engine.shared.control();
    let number = control.leaving.left as usize;
    let is_room = number < MOST_LEFT && control.leaving.left < control.leaving.most;
    let has_reported = written() != engine.world.checkpoints.borrow_mut().written || control.learned_out != 0;
    if !is_room || has_reported || steered::why_not_split(engine).is_some() {
        engine.world.checkpoints.borrow_mut().leave_no_more();
        return;
    }
    let slot = control.leaving.slots[number];
    // SAFETY: this process has one thread.
    let copy = unsafe { sys::fork_sibling() };
    if copy == 0 {
        engine.world.order_slot.set(slot);
        server::die_with_server();
        steered::take_orders(engine);
        take_up(engine);
        engine.policy.set(threads::build_policy(&engine.shared));
        // It counts steps, some policies from the beginning.
        for event in engine.shared.events() {
            engine.policy.borrow_mut().executed_before(event.thread, event.pc);
        }
        return;
    }
    if copy < 0 {
        engine.world.checkpoints.borrow_mut().leave_no_more();
        return;
    }
    control.checkpoints[number] = CheckpointRecord {
        steps: control.steps,
        events: control.events,
        switches: control.switches,
        decisions: control.decisions,
        contexts: control.contexts,
        touches: control.touches,
        op: fiber.pending.borrow_mut().index,
        threads: control.threads,
        peak_threads: control.peak_threads,
        slot,
        process: copy,
        thread: fiber.id,
        spare: 0,
    };
    control.leaving.left += 1;
    engine.world.checkpoints.borrow_mut().next = control.steps.saturating_add(control.leaving.gap.max(1));
}

/// This process is the copy that runs the plan now; the driver has put back what was recorded so far.
fn take_up(engine: &Engine) {
    let mut control = engine.shared.control();
    control.child = sys::process();
    control.status = Status::Running as u32;
    crate::dependences::write_again();
    engine.world.checkpoints.borrow_mut().next = match control.leaving.first {
        0 => u64::MAX,
        first => first,
    };
}

/// How much the program has written to its output.
fn written() -> i64 {
    const OUTPUT: c_int = 1;
    // SAFETY: the call fills in what it is given, or fails and leaves it as it is.
    unsafe {
        let mut file: libc::stat = std::mem::zeroed();
        sys::call(libc::SYS_fstat, [OUTPUT as usize, &raw mut file as usize, 0, 0, 0, 0]);
        file.st_size
    }
}
