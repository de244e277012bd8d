//! Threads in virtual parallel, with random delays.
//!
//! This is what stress testing with random sleeps does (RND-y, RND-s10 and RND-s100 of the ARS and TSA
//! papers), in virtual time: every thread has a clock, every operation takes a moment, and the
//! thread whose clock is behind runs. With some probability an operation is delayed first, by a random
//! time up to a limit. Threads that waited for the same thing wake up in any order, and a new thread takes a
//! while to start, as on a machine: otherwise all of them would go side by side, step by step.

use threadbare_trace::ThreadId;

use crate::by_thread::ByThread;
use crate::{Choice, Malformed, Op, Policy, Rng, Specification, Words};

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
    /// The thread shall go behind all others that are runnable.
    yields: bool,
}

/// The thread whose virtual clock is behind goes next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Delay {
    /// The longest delay in virtual microseconds; 0: the thread goes behind all others that are runnable.
    pub longest_micros: u32,
    /// How likely an operation is delayed.
    pub probability: f64,
}

impl Specification for Delay {
    type Policy = DelayPolicy;

    fn name(&self) -> String {
        match self.longest_micros {
            0 => "delay-yield".to_string(),
            micros => format!("delay-{}ms", micros / 1000),
        }
    }

    fn encode(&self, words: &mut Vec<u64>) {
        words.extend([u64::from(self.longest_micros), self.probability.to_bits()]);
    }

    fn decode(words: &mut Words<'_>) -> Result<Delay, Malformed> {
        Ok(Delay { longest_micros: words.number()?, probability: words.probability()? })
    }

    fn start(self, seed: u64) -> DelayPolicy {
        DelayPolicy {
            rng: Rng::new(seed),
            clocks: ByThread::new(),
            probability: self.probability,
            delay_ns: u64::from(self.longest_micros) * 1000,
            latest: 0,
        }
    }
}

/// See [`Delay`].
#[derive(Clone, Debug)]
pub struct DelayPolicy {
    rng: Rng,
    clocks: ByThread<Clock>,
    probability: f64,
    /// The longest delay.
    delay_ns: u64,
    /// When the latest operation began; threads that were blocked until now continue from here.
    latest: u64,
}

impl DelayPolicy {
    /// The thread has reached this operation: maybe delays it, once.
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

impl Policy for DelayPolicy {
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

    fn yielded(&mut self, thread: ThreadId) {
        // Threads that yield to each other at every step would do so for ever.
        self.clocks.of(thread).yields |= self.rng.below(2) == 0;
    }
}
