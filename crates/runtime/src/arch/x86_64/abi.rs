//! How the kernel and the C library lay out what they hand over.

use std::arch::asm;
use std::ffi::c_void;

/// Makes a system call; errors come back as negative numbers.
///
/// # Safety
/// The arguments must be what the kernel expects for this call.
#[inline(always)]
pub unsafe fn syscall(number: i64, args: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the caller vouches for the arguments; the clobbers are those of the kernel's ABI.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") args[0],
            in("rsi") args[1],
            in("rdx") args[2],
            in("r10") args[3],
            in("r8") args[4],
            in("r9") args[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack)
        );
    }
    result
}

/// Whether a system call makes threads or processes.
pub fn makes_process(number: i64) -> bool {
    matches!(number, libc::SYS_clone | libc::SYS_clone3 | libc::SYS_fork | libc::SYS_vfork)
}

/// The instruction at which a signal came.
///
/// # Safety
/// The kernel's record must be readable.
pub unsafe fn program_counter(context: *const c_void) -> u64 {
    // SAFETY: as the caller vouches.
    unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] as u64 }
}

/// The stack pointer that a jump (`longjmp`) goes on with. The C library keeps it in disguise.
///
/// # Safety
/// The buffer must be one that `setjmp` has filled.
pub unsafe fn jump_stack_pointer(buffer: *const c_void) -> usize {
    const STACK_POINTER: usize = 6;
    let guard: usize;
    // SAFETY: the thread block holds the disguise at this place; the buffer is the program's.
    unsafe {
        asm!("mov {}, fs:[0x30]", out(reg) guard, options(nostack, readonly));
        (*buffer.cast::<usize>().add(STACK_POINTER)).rotate_right(17) ^ guard
    }
}

/// Whether a jump puts a signal mask back.
///
/// # Safety
/// The buffer must be one that `setjmp` has filled.
pub unsafe fn jump_restores_mask(buffer: *const c_void) -> bool {
    const HAS_MASK: usize = 8;
    // SAFETY: as the caller vouches.
    unsafe { *buffer.cast::<u64>().add(HAS_MASK) as u32 != 0 }
}
