//! The functions that set timers.

use std::ffi::{c_int, c_uint, c_void};

use libc::{itimerspec, itimerval, timeval};

use super::{Timer, add, count, engine, numbered, set};
use crate::interpose::{interpose, site};
use crate::process_identity;
use crate::sync::or_errno;
use crate::time::{self, SECOND, nanoseconds, to_timespec};

const SIGEV_SIGNAL: c_int = 0;
const SIGEV_NONE: c_int = 1;
const SIGEV_THREAD_ID: c_int = 4;
/// The kernel's own doing.
const SI_KERNEL: c_int = 0x80;

/// The head of what a program says a timer shall do.
#[repr(C)]
struct Notice {
    value: u64,
    signal: c_int,
    how: c_int,
    thread: c_int,
}

/// The number of one of the three timers that every process has.
fn of_process(which: c_int) -> Option<usize> {
    const SIGNALS: [c_int; 3] = [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF];
    if count() == 0 {
        SIGNALS.into_iter().for_each(|signal| add(Timer::new(signal, None, SI_KERNEL, 0)));
    }
    usize::try_from(which).ok().filter(|which| *which < SIGNALS.len())
}

fn made_by_program(timer: *mut c_void) -> Option<usize> {
    let number = (timer as usize).checked_sub(1)?;
    numbered(number).filter(|timer| !timer.deleted.get()).map(|_| number)
}

fn from_timeval(time: timeval) -> Option<u64> {
    let proper = time.tv_sec >= 0 && (0..1_000_000).contains(&time.tv_usec);
    proper.then(|| (time.tv_sec as u64).saturating_mul(SECOND).saturating_add(time.tv_usec as u64 * 1000))
}

fn to_timeval(nanoseconds: u64) -> timeval {
    timeval { tv_sec: (nanoseconds / SECOND) as i64, tv_usec: (nanoseconds % SECOND).div_ceil(1000) as i64 }
}

fn left(number: usize) -> (u64, u64) {
    let Some(timer) = numbered(number) else { return (0, 0) };
    let now = engine().world.clock.borrow_mut().now();
    (timer.expiry.get().map_or(0, |expiry| expiry.saturating_sub(now).max(1)), timer.interval.get())
}

fn ring_after(length: u64, interval: u64, pc: u64) -> u64 {
    of_process(libc::ITIMER_REAL)
        .map_or(0, |number| set(number, (length > 0).then_some(length), interval, pc).0)
}

interpose! {
    /// Sets an alarm.
    fn alarm(seconds: c_uint) -> c_uint {
        let pc = site();
        ring_after(u64::from(seconds) * SECOND, 0, pc).div_ceil(SECOND) as c_uint
    }
    /// Sets an alarm in microseconds.
    fn ualarm(microseconds: c_uint, interval: c_uint) -> c_uint {
        let pc = site();
        ring_after(u64::from(microseconds) * 1000, u64::from(interval) * 1000, pc).div_ceil(1000) as c_uint
    }
    /// Sets one of the timers of the process.
    fn setitimer(which: c_int, new: *const itimerval, old: *mut itimerval) -> c_int {
        let pc = site();
        let Some(number) = of_process(which) else { return or_errno(libc::EINVAL) };
        let (length, interval) = match new.as_ref() {
            None => (Some(0), Some(0)),
            Some(new) => (from_timeval(new.it_value), from_timeval(new.it_interval)),
        };
        let (Some(length), Some(interval)) = (length, interval) else { return or_errno(libc::EINVAL) };
        let (left, interval) = set(number, (length > 0).then_some(length), interval, pc);
        if let Some(old) = old.as_mut() {
            *old = itimerval { it_interval: to_timeval(interval), it_value: to_timeval(left) };
        }
        0
    }
    /// Reads one of the timers of the process.
    fn getitimer(which: c_int, value: *mut itimerval) -> c_int {
        let Some(number) = of_process(which) else { return or_errno(libc::EINVAL) };
        let (left, interval) = left(number);
        *value = itimerval { it_interval: to_timeval(interval), it_value: to_timeval(left) };
        0
    }
    /// Makes a timer.
    fn timer_create(clock: libc::clockid_t, notice: *const c_void, timer: *mut *mut c_void) -> c_int {
        if !crate::time::is_clock(clock) {
            return or_errno(libc::EINVAL);
        }
        of_process(0);
        let number = count() + 1;
        let notice = notice.cast::<Notice>().as_ref();
        let made = match notice.map_or(SIGEV_SIGNAL, |notice| notice.how) {
            SIGEV_NONE => Timer::new(0, None, libc::SI_TIMER, 0),
            SIGEV_SIGNAL => match notice {
                None => Timer::new(libc::SIGALRM, None, libc::SI_TIMER, number as u64),
                Some(notice) => Timer::new(notice.signal, None, libc::SI_TIMER, notice.value),
            },
            SIGEV_THREAD_ID => match notice.map(|notice| (notice, process_identity::find_thread(notice.thread))) {
                Some((notice, Some(thread))) => {
                    Timer::new(notice.signal, Some(thread.id), libc::SI_TIMER, notice.value)
                }
                _ => return or_errno(libc::EINVAL),
            },
            _ => crate::shared_memory::unsupported("timer_create() with a function to call in a thread (SIGEV_THREAD)"),
        };
        add(made);
        *timer = number as *mut c_void;
        0
    }
    /// Arms or disarms a timer.
    fn timer_settime(timer: *mut c_void, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int {
        let pc = site();
        let Some(number) = made_by_program(timer) else { return or_errno(libc::EINVAL) };
        let Some(new) = new.as_ref() else { return or_errno(libc::EINVAL) };
        let (Some(value), Some(interval)) = (nanoseconds(&new.it_value), nanoseconds(&new.it_interval)) else {
            return or_errno(libc::EINVAL);
        };
        let length = match value {
            0 => None,
            _ if flags & libc::TIMER_ABSTIME != 0 => Some(time::until(&new.it_value)),
            value => Some(value),
        };
        let (left, interval) = set(number, length, interval, pc);
        if let Some(old) = old.as_mut() {
            *old = itimerspec { it_interval: to_timespec(interval), it_value: to_timespec(left) };
        }
        0
    }
    /// Reads a timer.
    fn timer_gettime(timer: *mut c_void, value: *mut itimerspec) -> c_int {
        let Some(number) = made_by_program(timer) else { return or_errno(libc::EINVAL) };
        let (left, interval) = left(number);
        *value = itimerspec { it_interval: to_timespec(interval), it_value: to_timespec(left) };
        0
    }
    /// How often a timer rang unheard: never, since it only rings when it can be heard.
    fn timer_getoverrun(timer: *mut c_void) -> c_int {
        if made_by_program(timer).is_some() { 0 } else { or_errno(libc::EINVAL) }
    }
    /// Ends a timer.
    fn timer_delete(timer: *mut c_void) -> c_int {
        let pc = site();
        let Some(number) = made_by_program(timer) else { return or_errno(libc::EINVAL) };
        set(number, None, 0, pc);
        if let Some(timer) = numbered(number) {
            timer.deleted.set(true);
        }
        0
    }
}
