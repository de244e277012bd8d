//! Timers that are descriptors: event counters to which virtual time adds.

use std::ffi::c_int;

use libc::itimerspec;

use crate::engine::{Engine, engine};
use crate::interpose::interpose;
use crate::sync::{Limit, or_errno};
use crate::{sys, time};

/// A timer.
struct Timer {
    fd: c_int,
    /// When it rings next, if it is armed.
    expiry: Option<u64>,
    interval: u64,
}

/// All of them.
#[derive(Default)]
pub struct Timers(Vec<Timer>);

fn now() -> u64 {
    engine().world.clock.borrow_mut().now()
}

fn add(fd: c_int, rings: u64) {
    // SAFETY: a counter of the program, and a place of ours.
    unsafe { sys::call(libc::SYS_write, [fd as usize, &raw const rings as usize, 8, 0, 0, 0]) };
}

fn forget_rings(fd: c_int) {
    let mut rings = 0u64;
    while crate::external_waits::is_ready(fd, libc::POLLIN) {
        // SAFETY: as above.
        let got = unsafe { sys::call(libc::SYS_read, [fd as usize, &raw mut rings as usize, 8, 0, 0, 0]) };
        if got <= 0 {
            break;
        }
    }
}

/// All timers ring that are due by now.
pub fn ring() {
    let timers = &mut engine().world.timer_descriptors.borrow_mut().0;
    if timers.is_empty() {
        return;
    }
    let now = now();
    for timer in timers {
        let Some(expiry) = timer.expiry.filter(|expiry| *expiry <= now) else { continue };
        let more = (now - expiry).checked_div(timer.interval).unwrap_or(0);
        timer.expiry = (timer.interval > 0).then(|| expiry + (more + 1) * timer.interval);
        add(timer.fd, more + 1);
    }
}

/// When the next timer rings.
pub fn next_expiry() -> Option<u64> {
    engine().world.timer_descriptors.borrow_mut().0.iter().filter_map(|timer| timer.expiry).min()
}

/// Nobody is runnable: time passes until the next timer rings. False if there is none until a time.
pub fn let_time_pass(engine: &Engine, until: u64) -> bool {
    let next = next_expiry().filter(|expiry| *expiry <= until);
    if let Some(expiry) = next {
        engine.world.clock.borrow_mut().reach(expiry);
        ring();
    }
    next.is_some()
}

/// A descriptor was closed.
pub fn closed(fd: c_int) {
    engine().world.timer_descriptors.borrow_mut().0.retain(|timer| timer.fd != fd);
}

/// What is left until a timer rings, and its interval.
fn remaining(timer: &Timer) -> itimerspec {
    let left = timer.expiry.map_or(0, |expiry| expiry.saturating_sub(now()).max(1));
    itimerspec { it_interval: time::to_timespec(timer.interval), it_value: time::to_timespec(left) }
}

interpose! {
    /// Makes a timer.
    fn timerfd_create(clock: c_int, flags: c_int) -> c_int {
        let clocks = [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC, libc::CLOCK_BOOTTIME, libc::CLOCK_REALTIME_ALARM, libc::CLOCK_BOOTTIME_ALARM];
        if !clocks.contains(&clock) || flags & !(libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) != 0 {
            return or_errno(libc::EINVAL);
        }
        let made = sys::call(libc::SYS_eventfd2, [0, flags as usize, 0, 0, 0, 0]) as c_int;
        if made < 0 {
            return or_errno(-made);
        }
        engine().world.descriptors.borrow_mut().add_counter(made, flags);
        closed(made);
        engine().world.timer_descriptors.borrow_mut().0.push(Timer { fd: made, expiry: None, interval: 0 });
        made
    }
    /// Arms a timer.
    fn timerfd_settime(fd: c_int, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int {
        let new = *new;
        let is_off = new.it_value.tv_sec == 0 && new.it_value.tv_nsec == 0;
        let until = if flags & libc::TFD_TIMER_ABSTIME != 0 { time::deadline(&new.it_value) } else { time::duration(&new.it_value) };
        let (Ok(until), Some(interval)) = (until, time::nanoseconds(&new.it_interval)) else { return or_errno(libc::EINVAL) };
        let timers = &mut engine().world.timer_descriptors.borrow_mut().0;
        let Some(timer) = timers.iter_mut().find(|timer| timer.fd == fd) else { return or_errno(libc::EINVAL) };
        if !old.is_null() {
            *old = remaining(timer);
        }
        timer.expiry = match until {
            _ if is_off => None,
            Limit::Until(deadline) => Some(deadline),
            Limit::Forever | Limit::Try => Some(now()),
        };
        timer.interval = interval;
        forget_rings(fd);
        0
    }
    /// What is left of a timer.
    fn timerfd_gettime(fd: c_int, left: *mut itimerspec) -> c_int {
        match engine().world.timer_descriptors.borrow_mut().0.iter().find(|timer| timer.fd == fd) {
            Some(timer) => {
                *left = remaining(timer);
                0
            }
            None => or_errno(libc::EINVAL),
        }
    }
}
