//! Strategies and the campaign loop: which interleaving to try next, and when to stop.
//!
//! A [`Strategy`] makes plans and learns from the executions that come back; [`hunt`] runs the
//! plans on as many servers as asked for and keeps what was found. Adding a technique means adding
//! one file that implements [`Strategy`] and a line in `strategy.rs`.

mod auto;
mod campaign;
mod check;
mod crew;
mod cut;
mod dfs;
mod error;
mod follow;
mod history;
mod ledger;
mod mcr;
mod minimise;
mod profile;
mod runner;
mod sampled;
mod strategy;

#[cfg(test)]
mod tests;

pub use campaign::{Options, Progress, hunt};
pub use check::{Check, Examined, check};
pub use error::ExploreError;
pub use history::History;
pub use ledger::{Campaign, Found, Verdict};
pub use minimise::{is_preemption, is_same_failure, minimise, replay};
pub use profile::Profile;
pub use strategy::{Plan, STRATEGIES, Strategy};
