//! What looks at the executions of a campaign: examiners in the workers, observers in the loop.
//!
//! An *examiner* works where an execution was run, beside the other workers, and knows nothing but that
//! execution. An *observer* sees all executions one after the other, in the order of their plans, with what the
//! examiner made of them. So what is expensive is done in parallel, and what depends on earlier executions is not.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use threadbare_detect::Finding;
use threadbare_target::Execution;

use super::workers::BatchResults;
use crate::check::Examined;
use crate::strategy::Plan;
use crate::suite::ExecutedFunctions;

/// What a worker makes of each execution. Its answers depend on the execution alone.
pub(crate) trait Examiner: Send + Sync {
    /// What the execution shows.
    fn examine(&self, _run: &Execution) -> Vec<Finding> {
        Vec::new()
    }

    /// Which functions it executed, where calls are measured.
    fn read_calls(&self, _run: &Execution) -> Option<ExecutedFunctions> {
        None
    }

    /// Whether what it finds is a result, even before anybody has tried to make it happen.
    fn finds_results(&self) -> bool {
        false
    }

    /// Whether the phase ends with this execution. Then none is begun that was planned after it, and what was already
    /// begun does not count.
    fn ends_with(&self, _run: &Execution, _found: &[Finding]) -> bool {
        false
    }
}

/// Looks at nothing.
pub(crate) struct Unexamined;

impl Examiner for Unexamined {}

/// An execution of a campaign.
pub(crate) struct Observed<'a> {
    /// Its number among those that count, from 1.
    pub(crate) number: u64,
    /// What it was to do.
    pub(crate) plan: &'a Plan,
    /// What it did.
    pub(crate) run: &'a Arc<Execution>,
    /// What the examiner found in it.
    pub(crate) found: &'a [Finding],
    /// Which functions it executed, if the examiner reads calls.
    pub(crate) executed: Option<&'a ExecutedFunctions>,
    /// Its batch found memory to be shared that was not known before. What was done to that memory is not in the
    /// traces of the batch.
    pub(crate) sharing_grew: bool,
    /// The time since the campaign began.
    pub(crate) elapsed: Duration,
}

/// Sees the executions of a campaign in order.
pub(crate) trait Observer {
    /// Whether it looks at the events of executions; otherwise they are dropped early, to save memory.
    fn reads_events(&self) -> bool {
        false
    }

    /// Sees the next execution, and may ask for the end of the phase. The rest of the batch is then not shown to anybody.
    fn observe(&mut self, seen: &Observed<'_>) -> ControlFlow<()>;

    /// The program failed on its own, before there was anything to decide. No execution follows.
    fn crashed(&mut self, _run: &Arc<Execution>) {}

    /// What it has found itself since it was asked the last time.
    fn news(&mut self) -> Vec<Examined> {
        Vec::new()
    }

    /// Reports what the batches so far have come to, for the display of progress.
    fn report_results(&self, _results: &mut BatchResults) {}
}
