//! Synchronization primitives, one file each, modelled beside the program's own objects.

pub mod barrier;
pub mod between_processes;
pub mod c11;
pub mod cond;
pub mod futex;
pub mod lifetime;
pub mod mutex;
pub mod once;
mod queue;
pub mod rust_std;
pub mod rwlock;
pub mod semaphore;
pub mod word_locks;

use std::ffi::c_int;

use threadbare_sched::Op;
use threadbare_trace::{Event, EventKind, kinds};

use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};

/// Executions begin: what the main thread has locked before, and holds, is part of their traces.
pub fn begin() {
    let fiber = engine().current();
    let held = fiber.held.borrow_mut().clone();
    if held.is_empty() {
        return;
    }
    let site = fiber.site();
    fiber.set_site(0);
    for address in held {
        mutex::note_held(address, fiber);
        rwlock::note_held(address, fiber);
    }
    fiber.set_site(site);
}

/// How long a wait may last.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// As long as it takes.
    Forever,
    /// Not at all.
    Try,
    /// Until this virtual time in nanoseconds.
    Until(u64),
}

impl Limit {
    /// When time may end the wait.
    pub fn until(self) -> Option<u64> {
        match self {
            Limit::Until(time) => Some(time),
            Limit::Forever | Limit::Try => None,
        }
    }

    /// Whether time may end the wait.
    pub fn timed(self) -> bool {
        matches!(self, Limit::Until(_))
    }

    /// Whether time can have ended the wait.
    pub fn is_over(self) -> bool {
        self.until().is_some_and(crate::time::has_come)
    }

    /// Virtual time has reached the limit.
    pub fn reached(self) {
        if let Limit::Until(deadline) = self {
            engine().world.clock.borrow_mut().reach(deadline);
        }
    }
}

/// Announces an operation that can always be made.
pub fn step(kind: EventKind, object: usize, pc: u64) {
    step_when(kind, object, pc, None, None);
}

/// Announces an operation that can always be made, and of which no other thread can observe when it was: where steps are
/// only what can matter, it is none.
pub fn step_aside(kind: EventKind, pc: u64) {
    let engine = engine();
    let fiber = engine.current();
    if !engine.brief.get() || fiber.ops.get() + 1 == fiber.stop_at.get() {
        step(kind, 0, pc);
        return;
    }
    fiber.count_operation();
    engine.recorder.complete_write();
    fiber.pending.set(Op { kind, object: 0, size: 0, site: pc, index: fiber.ops.get(), place: 0 });
}

/// Announces an operation that can be made once `wait` is ready, or when a time has come;
/// says whether time ended the wait.
pub fn step_when(
    kind: EventKind,
    object: usize,
    pc: u64,
    wait: Option<*const dyn Waitable>,
    until: Option<u64>,
) -> bool {
    let engine = engine();
    let fiber = engine.current();
    fiber.count_operation();
    // Policies ask where locks are taken.
    let place = if kind.acquires_lock() { engine.lock_place(pc) } else { 0 };
    let op = Op { kind, object: object as u64, size: 0, site: pc, index: fiber.ops.get(), place };
    see_that_all_is_recorded(fiber);
    let ended_by_time = engine.point(op, wait, until);
    if is_object(kind) {
        lifetime::see_use(object);
    }
    fiber.unrecorded.set(has_to_be_recorded(kind).then_some((kind, pc)));
    ended_by_time
}

/// Whether a trace lacks something if a step that was announced leaves no record.
fn has_to_be_recorded(kind: EventKind) -> bool {
    use EventKind::*;
    match kind {
        // The end of the process is never recorded, and that of a thread is recorded whatever comes before it. Calls are not announced.
        End | Exit | LibraryCall => false,
        Create | Start | Join | Detach | JoinFailed | Cancel | Io | Process | Fence | Signal | Frame => true,
        kinds!(plain | atomic | lock | condition | barrier | semaphore | once | futex) => true,
        kinds!(heap | object | pause) => true,
    }
}

/// Whoever reasons about traces has to know if a thread's last step on an object left nothing there.
pub fn see_that_all_is_recorded(fiber: &Fiber) {
    if let Some((kind, site)) = fiber.unrecorded.take() {
        crate::dependences::note_unrecorded(kind, site);
    }
}

/// Notes a step on a synchronization object; returns its record, if one is kept.
pub fn note(kind: EventKind, object: usize, value: u64) -> Option<*mut Event> {
    crate::spin::was_harmless(kind);
    crate::thread_state_hash::synchronized(kind, object, value);
    engine().recorder.note(kind, object, 0, value, 0)
}

/// Whether steps of this kind use an object of the program's memory. To wake a futex needs its address only.
fn is_object(kind: EventKind) -> bool {
    use EventKind::*;
    match kind {
        kinds!(lock | condition | barrier | semaphore | once | object) => true,
        Fence | Signal | Frame | kinds!(plain | atomic | futex | thread | heap | pause | outside) => false,
    }
}

/// A result that goes through `errno`.
pub fn or_errno(error: c_int) -> c_int {
    if error == 0 {
        return 0;
    }
    // SAFETY: every thread has an errno.
    unsafe { *libc::__errno_location() = error };
    -1
}
