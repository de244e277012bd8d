//! Why a campaign could not be run.

use threadbare_coverage::CRITERIA;
use threadbare_target::{RunError, StartError};

use crate::strategies::{DEFAULT, STRATEGIES};

/// Why a campaign could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    /// There is no strategy of this name.
    #[error("there is no strategy `{0}`; use one of {list}", list = STRATEGIES.join(", "))]
    UnknownStrategy(String),
    /// There is no coverage criterion of this name.
    #[error("there is no coverage criterion `{0}`; use {list}", list = CRITERIA.join(", "))]
    UnknownCriterion(String),
    /// A campaign of no executions.
    #[error("a campaign needs at least one execution; give --executions a number from 1")]
    NoExecutions,
    /// A probability outside [0, 1].
    #[error("a delay's probability lies between 0 and 1, not at {0}; give another one")]
    Probability(f64),
    /// More threads than a systematic search can distinguish.
    #[error(
        "{strategy} distinguishes at most {most} threads and this program started {started}; \
         start fewer threads or use another strategy, such as `{DEFAULT}`"
    )]
    TooManyThreads {
        /// The strategy.
        strategy: &'static str,
        /// As many as it distinguishes.
        most: u32,
        /// As many as there were.
        started: u32,
    },
    /// No execution could be kept under control.
    #[error("no execution could be kept under control: {0}")]
    Uncontrolled(String),
    /// No execution came to its end.
    #[error("no execution came to its end ({cut} were cut): {why}, and a smaller input helps as much")]
    AllCut {
        /// How many there were.
        cut: u64,
        /// Which limit the first one reached, and how to raise it.
        why: String,
    },
    /// There was nothing to decide.
    #[error(
        "the program gave no scheduling point, so no interleaving was tried; build all of it with `threadbare cc` or \
         `threadbare c++`"
    )]
    NoSchedulingPoint {
        /// The largest number of threads in one execution, main included.
        threads: u32,
    },
    /// The tool is not allowed the threads that it needs.
    #[error("no further thread can be started: {0}; allow more processes (`ulimit -u`), or use fewer --jobs")]
    NoThread(#[source] std::io::Error),
    /// The program could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The program was lost, and lost again after it had been started anew.
    #[error(transparent)]
    Run(#[from] RunError),
}
