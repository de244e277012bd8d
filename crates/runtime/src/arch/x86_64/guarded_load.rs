//! Reading the program's memory where there may be none any more.

use std::arch::naked_asm;
use std::ffi::c_void;

/// What a guarded read comes back with, in two registers.
#[derive(Clone, Copy)]
#[repr(C)]
struct Loaded {
    value: u64,
    is_there: u64,
}

/// Makes a function that reads from an address. An exception at its read is answered by [`skip_guarded_load`].
macro_rules! load {
    ($name:ident, $read:literal) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name(_addr: usize) -> Loaded {
            // What comes after the read is as long as `LOAD_BYTES` says, whatever function is next.
            naked_asm!("mov edx, 1", $read, "ret", ".fill 16, 1, 0x90")
        }
    };
}

load!(load_1, "movzx eax, byte ptr [rdi]");
load!(load_2, "movzx eax, word ptr [rdi]");
load!(load_4, "mov eax, [rdi]");
load!(load_8, "mov rax, [rdi]");

/// Where the code of each of them ends at the latest.
const LOAD_BYTES: u64 = 16;

/// Where a read goes on that could not be made.
#[unsafe(naked)]
unsafe extern "C" fn nothing_there() {
    naked_asm!("xor eax, eax", "xor edx, edx", "ret")
}

/// Reads up to eight bytes of program memory; none where there is no memory, or none that may be read.
#[inline(always)]
pub fn guarded_load(addr: usize, size: u8) -> Option<u64> {
    // SAFETY: whatever the address is: where nothing can be read, the read is answered by `skip_guarded_load`.
    let loaded = unsafe {
        match size {
            1 => load_1(addr),
            2 => load_2(addr),
            4 => load_4(addr),
            _ => load_8(addr),
        }
    };
    (loaded.is_there != 0).then_some(loaded.value)
}

/// If an exception comes from a guarded read, the read ends without a value.
///
/// # Safety
/// The kernel's record of the exception.
pub unsafe fn skip_guarded_load(context: *mut c_void) -> bool {
    // SAFETY: as the caller vouches.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let pc = registers[libc::REG_RIP as usize] as u64;
    let loads: [unsafe extern "C" fn(usize) -> Loaded; 4] = [load_1, load_2, load_4, load_8];
    let mut starts = loads.iter().map(|load| *load as usize as u64);
    let is_guarded = starts.any(|start| (start..start + LOAD_BYTES).contains(&pc));
    if is_guarded {
        registers[libc::REG_RIP as usize] = nothing_there as *const () as i64;
    }
    is_guarded
}
