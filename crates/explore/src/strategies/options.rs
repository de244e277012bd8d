//! The options that only some strategies read.

use super::TABLE;
use crate::error::ExploreError;

/// The values of the options that only some strategies read.
#[derive(Clone, PartialEq, Debug)]
pub struct StrategyOptions {
    /// How many ordering constraints a failure is expected to need.
    pub pct_depth: u32,
    /// How likely an operation is delayed.
    pub delay_probability: f64,
    /// How many of the farthest sub-traces are kept.
    pub ars_width: usize,
    /// Go on from snapshots in the middle of executions.
    pub snapshots: bool,
    /// The most preemptions of an interleaving.
    pub preemption_bound: Option<u32>,
}

impl Default for StrategyOptions {
    fn default() -> StrategyOptions {
        StrategyOptions {
            pct_depth: 3,
            delay_probability: 0.1,
            ars_width: 5,
            snapshots: true,
            preemption_bound: None,
        }
    }
}

impl StrategyOptions {
    /// How likely an operation is delayed, if that is a probability.
    pub(super) fn probability(&self) -> Result<f64, ExploreError> {
        let probability = self.delay_probability;
        match (0.0..=1.0).contains(&probability) {
            true => Ok(probability),
            false => Err(ExploreError::Probability(probability)),
        }
    }
}

/// An option that only some strategies read. Which ones, their rows in [`TABLE`] say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StrategyOption {
    /// `--pct-depth`
    PctDepth,
    /// `--probability`
    Probability,
    /// `--ars-width`
    ArsWidth,
    /// `--no-snapshots`
    NoSnapshots,
    /// `--no-checkpoints`
    NoCheckpoints,
    /// `--preemption-bound`
    PreemptionBound,
}

impl StrategyOption {
    /// All of them.
    pub const ALL: [StrategyOption; 6] = [
        StrategyOption::PctDepth,
        StrategyOption::Probability,
        StrategyOption::ArsWidth,
        StrategyOption::NoSnapshots,
        StrategyOption::NoCheckpoints,
        StrategyOption::PreemptionBound,
    ];

    /// Its name on the command line, without the dashes before it.
    pub fn name(self) -> &'static str {
        match self {
            StrategyOption::PctDepth => "pct-depth",
            StrategyOption::Probability => "probability",
            StrategyOption::ArsWidth => "ars-width",
            StrategyOption::NoSnapshots => "no-snapshots",
            StrategyOption::NoCheckpoints => "no-checkpoints",
            StrategyOption::PreemptionBound => "preemption-bound",
        }
    }

    /// What it decides, in a line.
    pub fn help(self) -> &'static str {
        match self {
            StrategyOption::PctDepth => "how many ordering constraints a failure needs",
            StrategyOption::Probability => "the probability of a delay at an operation",
            StrategyOption::ArsWidth => {
                "how many of the farthest sub-traces are kept; ars compares four times as many futures"
            }
            StrategyOption::NoSnapshots => {
                "run every prefix again instead of continuing from snapshots (slower, same result)"
            }
            StrategyOption::NoCheckpoints => {
                "run every schedule from its beginning instead of continuing from checkpoints (same result)"
            }
            StrategyOption::PreemptionBound => {
                "at most this many preemptions of an interleaving (default: no bound)"
            }
        }
    }

    /// The strategies that read it.
    pub fn readers(self) -> Vec<&'static str> {
        TABLE.iter().filter(|row| row.reads.contains(&self)).map(|row| row.name).collect()
    }
}
