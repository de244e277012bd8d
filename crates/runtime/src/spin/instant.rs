//! The processor's own clock, which no interposer sees : a loop that asks it may end by itself.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::arch;

/// While set, reading the clock is an exception.
static FORBIDDEN: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);

/// Makes reading the clock an exception; false if the system does not let us, or if the program sees to such
/// exceptions itself.
pub fn forbid() -> bool {
    if !crate::signals::catches(libc::SIGSEGV) || !arch::forbid_clock(true) {
        return false;
    }
    ASKED.store(false, Ordering::Relaxed);
    FORBIDDEN.store(true, Ordering::Relaxed);
    true
}

/// The clock may be read again.
pub fn allow() {
    FORBIDDEN.store(false, Ordering::Relaxed);
    arch::forbid_clock(false);
}

/// Whether the program has read the clock since it was forbidden.
pub fn was_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Whether an exception comes from reading the clock while it was forbidden; then the instruction may be made
/// again.
pub fn explains(pc: u64) -> bool {
    if !FORBIDDEN.load(Ordering::Relaxed) {
        return false;
    }
    // SAFETY: the instruction at which the processor stopped.
    let reads = unsafe { arch::reads_clock(pc) };
    if reads {
        ASKED.store(true, Ordering::Relaxed);
        allow();
    }
    reads
}
