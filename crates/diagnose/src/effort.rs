//! How much may be spent on a diagnosis.
//!
//! It is counted rather than timed: the same failure is explained in the same way on a machine that is busy. Only where even that
//! takes longer than anybody waits the clock decides; then it is said that something was left out.

use threadbare_target::Execution;

/// What a run costs besides its steps, in steps: to copy the program takes about as long as so many (100 to 200 µs, and a step that is recorded
/// up to 1 µs).
const RUN: u64 = 200;

/// What may be spent at least, however quickly the failure was found, and at most: about 2 and 6 seconds where each step is recorded.
const LEAST: u64 = 2_000_000;
const MOST: u64 = 6_000_000;

/// What is left to be spent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    left: u64,
}

impl Effort {
    /// The most.
    pub(crate) fn most() -> Effort {
        Effort { left: MOST }
    }

    /// As much as a search of so many executions and steps.
    pub(crate) fn of_a_search(executions: u64, steps: u64) -> Effort {
        let spent = executions.saturating_mul(RUN).saturating_add(steps);
        Effort { left: spent.clamp(LEAST, MOST) }
    }

    /// No more than this.
    pub(crate) fn at_most(self, left: u64) -> Effort {
        Effort { left: self.left.min(left) }
    }

    /// Takes note of a run.
    pub(crate) fn spend(&mut self, run: &Execution) {
        self.left = self.left.saturating_sub(run.steps.saturating_add(RUN));
    }

    /// Takes note of what was spent of a part of it.
    pub(crate) fn spend_as(&mut self, part: Effort, left: Effort) {
        self.left = self.left.saturating_sub(part.left - left.left.min(part.left));
    }

    /// Whether nothing is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }
}
