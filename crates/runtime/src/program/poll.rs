//! Waiting for several descriptors at once: poll, select, epoll.

use std::ffi::c_int;

use libc::{epoll_event, fd_set, nfds_t, pollfd, sigset_t, timespec, timeval};
use threadbare_trace::EventKind;

use crate::engine::engine;
use crate::fiber::{Breaks, Fiber, Waitable};
use crate::interpose::{interpose, site};
use crate::signals::mask;
use crate::sync::{Limit, note, or_errno, step, step_when};
use crate::{cancel, external_waits, sys, time};

/// Descriptors of which one has to become ready; lives on the waiting thread's stack.
struct Any {
    polls: Vec<pollfd>,
}

impl Waitable for Any {
    fn ready(&self, fiber: &Fiber) -> bool {
        cancel::is_due(fiber) || external_waits::poll_raw(&mut self.polls.clone(), 0) != 0
    }

    fn what(&self) -> String {
        let numbers: Vec<String> = self.polls.iter().map(|poll| poll.fd.to_string()).collect();
        format!("one of the descriptors {}", numbers.join(", "))
    }

    fn descriptors(&self) -> Vec<(i32, i16)> {
        self.polls.iter().map(|poll| (poll.fd, poll.events)).collect()
    }

    fn breaks(&self) -> Breaks {
        Breaks::Always
    }
}

/// Waits until one is ready or time is up. Before the snapshot nobody else could make it so, and
/// the caller's own system call may as well wait itself. Says whether a signal handler broke it off.
#[must_use]
fn wait(polls: Vec<pollfd>, limit: Limit, pc: u64) -> bool {
    let fiber = engine().current();
    cancel::check(fiber);
    super::timer_descriptors::ring();
    if limit == Limit::Try {
        step(EventKind::Io, 0, pc);
        fiber.made_no_progress();
    } else {
        let any = Any { polls };
        crate::signals::before_call(pc);
        let timed_out = step_when(EventKind::Io, 0, pc, Some(&raw const any), limit.until());
        if fiber.take_broken_off() {
            return true;
        }
        if timed_out {
            limit.reached();
            fiber.waited_in_vain(limit);
        }
        cancel::check(fiber);
    }
    note(EventKind::Io, 0, 0);
    false
}

fn milliseconds(time: c_int) -> Limit {
    match time {
        0 => Limit::Try,
        time if time < 0 => Limit::Forever,
        time => {
            let length =
                timespec { tv_sec: i64::from(time) / 1000, tv_nsec: i64::from(time) % 1000 * 1_000_000 };
            time::duration(&length).unwrap_or(Limit::Forever)
        }
    }
}

/// The limit that a duration gives; none if it is no proper one.
fn span(length: *const timespec) -> Option<Limit> {
    // SAFETY: the program passed a readable time, or none.
    match unsafe { length.as_ref() } {
        None => Some(Limit::Forever),
        Some(timespec { tv_sec: 0, tv_nsec: 0 }) => Some(Limit::Try),
        Some(_) => time::duration(length).ok(),
    }
}

fn result(value: isize) -> c_int {
    if value < 0 { or_errno(-value as c_int) } else { value as c_int }
}

unsafe fn poll_when(polls: *mut pollfd, count: nfds_t, limit: Limit, pc: u64) -> c_int {
    // SAFETY: the program's own array.
    let polls = unsafe { std::slice::from_raw_parts_mut(polls, count as usize) };
    if engine().running.get() {
        if wait(polls.to_vec(), limit, pc) {
            return or_errno(libc::EINTR);
        }
        return result(external_waits::poll_raw(polls, 0));
    }
    let length = match limit {
        Limit::Forever => -1,
        _ => 0,
    };
    result(external_waits::poll_raw(polls, length))
}

/// The descriptors of three sets as poll records.
unsafe fn members(count: c_int, sets: [*mut fd_set; 3]) -> Vec<pollfd> {
    let events = [libc::POLLIN, libc::POLLOUT, libc::POLLPRI];
    let mut polls = Vec::new();
    for fd in 0..count {
        for (set, events) in sets.iter().zip(events) {
            // SAFETY: the program's own sets.
            if !set.is_null() && unsafe { libc::FD_ISSET(fd, *set) } {
                polls.push(pollfd { fd, events, revents: 0 });
            }
        }
    }
    polls
}

