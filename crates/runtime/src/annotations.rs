//! The functions by which programs report to a race detector what it cannot see.
//!
//! Code that finds itself compiled with the thread sanitizer may call them, so they have to be
//! there. None of them changes what a thread may do next: a home-made lock is still made of atomic
//! operations and system calls, each of which is controlled, and memory that a detector is asked to
//! ignore is still memory on which the outcome may hang. So control does not listen to them. The trace does: what happens before what
//! is recorded as an order, and accesses that are to be ignored are marked for the race detectors.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_long, c_uint, c_void};
use std::ops::Range;
use std::ptr;

use threadbare_trace::EventKind;

use crate::engine::{engine, running};
use crate::exclusive::Exclusive;
use crate::fiber::Fiber;
use crate::interpose::controlled;

/// What race detectors are asked to ignore.
#[derive(Default)]
pub struct Ignored {
    /// Anything at all.
    any: Cell<bool>,
    places: Exclusive<Vec<Range<usize>>>,
}

impl Ignored {
    /// Whether a race detector shall look away from this access.
    #[inline(always)]
    pub fn covers(&self, fiber: &Fiber, kind: EventKind, address: usize) -> bool {
        self.any.get() && self.covers_indeed(fiber, kind, address)
    }

    #[cold]
    fn covers_indeed(&self, fiber: &Fiber, kind: EventKind, address: usize) -> bool {
        let (reads, writes) = (fiber.ignores_reads.get() > 0, fiber.ignores_writes.get() > 0);
        let by_thread = match kind {
            EventKind::Read | EventKind::ReadRange | EventKind::AtomicRead => reads,
            EventKind::Write | EventKind::WriteRange | EventKind::AtomicWrite => writes,
            _ => reads && writes,
        };
        by_thread || self.places.borrow_mut().iter().any(|place| place.contains(&address))
    }

    fn add(&self, address: usize, bytes: usize) {
        self.any.set(true);
        self.places.borrow_mut().push(address..address.saturating_add(bytes));
    }
}

/// The accesses of the running thread are ignored once more, or once less.
fn ignore(count: fn(&Fiber) -> &Cell<u32>, begins: bool) {
    if let Some(fiber) = controlled().then(running).flatten() {
        let count = count(fiber);
        count.set(if begins { count.get() + 1 } else { count.get().saturating_sub(1) });
        engine().world.ignored.any.set(true);
    }
}

fn reads(fiber: &Fiber) -> &Cell<u32> {
    &fiber.ignores_reads
}

fn writes(fiber: &Fiber) -> &Cell<u32> {
    &fiber.ignores_writes
}

/// What the running thread has done so far comes before whatever a thread does that has seen this place.
pub fn release(place: usize) {
    order(EventKind::OnceEnd, place as Address);
}

/// The running thread goes on after all who have released this place.
pub fn acquire(place: usize) {
    order(EventKind::OnceSeen, place as Address);
}

/// What the running thread did so far comes before whatever follows the next `acquire` of the same place.
fn order(kind: EventKind, place: Address) {
    if controlled() && engine().running.get() {
        engine().recorder.complete_write();
        engine().recorder.note(kind, place as usize, 0, 0, 0);
    }
}

macro_rules! orders {
    ($($name:ident($($before:ty),*) $kind:ident;)*) => {$(
        /// Says what comes before what.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub extern "C" fn $name($(_: $before,)* place: Address) {
            order(EventKind::$kind, place);
        }
    )*};
}

orders! {
    __tsan_release() OnceEnd;
    __tsan_acquire() OnceSeen;
    AnnotateHappensBefore(File, c_int) OnceEnd;
    AnnotateHappensAfter(File, c_int) OnceSeen;
    WTFAnnotateHappensBefore(File, c_int) OnceEnd;
    WTFAnnotateHappensAfter(File, c_int) OnceSeen;
    AnnotateCondVarSignal(File, c_int) OnceEnd;
    AnnotateCondVarSignalAll(File, c_int) OnceEnd;
    AnnotatePCQPut(File, c_int) OnceEnd;
    AnnotatePCQGet(File, c_int) OnceSeen;
}

/// Says that a wait for a condition has ended.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn AnnotateCondVarWait(_: File, _: c_int, condition: Address, _: Address) {
    order(EventKind::OnceSeen, condition);
}

macro_rules! ignores {
    ($($name:ident($($type:ty),*) $begins:literal $($count:ident)+;)*) => {$(
        /// Asks race detectors to look away, or to look again.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub extern "C" fn $name($(_: $type),*) {
            $(ignore($count, $begins);)+
        }
    )*};
}

ignores! {
    __tsan_ignore_thread_begin() true reads writes;
    __tsan_ignore_thread_end() false reads writes;
    AnnotateIgnoreReadsBegin(File, c_int) true reads;
    AnnotateIgnoreReadsEnd(File, c_int) false reads;
    AnnotateIgnoreWritesBegin(File, c_int) true writes;
    AnnotateIgnoreWritesEnd(File, c_int) false writes;
}

macro_rules! benign {
    ($($name:ident($($size:ident: $type:ty)?);)*) => {$(
        /// Says that races on a place do no harm.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub extern "C" fn $name(_: File, _: c_int, place: Address, $($size: $type,)? _: *const c_char) {
            #[allow(unused_variables)]
            let bytes: c_long = 1;
            $(let bytes: c_long = $size;)?
            if controlled() {
                engine().world.ignored.add(place as usize, bytes.max(1) as usize);
            }
        }
    )*};
}

benign! {
    AnnotateBenignRace();
    AnnotateBenignRaceSized(size: c_long);
    WTFAnnotateBenignRaceSized(size: c_long);
}

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
    __tsan_mutex_create(Address, c_uint);
    __tsan_mutex_destroy(Address, c_uint);
    __tsan_mutex_pre_lock(Address, c_uint);
    __tsan_mutex_post_lock(Address, c_uint, c_int);
    __tsan_mutex_pre_signal(Address, c_uint);
    __tsan_mutex_post_signal(Address, c_uint);
    __tsan_mutex_pre_divert(Address, c_uint);
    __tsan_mutex_post_divert(Address, c_uint);
    __tsan_flush_memory();
    __tsan_external_assign_tag(Address, Address);
    __tsan_external_register_header(Address, *const c_char, *const c_char);
    __tsan_external_read(Address, Address, Address);
    __tsan_external_write(Address, Address, Address);
    __tsan_destroy_fiber(Address);
    __tsan_switch_to_fiber(Address, c_uint);
    __tsan_set_fiber_name(Address, *const c_char);
    AnnotateMutexIsNotPHB(File, c_int, Address);
    AnnotateMutexIsUsedAsCondVar(File, c_int, Address);
    AnnotatePCQCreate(File, c_int, Address);
    AnnotatePCQDestroy(File, c_int, Address);
    AnnotateRWLockCreate(File, c_int, Address);
    AnnotateRWLockCreateStatic(File, c_int, Address);
    AnnotateRWLockDestroy(File, c_int, Address);
    AnnotateRWLockAcquired(File, c_int, Address, c_long);
    AnnotateRWLockReleased(File, c_int, Address, c_long);
    AnnotateExpectRace(File, c_int, Address, *const c_char);
    AnnotateFlushExpectedRaces(File, c_int);
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
