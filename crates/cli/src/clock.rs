//! How much time is left for reports.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Executions with more events than this take so long to be written down, some tenths of a second, that it is looked at the clock before.
pub const LONG: usize = 100_000;

/// When all has to be said.
pub struct Clock {
    begin: Instant,
    time: Duration,
    stop: Arc<AtomicBool>,
}

impl Clock {
    /// For a command that has so much time from now on, or ends when the flag is raised.
    pub fn start(time: Duration, stop: &Arc<AtomicBool>) -> Clock {
        Clock { begin: Instant::now(), time, stop: Arc::clone(stop) }
    }

    /// Whether there is no time for anything that takes long.
    pub fn is_over(&self) -> bool {
        /// Of the time; what is left is for failures.
        const REPORTS: f64 = 0.92;
        self.stop.load(Ordering::Relaxed) || self.begin.elapsed() >= self.time.mul_f64(REPORTS)
    }

    /// Whether all has to be said now.
    pub fn is_late(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.begin.elapsed() >= self.time
    }
}
