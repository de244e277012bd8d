//! Signals. Those that are fatal by what a thread just did end the execution with a report; all others are
//! *interrupts as threads* ("total replay", §6.2 and §7.1): sending one makes a thread of its own, which the policy
//! lets run when it likes. What it runs is the handler, on the stack of the thread that it interrupts, which does not
//! run meanwhile.
//!
//! So a delivery is a switch like any other: it is decided, written down, replayed and minimised, and what a
//! handler does is distinguished from what its thread does. What mutually excludes the two is the thread's mask, which is
//! recorded as a lock ([`mask`]).

pub mod deliver;
mod disposition;
mod interrupt;
mod jumps;
mod kinds;
pub mod mask;
pub mod send;
pub mod timers;
mod wait;

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use threadbare_library::HiddenObject;

pub use disposition::{catches, guarded_load, handles, has_handler, real_sigaction};
pub use interrupt::Interrupt;

use crate::engine::engine;
use crate::exclusive::Exclusive;
use crate::fiber::Frame;
use crate::{process, sys};

const FATAL: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGSYS];

/// What there is to know of signals besides what threads know.
#[derive(Default)]
pub struct Signals {
    /// Timers, by number.
    pub timers: timers::Timers,
    /// Steps made by threads proper.
    pub program_steps: Cell<u64>,
    /// Signals whose handlers the program has registered since executions begin, a bit each.
    pub registered: Cell<u64>,
    /// Signals that wait to be delivered.
    pub pending: Cell<usize>,
    /// The program has had a handler for faults, which the kernel calls.
    pub handles_faults: Cell<bool>,
    /// What the program wanted of its handlers for faults, where the kernel was told otherwise.
    faults: Exclusive<disposition::Faults>,
    /// Memory for the calls of handlers, to be used again.
    frames: Exclusive<Vec<*mut Frame>>,
    /// The masks that jumps put back.
    jumps: Exclusive<jumps::Jumps>,
}

/// The bit of a signal in a mask.
pub fn bit(signal: c_int) -> u64 {
    1u64.checked_shl(signal.wrapping_sub(1) as u32).unwrap_or(0)
}

/// The signals in a mask.
fn signals_in(mask: u64) -> impl Iterator<Item = c_int> {
    (1..=64).filter(move |signal| mask & bit(*signal) != 0)
}

/// Catches fatal signals, on a stack of their own: the program's may be the trouble.
pub fn init() {
    const STACK: usize = 128 * 1024;
    // SAFETY: the stack is fresh memory; the handler is async-signal-safe in that the process
    // never returns to what it was doing.
    unsafe {
        let stack = libc::stack_t { ss_sp: sys::map(STACK).cast(), ss_flags: 0, ss_size: STACK };
        disposition::real_alternate_stack(&stack, std::ptr::null_mut());
    }
    FATAL.into_iter().for_each(catch);
}

/// Catches a fatal signal.
fn catch(signal: c_int) {
    // SAFETY: an all-zero record is valid; the handler lives as long as the process.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = caught as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        disposition::real_sigaction(signal, &action, std::ptr::null_mut());
    }
}

/// Whether a handler is this runtime's.
fn is_ours(handler: usize) -> bool {
    handler == caught as *const () as usize || crate::raw_system_calls::is_handler(handler)
}

/// What comes of a fatal signal.
pub extern "C" fn caught(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    if !crate::interpose::controlled() {
        // SAFETY: back to the default, and the instruction runs into it again.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    }
    // SAFETY: the kernel passes valid records.
    let (address, pc) = unsafe { ((*info).si_addr() as usize, crate::arch::program_counter(context)) };
    // SAFETY: as above.
    if unsafe { crate::arch::skip_guarded_load(context) } {
        return;
    }
    // SAFETY: as above.
    if signal == libc::SIGSEGV && unsafe { crate::processor_clock::answer(context) } {
        return;
    }
    let engine = engine();
    engine.recorder.forget_write();
    // Inside the runtime the announced operation says more than the faulting instruction.
    if !engine.world.libraries().is_system(pc) {
        // Return addresses point behind the call; make this one look alike.
        engine.current().set_site(pc + 1);
    }
    process::killed_by(signal, address)
}

/// A call begins that a handler may break off: a signal may come before the call as well as during it.
pub fn before_call(pc: u64) {
    crate::hidden_objects::look_at(HiddenObject::Calls, pc);
    if engine().running.get() && engine().world.signals.pending.get() > 0 {
        crate::sync::step(threadbare_trace::EventKind::Signal, 0, pc);
    }
}

/// An execution begins: what the program has blocked, sent and armed so far counts from here on.
pub fn begin() {
    mask::begin(engine().host());
    send::begin();
    timers::begin();
}
