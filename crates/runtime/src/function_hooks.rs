//! Functions that are entered and left: the hooks the compiler calls for each of them.

use crate::call_profile;
use crate::engine::running;

/// A function was entered.
///
/// # Safety
/// Called by instrumented code.
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn __tsan_func_entry(_pc: u64) {
    unsafe extern "C-unwind" fn serve(pc: u64, sp: usize) {
        if let Some(fiber) = running() {
            fiber.enter(pc, sp);
            if call_profile::are_measured() {
                // SAFETY: a call has just put its return address on the stack.
                call_profile::entered(unsafe { *(sp as *const u64) }, sp);
            }
        }
    }
    crate::arch::enter_with_stack_pointer!(serve)
}

/// A function is about to be left.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C-unwind" fn __tsan_func_exit() {
    if let Some(fiber) = running() {
        fiber.leave();
        if call_profile::are_measured() {
            call_profile::left();
        }
    }
}
