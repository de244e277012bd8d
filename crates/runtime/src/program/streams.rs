//! Stdio streams, as far as they make threads wait for each other.
//!
//! The C library reads inside itself, where nothing can be interposed: a stream over a pipe is
//! therefore waited for before the call. Locks are modelled where programs take them by hand: the
//! C library's own lock would be held across switches, and the next thread to want it would
//! stop everybody. What single stdio calls lock on their own is never held across a switch.

use std::ffi::{c_char, c_int, c_void};

use super::blocking_call::scheduling_point;
use crate::entropy;
use crate::interpose::{interpose, real, site};
use crate::sync::{Limit, mutex};

unsafe extern "C" {
    fn fileno(stream: *mut c_void) -> c_int;
}

/// Waits until a stream has something to read, in its buffer or behind it.
unsafe fn await_input(stream: *mut c_void, pc: u64) {
    /// The head of a stream, as the C library's public header has it.
    #[repr(C)]
    struct Head {
        flags: c_int,
        read_pointer: usize,
        read_end: usize,
    }
    // SAFETY: the program passed a stream.
    unsafe {
        let head = &*stream.cast::<Head>();
        if head.read_pointer >= head.read_end {
            // The C library reads on where it was interrupted only after an error; it is as if it restarted.
            while scheduling_point(fileno(stream), libc::POLLIN, false, pc) {}
        }
    }
}

interpose! {
    /// Reads a line.
    fn fgets(line: *mut c_char, room: c_int, stream: *mut c_void) -> *mut c_char {
        await_input(stream, site());
        real!(fgets as unsafe extern "C-unwind" fn(*mut c_char, c_int, *mut c_void) -> *mut c_char)(line, room, stream)
    }
    /// Reads a line of any length.
    fn getline(line: *mut *mut c_char, room: *mut usize, stream: *mut c_void) -> isize {
        await_input(stream, site());
        real!(getline as unsafe extern "C-unwind" fn(*mut *mut c_char, *mut usize, *mut c_void) -> isize)(line, room, stream)
    }
    /// Reads records.
    fn fread(place: *mut c_void, size: usize, count: usize, stream: *mut c_void) -> usize {
        await_input(stream, site());
        if entropy::is_read_from(fileno(stream)) {
            entropy::fill(place, size.saturating_mul(count));
            return count;
        }
        real!(fread as unsafe extern "C-unwind" fn(*mut c_void, usize, usize, *mut c_void) -> usize)(place, size, count, stream)
    }
    /// Reads a character.
    fn fgetc(stream: *mut c_void) -> c_int {
        await_input(stream, site());
        if entropy::is_read_from(fileno(stream)) {
            return entropy::byte();
        }
        real!(fgetc as unsafe extern "C-unwind" fn(*mut c_void) -> c_int)(stream)
    }
    /// Reads a character.
    fn getc(stream: *mut c_void) -> c_int {
        await_input(stream, site());
        if entropy::is_read_from(fileno(stream)) {
            return entropy::byte();
        }
        real!(getc as unsafe extern "C-unwind" fn(*mut c_void) -> c_int)(stream)
    }
    /// Locks a stream.
    fn flockfile(stream: *mut c_void) {
        let pc = site();
        mutex::lock(mutex::recursive_at(stream as usize), Limit::Forever, pc);
    }
    /// Locks a stream if it is free.
    fn ftrylockfile(stream: *mut c_void) -> c_int {
        let pc = site();
        mutex::lock(mutex::recursive_at(stream as usize), Limit::Try, pc)
    }
    /// Unlocks a stream.
    fn funlockfile(stream: *mut c_void) {
        let pc = site();
        mutex::unlock(mutex::recursive_at(stream as usize), pc);
    }
}
