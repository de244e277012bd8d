//! Policies: the part of a plan that runs inside the target and picks the next thread.
//!
//! A policy is deterministic given its seed, sees every thread's *next* operation, and knows
//! nothing of processes or files. Each lives in a file of its own.

mod policy;
mod rng;

pub use policy::{Candidate, Choice, Op, Policy, PolicyKind, PolicySpec};
pub use rng::Rng;
