//! Objects that several processes use: those that the program has initialised to be shared, in memory that a process and its copies share.
//!
//! Their state is in that memory, where the C library has it, since every process has a runtime of its own. What a thread waits for there,
//! another process may do, so such a wait is one for the outside as soon as there are other processes.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::engine::engine;

/// Notes that there is such an object.
pub fn note() {
    engine().world.process_shared.set(true);
}

/// Notes that there is one of a kind whose state other processes cannot see; a copy of the process would have one of its own.
pub fn note_unseen(what: &'static str) {
    note();
    engine().world.not_shareable.set(Some(what));
}

/// Whether somebody else may end a wait on such an object.
pub fn is_outside() -> bool {
    engine().world.forked.get()
}

/// A word of an object.
///
/// # Safety
/// An object of the C library's must lie at the address, and have a word there.
pub unsafe fn word(address: usize, offset: usize) -> &'static AtomicU32 {
    // SAFETY: as the caller vouches; it is used while the object is there.
    unsafe { &*((address + offset) as *const AtomicU32) }
}

/// Whether an object says at this place of its memory that it is shared between processes.
///
/// # Safety
/// As [`word`].
pub unsafe fn says_so(address: usize, offset: usize, value: c_int) -> bool {
    // SAFETY: as the caller vouches.
    unsafe { word(address, offset) }.load(Ordering::Relaxed) == value as u32
}
