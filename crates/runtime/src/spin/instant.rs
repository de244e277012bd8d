//! The processor's own clock, which no interposer sees (x86-64 only): a loop that asks it may end by itself.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::sys;

/// While set, reading the clock is an exception.
static FORBIDDEN: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);

const PR_SET_TSC: usize = 26;
const PR_TSC_ENABLE: usize = 1;
const PR_TSC_SIGSEGV: usize = 2;

fn set(mode: usize) -> bool {
    // SAFETY: changes how two instructions behave in this thread, the only one that runs program code.
    unsafe { sys::call(libc::SYS_prctl, [PR_SET_TSC, mode, 0, 0, 0, 0]) == 0 }
}

/// Makes reading the clock an exception; false if the system does not let us, or if the program sees to such
/// exceptions itself.
pub fn forbid() -> bool {
    if !crate::signals::catches(libc::SIGSEGV) || !set(PR_TSC_SIGSEGV) {
        return false;
    }
    ASKED.store(false, Ordering::Relaxed);
    FORBIDDEN.store(true, Ordering::Relaxed);
    true
}

/// The clock may be read again.
pub fn allow() {
    FORBIDDEN.store(false, Ordering::Relaxed);
    set(PR_TSC_ENABLE);
}

/// Whether the program has read the clock since it was forbidden.
pub fn was_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Whether an exception comes from reading the clock while it was forbidden; then the instruction may be made
/// again.
pub fn explains(pc: u64) -> bool {
    const RDTSC: [u8; 2] = [0x0f, 0x31];
    const RDTSCP: [u8; 3] = [0x0f, 0x01, 0xf9];
    if !FORBIDDEN.load(Ordering::Relaxed) {
        return false;
    }
    // SAFETY: the instruction at which the processor stopped; none is shorter where these two bytes match.
    let code = unsafe { [*(pc as *const u8), *((pc + 1) as *const u8)] };
    // SAFETY: as above, and the third byte belongs to the same instruction.
    let reads = code == RDTSC || (code == RDTSCP[..2] && unsafe { *((pc + 2) as *const u8) } == RDTSCP[2]);
    if reads {
        ASKED.store(true, Ordering::Relaxed);
        allow();
    }
    reads
}
