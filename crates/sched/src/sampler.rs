//! Policies whose executions differ by their seed, and what they are given of earlier executions.

use crate::{Delay, Parameters, Pct, Pos, Random, Surw};

/// A way to draw executions one after the other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sampler {
    /// The plain random walk.
    Random,
    /// Random priorities with `depth - 1` change points.
    Pct {
        /// The bug depth.
        depth: u32,
    },
    /// Partial order sampling.
    Pos,
    /// Selectively uniform random walk.
    Surw,
    /// Virtual parallelism with random delays.
    Delay {
        /// The longest delay in virtual microseconds; 0 for a yield.
        longest_micros: u32,
        /// How likely an operation is delayed.
        probability: f64,
    },
}

/// What is known of a program from earlier executions, as far as samplers use it.
pub trait Experience {
    /// How many steps an execution is expected to have; 0 if none was made.
    fn expected_steps(&self) -> u64;

    /// What SURW shall be uniform over in the execution with this seed.
    fn surw(&self, seed: u64) -> Surw;
}

impl Sampler {
    /// The policy of the execution with this seed.
    pub fn parameters(self, seed: u64, experience: &impl Experience) -> Parameters {
        match self {
            Sampler::Random => Random.into(),
            Sampler::Pct { depth } => Pct { depth, expected_steps: experience.expected_steps() }.into(),
            Sampler::Pos => Pos.into(),
            Sampler::Surw => experience.surw(seed).into(),
            Sampler::Delay { longest_micros, probability } => Delay { longest_micros, probability }.into(),
        }
    }
}
