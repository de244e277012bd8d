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

/// What an epoll set watches: which events, and what whoever waits is told.
type Members = BTreeMap<c_int, (u32, u64)>;

/// What the program has made for itself, as far as it has to be made anew in each copy.
#[derive(Clone, PartialEq, Debug)]
enum Thing {
    /// One of two connected sockets: the first or the second one.
    Socket { pair: usize, side: usize, domain: c_int, kind: c_int, protocol: c_int },
    /// An event counter.
    Counter { flags: c_int },
    /// An epoll set and what it watches.
    Watch { flags: c_int, members: Members },
}

/// What the program has made so far, and the numbers that stand for it: several may stand for one thing.
#[derive(Default)]
pub struct Descriptors {
    things: BTreeMap<usize, Thing>,
    numbers: BTreeMap<c_int, usize>,
    made: usize,
}

impl Descriptors {
    fn add(&mut self, fd: c_int, thing: Thing) {
        self.remove(fd);
        self.made += 1;
        self.things.insert(self.made, thing);
        self.numbers.insert(fd, self.made);
    }

    /// A pair of sockets was made.
    pub fn add_pair(&mut self, ends: [c_int; 2], domain: c_int, kind: c_int, protocol: c_int) {
        let pair = self.made;
        for (side, fd) in ends.into_iter().enumerate() {
            self.add(fd, Thing::Socket { pair, side, domain, kind, protocol });
        }
    }

    /// An event counter was made.
    pub fn add_counter(&mut self, fd: c_int, flags: c_int) {
        self.add(fd, Thing::Counter { flags });
    }

    /// An epoll set was made.
    pub fn add_watch(&mut self, fd: c_int, flags: c_int) {
        self.add(fd, Thing::Watch { flags, members: BTreeMap::new() });
    }

    /// One more number stands for what a descriptor stands for.
    pub fn add_number(&mut self, fd: c_int, new: c_int) {
        if fd != new {
            self.remove(new);
        }
        if let Some(thing) = self.numbers.get(&fd).copied() {
            self.numbers.insert(new, thing);
        }
    }

    /// An epoll set was changed.
    pub fn change_watch(&mut self, epoll: c_int, member: c_int, event: Option<(u32, u64)>) {
        let thing = self.numbers.get(&epoll).and_then(|thing| self.things.get_mut(thing));
        if let Some(Thing::Watch { members, .. }) = thing {
            match event {
                Some(event) => members.insert(member, event),
                None => members.remove(&member),
            };
        }
    }

    /// Whether the program has made this pair of sockets or event counter.
    pub fn is_made(&self, fd: c_int) -> bool {
        self.numbers.contains_key(&fd)
    }

    /// A descriptor was closed.
    pub fn remove(&mut self, fd: c_int) {
        if let Some(thing) = self.numbers.remove(&fd)
            && !self.numbers.values().any(|other| *other == thing)
        {
            self.things.remove(&thing);
        }
        for thing in self.things.values_mut() {
            if let Thing::Watch { members, .. } = thing {
                members.remove(&fd);
            }
        }
    }

