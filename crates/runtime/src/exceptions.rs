//! Where panics and exceptions begin, and where they are caught.

use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicUsize;

use crate::engine::{engine, running};
use crate::fiber::Fiber;
use crate::interpose::resolve;

unsafe extern "C-unwind" {
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

/// Raises an exception, which is what a panic is. It is only noted that the running thread did: the unwinder begins
/// with the frame of its caller, so the original is jumped to.
///
/// # Safety
/// As the unwinder's function of the same name.
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn _Unwind_RaiseException(_exception: *mut c_void) -> c_int {
    /// Takes note; returns the address of the original.
    extern "C" fn note() -> usize {
        static ORIGINAL: AtomicUsize = AtomicUsize::new(0);
        if let Some(fiber) = running() {
            fiber.raised.set(true);
            fiber.caught.set(false);
        }
        resolve(&ORIGINAL, c"_Unwind_RaiseException")
    }
    crate::arch::note_and_pass_on!(note)
}

/// Says where a frame goes on that an exception has come to, to clean up or because it catches. The last one catches.
///
/// # Safety
/// As the unwinder's function of the same name.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn _Unwind_SetIP(context: *mut c_void, place: usize) {
    static ORIGINAL: AtomicUsize = AtomicUsize::new(0);
    type SetIp = unsafe extern "C" fn(*mut c_void, usize);
    // SAFETY: the unwinder's own arguments go to its own functions.
    unsafe {
        if let Some(fiber) = running() {
            fiber.caught.set(is_in_body(fiber, _Unwind_GetCFA(context)));
        }
        let original = resolve(&ORIGINAL, c"_Unwind_SetIP");
        std::mem::transmute::<usize, SetIp>(original)(context, place);
    }
}

/// Whether the frame with this stack pointer is a part of what the thread runs for the program, as far as the driver
/// has given where that begins.
fn is_in_body(fiber: &Fiber, sp: usize) -> bool {
    let control = engine().shared.control();
    let bodies =
        &control.thread_bodies[..(control.thread_body_count as usize).min(control.thread_bodies.len())];
    // The slot of a call's return address lies below the caller's stack pointer.
    let mut calls = fiber.called_out_at(sp - size_of::<u64>());
    !bodies.is_empty() && calls.any(|pc| bodies.iter().any(|body| (body.start..body.end).contains(&(pc - 1))))
}
