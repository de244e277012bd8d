//! Reading and replacing single instructions of the program.

use std::ffi::c_void;
use std::ops::Range;

/// A call and a jump by a distance, and a call through a table.
const CALL: u8 = 0xe8;
const JUMP: u8 = 0xe9;
const CALL_THROUGH: [u8; 2] = [0xff, 0x15];

/// The length of the longest call that [`remove_call`] knows.
pub const LONGEST_CALL: usize = 6;

/// Whether an address follows a call instruction.
///
/// # Safety
/// The eight bytes before it must be readable.
pub unsafe fn follows_call(pc: u64) -> bool {
    // SAFETY: as the caller vouches.
    let at = |back: u64| unsafe { *((pc - back) as *const u8) };
    at(5) == CALL
        || (at(6) == CALL_THROUGH[0] && at(5) == CALL_THROUGH[1])
        || (at(2) == 0xff && at(1) & 0x38 == 0x10)
        || (at(3) == 0xff && at(2) & 0x38 == 0x10)
}

/// What the instruction at a place calls, if it is a call of a stub that jumps through the loader's table.
///
/// # Safety
/// The place must be in `code`, with [`LONGEST_CALL`] bytes behind it.
pub unsafe fn call_through_table(place: usize, code: &Range<usize>) -> Option<usize> {
    const BRANCH_TARGET_MARK: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    const JUMP_THROUGH: [u8; 2] = [0xff, 0x25];
    // SAFETY: reads of code, and of the table that the loader fills before any code runs.
    unsafe {
        let distance = |at: usize| (at as *const i32).read_unaligned() as isize;
        let entry = |at: usize| (at as *const usize).read_unaligned();
        let bytes = |at: usize| (at as *const [u8; 2]).read();
        if bytes(place)[0] != CALL {
            return None;
        }
        let mut stub = (place + 5).wrapping_add_signed(distance(place + 1));
        if !code.contains(&stub) || !code.contains(&(stub + 16)) {
            return None;
        }
        if (stub as *const [u8; 4]).read() == BRANCH_TARGET_MARK {
            stub += BRANCH_TARGET_MARK.len();
        }
        if bytes(stub) != JUMP_THROUGH {
            return None;
        }
        let slot = (stub + 6).wrapping_add_signed(distance(stub + 2));
        // The table lies behind the code, in what the executable has mapped.
        (slot >= code.end && slot < code.end + (1 << 30)).then(|| entry(slot))
    }
}

/// Replaces a call by an instruction that does nothing, and a jump at a function's end by a return.
///
/// # Safety
/// The place must be writable code that nobody runs, with [`LONGEST_CALL`] bytes.
pub unsafe fn remove_call(place: *mut u8) {
    // SAFETY: as the caller vouches.
    let opcode = unsafe { [*place, *place.add(1)] };
    let nothing: &[u8] = match opcode {
        [CALL, _] => &[0x0f, 0x1f, 0x44, 0x00, 0x00],
        // The last thing a function does: it returns instead.
        [JUMP, _] => &[0xc3],
        CALL_THROUGH => &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
        _ => return,
    };
    // SAFETY: as the caller vouches; no longer than the instruction that stood there.
    unsafe { std::ptr::copy_nonoverlapping(nothing.as_ptr(), place, nothing.len()) };
}

const RDTSC: [u8; 2] = [0x0f, 0x31];
const RDTSCP: [u8; 3] = [0x0f, 0x01, 0xf9];

/// How long the instruction at a place is, if it reads the processor's clock.
///
/// # Safety
/// The processor must have stopped at it.
pub unsafe fn clock_read_at(pc: u64) -> Option<usize> {
    // SAFETY: as the caller vouches; no instruction is shorter where these two bytes match.
    let code = unsafe { [*(pc as *const u8), *((pc + 1) as *const u8)] };
    // SAFETY: as above, and the third byte belongs to the same instruction.
    let is_longer = code == RDTSCP[..2] && unsafe { *((pc + 2) as *const u8) } == RDTSCP[2];
    if is_longer { Some(RDTSCP.len()) } else { (code == RDTSC).then_some(RDTSC.len()) }
}

/// Whether there may be an instruction in some code that reads the processor's clock: the bytes may mean something else there.
pub fn may_read_clock(code: &[u8]) -> bool {
    code.windows(RDTSC.len()).any(|bytes| bytes == RDTSC)
        || code.windows(RDTSCP.len()).any(|bytes| bytes == RDTSCP)
}

/// Reads the processor's clock.
pub fn read_clock() -> u64 {
    // SAFETY: reads a counter.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Gives the instruction that was stopped its answer, and continues behind it.
///
/// # Safety
/// The kernel's record of an exception at an instruction that reads the clock and is of this length.
pub unsafe fn answer_clock(context: *mut c_void, length: usize, ticks: u64) {
    // SAFETY: as the caller vouches.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    registers[libc::REG_RAX as usize] = (ticks & 0xffff_ffff) as i64;
    registers[libc::REG_RDX as usize] = (ticks >> 32) as i64;
    if length == RDTSCP.len() {
        // The number of the processor.
        registers[libc::REG_RCX as usize] = 0;
    }
    registers[libc::REG_RIP as usize] += length as i64;
}

/// Makes reading the processor's clock an exception (`SIGSEGV`), or allows it again; says whether the system let us.
pub fn forbid_clock(forbidden: bool) -> bool {
    const PR_SET_TSC: usize = 26;
    const PR_TSC_ENABLE: usize = 1;
    const PR_TSC_SIGSEGV: usize = 2;
    let mode = if forbidden { PR_TSC_SIGSEGV } else { PR_TSC_ENABLE };
    // SAFETY: changes how two instructions behave in this thread, the only one that runs program code.
    unsafe { super::syscall(libc::SYS_prctl, [PR_SET_TSC, mode, 0, 0, 0, 0]) == 0 }
}
