//! Condition variables.

use std::ffi::{c_int, c_void};

use libc::{pthread_cond_t, pthread_mutex_t, timespec};
use threadbare_trace::{EventKind, FailureKind, ThreadId};

use super::mutex::{self, Mutex};
use super::queue::{ANY, Queue};
use super::{Limit, note, note_life, step, step_when};
use crate::cancel;
use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::shared_memory::fail;
use crate::time;

/// A condition variable.
#[derive(Default)]
pub struct Cond {
    queue: Queue,
}

/// One wait in progress; lives on the waiting thread's stack.
struct Wait {
    cond: *const Cond,
    mutex: *const Mutex,
    address: usize,
    ticket: u64,
    may_end_early: bool,
}

impl Waitable for Wait {
    fn ready(&self, fiber: &Fiber) -> bool {
        // SAFETY: table entries are never dropped.
        let (cond, mutex) = unsafe { (&*self.cond, &*self.mutex) };
        mutex.is_free() && (self.may_end_early || cond.queue.is_woken(self.ticket) || cancel::is_due(fiber))
    }

    fn what(&self) -> String {
        // SAFETY: as above.
        let (cond, mutex) = unsafe { (&*self.cond, &*self.mutex) };
        if cond.queue.is_woken(self.ticket) || self.may_end_early {
            mutex.what()
        } else {
            format!("a signal on <obj {:#x}>", self.address)
        }
    }

    fn holder(&self) -> Option<ThreadId> {
        // SAFETY: as above.
        let (cond, mutex) = unsafe { (&*self.cond, &*self.mutex) };
        cond.queue.is_woken(self.ticket).then(|| mutex.holder()).flatten()
    }
}

fn at(address: usize) -> &'static mut Cond {
    let cond: *mut Cond = &mut **engine().world.conds.entry(address).or_default();
    // SAFETY: boxed and never dropped.
    unsafe { &mut *cond }
}

/// Waits; returns an error number. The mutex comes as a plain pointer for the reason in
/// [`mutex::lock`].
pub fn wait(cond: usize, mutex: *mut Mutex, limit: Limit, pc: u64) -> c_int {
    let fiber = engine().current();
    cancel::check(fiber);
    step(EventKind::CondWait, cond, pc);
    // SAFETY: table entries are never dropped; the reference ends before anybody else runs.
    let address = unsafe {
        mutex::must_hold(&*mutex, "waits on a condition variable");
        note(EventKind::CondWait, cond, (*mutex).address as u64);
        (*mutex).give(fiber);
        (*mutex).address as u64
    };
    let ticket = at(cond).queue.join(ANY);
    let may_end_early = limit.timed() || engine().spurious;
    let waiting = Wait { cond: at(cond), mutex, address: cond, ticket, may_end_early };
    step_when(EventKind::CondWake, cond, pc, Some(&raw const waiting), false);
    let woken = at(cond).queue.leave(ticket);
    // SAFETY: as above; from here on nobody else runs.
    unsafe { (*mutex).take(fiber) };
    if woken {
        note(EventKind::CondWake, cond, address);
        return 0;
    }
    fiber.made_no_progress();
    note(EventKind::CondTimeout, cond, address);
    cancel::check(fiber);
    if limit.timed() && !engine().spurious_instead_of_timeout() {
        limit.reached();
        return libc::ETIMEDOUT;
    }
    0
}

impl crate::engine::Engine {
    /// Where both could end a wait early, they take turns, by the steps made so far.
    pub(super) fn spurious_instead_of_timeout(&self) -> bool {
        self.spurious && self.shared.control().steps.is_multiple_of(2)
    }
}

/// Wakes one waiter, or all.
pub fn signal(cond: usize, all: bool, pc: u64) -> c_int {
    let kind = if all { EventKind::CondBroadcast } else { EventKind::CondSignal };
    step(kind, cond, pc);
    let place = at(cond);
    note(kind, cond, place.queue.waiting() as u64);
    if place.queue.wake(if all { usize::MAX } else { 1 }, ANY) > 0 {
        engine().changed();
    }
    0
}

/// Begins anew.
pub fn init(cond: usize, pc: u64) {
    note_life(EventKind::Init, cond, pc);
    *at(cond) = Cond::default();
}

/// Destroys it.
pub fn destroy(cond: usize, pc: u64) -> c_int {
    step(EventKind::Destroy, cond, pc);
    let fiber = engine().current();
    if at(cond).queue.waiting() > 0 {
        fail(
            FailureKind::Misuse,
            format_args!("{} destroys <obj {cond:#x}> while threads wait on it", fiber.id),
        );
    }
    note(EventKind::Destroy, cond, 0);
    0
}

interpose! {
    /// Initialises a condition variable.
    fn pthread_cond_init(cond: *mut pthread_cond_t, attributes: *const c_void) -> c_int {
        let pc = site();
        init(cond as usize, pc);
        real!(pthread_cond_init as unsafe extern "C-unwind" fn(*mut pthread_cond_t, *const c_void) -> c_int)(cond, attributes)
    }
    /// Destroys a condition variable.
    fn pthread_cond_destroy(cond: *mut pthread_cond_t) -> c_int {
        destroy(cond as usize, site())
    }
    /// Waits for a signal.
    fn pthread_cond_wait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int {
        let pc = site();
        wait(cond as usize, mutex::at(mutex as usize), Limit::Forever, pc)
    }
    /// Waits for a signal until a time.
    fn pthread_cond_timedwait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int {
        let pc = site();
        match time::deadline(until) {
            Ok(limit) => wait(cond as usize, mutex::at(mutex as usize), limit, pc),
            Err(error) => error,
        }
    }
    /// Waits for a signal until a time on a clock.
    fn pthread_cond_clockwait(cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: c_int, until: *const timespec) -> c_int {
        let pc = site();
        match time::deadline(until) {
            Ok(limit) => wait(cond as usize, mutex::at(mutex as usize), limit, pc),
            Err(error) => error,
        }
    }
    /// Wakes one waiter.
    fn pthread_cond_signal(cond: *mut pthread_cond_t) -> c_int {
        let pc = site();
        signal(cond as usize, false, pc)
    }
    /// Wakes all waiters.
    fn pthread_cond_broadcast(cond: *mut pthread_cond_t) -> c_int {
        let pc = site();
        signal(cond as usize, true, pc)
    }
}
