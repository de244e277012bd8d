//! Policies: the part of a plan that runs inside the target and picks the next thread.
//!
//! A policy is deterministic given its seed, sees every thread's *next* operation, and knows nothing of processes or
//! files. Each has a file of its own in `policies`, with the parameters that it is specified by ([`Specification`]) and
//! the state in which it runs ([`Policy`]). [`PolicySpec`] is any of the specifications with its seed, and [`AnyPolicy`]
//! any of the running policies, without a pointer to call through.
//!
//! A [`Portfolio`] draws the policies of many executions one after the other, for copies of a process as for
//! repetitions of a closure.

mod by_thread;
mod closure_strategy;
mod counts;
mod divergence;
mod policies;
mod policy;
mod portfolio;
mod rng;
mod sampler;
mod spec;
#[cfg(any(test, feature = "toy"))]
pub mod toy;

#[cfg(test)]
mod tests;

pub use closure_strategy::ClosureStrategy;
pub use counts::Counts;
pub use divergence::{Divergence, DivergenceReason};
pub use policies::*;
pub use policy::{COUNTERS, Candidate, Choice, Op, Policy};
pub use portfolio::{Drawn, Portfolio, probes_later};
pub use rng::Rng;
pub use sampler::{Experience, Sampler};
pub use spec::{Malformed, PolicySpec, SpecError, Specification, Words};
