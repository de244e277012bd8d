//! Signals: fatal ones end the execution with a report; those that threads send each other are
//! delivered when their receiver is chosen to run.

use std::ffi::{c_int, c_void};

use libc::{pthread_t, sigset_t, timespec};
use threadbare_trace::EventKind;

use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::program::threads::find;
use crate::sync::{Limit, note, or_errno, step, step_when};
use crate::{process, sys, time};

const FATAL: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGSYS];

/// Catches fatal signals, on a stack of their own: the program's may be the trouble.
pub fn init() {
    const STACK: usize = 128 * 1024;
    // SAFETY: the stack is fresh memory; the handler is async-signal-safe in that the process
    // never returns to what it was doing.
    unsafe {
        let stack = libc::stack_t { ss_sp: sys::map(STACK).cast(), ss_flags: 0, ss_size: STACK };
        libc::sigaltstack(&stack, std::ptr::null_mut());
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = caught as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        for signal in FATAL {
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// Whether a handler is this runtime's.
pub fn is_ours(handler: usize) -> bool {
    handler == caught as *const () as usize
}

extern "C" fn caught(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    if !crate::interpose::controlled() {
        // SAFETY: back to the default, and the instruction runs into it again.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    }
    // SAFETY: the kernel passes valid records.
    let (address, pc) = unsafe {
        let context = &*context.cast::<libc::ucontext_t>();
        ((*info).si_addr() as usize, context.uc_mcontext.gregs[libc::REG_RIP as usize] as u64)
    };
    let engine = engine();
    engine.forget_write();
    // Inside the runtime the announced operation says more than the faulting instruction.
    if !engine.world.libraries.is_system(pc) {
        // Return addresses point behind the call; make this one look alike.
        engine.current().pending.site = pc + 1;
    }
    process::killed_by(signal, address)
}

fn bit(signal: c_int) -> u64 {
    1u64.checked_shl(signal.wrapping_sub(1) as u32).unwrap_or(0)
}

/// Whether a signal waits to be delivered to this thread.
pub fn is_due(fiber: &Fiber) -> bool {
    fiber.signals & !fiber.blocked_signals != 0
}

/// Runs the handlers of signals that wait for this thread.
pub fn deliver(fiber: &mut Fiber) {
    while is_due(fiber) {
        let signal = (fiber.signals & !fiber.blocked_signals).trailing_zeros() as c_int + 1;
        fiber.signals &= !bit(signal);
        let (pending, wait, timed) = (fiber.pending, fiber.wait.take(), fiber.timed);
        note(EventKind::Signal, 0, signal as u64);
        // SAFETY: the disposition is the program's own.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut action);
            match action.sa_sigaction {
                libc::SIG_IGN => {}
                handler if handler == libc::SIG_DFL || is_ours(handler) => {
                    sys::call(libc::SYS_kill, [sys::call(libc::SYS_getpid, [0; 6]) as usize, signal as usize, 0, 0, 0, 0]);
                }
                handler if action.sa_flags & libc::SA_SIGINFO != 0 => {
                    let mut info: libc::siginfo_t = std::mem::zeroed();
                    info.si_signo = signal;
                    let handler: unsafe extern "C-unwind" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                        std::mem::transmute(handler);
                    handler(signal, &mut info, std::ptr::null_mut());
                }
                handler => {
                    let handler: unsafe extern "C-unwind" fn(c_int) = std::mem::transmute(handler);
                    handler(signal);
                }
            }
        }
        (fiber.pending, fiber.wait, fiber.timed) = (pending, wait, timed);
    }
}

unsafe fn bits(set: *const sigset_t) -> u64 {
    // SAFETY: the first word holds the kernel's 64 signals.
    unsafe { *set.cast::<u64>() }
}

unsafe fn change_mask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
    let fiber = engine().current();
    // SAFETY: the program's own sets.
    unsafe {
        if !old.is_null() {
            libc::sigemptyset(old);
            *old.cast::<u64>() = fiber.blocked_signals;
        }
        if set.is_null() {
            return 0;
        }
        match how {
            libc::SIG_BLOCK => fiber.blocked_signals |= bits(set),
            libc::SIG_UNBLOCK => fiber.blocked_signals &= !bits(set),
            libc::SIG_SETMASK => fiber.blocked_signals = bits(set),
            _ => return libc::EINVAL,
        }
    }
    deliver(fiber);
    0
}

/// Signals a thread waits for; lives on its stack.
struct Arrival(u64);

impl Waitable for Arrival {
    fn ready(&self, fiber: &Fiber) -> bool {
        fiber.signals & self.0 != 0
    }

    fn what(&self) -> String {
        "a signal to be sent".to_string()
    }
}

fn wait(set: u64, limit: Limit, pc: u64) -> Result<c_int, c_int> {
    let fiber = engine().current();
    let arrival = Arrival(set);
    if step_when(EventKind::Signal, 0, pc, Some(&raw const arrival), limit.timed()) {
        limit.reached();
        fiber.made_no_progress();
        return Err(libc::EAGAIN);
    }
    let signal = (fiber.signals & set).trailing_zeros() as c_int + 1;
    fiber.signals &= !bit(signal);
    note(EventKind::Signal, 0, signal as u64);
    Ok(signal)
}

/// Sends a signal to the process: to a thread that waits for it or has not blocked it.
fn send_to_process(signal: c_int) {
    let engine = engine();
    let ids = engine.live().to_vec();
    let takes = |fiber: &Fiber| fiber.blocked_signals & bit(signal) == 0;
    let waits = |fiber: &Fiber| fiber.wait.is_some() && fiber.pending.kind == EventKind::Signal;
    let receiver = ids
        .iter()
        .copied()
        .find(|id| waits(engine.fiber(*id)))
        .or_else(|| ids.iter().copied().find(|id| takes(engine.fiber(*id))))
        .unwrap_or(ids[0]);
    engine.fiber(receiver).signals |= bit(signal);
    engine.changed();
}

interpose! {
    /// Sends a signal to a thread.
    fn pthread_kill(thread: pthread_t, signal: c_int) -> c_int {
        let pc = site();
        step(EventKind::Signal, 0, pc);
        match find(thread) {
            Some(target) if !target.done => {
                if signal != 0 {
                    target.signals |= bit(signal);
                    engine().changed();
                }
                deliver(engine().current());
                0
            }
            _ => libc::ESRCH,
        }
    }
    /// Sends a signal to the running thread.
    fn raise(signal: c_int) -> c_int {
        engine().current().pending.site = site();
        let fiber = engine().current();
        fiber.signals |= bit(signal);
        deliver(fiber);
        0
    }
    /// Sends a signal to a process.
    fn kill(process: c_int, signal: c_int) -> c_int {
        let pc = site();
        if process as isize == sys::call(libc::SYS_getpid, [0; 6]) && signal != 0 {
            step(EventKind::Signal, 0, pc);
            send_to_process(signal);
            deliver(engine().current());
            return 0;
        }
        real!(kill as unsafe extern "C-unwind" fn(c_int, c_int) -> c_int)(process, signal)
    }
    /// Changes the signals the thread blocks.
    fn pthread_sigmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int { change_mask(how, set, old) }
    /// Changes the signals the thread blocks.
    fn sigprocmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int { or_errno(change_mask(how, set, old)) }
    /// Waits for a signal of a set.
    fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int {
        let pc = site();
        match wait(bits(set), Limit::Forever, pc) {
            Ok(arrived) => {
                *signal = arrived;
                0
            }
            Err(error) => error,
        }
    }
    /// Waits for a signal of a set, with details.
    fn sigwaitinfo(set: *const sigset_t, info: *mut libc::siginfo_t) -> c_int {
        let pc = site();
        take_info(wait(bits(set), Limit::Forever, pc), info)
    }
    /// Waits for a signal of a set for a time.
    fn sigtimedwait(set: *const sigset_t, info: *mut libc::siginfo_t, length: *const timespec) -> c_int {
        let pc = site();
        match time::duration(length) {
            Ok(limit) => take_info(wait(bits(set), limit, pc), info),
            Err(error) => or_errno(error),
        }
    }
    /// Waits for any signal.
    fn pause() -> c_int {
        let pc = site();
        let fiber = engine().current();
        let arrival = Arrival(!fiber.blocked_signals);
        step_when(EventKind::Signal, 0, pc, Some(&raw const arrival), false);
        deliver(fiber);
        or_errno(libc::EINTR)
    }
    /// Timers that call functions in threads of their own are beyond control.
    fn timer_create(clock: libc::clockid_t, event: *mut c_void, timer: *mut c_void) -> c_int {
        crate::record::unsupported("timer_create()")
    }
}

unsafe fn take_info(arrived: Result<c_int, c_int>, info: *mut libc::siginfo_t) -> c_int {
    match arrived {
        Ok(signal) => {
            if !info.is_null() {
                // SAFETY: the program passed a place for the details.
                unsafe {
                    *info = std::mem::zeroed();
                    (*info).si_signo = signal;
                }
            }
            signal
        }
        Err(error) => or_errno(error),
    }
}
