//! Virtual time: it moves when the program looks at it, sleeps, or lets a wait time out.

use std::ffi::{c_int, c_long, c_uint, c_void};

use libc::{clockid_t, timespec, timeval};
use threadbare_trace::EventKind;

use crate::engine::engine;
use crate::fiber::{Breaks, Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::signals::timers::Before;
use crate::sync::{Limit, note, step, step_when};
use crate::{cancel, signals};

/// Where the wall clock stands when the program starts: at the beginning of 2026. It is the same every time, or executions would
/// differ.
const WALL_SECONDS: u64 = 1_767_225_600;
/// Where the monotonic clock stands then: the machine has been up for forty days, so that programs may take durations off what it
/// shows.
const MONOTONIC_SECONDS: u64 = 40 * 24 * 3600;
/// A look at the clock takes this long.
const LOOK: u64 = 1_000;
/// A step takes this long: about what an access to shared memory takes.
const STEP: u64 = 10;
/// Nanoseconds of a second.
pub const SECOND: u64 = 1_000_000_000;

/// Nanoseconds of virtual time since the start.
#[derive(Clone, Copy, Default)]
pub struct Clock {
    now: u64,
    looks: u64,
}

impl Clock {
    /// The time now; looking takes a moment, and longer for those who only look.
    fn look(&mut self) -> u64 {
        self.looks += 1;
        self.now += LOOK << (self.looks / 1024).min(20);
        self.now
    }

    /// The time, for those who do not look at a clock.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// A thread makes a step.
    #[inline(always)]
    pub fn step(&mut self) {
        self.now = self.now.saturating_add(STEP);
    }

    /// Moves on by a duration.
    pub fn pass(&mut self, nanoseconds: u64) {
        self.looks = 0;
        self.now = self.now.saturating_add(nanoseconds);
    }

    /// Moves on to a time, if that lies ahead.
    pub fn reach(&mut self, time: u64) {
        self.looks = 0;
        self.now = self.now.max(time);
    }
}

/// Whether time passes only when no thread is runnable, and the earliest deadline comes first.
pub fn is_ordered() -> bool {
    engine().time_is_ordered.get()
}

/// Whether it may be this time, or later. A thread that is looked at to see whether it spins for ever need not wait: what matters is what it
/// does when the time has come.
#[inline(always)]
pub fn has_come(time: u64) -> bool {
    let may_be_any = || {
        let engine = engine();
        !engine.time_is_ordered.get() || !engine.running.get() || engine.spin_detector.is_looking()
    };
    time == 0 || may_be_any() || engine().world.clock.borrow_mut().now() >= time
}

/// The nanoseconds in a `timespec`, if it is a proper one.
pub fn nanoseconds(time: *const timespec) -> Option<u64> {
    // SAFETY: the program passed a readable time.
    let time = unsafe { time.as_ref()? };
    let proper = time.tv_sec >= 0 && (0..SECOND as i64).contains(&time.tv_nsec);
    proper.then(|| (time.tv_sec as u64).saturating_mul(SECOND).saturating_add(time.tv_nsec as u64))
}

/// The limit that a point in time gives. Which clock it is on shows in its size.
pub fn deadline(until: *const timespec) -> Result<Limit, c_int> {
    // SAFETY: the program passed a readable time.
    if unsafe { until.as_ref() }
        .is_some_and(|time| time.tv_sec < 0 && (0..SECOND as i64).contains(&time.tv_nsec))
    {
        return Ok(Limit::Until(0));
    }
    let time = nanoseconds(until).ok_or(libc::EINVAL)?;
    let start = if time >= WALL_SECONDS / 2 * SECOND { WALL_SECONDS } else { MONOTONIC_SECONDS };
    Ok(Limit::Until(time.saturating_sub(start * SECOND)))
}

/// The limit that a duration gives.
pub fn duration(length: *const timespec) -> Result<Limit, c_int> {
    let length = nanoseconds(length).ok_or(libc::EINVAL)?;
    Ok(Limit::Until(engine().world.clock.borrow_mut().now.saturating_add(length)))
}

/// How long it is until a point in time.
pub fn until(time: *const timespec) -> u64 {
    match deadline(time) {
        Ok(Limit::Until(time)) => time.saturating_sub(engine().world.clock.borrow_mut().now),
        _ => 0,
    }
}

fn read(clock: clockid_t) -> u64 {
    let now = engine().world.clock.borrow_mut().look();
    if engine().world.signals.pending.get() > 0 {
        Before::time(now).let_come(site());
        engine().current().take_broken_off();
    }
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => now + WALL_SECONDS * SECOND,
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_BOOTTIME => now + MONOTONIC_SECONDS * SECOND,
        _ => now,
    }
}

