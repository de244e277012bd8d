//! Locks on open files (`flock`), which threads of one process can wait for, too.

use std::ffi::c_int;

use threadbare_trace::EventKind;

use crate::engine::engine;
use crate::interpose::{interpose, real, site};
use crate::sync::{note, step};
use crate::{cancel, sys};

/// Who takes such a lock learns of those who gave it back, and the other way round.
const BOTH_WAYS: u64 = (libc::POLLIN | libc::POLLOUT) as u64;

interpose! {
    /// Takes a lock on an open file, or gives it back.
    fn flock(fd: c_int, operation: c_int) -> c_int {
        if !engine().running.get() {
            return real!(flock as unsafe extern "C-unwind" fn(c_int, c_int) -> c_int)(fd, operation);
        }
        let pc = site();
        let fiber = engine().current();
        loop {
            cancel::check(fiber);
            step(EventKind::Io, fd as usize, pc);
            let dont_wait = (operation | libc::LOCK_NB) as usize;
            let answer = sys::call(libc::SYS_flock, [fd as usize, dont_wait, 0, 0, 0, 0]);
            note(EventKind::Io, fd as usize, BOTH_WAYS);
            if answer != -(libc::EWOULDBLOCK as isize) || operation & libc::LOCK_NB != 0 {
                return super::blocking_call::result(answer) as c_int;
            }
            fiber.made_no_progress();
        }
    }
}
