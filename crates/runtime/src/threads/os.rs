//! Threads that are OS threads, of which one at a time has the baton.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

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
    let fiber = Fiber::new(id, Fiber::new_frames());
    let place = engine().threads.place(id);
    engine().world.detour.set(true);
    // SAFETY: the fiber will be at its place before anybody passes the baton, and lives longer than the thread; the new thread waits for
    // its baton and looks at nothing else until then.
    let error = unsafe {
        real!(pthread_create as CreateFn)(
            fiber.pthread.as_ptr(),
            attributes,
            os_first_step,
            place.cast_mut().cast(),
        )
    };
    if error == 0 {
        // The stack of a thread that asked to be detached may vanish under the look-up only
        // after it has ended, and it cannot end before it has been given the baton.
        // SAFETY: the thread was just created.
        fiber.stack.set(unsafe { stack_of(fiber.pthread.get()) });
    }
    engine().world.detour.set(false);
    if error == 0 { Ok(fiber) } else { Err(error) }
}

extern "C-unwind" fn os_first_step(fiber: *mut c_void) -> *mut c_void {
    let place = fiber.cast_const().cast::<Fiber>();
    // SAFETY: the word is zero until the fiber is there, and then it is the fiber's.
    wait_for_baton(unsafe { &(*place).baton });
    // SAFETY: whoever passed the baton found the fiber there, and it lives longer than its thread.
    let fiber = unsafe { &*place };
    fiber.thread_pointer.set(arch::thread_pointer());
    first_step()
}

/// OS-thread mode: lets `to` run and, unless the thread has ended, sleeps until it is scheduled again.
pub fn pass_baton(from: &'static Fiber, to: &'static Fiber, ended: bool) {
    to.baton.store(1, Ordering::SeqCst);
    // SAFETY: the word lives as long as its fiber.
    unsafe { sys::futex_wake(to.baton.as_ptr()) };
    if ended {
        // The kernel thread ends here without the C library's exit path: its exit functions
        // have run under control already.
        loop {
            // SAFETY: as above.
            unsafe { sys::futex_wait(from.baton.as_ptr(), 0) };
        }
    }
    wait_for_baton(&from.baton);
}

fn wait_for_baton(baton: &AtomicU32) {
    while baton.load(Ordering::SeqCst) == 0 {
        // SAFETY: as in `pass_baton`.
        unsafe { sys::futex_wait(baton.as_ptr(), 0) };
    }
    baton.store(0, Ordering::SeqCst);
}
