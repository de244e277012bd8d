//! Descriptors of which the program makes more: several numbers stand for one thing.

use std::ffi::c_int;

use crate::engine::engine;
use crate::interpose::{interpose, real};

type Fcntl = unsafe extern "C-unwind" fn(c_int, c_int, usize) -> c_int;

fn note(fd: c_int, new: c_int) -> c_int {
    if new >= 0 {
        engine().world.descriptors.borrow_mut().add_number(fd, new);
        super::streams::replaced(new);
    }
    new
}

fn note_command(fd: c_int, command: c_int, result: c_int) -> c_int {
    if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) { note(fd, result) } else { result }
}

interpose! {
    /// One more number for a descriptor.
    fn dup(fd: c_int) -> c_int {
        note(fd, real!(dup as unsafe extern "C-unwind" fn(c_int) -> c_int)(fd))
    }
    /// This number for a descriptor.
    fn dup2(fd: c_int, new: c_int) -> c_int {
        note(fd, real!(dup2 as unsafe extern "C-unwind" fn(c_int, c_int) -> c_int)(fd, new))
    }
    /// This number for a descriptor, with flags.
    fn dup3(fd: c_int, new: c_int, flags: c_int) -> c_int {
        note(fd, real!(dup3 as unsafe extern "C-unwind" fn(c_int, c_int, c_int) -> c_int)(fd, new, flags))
    }
    /// Does this and that with a descriptor.
    fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
        note_command(fd, command, real!(fcntl as Fcntl)(fd, command, argument))
    }
    /// Does this and that with a descriptor.
    fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int {
        note_command(fd, command, real!(fcntl64 as Fcntl)(fd, command, argument))
    }
}
