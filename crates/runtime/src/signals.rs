//! Signals: fatal ones end the execution with a report; those that threads send each other are
//! delivered when their receiver is chosen to run.

use std::ffi::{c_int, c_void};

use libc::{pthread_t, sigset_t, timespec};
use threadbare_trace::EventKind;

use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, site};
use crate::program::threads::find;
use crate::sync::{Limit, note, or_errno, step, step_when};
use crate::{identity, process, sys, time};

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

/// Whether this runtime catches a signal.
pub fn catches(signal: c_int) -> bool {
    // SAFETY: only reads the disposition.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action);
        is_ours(action.sa_sigaction)
    }
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
    if signal == libc::SIGSEGV && crate::spin::explains(pc) {
        return;
    }
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

/// The signals that wait for this thread, or for any.
fn waiting(fiber: &Fiber) -> u64 {
    fiber.signals | engine().world.process_signals
}

/// Takes one of these signals off those that wait.
fn take(fiber: &mut Fiber, among: u64) -> c_int {
    let own = fiber.signals & among;
    let chosen = if own != 0 { own } else { engine().world.process_signals & among };
    let signal = chosen.trailing_zeros() as c_int + 1;
    if own != 0 {
        fiber.signals &= !bit(signal);
    } else {
        engine().world.process_signals &= !bit(signal);
    }
    signal
}

/// Whether a signal waits to be delivered to this thread.
pub fn is_due(fiber: &Fiber) -> bool {
    waiting(fiber) & !fiber.blocked_signals != 0
}

/// Runs the handlers of signals that wait for this thread.
///
/// By pointer: a handler makes operations of its own, in which the same thread is at work.
pub fn deliver(fiber: *mut Fiber) {
    // SAFETY: the running thread; its notes are used only between handlers.
    unsafe {
        while is_due(&*fiber) {
            let signal = take(&mut *fiber, !(*fiber).blocked_signals);
            let (pending, wait, timed) = ((*fiber).pending, (*fiber).wait, (*fiber).timed);
            let blocked = (*fiber).blocked_signals;
            (*fiber).wait = None;
            note(EventKind::Signal, 0, signal as u64);
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut action);
            let handler = action.sa_sigaction;
            if handler == libc::SIG_DFL || is_ours(handler) {
                act_as_the_kernel_would(signal);
            } else if handler != libc::SIG_IGN {
                (*fiber).blocked_signals |= bits(&action.sa_mask);
                if action.sa_flags & libc::SA_NODEFER == 0 {
                    (*fiber).blocked_signals |= bit(signal);
                }
                if action.sa_flags & libc::SA_RESETHAND != 0 {
                    libc::signal(signal, libc::SIG_DFL);
                }
                run_handler(&action, signal);
                (*fiber).handled_signals += 1;
            }
            (*fiber).blocked_signals = blocked;
            (*fiber).pending = pending;
            (*fiber).wait = wait;
            (*fiber).timed = timed;
        }
    }
}

unsafe fn run_handler(action: &libc::sigaction, signal: c_int) {
    // SAFETY: the program registered the handler with the form that its flags say.
    unsafe {
        if action.sa_flags & libc::SA_SIGINFO != 0 {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            info.si_signo = signal;
            let mut context: libc::ucontext_t = std::mem::zeroed();
            let handler: unsafe extern "C-unwind" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                std::mem::transmute(action.sa_sigaction);
            handler(signal, &mut info, (&raw mut context).cast());
        } else {
            let handler: unsafe extern "C-unwind" fn(c_int) = std::mem::transmute(action.sa_sigaction);
            handler(signal);
        }
    }
}

fn act_as_the_kernel_would(signal: c_int) {
    set_kernel_mask(libc::SIG_UNBLOCK, bit(signal));
    // SAFETY: sends this process a signal for which it has no handler.
    unsafe {
        let process = sys::call(libc::SYS_getpid, [0; 6]);
        sys::call(libc::SYS_kill, [process as usize, signal as usize, 0, 0, 0, 0]);
    }
}

/// Signals that the kernel sends a thread for what it just did. It knows nothing of the program's
/// own threads, so for these its mask follows the program's.
const BY_KERNEL: u64 = (1 << (libc::SIGPIPE - 1)) | (1 << (libc::SIGXFSZ - 1));

fn set_kernel_mask(how: c_int, signals: u64) {
    // SAFETY: a set of eight bytes.
    unsafe {
        sys::call(libc::SYS_rt_sigprocmask, [how as usize, &raw const signals as usize, 0, 8, 0, 0]);
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
    set_kernel_mask(libc::SIG_BLOCK, fiber.blocked_signals & BY_KERNEL);
    set_kernel_mask(libc::SIG_UNBLOCK, !fiber.blocked_signals & BY_KERNEL);
    deliver(fiber);
    0
}

/// Signals a thread waits for; lives on its stack.
struct Arrival(u64);

impl Waitable for Arrival {
    fn ready(&self, fiber: &Fiber) -> bool {
        waiting(fiber) & self.0 != 0
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
    let signal = take(fiber, set);
    note(EventKind::Signal, 0, signal as u64);
    Ok(signal)
}

/// A handler that has to run before a thread goes on; lives on its stack.
struct Interruption(u64);

impl Waitable for Interruption {
    fn ready(&self, fiber: &Fiber) -> bool {
        fiber.handled_signals != self.0
    }

    fn what(&self) -> String {
        "a signal to be sent".to_string()
    }
}

/// Waits until a handler has run; returns an error number.
fn suspend(pc: u64) -> c_int {
    let fiber = engine().current();
    let interruption = Interruption(fiber.handled_signals);
    deliver(fiber);
    step_when(EventKind::Signal, 0, pc, Some(&raw const interruption), false);
    libc::EINTR
}

/// Sends a signal to a thread; returns an error number.
pub fn send_to_thread(target: Option<&mut Fiber>, signal: c_int) -> c_int {
    match target {
        _ if !(0..=64).contains(&signal) => libc::EINVAL,
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

/// Sends a signal to a process; returns an error number. In this process any thread that has not
/// blocked it may come to handle it.
pub fn send(process: c_int, signal: c_int) -> c_int {
    let engine = engine();
    match identity::receiver(process) {
        None if !(0..=64).contains(&signal) => libc::EINVAL,
        None => {
            if signal != 0 {
                engine.world.process_signals |= bit(signal);
                engine.changed();
                deliver(engine.current());
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
        send_to_thread(find(thread), signal)
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
        step(EventKind::Signal, 0, site());
        or_errno(send(process, signal))
    }
    /// Sends a signal to a thread by its number.
    fn tgkill(process: c_int, thread: c_int, signal: c_int) -> c_int {
        step(EventKind::Signal, 0, site());
        or_errno(send_to_thread(identity::find_thread(thread), signal))
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
        or_errno(suspend(pc))
    }
    /// Waits for a signal with another mask.
    fn sigsuspend(mask: *const sigset_t) -> c_int {
        let pc = site();
        let fiber = engine().current();
        let blocked = std::mem::replace(&mut fiber.blocked_signals, bits(mask));
        let error = suspend(pc);
        fiber.blocked_signals = blocked;
        or_errno(error)
    }
    /// The blocked signals that wait for the thread.
    fn sigpending(set: *mut sigset_t) -> c_int {
        libc::sigemptyset(set);
        let fiber = engine().current();
        *set.cast::<u64>() = waiting(fiber) & fiber.blocked_signals;
        0
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
