//! How the kernel and the C library lay out what they hand over.

use std::arch::asm;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

use super::{CALLER, set_registers};

const ALLOWED: u8 = 0;
const TRAPPED: u8 = 1;

const PR_SET_SYSCALL_USER_DISPATCH: usize = 59;

/// What the kernel looks at when code outside of the C library makes a system call, if it was told to ([`trap_system_calls`]): whether the
/// call is made, or is an exception.
static OTHERS_CALLS: AtomicU8 = AtomicU8::new(ALLOWED);

/// Makes a system call; errors come back as negative numbers.
///
/// # Safety
/// The arguments must be what the kernel expects for this call.
#[inline(always)]
pub unsafe fn syscall(number: i64, args: [usize; 6]) -> isize {
    let before = OTHERS_CALLS.load(Ordering::Relaxed);
    OTHERS_CALLS.store(ALLOWED, Ordering::Relaxed);
    // SAFETY: as the caller vouches.
    let result = unsafe { syscall_of_parked(number, args) };
    OTHERS_CALLS.store(before, Ordering::Relaxed);
    result
}

/// The same in a kernel thread that runs none of the program's code: its calls are never looked at, and it must not change whether those of
/// others are.
///
/// # Safety
/// As [`syscall`].
#[inline(always)]
pub unsafe fn syscall_of_parked(number: i64, args: [usize; 6]) -> isize {
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

/// From now on a system call from outside of `allowed` is an exception (`SIGSYS`) in this kernel thread, but for the runtime's own; says
/// whether the kernel can do that. A copy of the process has to ask again.
pub fn trap_system_calls(allowed: Range<u64>) -> bool {
    const ON: usize = 1;
    let (start, length) = (allowed.start as usize, (allowed.end - allowed.start) as usize);
    let place = OTHERS_CALLS.as_ptr() as usize;
    OTHERS_CALLS.store(ALLOWED, Ordering::Relaxed);
    // SAFETY: the kernel reads the place, which is there for good.
    let error =
        unsafe { syscall(libc::SYS_prctl, [PR_SET_SYSCALL_USER_DISPATCH, ON, start, length, place, 0]) };
    OTHERS_CALLS.store(if error == 0 { TRAPPED } else { ALLOWED }, Ordering::Relaxed);
    error == 0
}

/// No system call is an exception any more.
pub fn trap_no_system_calls() {
    const OFF: usize = 0;
    // SAFETY: changes nothing else.
    unsafe { syscall(libc::SYS_prctl, [PR_SET_SYSCALL_USER_DISPATCH, OFF, 0, 0, 0, 0]) };
    OTHERS_CALLS.store(ALLOWED, Ordering::Relaxed);
}

/// The number and arguments of the system call that was an exception, and the address behind it.
///
/// # Safety
/// The kernel's record of the exception.
pub unsafe fn trapped_system_call(context: *const c_void) -> (i64, [usize; 6], u64) {
    // SAFETY: as the caller vouches.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let at = |register: i32| registers[register as usize] as usize;
    let arguments = [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9];
    (at(libc::REG_RAX) as i64, arguments.map(at), at(libc::REG_RIP) as u64)
}

/// Gives that call its result.
///
/// # Safety
/// As [`trapped_system_call`].
pub unsafe fn answer_system_call(context: *mut c_void, result: isize) {
    // SAFETY: as the caller vouches.
    unsafe {
        (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RAX as usize] = result as i64
    };
}

/// Has the rest of the runtime take the thread for one that has called it from where an exception came.
///
/// # Safety
/// The kernel's record of the exception.
pub unsafe fn enter_by_exception(context: *const c_void) {
    // SAFETY: as the caller vouches.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let at = |register: i32| registers[register as usize] as usize;
    let preserved =
        [libc::REG_RBX, libc::REG_RBP, libc::REG_R12, libc::REG_R13, libc::REG_R14, libc::REG_R15].map(at);
    let [rbx, rbp, r12, r13, r14, r15] = preserved;
    CALLER.store(at(libc::REG_RIP), Ordering::Relaxed);
    set_registers([at(libc::REG_RSP), rbx, rbp, r12, r13, r14, r15]);
}

/// Whether there may be an instruction in some code that makes a system call: the bytes may mean something else there.
pub fn may_make_system_calls(code: &[u8]) -> bool {
    const SYSCALL: [u8; 2] = [0x0f, 0x05];
    code.windows(SYSCALL.len()).any(|bytes| bytes == SYSCALL)
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
