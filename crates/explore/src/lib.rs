//! Strategies and the campaign loop: which interleaving to try next, and when to stop.
//!
//! A [`Strategy`] makes plans and learns from the executions that come back; [`hunt`] runs the
//! plans on as many servers as asked for and keeps what was found. Adding a technique means adding
//! one file that implements [`Strategy`] and a row in [`strategies::TABLE`].

mod campaign;
mod check;
mod checkpoints;
mod claims;
mod common_heap;
mod compare;
mod confirm;
mod coverage;
mod dead_registers;
mod detected;
mod drive;
mod error;
mod finding_rank;
mod follow_schedule;
pub mod generate;
mod history;
mod kept_events;
mod minimise;
mod neighbours;
mod omission;
mod options;
mod profile;
mod question_queue;
mod races;
mod runner;
mod saturation;
mod search;
mod search_effort;
mod solved;
mod statistics;
pub mod strategies;
mod strategy;
pub mod suite;
mod verify;

#[cfg(test)]
mod tests;

pub use campaign::{
    Campaign, CampaignVerdict, CoverageProgress, FailedJustNow, Found, Progress, hunt, hunt_measured,
};
pub use check::{Check, Examined, Met, check};
pub use checkpoints::{CHECKPOINT_GAP, Spared};
pub use claims::Doubt;
pub use compare::{CompareProgress, Comparison, Contestant, Trial, TrialEnd, Versus, WARM_UP, compare};
pub use confirm::{Verdict, directed, find_shown, is_suspicion, pointed_out, shown, trials};
pub use coverage::{CoveragePoint, Covered, Measuring};
pub use error::ExploreError;
pub use history::History;
pub use minimise::{is_preemption, is_same_failure, minimise, replay};
pub use neighbours::neighbours;
pub use options::{DEFAULT_MEMORY, MAX_STEPS, MAX_STEPS_OF_TRACES, Options, Timers};
pub use profile::Profile;
pub use races::races;
pub use saturation::{SaturationRule, Window};
pub use search::{Search, SharedSearch, Steer};
pub use search_effort::{GraphSize, SearchEffort};
pub use statistics::{Censored, Magnitude, Measure, Method, Summary, Wilcoxon, wilcoxon as signed_ranks};
pub use strategies::STRATEGIES;
pub use strategies::mcr::{OpenKind, OpenQuestion};
pub use strategies::total::Graphs;
pub use strategy::{Plan, Strategy};
pub use verify::{Checked, GroupsPoint, Verification, verify};
