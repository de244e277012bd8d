//! Threads in virtual parallel, with random delays.
//!
//! This is what stress testing with random sleeps does (RND-y, RND-s10 and RND-s100 of the ARS and TSA
//! papers), in virtual time: every thread has a clock, every operation takes a moment, and the
//! thread whose clock is behind goes on. With some probability an operation is delayed first, by a random
//! time up to a limit. Threads that waited for the same thing wake up in any order, and a new thread takes a
//! while to start, as on a machine: otherwise all of them would go side by side, step by step.

use threadbare_trace::ThreadId;

use crate::by_thread::ByThread;
use crate::{Choice, Op, Policy, PolicySpec, Rng};

/// What an operation takes at least, in virtual nanoseconds.
const OPERATION_NS: u64 = 100;

/// What the seed adds to that, at most, and to a wake-up.
const JITTER_NS: u64 = 100;

/// What it takes a thread to start, at most.
const START_NS: u64 = 50_000;

#[derive(Clone, Copy, Default, Debug)]
struct Clock {
    /// The virtual time at which the thread makes its next operation.
    now: u64,
    /// The operation for which a delay was drawn already; 0 for none.
    drawn_for: u32,
    /// The thread shall go behind all others that can go on.
    yields: bool,
}

/// The thread whose virtual clock is behind goes next.
#[derive(Clone, Debug)]
pub struct Delay {
    rng: Rng,
    clocks: ByThread<Clock>,
    probability: f64,
    /// The longest delay.
    delay_ns: u64,
    /// When the latest operation began; threads that were blocked until now go on from here.
    latest: u64,
}

impl Delay {
    /// Delays of up to `spec.size` virtual microseconds with `spec.probability`.
    pub fn new(spec: &PolicySpec) -> Delay {
        Delay {
            rng: Rng::new(spec.seed),
            clocks: ByThread::new(),
            probability: spec.probability,
            delay_ns: u64::from(spec.size) * 1000,
            latest: 0,
        }
    }

    /// The thread stands before this operation: maybe delays it, once.
    fn arrive(&mut self, thread: ThreadId, op: &Op) -> &mut Clock {
        let latest = self.latest;
        let clock = self.clocks.of(thread);
        if clock.now < latest {
            clock.now = latest + self.rng.below(JITTER_NS + 1);
        }
        if clock.drawn_for != op.index {
            clock.drawn_for = op.index;
            if self.rng.unit() < self.probability {
                clock.now += self.rng.below(self.delay_ns + 1);
                clock.yields |= self.delay_ns == 0;
            }
        }
        clock
    }
}

impl Policy for Delay {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        let mut last = 0;
        for candidate in choice.candidates {
            last = last.max(self.arrive(candidate.thread, candidate.op).now);
        }
        for (_, clock) in self.clocks.iter_mut().filter(|(_, clock)| clock.yields) {
            last += 1;
            clock.now = last;
            clock.yields = false;
        }
        let mut best = (u64::MAX, choice.candidates[0].thread);
        for candidate in choice.candidates {
            best = best.min((self.clocks.of(candidate.thread).now, candidate.thread));
        }
        best.1
    }

    fn created(&mut self, thread: ThreadId, parent: ThreadId) {
        self.clocks.of(thread).now = self.clocks.of(parent).now + self.rng.below(START_NS + 1);
    }

    fn executed(&mut self, thread: ThreadId, op: &Op) {
        let begin = self.arrive(thread, op).now;
        self.latest = self.latest.max(begin);
        let cost = OPERATION_NS + self.rng.below(JITTER_NS + 1);
        self.clocks.of(thread).now = begin + cost;
    }

    fn gave_way(&mut self, thread: ThreadId) {
        // Threads that give way to each other at every step would do so for ever.
        self.clocks.of(thread).yields |= self.rng.below(2) == 0;
    }
}
