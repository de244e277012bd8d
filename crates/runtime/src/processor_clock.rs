//! The processor's own clock, which no interposer sees.
//!
//! In a program whose code may read it, reading it is an exception, and the answer is virtual time, so that the same schedule gives the
//! same run. A program that sees to such exceptions itself reads the real clock, and so do programs that it starts: the
//! prohibition would be handed down to them, and nobody would answer there.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::arch;
use crate::engine::engine;

/// While set, reading the clock is an exception.
static FORBIDDEN: AtomicBool = AtomicBool::new(false);
/// The program may read the clock: its code looks like it.
static EXPECTED: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);

/// Begins to answer for the clock if the program may read it.
pub fn init() {
    if engine().world.libraries().program_code().any(arch::may_read_clock) {
        EXPECTED.store(true, Ordering::Relaxed);
        forbid();
    }
}

/// What is done on a fault has changed.
pub fn handler_changed() {
    if EXPECTED.load(Ordering::Relaxed) {
        forbid();
    }
}

/// The program starts another one.
pub fn before_other_program() {
    if EXPECTED.swap(false, Ordering::Relaxed) {
        allow();
    }
}

/// Begins to notice whether the program reads the clock; false if that cannot be noticed.
pub fn notice() -> bool {
    ASKED.store(false, Ordering::Relaxed);
    FORBIDDEN.load(Ordering::Relaxed) || forbid()
}

/// It need not be noticed any longer.
pub fn end_notice() {
    if !EXPECTED.load(Ordering::Relaxed) {
        allow();
    }
}

/// Whether the program has read the clock since somebody began to notice it.
pub fn was_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Makes reading the clock an exception; false if the system does not let us, or if the program sees to such exceptions itself.
fn forbid() -> bool {
    let is_forbidden = crate::signals::catches(libc::SIGSEGV) && arch::forbid_clock(true);
    FORBIDDEN.store(is_forbidden, Ordering::Relaxed);
    if !is_forbidden {
        arch::forbid_clock(false);
    }
    is_forbidden
}

fn allow() {
    FORBIDDEN.store(false, Ordering::Relaxed);
    arch::forbid_clock(false);
}

/// If an exception comes from reading the clock while that is forbidden, the instruction gets its answer.
///
/// # Safety
/// The kernel's record of the exception.
pub unsafe fn answer(context: *mut c_void) -> bool {
    if !FORBIDDEN.load(Ordering::Relaxed) {
        return false;
    }
    // SAFETY: as the caller vouches; the processor has stopped there.
    let pc = unsafe { arch::program_counter(context) };
    // SAFETY: as above.
    let Some(length) = (unsafe { arch::clock_read_at(pc) }) else { return false };
    ASKED.store(true, Ordering::Relaxed);
    // The system reads the clock on behalf of the C library, and knows how it goes.
    let is_systems = engine().world.libraries().is_system(pc);
    let ticks = if is_systems {
        arch::forbid_clock(false);
        let ticks = arch::read_clock();
        arch::forbid_clock(true);
        ticks
    } else {
        crate::time::processor_ticks()
    };
    // SAFETY: as the caller vouches.
    unsafe { arch::answer_clock(context, length, ticks) };
    true
}
