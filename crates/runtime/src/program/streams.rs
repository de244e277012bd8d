//! The locks of stdio streams, as far as programs take them by hand.
//!
//! The C library's own lock would be held across switches, and the next thread to want it would
//! stop everybody. What single stdio calls lock on their own is never held across a switch.

use std::ffi::{c_int, c_void};

use crate::interpose::{interpose, site};
use crate::sync::{Limit, mutex};

interpose! {
    /// Locks a stream.
    fn flockfile(stream: *mut c_void) {
        let pc = site();
        mutex::lock(mutex::of_stream(stream as usize), Limit::Forever, pc);
    }
    /// Locks a stream if it is free.
    fn ftrylockfile(stream: *mut c_void) -> c_int {
        let pc = site();
        mutex::lock(mutex::of_stream(stream as usize), Limit::Try, pc)
    }
    /// Unlocks a stream.
    fn funlockfile(stream: *mut c_void) {
        let pc = site();
        mutex::unlock(mutex::of_stream(stream as usize), pc);
    }
}