/// Whether there is such a clock. Those of processes and threads have negative numbers.
pub fn is_clock(clock: clockid_t) -> bool {
    matches!(clock, 0..=9 | 11) || clock < 0
}

/// The limit that a point in time on a clock gives. Not every clock may limit waits.
pub fn deadline_on(clock: clockid_t, until: *const timespec) -> Result<Limit, c_int> {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC => deadline(until),
        _ => Err(libc::EINVAL),
    }
}

/// What the processor's clock shows: it ticks three times in a nanosecond, as many do.
pub fn processor_ticks() -> u64 {
    3 * read(libc::CLOCK_MONOTONIC)
}

/// A duration as the C library has it.
pub fn to_timespec(nanoseconds: u64) -> timespec {
    timespec { tv_sec: (nanoseconds / SECOND) as i64, tv_nsec: (nanoseconds % SECOND) as i64 }
}

/// A sleep in progress; lives on the sleeping thread's stack.
struct Asleep {
    /// Signals that come first.
    before: Before,
    until: u64,
}

impl Waitable for Asleep {
    fn ready(&self, fiber: &Fiber) -> bool {
        self.before.ready(fiber) && has_come(self.until)
    }

    fn what(&self) -> String {
        self.before.what()
    }

    fn breaks(&self) -> Breaks {
        self.before.breaks()
    }

    fn deadline(&self) -> Option<u64> {
        Some(self.until)
    }

    fn is_not_over(&self) -> bool {
        true
    }
}

/// Sleeps: a scheduling point after which time has passed. It orders nothing. Says what is left of it if a signal
/// handler ends it early.
pub fn sleep_virtually(nanoseconds: u64, pc: u64) -> Option<u64> {
    let fiber = engine().current();
    cancel::check(fiber);
    signals::before_call(pc);
    let until = engine().world.clock.borrow_mut().now.saturating_add(nanoseconds);
    let asleep = Asleep { before: Before::time(until), until };
    step_when(EventKind::Sleep, 0, pc, Some(&raw const asleep), None);
    cancel::check(fiber);
    fiber.waited_in_vain(Limit::Until(until));
    if fiber.take_broken_off() {
        note(EventKind::Sleep, 0, 0);
        return Some(until.saturating_sub(engine().world.clock.borrow_mut().now));
    }
    match is_ordered() {
        true => engine().world.clock.borrow_mut().reach(until),
        false => engine().world.clock.borrow_mut().pass(nanoseconds),
    }
    note(EventKind::Sleep, 0, nanoseconds);
    None
}

/// Yields.
pub fn give_way(pc: u64) {
    step(EventKind::Yield, 0, pc);
    note(EventKind::Yield, 0, 0);
    engine().current().made_no_progress();
}

fn sleep_for(length: *const timespec, left: *mut timespec, pc: u64) -> c_int {
    let Some(nanoseconds) = nanoseconds(length) else { return libc::EINVAL };
    let rest = sleep_virtually(nanoseconds, pc);
    if !left.is_null() {
        // SAFETY: the program passed a place for the rest; a completed sleep leaves none.
        unsafe { *left = to_timespec(rest.unwrap_or(0)) };
    }
    if rest.is_some() { libc::EINTR } else { 0 }
}

