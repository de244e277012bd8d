//! The functions by which programs report to a race detector what it cannot see.
//!
//! Code that finds itself compiled with the thread sanitizer may call them, so they have to be
//! there. None of them changes what a thread may do next: a home-made lock is still made of atomic
//! operations and system calls, each of which is controlled, and memory that a detector is asked to
//! ignore is still memory on which the outcome may hang. So control does not listen to them.

use std::ffi::{c_char, c_int, c_long, c_uint, c_void};
use std::ptr;

macro_rules! hints {
    ($($name:ident($($type:ty),*);)*) => {$(
        /// A hint to race detectors, without effect on control.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub extern "C" fn $name($(_: $type),*) {}
    )*};
}

type Address = *mut c_void;
type File = *const c_char;

hints! {
    __tsan_acquire(Address);
    __tsan_release(Address);
    __tsan_mutex_create(Address, c_uint);
    __tsan_mutex_destroy(Address, c_uint);
    __tsan_mutex_pre_lock(Address, c_uint);
    __tsan_mutex_post_lock(Address, c_uint, c_int);
    __tsan_mutex_pre_signal(Address, c_uint);
    __tsan_mutex_post_signal(Address, c_uint);
    __tsan_mutex_pre_divert(Address, c_uint);
    __tsan_mutex_post_divert(Address, c_uint);
    __tsan_ignore_thread_begin();
    __tsan_ignore_thread_end();
    __tsan_flush_memory();
    __tsan_external_assign_tag(Address, Address);
    __tsan_external_register_header(Address, *const c_char, *const c_char);
    __tsan_external_read(Address, Address, Address);
    __tsan_external_write(Address, Address, Address);
    __tsan_destroy_fiber(Address);
    __tsan_switch_to_fiber(Address, c_uint);
    __tsan_set_fiber_name(Address, *const c_char);
    AnnotateHappensBefore(File, c_int, Address);
    AnnotateHappensAfter(File, c_int, Address);
    WTFAnnotateHappensBefore(File, c_int, Address);
    WTFAnnotateHappensAfter(File, c_int, Address);
    AnnotateCondVarSignal(File, c_int, Address);
    AnnotateCondVarSignalAll(File, c_int, Address);
    AnnotateCondVarWait(File, c_int, Address, Address);
    AnnotateMutexIsNotPHB(File, c_int, Address);
    AnnotateMutexIsUsedAsCondVar(File, c_int, Address);
    AnnotatePCQCreate(File, c_int, Address);
    AnnotatePCQDestroy(File, c_int, Address);
    AnnotatePCQPut(File, c_int, Address);
    AnnotatePCQGet(File, c_int, Address);
    AnnotateRWLockCreate(File, c_int, Address);
    AnnotateRWLockCreateStatic(File, c_int, Address);
    AnnotateRWLockDestroy(File, c_int, Address);
    AnnotateRWLockAcquired(File, c_int, Address, c_long);
    AnnotateRWLockReleased(File, c_int, Address, c_long);
    AnnotateExpectRace(File, c_int, Address, *const c_char);
    AnnotateFlushExpectedRaces(File, c_int);
    AnnotateBenignRace(File, c_int, Address, *const c_char);
    AnnotateBenignRaceSized(File, c_int, Address, c_long, *const c_char);
    WTFAnnotateBenignRaceSized(File, c_int, Address, c_long, *const c_char);
    AnnotateIgnoreReadsBegin(File, c_int);
    AnnotateIgnoreReadsEnd(File, c_int);
    AnnotateIgnoreWritesBegin(File, c_int);
    AnnotateIgnoreWritesEnd(File, c_int);
    AnnotateIgnoreSyncBegin(File, c_int);
    AnnotateIgnoreSyncEnd(File, c_int);
    AnnotateEnableRaceDetection(File, c_int, c_int);
    AnnotateMemoryIsInitialized(File, c_int, Address, usize);
    AnnotateMemoryIsUninitialized(File, c_int, Address, usize);
    AnnotateNewMemory(File, c_int, Address, usize);
    AnnotatePublishMemoryRange(File, c_int, Address, usize);
    AnnotateUnpublishMemoryRange(File, c_int, Address, usize);
    AnnotateFlushState(File, c_int);
    AnnotateTraceMemory(File, c_int, Address);
    AnnotateThreadName(File, c_int, *const c_char);
    AnnotateNoOp(File, c_int, Address);
}

/// How often an annotated lock was held by the thread; recursive ones release that often.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn __tsan_mutex_pre_unlock(_: Address, _: c_uint) -> c_int {
    1
}

/// The end of an annotated unlock.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn __tsan_mutex_post_unlock(_: Address, _: c_uint) {}

/// A name for a library's objects in race reports.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn __tsan_external_register_tag(_: *const c_char) -> Address {
    ptr::null_mut()
}

/// The program's own coroutines share the thread that runs them; one token stands for all.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn __tsan_get_current_fiber() -> Address {
    ptr::dangling_mut::<usize>().cast()
}

/// As `__tsan_get_current_fiber`, for a new coroutine.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn __tsan_create_fiber(_: c_uint) -> Address {
    ptr::dangling_mut::<usize>().cast()
}

/// Programs ask before they do what only a checking tool can bear; this one is none of those.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn RunningOnValgrind() -> c_int {
    0
}

/// How much slower a checking tool makes the program.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn ValgrindSlowdown() -> f64 {
    1.0
}
