//! Switching between fibers: registers, stack and the thread pointer.

use std::arch::naked_asm;
use std::sync::atomic::{AtomicU8, Ordering};

/// A suspended flow of control: its stack pointer, with the registers saved below it.
pub type StackPointer = usize;

/// Whether `wrfsbase` may be used; if not, a system call sets the thread pointer.
static HAS_WRFSBASE: AtomicU8 = AtomicU8::new(0);

/// Finds out what the processor and kernel allow.
pub fn init() {
    const HWCAP2_FSGSBASE: u64 = 2;
    // SAFETY: getauxval only reads.
    let allowed = unsafe { libc::getauxval(libc::AT_HWCAP2) } & HWCAP2_FSGSBASE != 0;
    HAS_WRFSBASE.store(u8::from(allowed), Ordering::Relaxed);
}

/// The calling thread's thread pointer.
pub fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: the x86-64 ABI keeps the thread pointer's own value at its first word.
    unsafe { std::arch::asm!("mov {}, fs:[0]", out(reg) pointer, options(nostack, readonly)) };
    pointer
}

/// How the calling thread rounds, and which exceptions of arithmetic it has masked.
pub fn floating_point_modes() -> u64 {
    /// What is behind these bits says which exceptions there were.
    const MODES: u32 = !0x3f;
    let (mut vector, mut old): (u32, u16) = (0, 0);
    // SAFETY: both instructions store into the places that they are given.
    unsafe {
        std::arch::asm!(
            "stmxcsr [{}]",
            "fnstcw [{}]",
            in(reg) &raw mut vector,
            in(reg) &raw mut old,
            options(nostack, preserves_flags)
        );
    }
    u64::from(vector & MODES) << 16 | u64::from(old)
}

/// Saves the running context into `save` and goes on with `load` under the thread pointer `fs`.
///
/// # Safety
/// `load` must come from an earlier `switch` or from [`prepare`], and be used once.
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn switch(save: *mut StackPointer, load: StackPointer, fs: usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "stmxcsr [rsp]",
        "fnstcw [rsp + 4]",
        // Loading the floating-point modes is slow, and they hardly ever differ.
        "mov ecx, [rsp]",
        "movzx r8d, word ptr [rsp + 4]",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "cmp byte ptr [rip + {has_wrfsbase}], 0",
        "je 2f",
        "wrfsbase rdx",
        "3:",
        "cmp ecx, [rsp]",
        "jne 4f",
        "cmp r8w, [rsp + 4]",
        "jne 4f",
        "5:",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
        "2:",
        "mov eax, 158", // arch_prctl
        "mov edi, 0x1002", // ARCH_SET_FS
        "mov rsi, rdx",
        "mov r9d, ecx", // which the call destroys
        "syscall",
        "mov ecx, r9d",
        "jmp 3b",
        "4:",
        "ldmxcsr [rsp]",
        "fldcw [rsp + 4]",
        "jmp 5b",
        has_wrfsbase = sym HAS_WRFSBASE,
    )
}

/// Prepares a stack so that the first `switch` to it calls `entry`.
///
/// # Safety
/// `top` must be the end of writable stack memory that nobody else uses.
pub unsafe fn prepare(top: usize, entry: extern "C-unwind" fn() -> !) -> StackPointer {
    const DEFAULT_MXCSR_AND_FPU: u64 = 0x0000_037f_0000_1f80;
    let words = ((top & !15) - 88) as *mut u64;
    // SAFETY: ten words below the top, as the caller vouches. The word above the entry address is
    // its return address: zero, which ends every stack walk.
    unsafe {
        *words = DEFAULT_MXCSR_AND_FPU;
        for register in 1..7 {
            *words.add(register) = 0;
        }
        *words.add(7) = entry as usize as u64;
        *words.add(8) = 0;
        *words.add(9) = 0;
    }
    words as usize
}

/// Makes a call on another stack and comes back. Whoever unwinds the stack gets from one to the other.
///
/// # Safety
/// `top` must be the 16-byte aligned end of writable stack memory that nobody else uses.
#[unsafe(naked)]
pub unsafe extern "C-unwind" fn call_on_stack(
    top: usize,
    argument: *mut std::ffi::c_void,
    call: extern "C-unwind" fn(*mut std::ffi::c_void),
) {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov rsp, rdi",
        "mov rdi, rsi",
        "call rdx",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}

/// Leaves the stack of the calling thread for another and never comes back.
///
/// # Safety
/// `top` must be the 16-byte aligned end of writable stack memory.
#[unsafe(naked)]
pub unsafe extern "C" fn abandon_stack(top: usize, argument: usize, then: extern "C" fn(usize) -> !) -> ! {
    naked_asm!("mov rsp, rdi", "mov rdi, rsi", "xor ebp, ebp", "call rdx", "ud2")
}