unsafe fn select_when(count: c_int, sets: [*mut fd_set; 3], limit: Limit, pc: u64) -> c_int {
    if count < 0 {
        return or_errno(libc::EINVAL);
    }
    // SAFETY: the program's own sets.
    unsafe {
        let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
        let mut length: *mut timespec = &mut now;
        if engine().running.get() {
            if wait(members(count, sets), limit, pc) {
                return or_errno(libc::EINTR);
            }
        } else if limit == Limit::Forever {
            length = std::ptr::null_mut();
        }
        result(sys::call(
            libc::SYS_pselect6,
            [count as usize, sets[0] as usize, sets[1] as usize, sets[2] as usize, length as usize, 0],
        ))
    }
}

unsafe fn epoll_when(epoll: c_int, events: *mut epoll_event, most: c_int, limit: Limit, pc: u64) -> c_int {
    let mut length = 0isize;
    if engine().running.get() {
        if wait(vec![pollfd { fd: epoll, events: libc::POLLIN, revents: 0 }], limit, pc) {
            return or_errno(libc::EINTR);
        }
    } else if limit == Limit::Forever {
        length = -1;
    }
    // SAFETY: the program's own array.
    unsafe {
        result(sys::call(
            libc::SYS_epoll_pwait,
            [epoll as usize, events as usize, most as usize, length as usize, 0, 8],
        ))
    }
}

interpose! {
    /// Polls.
    fn poll(polls: *mut pollfd, count: nfds_t, time: c_int) -> c_int {
        let pc = site();
        poll_when(polls, count, milliseconds(time), pc)
    }
    /// Polls, with a check of the array's size.
    fn __poll_chk(polls: *mut pollfd, count: nfds_t, time: c_int, room: usize) -> c_int {
        let pc = site();
        poll_when(polls, count, milliseconds(time), pc)
    }
    /// Polls, with a precise time.
    fn ppoll(polls: *mut pollfd, count: nfds_t, length: *const timespec, mask: *const sigset_t) -> c_int {
        let pc = site();
        match span(length) {
            Some(limit) => mask::during(mask, pc, || poll_when(polls, count, limit, pc)),
            None => or_errno(libc::EINVAL),
        }
    }
    /// Selects.
    fn select(count: c_int, reads: *mut fd_set, writes: *mut fd_set, others: *mut fd_set, length: *mut timeval) -> c_int {
        let pc = site();
        let limit = match length.as_ref() {
            None => Limit::Forever,
            Some(timeval { tv_sec: 0, tv_usec: 0 }) => Limit::Try,
            Some(timeval { tv_sec: 0.., tv_usec: 0.. }) => {
                let (more, microseconds) = ((*length).tv_usec / 1_000_000, (*length).tv_usec % 1_000_000);
                let (tv_sec, tv_nsec) = ((*length).tv_sec.saturating_add(more), microseconds * 1000);
                time::duration(&timespec { tv_sec, tv_nsec }).unwrap_or(Limit::Forever)
            }
            Some(_) => return or_errno(libc::EINVAL),
        };
        select_when(count, [reads, writes, others], limit, pc)
    }
    /// Selects, with a precise time.
    fn pselect(count: c_int, reads: *mut fd_set, writes: *mut fd_set, others: *mut fd_set, length: *const timespec, mask: *const sigset_t) -> c_int {
        let pc = site();
        match span(length) {
            Some(limit) => mask::during(mask, pc, || select_when(count, [reads, writes, others], limit, pc)),
            None => or_errno(libc::EINVAL),
        }
    }
    /// Waits on an epoll descriptor.
    fn epoll_wait(epoll: c_int, events: *mut epoll_event, most: c_int, time: c_int) -> c_int {
        let pc = site();
        epoll_when(epoll, events, most, milliseconds(time), pc)
    }
    /// Waits on an epoll descriptor, with a signal mask.
    fn epoll_pwait(epoll: c_int, events: *mut epoll_event, most: c_int, time: c_int, mask: *const sigset_t) -> c_int {
        let pc = site();
        mask::during(mask, pc, || epoll_when(epoll, events, most, milliseconds(time), pc))
    }
}
