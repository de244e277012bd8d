//! How an input ended.

use threadbare_target::Execution;
use threadbare_trace::Outcome;
use threadbare_wire::ContextRecord;

/// How the execution of an input ended that failed first, or else the last one.
#[derive(Clone, Debug)]
pub struct InputOutcome {
    /// How.
    pub outcome: Outcome,
    /// The calls that places in its message refer to.
    pub contexts: Vec<ContextRecord>,
}

impl InputOutcome {
    /// Before anything was executed, or where that says all.
    pub(super) fn of(outcome: Outcome) -> InputOutcome {
        InputOutcome { outcome, contexts: Vec::new() }
    }

    /// Takes in how an execution ended.
    pub(super) fn take_in(&mut self, run: &Execution) {
        if self.outcome.failure().is_none() {
            let contexts = if run.outcome.failure().is_some() { run.contexts.clone() } else { Vec::new() };
            *self = InputOutcome { outcome: run.outcome.clone(), contexts };
        }
    }
}