    /// The descriptors of a thing.
    fn ends_of(&self, thing: usize) -> Vec<End> {
        let numbers = self.numbers.iter().filter(|(_, it)| **it == thing);
        numbers.map(|(fd, _)| look(*fd)).collect()
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
    counters: Vec<(Vec<End>, c_int, u64)>,
    watches: Vec<(Vec<End>, c_int, Members)>,
    listeners: Vec<c_int>,
    /// Sockets for messages that have none.
    empty: Vec<c_int>,
}

/// Looks at all descriptors, and takes what is in them.
pub fn hold() -> Held {
    let known = &engine().world.descriptors.borrow_mut();
    // What cannot be read without its borders, as messages cannot, is not carried over.
    let take = |ends: [Vec<End>; 2], is_stream: bool| {
        let content = |side: &Vec<End>| side.first().filter(|_| is_stream).map(|end| unread(end.fd));
        let unread = [&ends[0], &ends[1]].map(|side| content(side).unwrap_or_default());
        Connection { ends, unread }
    };
    let mut held = Held {
        pipes: pipes().into_iter().map(|ends| take(ends, true)).collect(),
        pairs: Vec::new(),
        counters: Vec::new(),
        watches: Vec::new(),
        listeners: (0..DESCRIPTORS).filter(|fd| is_socket(*fd, libc::SO_ACCEPTCONN, 1)).collect(),
        empty: Vec::new(),
    };
    let is_empty = |fd: &c_int| {
        is_socket(*fd, libc::SO_TYPE, libc::SOCK_DGRAM) && !external_waits::is_ready(*fd, libc::POLLIN)
    };
    held.empty.extend((0..DESCRIPTORS).filter(is_empty));
    for (number, thing) in &known.things {
        let ends = known.ends_of(*number);
        match thing {
            Thing::Socket { pair, side: 0, domain, kind, protocol } => {
                const KINDS: c_int = 15;
                let is_other =
                    |it: &Thing| matches!(it, Thing::Socket { pair: other, side: 1, .. } if other == pair);
                if let Some((other, _)) = known.things.iter().find(|(_, it)| is_other(it)) {
                    let is_stream = kind & KINDS == libc::SOCK_STREAM;
                    held.pairs.push((
                        take([ends, known.ends_of(*other)], is_stream),
                        *domain,
                        *kind,
                        *protocol,
                    ));
                }
            }
            Thing::Socket { .. } => {}
            Thing::Counter { flags } => {
                let value = ends.first().map_or(0, |end| count(end.fd));
                held.counters.push((ends, *flags, value));
            }
            Thing::Watch { flags, members } => held.watches.push((ends, *flags, members.clone())),
        }
    }
    held
}

impl Held {
    /// Whether there is nothing that copies would share.
    pub fn is_empty(&self) -> bool {
        self.pipes.is_empty()
            && self.pairs.is_empty()
            && self.counters.is_empty()
            && self.listeners.is_empty()
            && self.empty.is_empty()
            && self.watches.is_empty()
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
        for (ends, flags, count) in &self.counters {
            let new = call_with(libc::SYS_eventfd2, [0, *flags as usize, 0, 0]) as c_int;
            if *count > 0 {
                call_with(libc::SYS_write, [new as usize, &raw const *count as usize, 8, 0]);
            }
            become_all(ends, new);
        }
        for (ends, flags, members) in &self.watches {
            let new = call(libc::SYS_epoll_create1, &[*flags]) as c_int;
            for (member, (events, data)) in members {
                let event = libc::epoll_event { events: *events, u64: *data };
                let args =
                    [new as usize, libc::EPOLL_CTL_ADD as usize, *member as usize, &raw const event as usize];
                call_with(libc::SYS_epoll_ctl, args);
            }
            become_all(ends, new);
        }
        // Connections that an earlier execution made and did not take are not for this one, nor are its messages.
        for fd in &self.listeners {
            while external_waits::is_ready(*fd, libc::POLLIN) {
                let left_over = call(libc::SYS_accept4, &[*fd]) as c_int;
                if left_over < 0 {
                    break;
                }
                call(libc::SYS_close, &[left_over]);
            }
        }
        for fd in &self.empty {
            let dont_wait = libc::MSG_DONTWAIT as usize;
            while call_with(libc::SYS_recvfrom, [*fd as usize, 0, 0, dont_wait]) >= 0 {}
        }
    }
}

/// Puts `new` in the place of all these descriptors.
fn become_all(ends: &[End], new: c_int) {
    if new >= 0 {
        ends.iter().for_each(|end| end.becomes(new));
        call(libc::SYS_close, &[new]);
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

/// Whether a descriptor is a socket with this value of an option.
fn is_socket(fd: c_int, option: c_int, value: c_int) -> bool {
    let (mut answer, mut length) = (0 as c_int, size_of::<c_int>() as libc::socklen_t);
    // SAFETY: fails harmlessly on what is no socket.
    let error = unsafe {
        let (answer, length) = (&raw mut answer as usize, &raw mut length as usize);
        let args = [fd as usize, libc::SOL_SOCKET as usize, option as usize, answer, length, 0];
        sys::call(libc::SYS_getsockopt, args)
    };
    error == 0 && answer == value
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
    fn what_several_numbers_stand_for_is_one_thing_until_the_last_of_them_is_closed() {
        let watch = |members: &[c_int]| Thing::Watch {
            flags: 0,
            members: members.iter().map(|member| (*member, (0, 0))).collect(),
        };
        let mut known = Descriptors::default();
        known.add_watch(5, 0);
        known.add_number(5, 6);
        known.change_watch(6, 3, Some((0, 0)));
        let things = |known: &Descriptors| known.things.values().cloned().collect::<Vec<_>>();
        assert_eq!(things(&known), [watch(&[3])]);
        known.remove(5);
        known.add_counter(3, 0);
        assert_eq!(things(&known), [watch(&[]), Thing::Counter { flags: 0 }], "another thing has the number");
        known.add_number(3, 6);
        assert_eq!((things(&known), known.is_made(6)), (vec![Thing::Counter { flags: 0 }], true));
    }
}
