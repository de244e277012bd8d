//! Leaving a handler by a jump: where it leads is read from its buffer.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicUsize;

use super::{deliver, mask};
use crate::arch;
use crate::engine::engine;
use crate::interpose::{interpose, real, resolve};

/// The masks that were saved with places to jump to, by the buffer.
pub type Jumps = HashMap<usize, u64>;

/// The running thread is about to jump: handlers that are left by that end.
unsafe fn about_to_jump(buffer: *mut c_void) {
    // SAFETY: as the caller vouches.
    let (target, has_mask) = unsafe { (arch::jump_stack_pointer(buffer), arch::jump_restores_mask(buffer)) };
    let host = engine().host();
    crate::process::gives_up_no_more(host.id);
    while let Some(innermost) = host.innermost_handler() {
        let (low, high) = engine().fiber(innermost).own_stack.get();
        if (low..high).contains(&target) {
            break;
        }
        deliver::leave(innermost);
    }
    let saved = engine().world.signals.jumps.borrow_mut().get(&(buffer as usize)).copied();
    if let Some(blocked) = saved.filter(|_| has_mask) {
        mask::set(blocked, crate::interpose::site());
    }
}

/// Marks a place to jump to. The C library does the marking: here only the mask is noted.
///
/// # Safety
/// As the C function of the same name.
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn __sigsetjmp(_buffer: *mut c_void, _with_mask: c_int) -> c_int {
    unsafe extern "C" fn note(buffer: *mut c_void, with_mask: c_int) -> usize {
        static REAL: AtomicUsize = AtomicUsize::new(0);
        if crate::interpose::controlled() && with_mask != 0 {
            let blocked = engine().host().blocked_signals.get();
            engine().world.signals.jumps.borrow_mut().insert(buffer as usize, blocked);
        }
        resolve(&REAL, c"__sigsetjmp")
    }
    arch::note_and_pass_on!(note)
}

type Jump = unsafe extern "C-unwind" fn(*mut c_void, c_int);

interpose! {
    /// Jumps.
    fn longjmp(buffer: *mut c_void, value: c_int) {
        about_to_jump(buffer);
        real!(longjmp as Jump)(buffer, value)
    }
    /// Jumps.
    fn _longjmp(buffer: *mut c_void, value: c_int) {
        about_to_jump(buffer);
        real!(_longjmp as Jump)(buffer, value)
    }
    /// Jumps, and puts the mask back if it was saved.
    fn siglongjmp(buffer: *mut c_void, value: c_int) {
        about_to_jump(buffer);
        real!(siglongjmp as Jump)(buffer, value)
    }
    /// Jumps, with a check of the stack.
    fn __longjmp_chk(buffer: *mut c_void, value: c_int) {
        about_to_jump(buffer);
        real!(longjmp as Jump)(buffer, value)
    }
}
