//! Threads that are OS threads, of which one at a time has the baton.

use std::ffi::{c_int, c_void};

use threadbare_trace::ThreadId;

use super::{CreateFn, first_step, stack_of};
use crate::engine::engine;
use crate::fiber::Fiber;
use crate::interpose::real;
use crate::{arch, sys};

/// Starts an OS thread, which waits for its baton.
pub(super) fn create_os_thread(
    id: ThreadId,
    attributes: *const libc::pthread_attr_t,
) -> Result<Box<Fiber>, c_int> {
    let mut fiber = Fiber::new(id, Fiber::new_frames());
    let place: *mut Fiber = &mut *fiber;
    engine().world.detour = true;
    // SAFETY: the fiber is boxed and never dropped; the new thread waits for its baton.
    unsafe {
        let error =
            real!(pthread_create as CreateFn)(&mut fiber.pthread, attributes, os_first_step, place.cast());
        if error != 0 {
            engine().world.detour = false;
            return Err(error);
        }
        // The stack of a thread that asked to be detached may vanish under the look-up only
        // after it has ended, and it cannot end before it has been given the baton.
        fiber.stack = stack_of(fiber.pthread);
    }
    engine().world.detour = false;
    Ok(fiber)
}

extern "C-unwind" fn os_first_step(fiber: *mut c_void) -> *mut c_void {
    let fiber: *mut Fiber = fiber.cast();
    // SAFETY: the fiber is boxed and never dropped.
    unsafe {
        wait_for_baton(fiber);
        (*fiber).thread_pointer = arch::thread_pointer();
    }
    first_step()
}

/// OS-thread mode: lets `to` run and, unless the thread has ended, sleeps until it is its turn.
///
/// # Safety
/// Both fibers must live as long as the process.
pub unsafe fn pass_baton(from: *mut Fiber, to: *mut Fiber, ended: bool) {
    // SAFETY: as the caller vouches.
    unsafe {
        (&raw mut (*to).baton).write_volatile(1);
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        sys::futex_wake(&raw const (*to).baton);
        if ended {
            // The kernel thread ends here without the C library's exit path: its exit functions
            // have run under control already.
            loop {
                sys::futex_wait(&raw const (*from).baton, 0);
            }
        }
        wait_for_baton(from);
    }
}

unsafe fn wait_for_baton(fiber: *mut Fiber) {
    // SAFETY: as the caller vouches.
    unsafe {
        while (&raw const (*fiber).baton).read_volatile() == 0 {
            sys::futex_wait(&raw const (*fiber).baton, 0);
        }
        (&raw mut (*fiber).baton).write_volatile(0);
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }
}
