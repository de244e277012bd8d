//! The C++ library's promises that are kept when a thread ends: the store that keeps them is in the library, where
//! nobody sees it.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use threadbare_sched::Op;
use threadbare_trace::EventKind;

use crate::access;
use crate::engine::{engine, watched};
use crate::interpose::{interpose, real, site};

type KeepFn = unsafe extern "C-unwind" fn(*mut c_void);

/// What the library keeps in its list for the end of the thread, as its interface has it (version 3.4.21): the
/// start of `std::__future_base::_State_baseV2::_Make_ready`.
#[repr(C)]
struct AtExit {
    next: *mut AtExit,
    run: KeepFn,
    /// A weak pointer to the state that promise and future share: the state, and its counts.
    state: usize,
    counts: *const Counts,
}

#[repr(C)]
struct Counts {
    table: usize,
    strong: i32,
    weak: i32,
}

/// Where the word lies in the shared state that says that the value is there, and what it then holds.
const STATUS: usize = 16;
const READY: u64 = 1;

/// The library's own way to keep such a promise.
static KEEP: AtomicUsize = AtomicUsize::new(0);

/// Runs at the end of a thread: the store becomes a step, and the library makes it.
unsafe extern "C-unwind" fn keep(promise: *mut c_void) {
    // SAFETY: the library passes its own record; the state is there while anybody counts on it.
    unsafe {
        let record = promise.cast::<AtExit>();
        if !(*record).counts.is_null() && (*(*record).counts).strong > 0 {
            announce((*record).state + STATUS);
        }
        let keep: KeepFn = std::mem::transmute(KEEP.load(Ordering::Relaxed));
        keep(promise);
    }
}

unsafe fn announce(status: usize) {
    let Some(fiber) = watched() else { return };
    // SAFETY: the runtime is up; the word is part of a state in use.
    unsafe {
        fiber.count_operation();
        access::touch_range(fiber, status, size_of::<u32>(), true);
        let (kind, site, index) = (EventKind::AtomicUpdate, fiber.site(), fiber.ops.get());
        engine().point(Op { kind, object: status as u64, size: 4, site, index, place: 0 }, None, None);
        engine().recorder.note(kind, status, 4, READY, access::load(status, 4));
        engine().changed();
    }
}

interpose! {
    /// Has a promise kept at the end of the thread (`_Make_ready::_M_set`).
    #[allow(non_snake_case)]
    fn _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(promise: *mut c_void) {
        engine().current().set_site(site());
        real!(_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv as KeepFn)(promise);
        let record = promise.cast::<AtExit>();
        KEEP.store((*record).run as usize, Ordering::Relaxed);
        (*record).run = keep;
    }
}
