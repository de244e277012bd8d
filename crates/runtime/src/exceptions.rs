//! Where panics and exceptions begin, and where they are caught.
//!
//! An exception of C++ is counted by the library: the last one that lets go of it has it destroyed, which calls the program. So to count is a step,
//! an atomic update of the counter, announced before the library makes it.

use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicUsize;

use threadbare_trace::EventKind;

use crate::atomics;
use crate::engine::{engine, running};
use crate::fiber::Fiber;
use crate::interpose::{interpose, real, resolve, site};

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

interpose! {
    /// Ends a handler. Whoever is in no other one for the exception lets go of it.
    fn __cxa_end_catch() {
        let pc = site();
        if let Some(caught) = caught().filter(|caught| caught.is_last_handler) {
            let_go(caught.exception, pc);
        }
        real!(__cxa_end_catch as unsafe extern "C-unwind" fn())();
    }

    /// A `std::exception_ptr` is made that leads to an exception.
    fn _ZNSt15__exception_ptr13exception_ptr9_M_addrefEv(pointer: *mut *mut c_void) {
        let pc = site();
        count(*pointer, 1, pc);
        real!(_ZNSt15__exception_ptr13exception_ptr9_M_addrefEv as OfPointer)(pointer);
    }

    /// Lets go of the exception that a `std::exception_ptr` leads to.
    fn _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(pointer: *mut *mut c_void) {
        let pc = site();
        let_go(*pointer, pc);
        real!(_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv as OfPointer)(pointer);
    }

    /// Throws the exception that a `std::exception_ptr` leads to, once more.
    fn _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE(pointer: *mut *mut c_void) {
        let pc = site();
        count(*pointer, 1, pc);
        real!(_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE as OfPointer)(pointer);
    }
}

type OfPointer = unsafe extern "C-unwind" fn(*mut *mut c_void);

/// The library is about to add to the counter of an exception, or to take away.
unsafe fn count(exception: *mut c_void, number: i32, pc: u64) {
    // What lies before an exception begins with its counter.
    const BEFORE_EXCEPTION: usize =
        (size_of::<u32>() + size_of::<Header>()).next_multiple_of(align_of::<Header>());
    if !exception.is_null() {
        // SAFETY: as the library has it; whoever is about to count has been counted, so the exception is there.
        unsafe { atomics::before_library_adds(exception as usize - BEFORE_EXCEPTION, number, pc) };
    }
}

/// A thread counts an exception down: what it did with it comes before what those do who count it down later.
unsafe fn let_go(exception: *mut c_void, pc: u64) {
    // SAFETY: as for `count`.
    unsafe { count(exception, -1, pc) };
    let engine = engine();
    if engine.running.get() && engine.recorder.takes_all.get() {
        engine.recorder.note(EventKind::LibraryCall, exception as usize, 0, exception as u64, 0);
    }
}

/// What the C++ library knows of a thread's exceptions, as its interface has it.
#[repr(C)]
struct Exceptions {
    caught: *const Header,
    uncaught: u32,
}

/// What lies before an exception that was thrown, or in place of one that was thrown again by `std::rethrow_exception`.
#[repr(C, align(16))]
struct Header {
    /// Of the latter, the exception itself.
    original: *mut c_void,
    kept: [u64; 4],
    /// How many handlers of the thread are in progress for it; below zero once it was thrown on.
    handlers: c_int,
    rest: [u32; 9],
    /// Who threw it.
    class: u64,
    unwinder: [u64; 3],
}

/// Exceptions of the GNU library, and those of them that were thrown again.
const THROWN: u64 = u64::from_be_bytes(*b"GNUCC++\0");
const THROWN_AGAIN: u64 = THROWN + 1;

/// The exception whose handler the running thread is in.
struct Caught {
    exception: *mut c_void,
    /// The thread is in no other handler for it.
    is_last_handler: bool,
}

/// The exception whose handler the running thread is in; none if it is of another kind.
unsafe fn caught() -> Option<Caught> {
    static GLOBALS: AtomicUsize = AtomicUsize::new(0);
    type Globals = unsafe extern "C" fn() -> *const Exceptions;
    // SAFETY: the library answers for every thread; a handler that is about to end has a header.
    unsafe {
        let globals: Globals = std::mem::transmute(resolve(&GLOBALS, c"__cxa_get_globals"));
        let header = (*globals()).caught;
        if header.is_null() {
            return None;
        }
        let exception = match (*header).class {
            THROWN => header.add(1).cast_mut().cast(),
            THROWN_AGAIN => (*header).original,
            _ => return None,
        };
        Some(Caught { exception, is_last_handler: (*header).handlers == 1 })
    }
}
