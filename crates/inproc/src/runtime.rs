//! The runtime that a program is given when it runs under threadbare, if it is there.

use std::ffi::{c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr::null_mut;

/// What the test wishes for, as the runtime reads it.
#[repr(C)]
pub(crate) struct Wishes {
    /// The most executions; 0 for no wish.
    pub executions: u64,
    /// The seed, if `has_seed` is 1.
    pub seed: u64,
    /// See `seed`.
    pub has_seed: u32,
    /// The strategy by number; 0 for no wish.
    pub strategy: u32,
}

/// What the runtime calls: it returns 0, or 1 if it failed.
pub(crate) type Closure = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;

type Repeat = unsafe extern "C-unwind" fn(Closure, *mut c_void, *const Wishes) -> c_int;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Has the runtime call a closure. False if there is none, or if nobody controls it: then nothing was called.
pub(crate) fn repeat(closure: Closure, data: *mut c_void, wishes: &Wishes) -> bool {
    const UNCONTROLLED: c_int = -1;
    // SAFETY: looks up a name among all that is loaded, which is what no handle stands for.
    let found = unsafe { dlsym(null_mut(), c"threadbare_repeat".as_ptr()) };
    if found.is_null() {
        return false;
    }
    // SAFETY: the runtime's function of this name has this type; the closure takes this data.
    unsafe {
        let repeat = transmute::<*mut c_void, Repeat>(found);
        repeat(closure, data, wishes) != UNCONTROLLED
    }
}
