//! Time as it passes, and as processors spend it.

use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::time::Instant;

/// Time that something took, in seconds.
#[derive(Clone, Copy, Default, Debug)]
pub struct Spent {
    /// By the clock.
    pub wall: f64,
    /// By processors, in this process and in those it waited for.
    pub cpu: f64,
}

impl Spent {
    /// Its part for each of several.
    pub fn shared_by(self, many: u32) -> Spent {
        let many = f64::from(many.max(1));
        Spent { wall: self.wall / many, cpu: self.cpu / many }
    }
}

impl Add for Spent {
    type Output = Spent;

    fn add(self, other: Spent) -> Spent {
        Spent { wall: self.wall + other.wall, cpu: self.cpu + other.cpu }
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        *self = *self + other;
    }
}

impl Sum for Spent {
    fn sum<I: Iterator<Item = Spent>>(all: I) -> Spent {
        all.fold(Spent::default(), Add::add)
    }
}

/// Measures time.
pub struct Clock {
    begin: Instant,
    cpu: f64,
}

impl Clock {
    /// Starts to measure.
    pub fn start() -> Clock {
        Clock { begin: Instant::now(), cpu: cpu_time() }
    }

    /// What was spent since.
    pub fn spent(&self) -> Spent {
        Spent { wall: self.begin.elapsed().as_secs_f64(), cpu: cpu_time() - self.cpu }
    }
}

/// Processor time of this process and of all that it waited for.
fn cpu_time() -> f64 {
    [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].map(usage).iter().sum()
}

fn usage(who: libc::c_int) -> f64 {
    // SAFETY: the structure is plain numbers, and zeros are a value of it.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is ours and lives through the call.
    unsafe { libc::getrusage(who, &mut usage) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
