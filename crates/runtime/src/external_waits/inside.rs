//! Whether a descriptor can become ready only by what this process does. That is asked of the kernel, and only where no thread is
//! runnable: it knows of descriptors that libraries have made as well.

use std::ffi::c_int;

use crate::engine::engine;
use crate::{files, sys};

/// How many descriptors are looked at.
const DESCRIPTORS: c_int = 1024;

/// An address of a socket, as the kernel has it.
#[derive(PartialEq)]
struct Address {
    family: c_int,
    bytes: Vec<u8>,
}

/// Whether nobody but this process can make a descriptor ready.
pub fn can_only_we_make_ready(fd: c_int) -> bool {
    let Some(kind) = files::path_of(fd) else { return true };
    match &kind[..] {
        b"anon_inode:[eventfd]" => true,
        b"anon_inode:[eventpoll]" => watched(fd).into_iter().all(can_only_we_make_ready),
        kind if kind.starts_with(b"socket:") => has_peer_inside(fd),
        kind => is_pipe_inside(fd, kind),
    }
}

/// Whether what is sent to a descriptor takes its way through the system's network, and so may come later.
pub fn takes_time(fd: c_int) -> bool {
    let is_network =
        |fd: c_int| name_of(fd, libc::SYS_getsockname).is_some_and(|name| is_internet(name.family));
    match files::path_of(fd).as_deref() {
        Some(b"anon_inode:[eventpoll]") => watched(fd).into_iter().any(takes_time),
        _ => is_network(fd),
    }
}

fn is_internet(family: c_int) -> bool {
    matches!(family, libc::AF_INET | libc::AF_INET6)
}

/// What an epoll set watches.
fn watched(epoll: c_int) -> Vec<c_int> {
    let info = files::whole(format!("/proc/self/fdinfo/{epoll}").as_bytes());
    let info = String::from_utf8_lossy(&info);
    let members =
        info.lines().filter_map(|line| line.strip_prefix("tfd:")?.split_whitespace().next()?.parse().ok());
    members.filter(|member| *member != epoll).collect()
}

/// Whether both ends of a pipe are in this process.
fn is_pipe_inside(fd: c_int, kind: &[u8]) -> bool {
    let writes = |fd: c_int| {
        // SAFETY: asks for flags.
        let flags = unsafe { sys::call(libc::SYS_fcntl, [fd as usize, libc::F_GETFL as usize, 0, 0, 0, 0]) };
        flags as c_int & libc::O_ACCMODE == libc::O_WRONLY
    };
    kind.starts_with(b"pipe:")
        && (0..DESCRIPTORS)
            .any(|other| files::path_of(other).as_deref() == Some(kind) && writes(other) != writes(fd))
}

/// Whether a socket is connected to another one of this process.
fn has_peer_inside(fd: c_int) -> bool {
    if engine().world.descriptors.borrow_mut().is_made(fd) {
        return true;
    }
    let Some(peer) = name_of(fd, libc::SYS_getpeername) else { return false };
    if peer.family == libc::AF_UNIX {
        return is_peer_this_process(fd);
    }
    (0..DESCRIPTORS).any(|other| {
        name_of(other, libc::SYS_getsockname).as_ref() == Some(&peer)
            && name_of(other, libc::SYS_getpeername) == name_of(fd, libc::SYS_getsockname)
    })
}

fn is_peer_this_process(fd: c_int) -> bool {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: both are places of the right type.
    unsafe {
        let (peer, length) = (&raw mut peer as usize, &raw mut length as usize);
        let args = [fd as usize, libc::SOL_SOCKET as usize, libc::SO_PEERCRED as usize, peer, length, 0];
        sys::call(libc::SYS_getsockopt, args);
    }
    peer.pid == sys::process()
}

/// A name of a socket, its own or its peer's, whichever the call asks for.
fn name_of(fd: c_int, call: i64) -> Option<Address> {
    // SAFETY: a record of zeros is a valid one, and the call fills it in.
    unsafe {
        let mut name: libc::sockaddr_storage = std::mem::zeroed();
        let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        let args = [fd as usize, &raw mut name as usize, &raw mut length as usize, 0, 0, 0];
        if sys::call(call, args) < 0 {
            return None;
        }
        let start = (&raw const name).cast::<u8>();
        let bytes = std::slice::from_raw_parts(start, (length as usize).min(size_of_val(&name))).to_vec();
        Some(Address { family: c_int::from(name.ss_family), bytes })
    }
}
