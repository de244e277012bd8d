//! Descriptors that stay within the program: pipes, socket pairs, event counters, epoll sets.
//!
//! A copy of the process shares them with the server it was copied from: what one execution leaves
//! in a pipe the next would read, and as the server keeps all ends open nobody would ever see an
//! end of file. So each execution gets new ones under the old numbers.

use std::collections::BTreeMap;
use std::ffi::c_int;

use crate::engine::engine;
use crate::{external_waits, sys};

/// How many descriptors are looked at.
const DESCRIPTORS: c_int = 1024;

/// Two connected sockets.
struct Pair {
    ends: [c_int; 2],
    domain: c_int,
    kind: c_int,
    protocol: c_int,
}

/// An epoll set and what it watches.
struct Watch {
    fd: c_int,
    flags: c_int,
    members: BTreeMap<c_int, (u32, u64)>,
}

/// What the program has made so far.
#[derive(Default)]
pub struct Descriptors {
    inner: Vec<c_int>,
    pairs: Vec<Pair>,
    counters: Vec<(c_int, c_int)>,
    watches: Vec<Watch>,
}

impl Descriptors {
    /// Only this process can make the descriptor ready.
    pub fn is_inner(&self, fd: c_int) -> bool {
        let watched = self.watches.iter().find(|watch| watch.fd == fd);
        match watched {
            Some(watch) => watch.members.keys().all(|member| self.inner.contains(member)),
            None => self.inner.contains(&fd),
        }
    }

    /// A pipe was made.
    pub fn add_pipe(&mut self, ends: [c_int; 2]) {
        self.inner.extend(ends);
    }

    /// A pair of sockets was made.
    pub fn add_pair(&mut self, ends: [c_int; 2], domain: c_int, kind: c_int, protocol: c_int) {
        self.inner.extend(ends);
        self.pairs.push(Pair { ends, domain, kind, protocol });
    }

    /// An event counter was made.
    pub fn add_counter(&mut self, fd: c_int, flags: c_int) {
        self.inner.push(fd);
        self.counters.push((fd, flags));
    }

    /// An epoll set was made.
    pub fn add_watch(&mut self, fd: c_int, flags: c_int) {
        self.watches.push(Watch { fd, flags, members: BTreeMap::new() });
    }

    /// An epoll set was changed.
    pub fn change_watch(&mut self, epoll: c_int, member: c_int, event: Option<(u32, u64)>) {
        if let Some(watch) = self.watches.iter_mut().find(|watch| watch.fd == epoll) {
            match event {
                Some(event) => watch.members.insert(member, event),
                None => watch.members.remove(&member),
            };
        }
    }

    /// A descriptor was closed.
    pub fn remove(&mut self, fd: c_int) {
        self.inner.retain(|known| *known != fd);
        self.pairs.retain(|pair| !pair.ends.contains(&fd));
        self.counters.retain(|(known, _)| *known != fd);
        self.watches.retain(|watch| watch.fd != fd);
        for watch in &mut self.watches {
            watch.members.remove(&fd);
        }
    }
}

/// One of several descriptors that stand for the same end.
struct End {
    fd: c_int,
    flags: c_int,
    close_on_exec: bool,
}

impl End {
    /// Puts `new` in the place of this descriptor.
    fn becomes(&self, new: c_int) {
        let flags = if self.close_on_exec { libc::O_CLOEXEC } else { 0 };
        call(libc::SYS_fcntl, &[new, libc::F_SETFL, self.flags]);
        call(libc::SYS_dup3, &[new, self.fd, flags]);
    }
}

/// Two ends with what was on its way to each of them.
struct Connection {
    /// The descriptors of each end; a pipe is read at the first and written at the second.
    ends: [Vec<End>; 2],
    /// What each end has still to read.
    unread: [Vec<u8>; 2],
}

impl Connection {
    fn renew(&self, [first, second]: [c_int; 2]) {
        sys::write(second, &self.unread[0]);
        sys::write(first, &self.unread[1]);
        for (ends, new) in self.ends.iter().zip([first, second]) {
            ends.iter().for_each(|end| end.becomes(new));
            call(libc::SYS_close, &[new]);
        }
    }
}

