//! Sending signals.

use std::ffi::{c_int, c_void};

use libc::pthread_t;
use threadbare_trace::{EventKind, ThreadId};

use super::deliver::{act_as_the_kernel_would, call_at_once, lie_behind};
use super::interrupt::{self, Details, Sender, pending};
use super::{bit, mask, signals_in};
use crate::dependences::hidden_objects;
use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, site};
use crate::program::pthreads::find;
use crate::sync::{or_errno, step, step_when};
use crate::{process_identity, sys};

const LAST: c_int = 64;

/// A signal that was sent by its own receiver: it has to be gone before the call returns; lives on the stack.
struct Gone(ThreadId);

impl Waitable for Gone {
    fn ready(&self, _fiber: &Fiber) -> bool {
        engine().fiber(self.0).done.get()
    }

    fn what(&self) -> String {
        format!("the handler {} to return", self.0)
    }
}

/// The signals that wait for a thread, or for any.
pub fn waiting_for(thread: &Fiber) -> u64 {
    let own = pending().filter(|interrupt| interrupt.target.is_none_or(|target| target == thread.id));
    own.fold(thread.early_signals.get(), |mask, interrupt| mask | bit(interrupt.signal))
}

/// Before the first thread, a signal of these that waits is taken.
pub fn take_early(set: u64) -> Option<c_int> {
    let fiber = engine().host();
    let signal = signals_in(fiber.early_signals.get() & set).next().filter(|_| !engine().running.get())?;
    fiber.early_signals.set(fiber.early_signals.get() & !bit(signal));
    Some(signal)
}

/// Before the first thread, signals that are no longer blocked are delivered at once. Says whether there was one.
pub fn deliver_before_the_start() -> bool {
    let fiber = engine().host();
    let mut any = false;
    while !engine().running.get() && fiber.early_signals.get() & !fiber.blocked_signals.get() != 0 {
        let due = signals_in(fiber.early_signals.get() & !fiber.blocked_signals.get()).next();
        let Some(signal) = due else { break };
        fiber.early_signals.set(fiber.early_signals.get() & !bit(signal));
        call_at_once(signal, Details::new(signal, libc::SI_USER, 0));
        any = true;
    }
    any
}

/// When executions begin, what waited since before becomes a thread of its own.
pub fn begin() {
    let fiber = engine().host();
    for signal in signals_in(fiber.early_signals.take()) {
        let details = Details::new(signal, libc::SI_USER, 0);
        interrupt::create(signal, None, Sender::Thread(fiber.id), details);
    }
}

fn post(signal: c_int, target: Option<ThreadId>, details: Details, pc: u64) {
    let engine = engine();
    if signal == libc::SIGKILL || signal == libc::SIGSTOP {
        act_as_the_kernel_would(signal);
        return;
    }
    let host = engine.host();
    if !engine.running.get() {
        host.early_signals.set(host.early_signals.get() | bit(signal));
        if host.blocked_signals.get() & bit(signal) == 0 {
            host.early_signals.set(host.early_signals.get() & !bit(signal));
            call_at_once(signal, details);
        }
        return;
    }
    let created = interrupt::create(signal, target, Sender::Thread(host.id), details);
    let Some(id) = created else { return };
    let lets_through = |fiber: &Fiber| {
        fiber.interrupt.is_none() && !fiber.done.get() && fiber.blocked_signals.get() & bit(signal) == 0
    };
    let mut receivers = engine.threads.live().filter(|fiber| lets_through(fiber)).map(|fiber| fiber.id);
    let is_for_itself = match target {
        Some(target) => target == host.id && lets_through(host),
        // If no other thread can take it, it is delivered before the call returns.
        None => receivers.next() == Some(host.id) && receivers.next().is_none(),
    };
    if is_for_itself {
        let gone = Gone(id);
        step_when(EventKind::Signal, 0, pc, Some(&raw const gone), None);
        lie_behind(|other, _| other == id);
    }
}

fn is_signal(signal: c_int) -> bool {
    (0..=LAST).contains(&signal)
}

