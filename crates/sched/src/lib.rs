//! Policies: the part of a plan that runs inside the target and picks the next thread.
//!
//! A policy is deterministic given its seed, sees every thread's *next* operation, and knows
//! nothing of processes or files. Each lives in a file of its own; [`AnyPolicy`] is one of them,
//! chosen at run time.

mod any;
mod between;
mod by_thread;
mod delay;
mod directed;
mod divergence;
mod guideline;
mod in_order;
mod interruptions;
mod journal;
mod pct;
mod policy;
mod pos;
mod prefix;
mod random;
mod replay;
mod requirements;
mod rng;
mod round_robin;
mod sampler;
mod surw;
#[cfg(any(test, feature = "toy"))]
pub mod toy;
mod tsa;

#[cfg(test)]
mod tests;

pub use any::{AnyPolicy, build};
pub use between::{Between, Place};
pub use delay::Delay;
pub use directed::{Directed, Goal};
pub use divergence::{Divergence, Reason};
pub use guideline::{Guidance, Guideline, Instance, Wanted};
pub use interruptions::{Interruption, Interruptions};
pub use journal::{Intrusions, Journal};
pub use pct::Pct;
pub use policy::{Candidate, Choice, Op, Policy, PolicyKind, PolicySpec};
pub use pos::Pos;
pub use prefix::Prefix;
pub use random::Random;
pub use replay::{Replay, Turn};
pub use requirements::Requirements;
pub use rng::Rng;
pub use round_robin::RoundRobin;
pub use sampler::{Counts, Sampler};
pub use surw::Surw;
pub use tsa::Tsa;
