//! Waiting for signals.

use std::ffi::c_int;

use libc::{sigset_t, timespec};
use threadbare_trace::EventKind;

use super::deliver::{lie_behind, take};
use super::interrupt::{Details, pending_for};
use super::mask;
use crate::engine::engine;
use crate::fiber::{Breaks, Fiber, Waitable};
use crate::interpose::{interpose, site};
use crate::sync::{Limit, or_errno, step_when};
use crate::{cancel, time};

/// Signals a thread waits for; lives on its stack.
struct Arrival(u64);

impl Waitable for Arrival {
    fn ready(&self, fiber: &Fiber) -> bool {
        pending_for(fiber, self.0).is_some() || cancel::is_due(fiber)
    }

    fn what(&self) -> String {
        "a signal to be sent".to_string()
    }

    fn breaks(&self) -> Breaks {
        Breaks::Always
    }
}

/// A signal that has been waited for.
struct Arrived {
    signal: c_int,
    details: Details,
}

fn wait(set: u64, limit: Limit, pc: u64) -> Result<Arrived, c_int> {
    super::before_call(pc);
    let fiber = engine().current();
    cancel::check(fiber);
    if let Some(signal) = super::send::take_early(set) {
        return Ok(Arrived { signal, details: Details::new(signal, libc::SI_USER, 0) });
    }
    let arrival = Arrival(set);
    let timed_out = step_when(EventKind::Signal, 0, pc, Some(&raw const arrival), limit.until());
    cancel::check(fiber);
    if fiber.take_broken_off() {
        return Err(libc::EINTR);
    }
    match pending_for(fiber, set).filter(|_| !timed_out) {
        Some(interrupt) => {
            take(interrupt);
            Ok(Arrived { signal: interrupt.signal, details: interrupt.details })
        }
        None => {
            limit.reached();
            fiber.waited_in_vain(limit);
            Err(libc::EAGAIN)
        }
    }
}

/// A handler that has to run before a thread continues; lives on its stack.
struct Handled(u64);

impl Waitable for Handled {
    fn ready(&self, fiber: &Fiber) -> bool {
        fiber.handled_signals.get() != self.0 || cancel::is_due(fiber)
    }

    fn what(&self) -> String {
        "a signal to be sent".to_string()
    }
}

/// Waits until a handler has run; returns an error number.
fn suspend(pc: u64) -> c_int {
    let fiber = engine().current();
    cancel::check(fiber);
    if super::send::deliver_before_the_start() {
        return libc::EINTR;
    }
    let handled = Handled(fiber.handled_signals.get());
    step_when(EventKind::Signal, 0, pc, Some(&raw const handled), None);
    cancel::check(fiber);
    let last = fiber.past_handlers.borrow_mut().last().copied();
    lie_behind(|id, signal| last == Some((id, signal)));
    libc::EINTR
}

/// What the C library returns for it, with the details filled in.
unsafe fn returned(arrived: Result<Arrived, c_int>, info: *mut libc::siginfo_t) -> c_int {
    match arrived {
        Ok(arrived) => {
            if !info.is_null() {
                // SAFETY: the program passed a place for the details.
                unsafe { *info.cast::<Details>() = arrived.details };
            }
            arrived.signal
        }
        Err(error) => or_errno(error),
    }
}

interpose! {
    /// Waits for a signal of a set.
    fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int {
        let pc = site();
        loop {
            match wait(mask::bits(set), Limit::Forever, pc) {
                Ok(arrived) => {
                    *signal = arrived.signal;
                    return 0;
                }
                // The C library waits again.
                Err(libc::EINTR) => {}
                Err(error) => return error,
            }
        }
    }
    /// Waits for a signal of a set, with details.
    fn sigwaitinfo(set: *const sigset_t, info: *mut libc::siginfo_t) -> c_int {
        let pc = site();
        returned(wait(mask::bits(set), Limit::Forever, pc), info)
    }
    /// Waits for a signal of a set for a time.
    fn sigtimedwait(set: *const sigset_t, info: *mut libc::siginfo_t, length: *const timespec) -> c_int {
        let pc = site();
        if length.is_null() {
            return returned(wait(mask::bits(set), Limit::Forever, pc), info);
        }
        match time::duration(length) {
            Ok(limit) => returned(wait(mask::bits(set), limit, pc), info),
            Err(error) => or_errno(error),
        }
    }
    /// Waits for any signal.
    fn pause() -> c_int {
        let pc = site();
        super::before_call(pc);
        or_errno(suspend(pc))
    }
    /// Waits for a signal with another mask.
    fn sigsuspend(mask: *const sigset_t) -> c_int {
        let pc = site();
        super::before_call(pc);
        or_errno(mask::during(mask, pc, || suspend(pc)))
    }
}