/// The inner descriptors as they stand at the snapshot.
pub struct Held {
    pipes: Vec<Connection>,
    pairs: Vec<(Connection, c_int, c_int, c_int)>,
    counters: Vec<(End, c_int, u64)>,
    listeners: Vec<c_int>,
}

/// Looks at all descriptors, and takes what is in them.
pub fn hold() -> Held {
    let known = &mut engine().world.descriptors.borrow_mut();
    // What cannot be read without its borders, as messages cannot, is not carried over.
    let take = |ends: [Vec<End>; 2], is_stream: bool| {
        let content = |side: &Vec<End>| side.first().filter(|_| is_stream).map(|end| unread(end.fd));
        let unread = [&ends[0], &ends[1]].map(|side| content(side).unwrap_or_default());
        Connection { ends, unread }
    };
    let pipes = pipes().into_iter().map(|ends| take(ends, true)).collect();
    let pair_of = |pair: &Pair| {
        const KINDS: c_int = 15;
        let is_stream = pair.kind & KINDS == libc::SOCK_STREAM;
        (take(pair.ends.map(|fd| vec![look(fd)]), is_stream), pair.domain, pair.kind, pair.protocol)
    };
    let pairs = known.pairs.iter().map(pair_of).collect();
    let counters = known.counters.iter().map(|(fd, flags)| (look(*fd), *flags, count(*fd))).collect();
    let listeners = (0..DESCRIPTORS).filter(|fd| listens(*fd)).collect();
    Held { pipes, pairs, counters, listeners }
}

impl Held {
    /// Whether there is nothing that copies would share.
    pub fn is_empty(&self) -> bool {
        self.pipes.is_empty()
            && self.pairs.is_empty()
            && self.counters.is_empty()
            && self.listeners.is_empty()
            && engine().world.descriptors.borrow_mut().watches.is_empty()
    }

    /// Gives this copy of the process descriptors of its own.
    pub fn renew(&self) {
        for pipe in &self.pipes {
            let mut new = [0; 2];
            if call_with(libc::SYS_pipe2, [&raw mut new as usize, 0, 0, 0]) == 0 {
                pipe.renew(new);
            }
        }
        for (pair, domain, kind, protocol) in &self.pairs {
            let mut new = [0; 2];
            let args = [*domain as usize, *kind as usize, *protocol as usize, &raw mut new as usize];
            if call_with(libc::SYS_socketpair, args) == 0 {
                pair.renew(new);
            }
        }
        for (end, flags, count) in &self.counters {
            let new = call_with(libc::SYS_eventfd2, [0, *flags as usize, 0, 0]) as c_int;
            if new >= 0 {
                if *count > 0 {
                    call_with(libc::SYS_write, [new as usize, &raw const *count as usize, 8, 0]);
                }
                end.becomes(new);
                call(libc::SYS_close, &[new]);
            }
        }
        for watch in &mut engine().world.descriptors.borrow_mut().watches {
            renew_watch(watch);
        }
        // Connections that an earlier execution made and did not take are not for this one.
        for fd in &self.listeners {
            while external_waits::is_ready(*fd, libc::POLLIN) {
                let left_over = call(libc::SYS_accept4, &[*fd]) as c_int;
                if left_over < 0 {
                    break;
                }
                call(libc::SYS_close, &[left_over]);
            }
        }
    }
}

fn renew_watch(watch: &Watch) {
    let new = call(libc::SYS_epoll_create1, &[watch.flags]) as c_int;
    if new < 0 {
        return;
    }
    call(libc::SYS_dup3, &[new, watch.fd, watch.flags & libc::EPOLL_CLOEXEC]);
    call(libc::SYS_close, &[new]);
    for (member, (events, data)) in &watch.members {
        let event = libc::epoll_event { events: *events, u64: *data };
        let args =
            [watch.fd as usize, libc::EPOLL_CTL_ADD as usize, *member as usize, &raw const event as usize];
        call_with(libc::SYS_epoll_ctl, args);
    }
}

