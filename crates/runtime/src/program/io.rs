//! Input and output between threads: a call that would block disables its thread instead.

use std::ffi::{c_int, c_uint, c_void};

use libc::{iovec, msghdr, sockaddr, socklen_t};
use threadbare_trace::EventKind;

use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::sync::{note, or_errno, step, step_when};
use crate::{cancel, outside, sys};

/// What can be said of a descriptor before it is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// A file: always ready.
    File,
    /// A pipe, socket or the like that makes its caller wait.
    Blocking,
    /// One that would rather fail.
    NonBlocking,
}

fn manner(fd: c_int) -> Manner {
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
        cancel::is_due(fiber) || outside::is_ready(self.fd, self.events)
    }

    fn what(&self) -> String {
        let verb = if self.events & libc::POLLIN != 0 { "read from" } else { "write to" };
        format!("descriptor {} to be ready to {verb}", self.fd)
    }

    fn descriptors(&self) -> Vec<(i32, i16)> {
        vec![(self.fd, self.events)]
    }
}

/// Makes a scheduling point before the descriptor is used; waits until it is ready if its manner
/// (or `dont_wait`) does not say otherwise. Says whether the call would block after all.
fn turn(fd: c_int, events: i16, dont_wait: bool, pc: u64) {
    let manner = manner(fd);
    if !engine().running || manner == Manner::File {
        return;
    }
    let fiber = engine().current();
    cancel::check(fiber);
    if dont_wait || manner == Manner::NonBlocking {
        step(EventKind::Io, fd as usize, pc);
    } else {
        let descriptor = Descriptor { fd, events };
        step_when(EventKind::Io, fd as usize, pc, Some(&raw const descriptor), false);
        cancel::check(fiber);
    }
    note(EventKind::Io, fd as usize, events as u64);
    engine().changed();
}

fn result(value: isize) -> isize {
    if value < 0 {
        if value == -(libc::EAGAIN as isize) {
            engine().current().made_no_progress();
        }
        return or_errno(-value as c_int) as isize;
    }
    value
}

/// Writes to a descriptor that may take less than all: the rest waits for its turn.
unsafe fn write_all(fd: c_int, place: *const c_void, bytes: usize, pc: u64) -> isize {
    // SAFETY: the program's own arguments; the descriptor's mode is put back.
    unsafe {
        let fcntl = |command: c_int, value: usize| {
            sys::call(libc::SYS_fcntl, [fd as usize, command as usize, value, 0, 0, 0])
        };
        if !engine().running || manner(fd) != Manner::Blocking || bytes <= libc::PIPE_BUF {
            turn(fd, libc::POLLOUT, false, pc);
            return result(sys::call(libc::SYS_write, [fd as usize, place as usize, bytes, 0, 0, 0]));
        }
        let mut done = 0;
        while done < bytes {
            turn(fd, libc::POLLOUT, false, pc);
            let flags = fcntl(libc::F_GETFL, 0);
            fcntl(libc::F_SETFL, flags as usize | libc::O_NONBLOCK as usize);
            let n = sys::call(libc::SYS_write, [fd as usize, place as usize + done, bytes - done, 0, 0, 0]);
            fcntl(libc::F_SETFL, flags as usize);
            match n {
                n if n > 0 => done += n as usize,
                n if n == -(libc::EAGAIN as isize) => {}
                n if done == 0 => return result(n),
                _ => break,
            }
        }
        done as isize
    }
}

/// The rest of a call that has had its turn.
macro_rules! then_call {
    ($number:expr, $($arg:expr),*) => {{
        let mut args = [0usize; 6];
        let given = [$($arg as usize),*];
        args[..given.len()].copy_from_slice(&given);
        // SAFETY: the program's own arguments.
        unsafe { result(sys::call($number, args)) }
    }};
}

fn remember(fds: &[c_int]) {
    engine().world.inner_descriptors.extend_from_slice(fds);
}

