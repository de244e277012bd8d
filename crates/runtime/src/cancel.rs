//! Ending a thread from inside (`pthread_exit`) and from outside (`pthread_cancel`).
//!
//! The stack is unwound as the C library does it: C++ destructors and C clean-up handlers run on
//! the way, then the thread ends under control.

use std::ffi::{c_int, c_void};

use libc::pthread_t;
use threadbare_library::HiddenObject;
use threadbare_trace::EventKind;

use crate::engine::engine;
use crate::exclusive::nothing_is_borrowed;
use crate::fiber::Fiber;
use crate::interpose::{interpose, site};
use crate::program::pthreads::find;
use crate::sync::{note, step};
use crate::threads;

/// The head of an exception object, as the unwinder defines it.
#[repr(C, align(16))]
struct Exception {
    class: u64,
    cleanup: Option<extern "C" fn(c_int, *mut Exception)>,
    private: [u64; 6],
}

type Stop = extern "C-unwind" fn(c_int, c_int, u64, *mut Exception, *mut c_void, *mut c_void) -> c_int;

unsafe extern "C-unwind" {
    fn _Unwind_ForcedUnwind(exception: *mut Exception, stop: Stop, argument: *mut c_void) -> c_int;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
    fn longjmp(buffer: *mut c_void, value: c_int) -> !;
}

/// The result of a cancelled thread.
const CANCELED: *mut c_void = usize::MAX as *mut c_void;
const PTHREAD_CANCEL_ENABLE: c_int = 0;
const PTHREAD_CANCEL_DISABLE: c_int = 1;
const PTHREAD_CANCEL_DEFERRED: c_int = 0;
const PTHREAD_CANCEL_ASYNCHRONOUS: c_int = 1;

const END_OF_STACK: c_int = 16;
const CONTINUE: c_int = 0;

/// Called for each frame on the way out.
extern "C-unwind" fn at_frame(
    _version: c_int,
    actions: c_int,
    _class: u64,
    _exception: *mut Exception,
    context: *mut c_void,
    _argument: *mut c_void,
) -> c_int {
    let fiber = engine().current();
    // SAFETY: the unwinder passes a valid context.
    let frame_end = unsafe { _Unwind_GetCFA(context) };
    let is_left = |buffer: &mut *mut c_void| (*buffer as usize) < frame_end || actions & END_OF_STACK != 0;
    let left = fiber.cleanups.borrow_mut().pop_if(is_left);
    if let Some(buffer) = left {
        // SAFETY: the buffer was filled by the frame that is being left, which is still there.
        unsafe { longjmp(buffer, 1) };
    }
    if actions & END_OF_STACK != 0 {
        threads::end_current();
    }
    CONTINUE
}

fn unwind() -> ! {
    nothing_is_borrowed();
    let exception = Box::into_raw(Box::new(Exception { class: 0, cleanup: None, private: [0; 6] }));
    // SAFETY: the exception lives for ever; the stop function never returns at the stack's end.
    unsafe { _Unwind_ForcedUnwind(exception, at_frame, std::ptr::null_mut()) };
    // A frame without unwind information stands in the way: end without its clean-ups.
    threads::end_current()
}

/// Ends the running thread with this result.
pub fn exit_thread(result: *mut c_void) -> ! {
    crate::signals::deliver::leave_all();
    let fiber = engine().current();
    fiber.result.set(result);
    fiber.cancel.enabled.set(false);
    unwind()
}

/// Whether the thread has to end at its next cancellation point.
pub fn is_due(fiber: &Fiber) -> bool {
    // What a handler does, its thread does.
    let cancel = &engine().fiber(fiber.owner()).cancel;
    cancel.requested.get() && cancel.enabled.get()
}

/// Takes the place of a function of the C library that the thread calls and would be cancelled in.
pub extern "C-unwind" fn end_here() {
    check(engine().current());
}

/// A cancellation point.
pub fn check(fiber: &Fiber) {
    if is_due(fiber) {
        engine().current().wait.set(None);
        fiber.wait.set(None);
        exit_thread(CANCELED)
    }
}

/// The running thread is about to say when it may be cancelled. If that is at any time so far, a request may still come before.
fn before_change(pc: u64) {
    let fiber = engine().host();
    if fiber.cancel.asynchronous.get() && fiber.cancel.enabled.get() {
        crate::hidden_objects::look_at(HiddenObject::Calls, pc);
    }
}

/// The running thread has said when it may be cancelled, and a request may have come before.
fn after_change() {
    let fiber = engine().host();
    if fiber.cancel.asynchronous.get() {
        check(fiber);
    }
}

interpose! {
    /// Ends the thread.
    fn pthread_exit(result: *mut c_void) {
        exit_thread(result)
    }
    /// Asks a thread to end.
    fn pthread_cancel(thread: pthread_t) -> c_int {
        let pc = site();
        step(EventKind::Cancel, 0, pc);
        crate::dependences::hidden_objects(&CALLED, &[thread as usize]);
        match find(thread) {
            Some(target) => {
                target.cancel.requested.set(true);
                note(EventKind::Cancel, 0, u64::from(target.id.0));
                if !target.done.get() {
                    engine().changed();
                }
                if target.id == engine().host_id() {
                    after_change();
                }
                0
            }
            None => libc::ESRCH,
        }
    }
    /// Ends the thread if it was asked to.
    fn pthread_testcancel() {
        // A thread that only looks whether it was asked to end must let others ask.
        crate::time::give_way(site());
        check(engine().current());
    }
    /// Allows or forbids cancellation.
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int {
        before_change(site());
        let fiber = engine().host();
        if !old.is_null() {
            *old = if fiber.cancel.enabled.get() { PTHREAD_CANCEL_ENABLE } else { PTHREAD_CANCEL_DISABLE };
        }
        match state {
            PTHREAD_CANCEL_ENABLE => fiber.cancel.enabled.set(true),
            PTHREAD_CANCEL_DISABLE => fiber.cancel.enabled.set(false),
            _ => return libc::EINVAL,
        }
        after_change();
        0
    }
    /// Chooses between cancellation at points and at once.
    fn pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int {
        before_change(site());
        let fiber = engine().host();
        if !old.is_null() {
            *old = if fiber.cancel.asynchronous.get() { PTHREAD_CANCEL_ASYNCHRONOUS } else { PTHREAD_CANCEL_DEFERRED };
        }
        match kind {
            PTHREAD_CANCEL_DEFERRED => fiber.cancel.asynchronous.set(false),
            PTHREAD_CANCEL_ASYNCHRONOUS => fiber.cancel.asynchronous.set(true),
            _ => return libc::EINVAL,
        }
        after_change();
        0
    }
    /// A C clean-up handler was pushed.
    fn __pthread_register_cancel(buffer: *mut c_void) {
        engine().host().cleanups.borrow_mut().push(buffer);
    }
    /// A C clean-up handler was popped.
    fn __pthread_unregister_cancel(buffer: *mut c_void) {
        engine().host().cleanups.borrow_mut().retain(|known| *known != buffer);
    }
    /// A C clean-up handler has run on the way out; continue.
    fn __pthread_unwind_next(buffer: *mut c_void) {
        unwind()
    }
}