/// The pipes of which both ends are open in this process.
fn pipes() -> Vec<[Vec<End>; 2]> {
    let mut found: BTreeMap<u64, [Vec<End>; 2]> = BTreeMap::new();
    for fd in 0..DESCRIPTORS {
        // SAFETY: a record of zeros is a valid one, and the call fills it in.
        let stat = unsafe {
            let mut stat: libc::stat = std::mem::zeroed();
            let error = call_with(libc::SYS_fstat, [fd as usize, &raw mut stat as usize, 0, 0]);
            if error != 0 || stat.st_mode & libc::S_IFMT != libc::S_IFIFO {
                continue;
            }
            stat
        };
        let end = look(fd);
        let side = usize::from(end.flags & libc::O_ACCMODE == libc::O_WRONLY);
        // Named pipes have the device of their file system; two files with one number are
        // distinguished well enough by adding it.
        found.entry(stat.st_ino ^ stat.st_dev.rotate_left(32)).or_default()[side].push(end);
    }
    found.into_values().filter(|[read, write]| !read.is_empty() && !write.is_empty()).collect()
}

fn look(fd: c_int) -> End {
    End {
        fd,
        flags: call(libc::SYS_fcntl, &[fd, libc::F_GETFL]) as c_int,
        close_on_exec: call(libc::SYS_fcntl, &[fd, libc::F_GETFD]) as c_int & libc::FD_CLOEXEC != 0,
    }
}

/// Reads what is there to be read.
fn unread(fd: c_int) -> Vec<u8> {
    let mut waiting: c_int = 0;
    call_with(libc::SYS_ioctl, [fd as usize, libc::FIONREAD as usize, &raw mut waiting as usize, 0]);
    let mut content = vec![0; waiting.max(0) as usize];
    let mut got = 0;
    while got < content.len() {
        let rest = &mut content[got..];
        match call_with(libc::SYS_read, [fd as usize, rest.as_mut_ptr() as usize, rest.len(), 0]) {
            n if n > 0 => got += n as usize,
            _ => break,
        }
    }
    content.truncate(got);
    content
}

/// Takes the value of an event counter, which may come in single units.
fn count(fd: c_int) -> u64 {
    let mut sum = 0;
    let mut value = 0u64;
    while external_waits::is_ready(fd, libc::POLLIN)
        && call_with(libc::SYS_read, [fd as usize, &raw mut value as usize, 8, 0]) == 8
    {
        sum += value;
    }
    sum
}

fn listens(fd: c_int) -> bool {
    let (mut answer, mut length) = (0 as c_int, size_of::<c_int>() as libc::socklen_t);
    // SAFETY: fails harmlessly on what is no socket.
    let error = unsafe {
        sys::call(
            libc::SYS_getsockopt,
            [
                fd as usize,
                libc::SOL_SOCKET as usize,
                libc::SO_ACCEPTCONN as usize,
                &raw mut answer as usize,
                &raw mut length as usize,
                0,
            ],
        )
    };
    error == 0 && answer != 0
}

/// A system call on plain numbers.
fn call(number: i64, given: &[c_int]) -> isize {
    let mut args = [0; 4];
    for (arg, value) in args.iter_mut().zip(given) {
        *arg = *value as usize;
    }
    call_with(number, args)
}

/// A system call whose pointers are places in this module.
fn call_with(number: i64, [a, b, c, d]: [usize; 4]) -> isize {
    // SAFETY: descriptors may be any number; pointers are to live places of the right type.
    unsafe { sys::call(number, [a, b, c, d, 0, 0]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoll_set_is_inner_as_long_as_all_that_it_watches_is() {
        let mut known = Descriptors::default();
        known.add_pipe([3, 4]);
        known.add_watch(5, 0);
        known.change_watch(5, 3, Some((0, 0)));
        assert!(known.is_inner(5) && known.is_inner(4) && !known.is_inner(9));
        known.change_watch(5, 9, Some((0, 0)));
        assert!(!known.is_inner(5));
        known.remove(9);
        assert!(known.is_inner(5));
        known.remove(3);
        assert!(known.is_inner(5) && !known.is_inner(3), "a closed descriptor leaves the set");
    }
}
