//! Input and output between threads: a call that would block disables its thread instead.

use std::ffi::{c_int, c_uint, c_void};

use libc::{iovec, msghdr, sockaddr, socklen_t};
use threadbare_trace::EventKind;

use super::blocking_call::{
    Manner, broken_off, manner, result, scheduling_point, transfer, write_all, write_parts,
};
use crate::descriptors::Descriptors;
use crate::engine::engine;
use crate::exclusive::Borrow;
use crate::interpose::{interpose, real, site};
use crate::sync::{note, or_errno, step};
use crate::{entropy, sys};

/// The rest of a call after its scheduling point.
macro_rules! then_call {
    ($number:expr, $($arg:expr),*) => {{
        let mut args = [0usize; 6];
        let given = [$($arg as usize),*];
        args[..given.len()].copy_from_slice(&given);
        // SAFETY: the program's own arguments.
        unsafe { result(sys::call($number, args)) }
    }};
}

fn known() -> Borrow<'static, Descriptors> {
    engine().world.descriptors.borrow_mut()
}

interpose! {
    /// Reads.
    fn read(fd: c_int, place: *mut c_void, bytes: usize) -> isize {
        if scheduling_point(fd, libc::POLLIN, false, site()) {
            return broken_off() as _;
        }
        if entropy::is_read_from(fd) {
            entropy::fill(place, bytes);
            return bytes as isize;
        }
        then_call!(libc::SYS_read, fd, place, bytes)
    }
    /// Reads, with a check of the buffer's size.
    fn __read_chk(fd: c_int, place: *mut c_void, bytes: usize, room: usize) -> isize {
        if scheduling_point(fd, libc::POLLIN, false, site()) {
            return broken_off() as _;
        }
        if entropy::is_read_from(fd) {
            entropy::fill(place, bytes.min(room));
            return bytes.min(room) as isize;
        }
        then_call!(libc::SYS_read, fd, place, bytes.min(room))
    }
    /// Reads into several places.
    fn readv(fd: c_int, places: *const iovec, count: c_int) -> isize {
        if scheduling_point(fd, libc::POLLIN, false, site()) {
            return broken_off() as _;
        }
        if entropy::is_read_from(fd) {
            let places = std::slice::from_raw_parts(places, count.max(0) as usize);
            places.iter().for_each(|place| entropy::fill(place.iov_base, place.iov_len));
            return places.iter().map(|place| place.iov_len as isize).sum();
        }
        then_call!(libc::SYS_readv, fd, places, count)
    }
    /// Writes.
    fn write(fd: c_int, place: *const c_void, bytes: usize) -> isize {
        let pc = site();
        write_all(fd, place, bytes, pc)
    }
    /// Writes from several places.
    fn writev(fd: c_int, places: *const iovec, count: c_int) -> isize {
        let pc = site();
        write_parts(fd, places, count, pc)
    }
    /// Receives.
    fn recv(fd: c_int, place: *mut c_void, bytes: usize, flags: c_int) -> isize {
        let pc = site();
        transfer(libc::SYS_recvfrom, fd, (place as usize, bytes), flags, (0, 0), pc)
    }
    /// Receives, with a check of the buffer's size.
    fn __recv_chk(fd: c_int, place: *mut c_void, bytes: usize, room: usize, flags: c_int) -> isize {
        let pc = site();
        transfer(libc::SYS_recvfrom, fd, (place as usize, bytes.min(room)), flags, (0, 0), pc)
    }
    /// Receives, and learns from whom.
    fn recvfrom(fd: c_int, place: *mut c_void, bytes: usize, flags: c_int, from: *mut sockaddr, length: *mut socklen_t) -> isize {
        let pc = site();
        transfer(libc::SYS_recvfrom, fd, (place as usize, bytes), flags, (from as usize, length as usize), pc)
    }
    /// Receives a message.
    fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> isize {
        if scheduling_point(fd, libc::POLLIN, flags & libc::MSG_DONTWAIT != 0, site()) {
            return broken_off() as _;
        }
        then_call!(libc::SYS_recvmsg, fd, message, flags)
    }
    /// Sends.
    fn send(fd: c_int, place: *const c_void, bytes: usize, flags: c_int) -> isize {
        let pc = site();
        transfer(libc::SYS_sendto, fd, (place as usize, bytes), flags, (0, 0), pc)
    }
    /// Sends to somebody.
    fn sendto(fd: c_int, place: *const c_void, bytes: usize, flags: c_int, to: *const sockaddr, length: socklen_t) -> isize {
        let pc = site();
        transfer(libc::SYS_sendto, fd, (place as usize, bytes), flags, (to as usize, length as usize), pc)
    }
    /// Sends a message.
    fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> isize {
        let pc = site();
        let waits = engine().running.get() && flags & libc::MSG_DONTWAIT == 0 && manner(fd) == Manner::Blocking;
        loop {
            if scheduling_point(fd, libc::POLLOUT, !waits, pc) {
                return broken_off() as _;
            }
            let flags = if waits { flags | libc::MSG_DONTWAIT } else { flags };
            let n = sys::call(libc::SYS_sendmsg, [fd as usize, message as usize, flags as usize, 0, 0, 0]);
            if !waits || n != -(libc::EAGAIN as isize) {
                return result(n);
            }
        }
    }
    /// Accepts a connection.
    fn accept(fd: c_int, from: *mut sockaddr, length: *mut socklen_t) -> c_int {
        if scheduling_point(fd, libc::POLLIN, false, site()) {
            return broken_off() as _;
        }
        then_call!(libc::SYS_accept4, fd, from, length, 0) as c_int
    }
    /// Accepts a connection, with flags for it.
    fn accept4(fd: c_int, from: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int {
        if scheduling_point(fd, libc::POLLIN, false, site()) {
            return broken_off() as _;
        }
        then_call!(libc::SYS_accept4, fd, from, length, flags) as c_int
    }
    /// Reads an event counter.
    fn eventfd_read(fd: c_int, value: *mut u64) -> c_int {
        if scheduling_point(fd, libc::POLLIN, false, site()) {
            return broken_off() as _;
        }
        if then_call!(libc::SYS_read, fd, value, 8) == 8 { 0 } else { -1 }
    }
    /// Adds to an event counter.
    fn eventfd_write(fd: c_int, value: u64) -> c_int {
        if scheduling_point(fd, libc::POLLOUT, false, site()) {
            return broken_off() as _;
        }
        if then_call!(libc::SYS_write, fd, &raw const value, 8) == 8 { 0 } else { -1 }
    }
    /// Makes a pipe.
    fn pipe(ends: *mut c_int) -> c_int {
        then_call!(libc::SYS_pipe2, ends, 0) as c_int
    }
    /// Makes a pipe, with flags.
    fn pipe2(ends: *mut c_int, flags: c_int) -> c_int {
        then_call!(libc::SYS_pipe2, ends, flags) as c_int
    }
    /// Makes a pair of sockets.
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, ends: *mut c_int) -> c_int {
        let made = then_call!(libc::SYS_socketpair, domain, kind, protocol, ends);
        if made == 0 { known().add_pair([*ends, *ends.add(1)], domain, kind, protocol) }
        made as c_int
    }
    /// Makes an event counter.
    fn eventfd(value: c_uint, flags: c_int) -> c_int {
        let made = then_call!(libc::SYS_eventfd2, value, flags) as c_int;
        if made >= 0 { known().add_counter(made, flags) }
        made
    }
    /// Makes an epoll set.
    fn epoll_create(size: c_int) -> c_int {
        if size <= 0 {
            return or_errno(libc::EINVAL);
        }
        let made = then_call!(libc::SYS_epoll_create1, 0) as c_int;
        if made >= 0 { known().add_watch(made, 0) }
        made
    }
    /// Makes an epoll set, with flags.
    fn epoll_create1(flags: c_int) -> c_int {
        let made = then_call!(libc::SYS_epoll_create1, flags) as c_int;
        if made >= 0 { known().add_watch(made, flags) }
        made
    }
    /// Changes what an epoll set watches.
    fn epoll_ctl(epoll: c_int, action: c_int, fd: c_int, event: *const libc::epoll_event) -> c_int {
        if engine().running.get() {
            // Whoever waits is told of the descriptor in the words that are given here.
            step(EventKind::Io, epoll as usize, site());
            note(EventKind::Io, epoll as usize, 0);
        }
        let changed = then_call!(libc::SYS_epoll_ctl, epoll, action, fd, event) as c_int;
        if changed == 0 {
            let now = if action == libc::EPOLL_CTL_DEL { None } else { event.as_ref().map(|event| (event.events, event.u64)) };
            known().change_watch(epoll, fd, now);
        }
        changed
    }
    /// Signals between threads are not sent by the kernel here, so no descriptor reports them.
    fn signalfd(fd: c_int, set: *const libc::sigset_t, flags: c_int) -> c_int {
        crate::shared_memory::unsupported("signalfd()")
    }
    /// Closes.
    fn close(fd: c_int) -> c_int {
        known().remove(fd);
        super::timer_descriptors::closed(fd);
        if engine().running.get() && manner(fd) != Manner::File {
            step(EventKind::Io, fd as usize, site());
            note(EventKind::Io, fd as usize, 0);
            engine().changed();
        }
        crate::dependences::hidden_objects(&CALLED, &[fd as usize]);
        real!(close as unsafe extern "C-unwind" fn(c_int) -> c_int)(fd)
    }
}
