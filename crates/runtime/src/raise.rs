//! Where panics and exceptions begin.

use std::arch::naked_asm;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::engine::RUNNING;
use crate::interpose::resolve;

/// Raises an exception, which is what a panic is. It is only noted that the running thread did: the unwinder begins
/// with the frame of its caller, so the original is jumped to.
///
/// # Safety
/// As the unwinder's function of the same name.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn _Unwind_RaiseException(_exception: *mut c_void) -> c_int {
    /// Takes note; returns the address of the original.
    extern "C" fn note() -> usize {
        static ORIGINAL: AtomicUsize = AtomicUsize::new(0);
        let fiber = RUNNING.load(Ordering::Relaxed);
        if !fiber.is_null() {
            // SAFETY: the running fiber.
            unsafe { (*fiber).raised = true };
        }
        resolve(&ORIGINAL, c"_Unwind_RaiseException")
    }
    // The argument is kept; with it the stack is aligned as a call wants it.
    naked_asm!("push rdi", "call {}", "pop rdi", "jmp rax", sym note)
}
