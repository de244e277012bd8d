//! Strategies and the campaign loop: which interleaving to try next, and when to stop.
//!
//! A [`Strategy`] makes plans and learns from the executions that come back; [`hunt`] runs the
//! plans on as many servers as asked for and keeps what was found. Adding a technique means adding
//! one file that implements [`Strategy`] and a line in `strategy.rs`.

mod ars;
mod auto;
mod campaign;
mod check;
mod checkpoints;
mod claims;
mod compare;
mod confirm;
mod coverage;
mod dfs;
mod drive;
mod error;
mod finding_rank;
mod follow_schedule;
pub mod generate;
mod history;
mod map_random;
mod mcr;
mod minimise;
mod neighbours;
mod omission;
mod options;
mod pcr;
mod profile;
mod question_queue;
mod races;
mod reach;
mod runner;
mod sampled;
mod saturation;
mod search;
mod search_effort;
mod solved;
mod statistics;
mod strategy;
pub mod suite;
mod total;
mod tsa;
mod verify;

#[cfg(test)]
mod tests;

pub use campaign::{Campaign, CampaignVerdict, CoverageProgress, Found, Progress, hunt, hunt_measured};
pub use check::{Check, Examined, Met, check};
pub use checkpoints::{CHECKPOINT_GAP, Spared};
pub use compare::{CompareProgress, Comparison, Contestant, Trial, TrialEnd, Versus, WARM_UP, compare};
pub use confirm::{directed, find_shown, is_suspicion, pointed_out, shown};
pub use coverage::{CoveragePoint, Covered, Measuring};
pub use error::ExploreError;
pub use history::History;
pub use mcr::{OpenKind, OpenQuestion};
pub use minimise::{is_preemption, is_same_failure, minimise, replay};
pub use neighbours::neighbours;
pub use options::Options;
pub use profile::Profile;
pub use races::races;
pub use saturation::{SaturationRule, Window};
pub use search::{Search, SharedSearch, Steer};
pub use search_effort::{GraphSize, SearchEffort};
pub use statistics::{Censored, Magnitude, Measure, Method, Summary, Wilcoxon, wilcoxon as signed_ranks};
pub use strategy::{Plan, STRATEGIES, Strategy};
pub use total::Graphs;
pub use verify::{Checked, GroupsPoint, Verification, verify};
