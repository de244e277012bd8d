//! The scheduling point of a call that uses a descriptor: when it would block, its thread is disabled instead.

use std::ffi::{c_int, c_void};

use libc::iovec;
use threadbare_trace::EventKind;

use crate::engine::engine;
use crate::fiber::{Breaks, Fiber, Waitable};
use crate::sync::{note, or_errno, step, step_when};
use crate::{cancel, external_waits, sys};

/// What can be said of a descriptor before it is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// A file: always ready.
    File,
    /// A pipe, socket or the like that makes its caller wait.
    Blocking,
    /// One that would rather fail.
    NonBlocking,
}

/// How a descriptor treats its callers.
pub fn manner(fd: c_int) -> Manner {
    // SAFETY: asks only.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        if sys::call(libc::SYS_fstat, [fd as usize, &raw mut stat as usize, 0, 0, 0, 0]) < 0 {
            return Manner::File;
        }
        if matches!(
            stat.st_mode & libc::S_IFMT,
            libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK | libc::S_IFCHR
        ) {
            return Manner::File;
        }
        let flags = sys::call(libc::SYS_fcntl, [fd as usize, libc::F_GETFL as usize, 0, 0, 0, 0]);
        if flags as c_int & libc::O_NONBLOCK != 0 { Manner::NonBlocking } else { Manner::Blocking }
    }
}

/// A descriptor that has to become ready; lives on the waiting thread's stack.
struct Descriptor {
    fd: c_int,
    events: i16,
}

impl Waitable for Descriptor {
    fn ready(&self, fiber: &Fiber) -> bool {
        cancel::is_due(fiber) || external_waits::is_ready(self.fd, self.events)
    }

    fn what(&self) -> String {
        let verb = if self.events & libc::POLLIN != 0 { "read from" } else { "write to" };
        format!("descriptor {} to be ready to {verb}", self.fd)
    }

    fn descriptors(&self) -> Vec<(i32, i16)> {
        vec![(self.fd, self.events)]
    }

    fn breaks(&self) -> Breaks {
        Breaks::UnlessRestarted
    }
}

/// Makes a scheduling point before the descriptor is used; waits until it is ready if its manner
/// (or `dont_wait`) does not say otherwise. Says whether a signal handler broke the call off.
#[must_use]
pub fn scheduling_point(fd: c_int, events: i16, dont_wait: bool, pc: u64) -> bool {
    let fiber = engine().current();
    cancel::check(fiber);
    let manner = manner(fd);
    if !engine().running.get() || manner == Manner::File {
        return false;
    }
    super::timer_descriptors::ring();
    if dont_wait || manner == Manner::NonBlocking {
        step(EventKind::Io, fd as usize, pc);
    } else {
        let descriptor = Descriptor { fd, events };
        crate::signals::before_call(pc);
        step_when(EventKind::Io, fd as usize, pc, Some(&raw const descriptor), None);
        cancel::check(fiber);
    }
    if fiber.take_broken_off() {
        return true;
    }
    note(EventKind::Io, fd as usize, events as u64);
    false
}

/// What the program gets for a call that a handler broke off.
pub fn broken_off() -> isize {
    or_errno(libc::EINTR) as isize
}

/// What the program gets for a system call's answer.
pub fn result(value: isize) -> isize {
    if value < 0 {
        if value == -(libc::EAGAIN as isize) {
            engine().current().made_no_progress();
        }
        return or_errno(-value as c_int) as isize;
    }
    engine().changed();
    value
}

/// Writes to a descriptor that may take less than all: the rest has a scheduling point of its own.
///
/// # Safety
/// As `write`.
pub unsafe fn write_all(fd: c_int, place: *const c_void, bytes: usize, pc: u64) -> isize {
    // SAFETY: the program's own arguments; the descriptor's mode is put back.
    unsafe {
        let fcntl = |command: c_int, value: usize| {
            sys::call(libc::SYS_fcntl, [fd as usize, command as usize, value, 0, 0, 0])
        };
        if !engine().running.get() || manner(fd) != Manner::Blocking || bytes <= libc::PIPE_BUF {
            if scheduling_point(fd, libc::POLLOUT, false, pc) {
                return broken_off();
            }
            return result(sys::call(libc::SYS_write, [fd as usize, place as usize, bytes, 0, 0, 0]));
        }
        let mut done = 0;
        while done < bytes {
            if scheduling_point(fd, libc::POLLOUT, false, pc) {
                return if done == 0 { broken_off() } else { done as isize };
            }
            let flags = fcntl(libc::F_GETFL, 0);
            fcntl(libc::F_SETFL, flags as usize | libc::O_NONBLOCK as usize);
            let n = sys::call(libc::SYS_write, [fd as usize, place as usize + done, bytes - done, 0, 0, 0]);
            fcntl(libc::F_SETFL, flags as usize);
            match n {
                n if n > 0 => {
                    done += n as usize;
                    engine().changed();
                }
                n if n == -(libc::EAGAIN as isize) => {}
                n if done == 0 => return result(n),
                _ => break,
            }
        }
        done as isize
    }
}

/// Sends or receives on a socket whose caller may wait until all is done: each part has a scheduling point.
///
/// # Safety
/// As `sendto` or `recvfrom`, whichever the number says.
pub unsafe fn transfer(
    number: i64,
    fd: c_int,
    (place, bytes): (usize, usize),
    flags: c_int,
    peer: (usize, usize),
    pc: u64,
) -> isize {
    let sends = number == libc::SYS_sendto;
    let events = if sends { libc::POLLOUT } else { libc::POLLIN };
    let dont_wait = flags & libc::MSG_DONTWAIT != 0;
    let waits = engine().running.get() && !dont_wait && manner(fd) == Manner::Blocking;
    let whole = waits && (sends || flags & libc::MSG_WAITALL != 0);
    let flags = if waits { (flags | libc::MSG_DONTWAIT) & !libc::MSG_WAITALL } else { flags };
    let mut done = 0;
    loop {
        if scheduling_point(fd, events, dont_wait, pc) {
            return if done == 0 { broken_off() } else { done as isize };
        }
        // SAFETY: the program's own arguments.
        let n = unsafe {
            sys::call(number, [fd as usize, place + done, bytes - done, flags as usize, peer.0, peer.1])
        };
        match n {
            n if n > 0 => {
                done += n as usize;
                engine().changed();
                if !whole || done >= bytes {
                    return done as isize;
                }
            }
            n if waits && n == -(libc::EAGAIN as isize) => {}
            n if done == 0 => return result(n),
            _ => return done as isize,
        }
    }
}

/// Writes from several places.
///
/// # Safety
/// As `writev`.
pub unsafe fn write_parts(fd: c_int, places: *const iovec, count: c_int, pc: u64) -> isize {
    // SAFETY: the program's own array.
    let parts = unsafe { std::slice::from_raw_parts(places, count.max(0) as usize) };
    let total: usize = parts.iter().map(|part| part.iov_len).sum();
    if total <= libc::PIPE_BUF || manner(fd) != Manner::Blocking {
        if scheduling_point(fd, libc::POLLOUT, false, pc) {
            return broken_off();
        }
        // SAFETY: as above.
        return result(unsafe {
            sys::call(libc::SYS_writev, [fd as usize, places as usize, count as usize, 0, 0, 0])
        });
    }
    let mut done = 0;
    for part in parts {
        // SAFETY: as above.
        let n = unsafe { write_all(fd, part.iov_base, part.iov_len, pc) };
        if n < 0 {
            return if done > 0 { done } else { n };
        }
        done += n;
        if (n as usize) < part.iov_len {
            break;
        }
    }
    done
}