/// Sends a signal to a thread; returns an error number.
pub fn to_thread(target: Option<&Fiber>, signal: c_int, code: c_int, value: u64, pc: u64) -> c_int {
    match target {
        _ if !is_signal(signal) => libc::EINVAL,
        // Until it is joined, a thread that has ended is still known, and whatever it is sent is lost.
        Some(target) if target.done.get() && !target.joined.get() && !target.detached.get() => 0,
        Some(target) if !target.done.get() => {
            if signal != 0 {
                post(signal, Some(target.id), Details::new(signal, code, value), pc);
            }
            0
        }
        _ => libc::ESRCH,
    }
}

/// The running thread sends itself a signal that it must not block, and has handled it when this returns.
pub fn let_through_to_itself(signal: c_int, pc: u64) {
    let host = engine().host();
    mask::set(host.blocked_signals.get() & !bit(signal), pc);
    to_thread(Some(host), signal, libc::SI_TKILL, 0, pc);
}

/// Sends a signal to a process; returns an error number. In this process any thread that has not
/// blocked it may come to handle it.
pub fn to_process(process: c_int, signal: c_int, code: c_int, value: u64, pc: u64) -> c_int {
    match process_identity::receiver(process) {
        None if !is_signal(signal) => libc::EINVAL,
        None => {
            if signal != 0 {
                post(signal, None, Details::new(signal, code, value), pc);
            }
            0
        }
        Some(other) => {
            // SAFETY: a signal to somebody else.
            unsafe {
                -sys::call(libc::SYS_kill, [other as isize as usize, signal as usize, 0, 0, 0, 0]) as c_int
            }
        }
    }
}

interpose! {
    /// Sends a signal to a thread.
    fn pthread_kill(thread: pthread_t, signal: c_int) -> c_int {
        let pc = site();
        step(EventKind::Signal, 0, pc);
        hidden_objects(&CALLED, &[thread as usize, signal as usize]);
        to_thread(find(thread), signal, libc::SI_TKILL, 0, pc)
    }
    /// Sends a signal with a value to a thread.
    fn pthread_sigqueue(thread: pthread_t, signal: c_int, value: *mut c_void) -> c_int {
        let pc = site();
        step(EventKind::Signal, 0, pc);
        hidden_objects(&CALLED, &[thread as usize, signal as usize]);
        to_thread(find(thread), signal, libc::SI_QUEUE, value as u64, pc)
    }
    /// Sends a signal to the running thread.
    fn raise(signal: c_int) -> c_int {
        let pc = site();
        engine().current().set_site(pc);
        or_errno(to_thread(Some(engine().host()), signal, libc::SI_TKILL, 0, pc))
    }
    /// Sends a signal to a process.
    fn kill(process: c_int, signal: c_int) -> c_int {
        let pc = site();
        step(EventKind::Signal, 0, pc);
        hidden_objects(&CALLED, &[process as usize, signal as usize]);
        or_errno(to_process(process, signal, libc::SI_USER, 0, pc))
    }
    /// Sends a signal with a value to a process.
    fn sigqueue(process: c_int, signal: c_int, value: *mut c_void) -> c_int {
        let pc = site();
        step(EventKind::Signal, 0, pc);
        hidden_objects(&CALLED, &[process as usize, signal as usize]);
        or_errno(to_process(process, signal, libc::SI_QUEUE, value as u64, pc))
    }
    /// Sends a signal to a thread by its number.
    fn tgkill(process: c_int, thread: c_int, signal: c_int) -> c_int {
        let pc = site();
        step(EventKind::Signal, 0, pc);
        hidden_objects(&CALLED, &[thread as usize, signal as usize]);
        or_errno(to_thread(process_identity::find_thread(thread), signal, libc::SI_TKILL, 0, pc))
    }
    /// Sends a signal to the group of processes that this one is in: to this one only.
    fn killpg(group: c_int, signal: c_int) -> c_int {
        crate::shared_memory::unsupported("killpg()")
    }
}
