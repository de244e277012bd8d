//! Strategies and the campaign loop: which interleaving to try next, and when to stop.
//!
//! A [`Strategy`] makes plans and learns from the executions that come back; [`hunt`] runs the
//! plans on as many servers as asked for and keeps what was found. Adding a technique means adding
//! one file that implements [`Strategy`] and a line in `strategy.rs`.

mod agenda;
mod ars;
mod auto;
mod campaign;
mod check;
mod checkpoints;
mod compare;
mod confirm;
mod coverage;
mod crew;
mod cut;
mod dfs;
mod drive;
mod effort;
mod error;
mod follow;
mod follows;
pub mod generate;
mod happening;
mod history;
mod ledger;
mod map_random;
mod mcr;
mod minimise;
mod near;
mod options;
mod pcr;
mod profile;
mod races;
mod reach;
mod repeat;
mod runner;
mod sampled;
mod saturation;
mod search;
mod solved;
mod standing;
mod statistics;
mod strategy;
pub mod suite;
mod total;
mod tsa;
mod verify;

#[cfg(test)]
mod tests;

pub use campaign::{hunt, hunt_measured};
pub use check::{Check, Examined, Met, check};
pub use checkpoints::{CHECKPOINT_GAP, Spared};
pub use compare::{CompareProgress, Comparison, Contestant, Trial, TrialEnd, Versus, WARM_UP, compare};
pub use confirm::is_suspicion;
pub use coverage::{CoveragePoint, Covered, Measuring};
pub use effort::{Effort, GraphSize};
pub use error::ExploreError;
pub use happening::{directed, find_shown, pointed_out, shown};
pub use history::History;
pub use ledger::{Campaign, Found, Verdict};
pub use mcr::{OpenKind, OpenQuestion};
pub use minimise::{is_preemption, is_same_failure, minimise, replay};
pub use near::neighbours;
pub use options::{Options, Progress};
pub use profile::Profile;
pub use races::races;
pub use saturation::{SaturationRule, Window};
pub use search::{Search, SharedSearch, Steer};
pub use standing::CoverageStanding;
pub use statistics::{LowerBounds, Magnitude, Measure, Method, Summary, Wilcoxon, wilcoxon as signed_ranks};
pub use strategy::{Plan, STRATEGIES, Strategy};
pub use total::Graphs;
pub use verify::{Checked, GroupsPoint, Verification, verify};
