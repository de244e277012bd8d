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

/// Reads one, two, four or eight bytes. An exception at one of its reads is answered by [`skip_guarded_load`].
#[unsafe(naked)]
unsafe extern "C" fn load(_addr: usize, _size: usize) -> Loaded {
    naked_asm!(
        "mov edx, 1",
        "cmp rsi, 2",
        "jb 1f",
        "je 2f",
        "cmp rsi, 4",
        "je 4f",
        "mov rax, [rdi]",
        "ret",
        "1: movzx eax, byte ptr [rdi]",
        "ret",
        "2: movzx eax, word ptr [rdi]",
        "ret",
        "4: mov eax, [rdi]",
        "ret",
        // Nothing else is as near as `LOAD_BYTES` says.
        ".fill 16, 1, 0x90",
    )
}

/// Where the code of [`load`] ends at the latest.
const LOAD_BYTES: u64 = 40;

/// Where a read goes on that could not be made.
#[unsafe(naked)]
unsafe extern "C" fn nothing_there() {
    naked_asm!("xor eax, eax", "xor edx, edx", "ret")
}

/// Reads up to eight bytes of program memory; none where there is no memory, or none that may be read.
pub fn guarded_load(addr: usize, size: u8) -> Option<u64> {
    // SAFETY: whatever the address is: where nothing can be read, the read is answered by `skip_guarded_load`.
    let loaded = unsafe { load(addr, usize::from(size)) };
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
    let start = load as *const () as u64;
    let is_guarded = (start..start + LOAD_BYTES).contains(&pc);
    if is_guarded {
        registers[libc::REG_RIP as usize] = nothing_there as *const () as i64;
    }
    is_guarded
}
