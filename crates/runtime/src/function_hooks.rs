//! Functions that are entered and left: the hooks the compiler calls for each of them.

use std::sync::atomic::Ordering;

use crate::call_profile;
use crate::engine::RUNNING;

/// A function was entered.
///
/// # Safety
/// Called by instrumented code.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __tsan_func_entry(_pc: u64) {
    unsafe extern "C-unwind" fn serve(pc: u64, sp: usize) {
        let fiber = RUNNING.load(Ordering::Relaxed);
        if !fiber.is_null() {
            // SAFETY: the running fiber; a call has just put its return address on the stack.
            unsafe {
                (*fiber).enter(pc, sp);
                if call_profile::are_measured() {
                    call_profile::entered(*(sp as *const u64), sp);
                }
            }
        }
    }
    crate::arch::enter_with_stack_pointer!(serve)
}

/// A function is about to be left.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn __tsan_func_exit() {
    let fiber = RUNNING.load(Ordering::Relaxed);
    if !fiber.is_null() {
        // SAFETY: the running fiber.
        unsafe { (*fiber).leave() };
        if call_profile::are_measured() {
            call_profile::left();
        }
    }
}