interpose! {
    /// Reads.
    fn read(fd: c_int, place: *mut c_void, bytes: usize) -> isize {
        turn(fd, libc::POLLIN, false, site());
        then_call!(libc::SYS_read, fd, place, bytes)
    }
    /// Reads, with a check of the buffer's size.
    fn __read_chk(fd: c_int, place: *mut c_void, bytes: usize, room: usize) -> isize {
        turn(fd, libc::POLLIN, false, site());
        then_call!(libc::SYS_read, fd, place, bytes.min(room))
    }
    /// Reads into several places.
    fn readv(fd: c_int, places: *const iovec, count: c_int) -> isize {
        turn(fd, libc::POLLIN, false, site());
        then_call!(libc::SYS_readv, fd, places, count)
    }
    /// Writes.
    fn write(fd: c_int, place: *const c_void, bytes: usize) -> isize {
        let pc = site();
        write_all(fd, place, bytes, pc)
    }
    /// Writes from several places.
    fn writev(fd: c_int, places: *const iovec, count: c_int) -> isize {
        turn(fd, libc::POLLOUT, false, site());
        then_call!(libc::SYS_writev, fd, places, count)
    }
    /// Receives.
    fn recv(fd: c_int, place: *mut c_void, bytes: usize, flags: c_int) -> isize {
        turn(fd, libc::POLLIN, flags & libc::MSG_DONTWAIT != 0, site());
        then_call!(libc::SYS_recvfrom, fd, place, bytes, flags, 0, 0)
    }
    /// Receives, with a check of the buffer's size.
    fn __recv_chk(fd: c_int, place: *mut c_void, bytes: usize, room: usize, flags: c_int) -> isize {
        turn(fd, libc::POLLIN, flags & libc::MSG_DONTWAIT != 0, site());
        then_call!(libc::SYS_recvfrom, fd, place, bytes.min(room), flags, 0, 0)
    }
    /// Receives, and learns from whom.
    fn recvfrom(fd: c_int, place: *mut c_void, bytes: usize, flags: c_int, from: *mut sockaddr, length: *mut socklen_t) -> isize {
        turn(fd, libc::POLLIN, flags & libc::MSG_DONTWAIT != 0, site());
        then_call!(libc::SYS_recvfrom, fd, place, bytes, flags, from, length)
    }
    /// Receives a message.
    fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> isize {
        turn(fd, libc::POLLIN, flags & libc::MSG_DONTWAIT != 0, site());
        then_call!(libc::SYS_recvmsg, fd, message, flags)
    }
    /// Sends.
    fn send(fd: c_int, place: *const c_void, bytes: usize, flags: c_int) -> isize {
        let pc = site();
        if flags == 0 {
            return write_all(fd, place, bytes, pc);
        }
        turn(fd, libc::POLLOUT, flags & libc::MSG_DONTWAIT != 0, pc);
        then_call!(libc::SYS_sendto, fd, place, bytes, flags, 0, 0)
    }
    /// Sends to somebody.
    fn sendto(fd: c_int, place: *const c_void, bytes: usize, flags: c_int, to: *const sockaddr, length: socklen_t) -> isize {
        turn(fd, libc::POLLOUT, flags & libc::MSG_DONTWAIT != 0, site());
        then_call!(libc::SYS_sendto, fd, place, bytes, flags, to, length)
    }
    /// Sends a message.
    fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> isize {
        turn(fd, libc::POLLOUT, flags & libc::MSG_DONTWAIT != 0, site());
        then_call!(libc::SYS_sendmsg, fd, message, flags)
    }
    /// Accepts a connection.
    fn accept(fd: c_int, from: *mut sockaddr, length: *mut socklen_t) -> c_int {
        turn(fd, libc::POLLIN, false, site());
        then_call!(libc::SYS_accept, fd, from, length) as c_int
    }
    /// Accepts a connection, with flags for it.
    fn accept4(fd: c_int, from: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int {
        turn(fd, libc::POLLIN, false, site());
        then_call!(libc::SYS_accept4, fd, from, length, flags) as c_int
    }
    /// Connects.
    fn connect(fd: c_int, to: *const sockaddr, length: socklen_t) -> c_int {
        turn(fd, libc::POLLOUT, true, site());
        then_call!(libc::SYS_connect, fd, to, length) as c_int
    }
    /// Reads an event counter.
    fn eventfd_read(fd: c_int, value: *mut u64) -> c_int {
        turn(fd, libc::POLLIN, false, site());
        if then_call!(libc::SYS_read, fd, value, 8) == 8 { 0 } else { -1 }
    }
    /// Adds to an event counter.
    fn eventfd_write(fd: c_int, value: u64) -> c_int {
        turn(fd, libc::POLLOUT, false, site());
        if then_call!(libc::SYS_write, fd, &raw const value, 8) == 8 { 0 } else { -1 }
    }
    /// Makes a pipe.
    fn pipe(ends: *mut c_int) -> c_int {
        let made = then_call!(libc::SYS_pipe2, ends, 0);
        if made == 0 { remember(std::slice::from_raw_parts(ends, 2)) }
        made as c_int
    }
    /// Makes a pipe, with flags.
    fn pipe2(ends: *mut c_int, flags: c_int) -> c_int {
        let made = then_call!(libc::SYS_pipe2, ends, flags);
        if made == 0 { remember(std::slice::from_raw_parts(ends, 2)) }
        made as c_int
    }
    /// Makes a pair of sockets.
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, ends: *mut c_int) -> c_int {
        let made = then_call!(libc::SYS_socketpair, domain, kind, protocol, ends);
        if made == 0 { remember(std::slice::from_raw_parts(ends, 2)) }
        made as c_int
    }
    /// Makes an event counter.
    fn eventfd(value: c_uint, flags: c_int) -> c_int {
        let made = then_call!(libc::SYS_eventfd2, value, flags) as c_int;
        if made >= 0 { remember(&[made]) }
        made
    }
    /// Closes.
    fn close(fd: c_int) -> c_int {
        engine().world.inner_descriptors.retain(|known| *known != fd);
        if engine().running && manner(fd) != Manner::File {
            step(EventKind::Io, fd as usize, site());
            note(EventKind::Io, fd as usize, 0);
            engine().changed();
        }
        real!(close as unsafe extern "C-unwind" fn(c_int) -> c_int)(fd)
    }
}