interpose! {
    /// Reads a clock.
    fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
        if !is_clock(clock) {
            return crate::sync::or_errno(libc::EINVAL);
        }
        *time = to_timespec(read(clock));
        0
    }
    /// Reads the wall clock.
    fn gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int {
        let now = read(libc::CLOCK_REALTIME);
        *time = timeval { tv_sec: (now / SECOND) as i64, tv_usec: (now % SECOND / 1000) as i64 };
        0
    }
    /// Reads the wall clock in seconds.
    fn time(place: *mut i64) -> i64 {
        let seconds = (read(libc::CLOCK_REALTIME) / SECOND) as i64;
        if !place.is_null() {
            *place = seconds;
        }
        seconds
    }
    /// Reads the wall clock into a C11 structure.
    fn timespec_get(time: *mut timespec, base: c_int) -> c_int {
        *time = to_timespec(read(libc::CLOCK_REALTIME));
        base
    }
    /// Reads the processor time used.
    fn clock() -> c_long {
        (read(libc::CLOCK_PROCESS_CPUTIME_ID) / 1000) as c_long
    }
    /// Reads the processor time used, in hundredths of seconds, and says how many have passed.
    fn times(used: *mut libc::tms) -> c_long {
        const TICK: u64 = SECOND / 100;
        if let Some(used) = used.as_mut() {
            let spent = (read(libc::CLOCK_PROCESS_CPUTIME_ID) / TICK) as c_long;
            *used = libc::tms { tms_utime: spent, tms_stime: 0, tms_cutime: 0, tms_cstime: 0 };
        }
        (read(libc::CLOCK_MONOTONIC) / TICK) as c_long
    }
    /// Reads what was used: time is virtual, and nothing else is counted, since it would differ from run to run.
    fn getrusage(who: c_int, used: *mut libc::rusage) -> c_int {
        let result = real!(getrusage as unsafe extern "C-unwind" fn(c_int, *mut libc::rusage) -> c_int)(who, used);
        if result == 0 {
            *used = std::mem::zeroed();
            if who != libc::RUSAGE_CHILDREN {
                let spent = to_timespec(read(libc::CLOCK_PROCESS_CPUTIME_ID));
                (*used).ru_utime = libc::timeval { tv_sec: spent.tv_sec, tv_usec: spent.tv_nsec / 1000 };
            }
        }
        result
    }
    /// Sleeps.
    fn nanosleep(length: *const timespec, left: *mut timespec) -> c_int {
        let pc = site();
        crate::sync::or_errno(sleep_for(length, left, pc))
    }
    /// Sleeps for a time or until one.
    fn clock_nanosleep(clock: clockid_t, flags: c_int, length: *const timespec, left: *mut timespec) -> c_int {
        let pc = site();
        if !is_clock(clock) {
            return libc::EINVAL;
        }
        if flags & libc::TIMER_ABSTIME == 0 {
            return sleep_for(length, left, pc);
        }
        match deadline(length) {
            Ok(limit) => {
                if sleep_virtually(until(length), pc).is_some() {
                    return libc::EINTR;
                }
                limit.reached();
                0
            }
            Err(error) => error,
        }
    }
    /// Sleeps for microseconds.
    fn usleep(microseconds: c_uint) -> c_int {
        match sleep_virtually(u64::from(microseconds) * 1000, site()) {
            Some(_) => crate::sync::or_errno(libc::EINTR),
            None => 0,
        }
    }
    /// Sleeps for seconds.
    fn sleep(seconds: c_uint) -> c_uint {
        let rest = sleep_virtually(u64::from(seconds) * SECOND, site());
        rest.map_or(0, |rest| rest.div_ceil(SECOND) as c_uint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(seconds: i64, nanoseconds: i64) -> Result<u64, c_int> {
        let time = timespec { tv_sec: seconds, tv_nsec: nanoseconds };
        deadline(&time).map(|limit| if let Limit::Until(time) = limit { time } else { u64::MAX })
    }

    #[test]
    fn looking_takes_time_and_ever_more_for_those_who_only_look() {
        let mut clock = Clock::default();
        assert_eq!((clock.look(), clock.look()), (LOOK, 2 * LOOK));
        for _ in 0..1100 {
            clock.look();
        }
        let before = clock.now();
        assert_eq!(clock.look() - before, 2 * LOOK);
        clock.pass(0);
        let before = clock.now();
        assert_eq!(clock.look() - before, LOOK, "who does something else in between looks as before");
    }

    #[test]
    fn time_never_goes_back() {
        let mut clock = Clock::default();
        clock.pass(500);
        clock.reach(100);
        assert_eq!(clock.now(), 500);
        clock.reach(700);
        assert_eq!(clock.now(), 700);
        clock.pass(u64::MAX);
        assert_eq!(clock.now(), u64::MAX);
    }

    #[test]
    fn a_point_in_time_says_by_its_size_which_clock_it_is_on() {
        assert_eq!(until(WALL_SECONDS as i64 + 2, 3), Ok(2 * SECOND + 3));
        assert_eq!(until(MONOTONIC_SECONDS as i64 + 2, 3), Ok(2 * SECOND + 3));
        assert_eq!(until(0, 0), Ok(0), "what lies before the start is over");
        assert_eq!(until(-1, 0), Ok(0));
        assert_eq!(until(1, SECOND as i64), Err(libc::EINVAL));
        assert_eq!(until(-1, -1), Err(libc::EINVAL));
        assert_eq!(deadline(std::ptr::null()).err(), Some(libc::EINVAL));
    }

    #[test]
    fn durations_go_both_ways() {
        let time = to_timespec(3 * SECOND + 7);
        assert_eq!((time.tv_sec, time.tv_nsec), (3, 7));
        assert_eq!(nanoseconds(&time), Some(3 * SECOND + 7));
    }
}
