//! Sockets: names and connections.
//!
//! What threads of one process send each other over the loopback device is there when the call returns, so a socket is like a pipe. Who
//! waits for somebody outside waits in earnest ([`crate::external_waits`]).

use std::ffi::{c_int, c_uint, c_void};

use libc::{sockaddr, sockaddr_in, sockaddr_un, socklen_t};
use threadbare_trace::EventKind;

use super::blocking_call::{Manner, broken_off, manner, result, scheduling_point};
use crate::engine::engine;
use crate::interpose::{interpose, real, site};
use crate::sync::{note, step};
use crate::{files, sys};

type Bind = unsafe extern "C-unwind" fn(c_int, *const sockaddr, socklen_t) -> c_int;

/// The option of a socket.
fn option(fd: c_int, option: c_int) -> c_int {
    let (mut value, mut length) = (0 as c_int, size_of::<c_int>() as socklen_t);
    // SAFETY: both are places of the right type.
    unsafe {
        let (value, length) = (&raw mut value as usize, &raw mut length as usize);
        sys::call(
            libc::SYS_getsockopt,
            [fd as usize, libc::SOL_SOCKET as usize, option as usize, value, length, 0],
        );
    }
    value
}

/// The socket is about to take a name, which only one process can have at a time.
unsafe fn take_name(fd: c_int, name: *const sockaddr, length: socklen_t) {
    if name.is_null() || (length as usize) < size_of::<libc::sa_family_t>() {
        return;
    }
    // SAFETY: the program's own name, as long as it says.
    unsafe {
        match c_int::from((*name).sa_family) {
            libc::AF_INET | libc::AF_INET6 if length as usize >= size_of::<sockaddr_in>() => {
                // Both kinds have the port at the same place.
                if (*name.cast::<sockaddr_in>()).sin_port != 0 {
                    engine().shared.control().took_name = 1;
                }
                // The name may have been an earlier execution's, which the system keeps for some time.
                let again: c_int = 1;
                let value = &raw const again as usize;
                let reuse = libc::SO_REUSEADDR as usize;
                if option(fd, libc::SO_TYPE) == libc::SOCK_STREAM {
                    sys::call(
                        libc::SYS_setsockopt,
                        [fd as usize, libc::SOL_SOCKET as usize, reuse, value, 4, 0],
                    );
                }
            }
            libc::AF_UNIX if length as usize > std::mem::offset_of!(sockaddr_un, sun_path) => {
                engine().shared.control().took_name = 1;
                let path = (&raw const (*name.cast::<sockaddr_un>()).sun_path).cast::<libc::c_char>();
                let room = length as usize - std::mem::offset_of!(sockaddr_un, sun_path);
                let path = std::slice::from_raw_parts(path.cast::<u8>(), room);
                let end = path.iter().position(|byte| *byte == 0).unwrap_or(room);
                if end > 0 {
                    let text = [&path[..end], &[0]].concat();
                    files::about_to_change(libc::AT_FDCWD, text.as_ptr().cast(), false);
                }
            }
            _ => {}
        }
    }
}

/// Connects a socket whose caller waits until it is connected, or refused.
unsafe fn connect_and_wait(fd: c_int, to: *const sockaddr, length: socklen_t, pc: u64) -> isize {
    let control = |command: c_int, value: usize| {
        // SAFETY: reads flags, or sets them.
        unsafe { sys::call(libc::SYS_fcntl, [fd as usize, command as usize, value, 0, 0, 0]) }
    };
    loop {
        let flags = control(libc::F_GETFL, 0) as usize;
        control(libc::F_SETFL, flags | libc::O_NONBLOCK as usize);
        // SAFETY: the program's own arguments.
        let answer =
            unsafe { sys::call(libc::SYS_connect, [fd as usize, to as usize, length as usize, 0, 0, 0]) };
        control(libc::F_SETFL, flags);
        match answer {
            // So many wait to be accepted that there is no room for one more.
            n if n == -(libc::EAGAIN as isize) => {
                engine().current().made_no_progress();
                step(EventKind::Io, fd as usize, pc);
            }
            n if n == -(libc::EINPROGRESS as isize) => {
                if scheduling_point(fd, libc::POLLOUT, false, pc) {
                    return broken_off();
                }
                return result(-(option(fd, libc::SO_ERROR) as isize));
            }
            n => return result(n),
        }
    }
}

interpose! {
    /// Gives a socket a name.
    fn bind(fd: c_int, name: *const sockaddr, length: socklen_t) -> c_int {
        take_name(fd, name, length);
        real!(bind as Bind)(fd, name, length)
    }
    /// Connects.
    fn connect(fd: c_int, to: *const sockaddr, length: socklen_t) -> c_int {
        let pc = site();
        if scheduling_point(fd, libc::POLLOUT, true, pc) {
            return broken_off() as _;
        }
        if engine().running.get() && manner(fd) == Manner::Blocking {
            return connect_and_wait(fd, to, length, pc) as c_int;
        }
        result(sys::call(libc::SYS_connect, [fd as usize, to as usize, length as usize, 0, 0, 0])) as c_int
    }
    /// Ends one direction of a connection, or both.
    fn shutdown(fd: c_int, how: c_int) -> c_int {
        if engine().running.get() {
            step(EventKind::Io, fd as usize, site());
            note(EventKind::Io, fd as usize, 0);
        }
        result(sys::call(libc::SYS_shutdown, [fd as usize, how as usize, 0, 0, 0, 0])) as c_int
    }
    /// Sends several messages.
    fn sendmmsg(fd: c_int, messages: *mut libc::mmsghdr, count: c_uint, flags: c_int) -> c_int {
        each_message(messages, count, |message| super::io::sendmsg(fd, message, flags))
    }
    /// Receives several messages. How long that may take is not looked at: then it would be over with less.
    fn recvmmsg(fd: c_int, messages: *mut libc::mmsghdr, count: c_uint, flags: c_int, length: *mut libc::timespec) -> c_int {
        const WAIT_FOR_ONE: c_int = 0x10000;
        if !length.is_null() {
            crate::shared_memory::unsupported("recvmmsg() with a time limit");
        }
        let mut flags = flags;
        each_message(messages, count, |message| {
            let got = super::io::recvmsg(fd, message, flags & !WAIT_FOR_ONE);
            flags |= if flags & WAIT_FOR_ONE != 0 { libc::MSG_DONTWAIT } else { 0 };
            got
        })
    }
}

/// Sends or receives one message after the other; says how many, or that not even the first one was.
unsafe fn each_message(
    messages: *mut libc::mmsghdr,
    count: c_uint,
    mut transfer: impl FnMut(*mut libc::msghdr) -> isize,
) -> c_int {
    // SAFETY: the program's own array.
    let messages = unsafe {
        std::slice::from_raw_parts_mut(
            messages,
            if messages.cast::<c_void>().is_null() { 0 } else { count as usize },
        )
    };
    for (done, message) in messages.iter_mut().enumerate() {
        let bytes = transfer(&raw mut message.msg_hdr);
        if bytes < 0 {
            return if done == 0 { -1 } else { done as c_int };
        }
        message.msg_len = bytes as c_uint;
    }
    messages.len() as c_int
}
