//! Condition variables.

use std::ffi::{c_int, c_void};

use libc::{pthread_cond_t, pthread_mutex_t, timespec};
use threadbare_trace::{EventKind, FailureKind, ThreadId};

use super::mutex::{self, Mutex};
use super::queue::{ANY, Queue};
use super::{Limit, lifetime, note, step, step_when};
use crate::cancel;
use crate::engine::{Engine, engine};
use crate::exclusive::Exclusive;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::shared_memory::fail;
use crate::{thread_state_hash, time};

/// A condition variable.
#[derive(Default)]
pub struct Cond {
    queue: Exclusive<Queue>,
}

/// One wait in progress; lives on the waiting thread's stack.
struct Wait {
    cond: &'static Cond,
    mutex: &'static Mutex,
    address: usize,
    ticket: u64,
    /// It may end although nobody has signalled.
    is_spurious: bool,
    limit: Limit,
}

impl Wait {
    fn is_woken(&self) -> bool {
        self.cond.queue.borrow_mut().is_woken(self.ticket)
    }

    fn may_end_early(&self) -> bool {
        self.is_spurious || self.limit.is_over()
    }
}

impl Waitable for Wait {
    fn ready(&self, fiber: &Fiber) -> bool {
        self.mutex.is_free() && (self.may_end_early() || self.is_woken() || cancel::is_due(fiber))
    }

    fn what(&self) -> String {
        if self.is_woken() || self.may_end_early() {
            self.mutex.what()
        } else {
            format!("a signal on <obj {:#x}>", self.address)
        }
    }

    fn holder(&self) -> Option<ThreadId> {
        self.is_woken().then(|| self.mutex.holder()).flatten()
    }

    fn deadline(&self) -> Option<u64> {
        self.limit.until()
    }

    fn is_not_over(&self) -> bool {
        !self.is_spurious && !self.is_woken()
    }
}

fn at(address: usize) -> &'static Cond {
    engine().world.conds.at(address, Cond::default)
}

/// Others wait for it now, or for other wake-ups.
fn tell_state(cond: usize) {
    let state = at(cond).queue.borrow_mut().state();
    thread_state_hash::is_in_state(cond, state);
}

/// Waits; returns an error number.
pub fn wait(cond: usize, mutex: &'static Mutex, limit: Limit, pc: u64) -> c_int {
    let fiber = engine().current();
    cancel::check(fiber);
    step(EventKind::CondWait, cond, pc);
    if let Err(error) = mutex::must_hold(mutex, "waits on a condition variable") {
        return error;
    }
    let address = mutex.address as u64;
    note(EventKind::CondWait, cond, address);
    mutex.give(fiber);
    let ticket = at(cond).queue.borrow_mut().join(fiber.id, ANY);
    tell_state(cond);
    let is_spurious = engine().spurious.get();
    let waiting = Wait { cond: at(cond), mutex, address: cond, ticket, is_spurious, limit };
    step_when(EventKind::CondWake, cond, pc, Some(&raw const waiting), None);
    let woken = at(cond).queue.borrow_mut().leave(ticket);
    tell_state(cond);
    mutex.take(fiber);
    // Whoever had it meanwhile may have ended with it.
    let owner_died = if mutex.owner_died.get() { libc::EOWNERDEAD } else { 0 };
    if woken {
        note(EventKind::CondWake, cond, address);
        return owner_died;
    }
    fiber.waited_in_vain(limit);
    note(EventKind::CondTimeout, cond, address);
    cancel::check(fiber);
    if limit.is_over() && !spurious_instead_of_timeout(engine()) {
        limit.reached();
        return if owner_died == 0 { libc::ETIMEDOUT } else { owner_died };
    }
    owner_died
}

/// Where both could end a wait early, they take turns, by the steps made so far.
pub(super) fn spurious_instead_of_timeout(engine: &Engine) -> bool {
    engine.spurious.get() && engine.shared.control().steps.is_multiple_of(2)
}

/// Wakes one waiter, or all.
pub fn signal(cond: usize, all: bool, pc: u64) -> c_int {
    let kind = if all { EventKind::CondBroadcast } else { EventKind::CondSignal };
    step(kind, cond, pc);
    let queue = &at(cond).queue;
    let waiting = queue.borrow_mut().waiting();
    note(kind, cond, waiting as u64);
    let woken = queue.borrow_mut().wake(if all { usize::MAX } else { 1 }, ANY);
    tell_state(cond);
    if woken > 0 {
        engine().changed();
    }
    0
}

/// Begins anew.
pub fn init(cond: usize, pc: u64) {
    lifetime::before_init(cond, pc);
    at(cond).queue.set(Queue::default());
    tell_state(cond);
    lifetime::note_init(cond);
}

/// Destroys it.
pub fn destroy(cond: usize, pc: u64) -> c_int {
    step(EventKind::Destroy, cond, pc);
    let fiber = engine().current();
    if at(cond).queue.borrow_mut().waiting() > 0 {
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
        let mut shared = 0;
        if !attributes.is_null() && libc::pthread_condattr_getpshared(attributes.cast(), &mut shared) == 0 && shared != 0 {
            super::between_processes::note_unseen("condition variables that are");
        }
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
        match time::deadline_on(clock, until) {
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
