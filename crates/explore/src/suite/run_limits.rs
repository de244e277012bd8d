//! Under which limits inputs are run.

use std::time::Duration;

use crate::options::Options;

/// What holds for all executions of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunLimits {
    /// How long an execution may go without a step.
    pub stall: Duration,
    /// Steps after which an execution counts as hung.
    pub max_steps: u64,
    /// A non-zero exit status is not a failure.
    pub any_exit: bool,
}

impl Default for RunLimits {
    fn default() -> RunLimits {
        RunLimits { stall: Duration::from_secs(10), max_steps: 10_000_000, any_exit: false }
    }
}

impl RunLimits {
    /// The options of a campaign with one input. Inputs are looked at side by side, so the executions of one are not.
    pub(super) fn options(&self) -> Options {
        let RunLimits { stall, max_steps, any_exit } = *self;
        Options { stall, max_steps, any_exit, jobs: 1, ..Options::default() }
    }
}
