//! How much of executions is kept until the end of a campaign.

use std::sync::Arc;

use threadbare_target::Execution;

use crate::options::Options;

/// How much of the memory that may be used: a campaign keeps what fails and what shows findings, for each as much, and the rest is for executions
/// under way.
const SHARE: u64 = 4;

/// How many bytes of memory an execution takes.
pub(crate) fn bytes_of(run: &Execution) -> u64 {
    (size_of_val(&run.events[..]) + size_of_val(&run.switches[..]) + size_of_val(&run.contexts[..])) as u64
}

/// Room for executions that are kept until the end.
pub(crate) struct KeptEvents {
    left: u64,
}

impl Default for KeptEvents {
    fn default() -> KeptEvents {
        KeptEvents::of(&Options::default())
    }
}

impl KeptEvents {
    /// As much as the options allow.
    pub(crate) fn of(options: &Options) -> KeptEvents {
        /// As for the events of a single execution, however little memory there is.
        const LEAST: u64 = 1 << 22;
        KeptEvents { left: (options.memory / SHARE).max(LEAST) }
    }

    /// Takes room for an execution, if there is enough.
    pub(crate) fn take(&mut self, run: &Execution) -> bool {
        let fits = self.left.checked_sub(bytes_of(run));
        self.left = fits.unwrap_or(self.left);
        fits.is_some()
    }

    /// The execution, without its events if there is no room for them.
    pub(crate) fn keep(&mut self, run: Arc<Execution>) -> Arc<Execution> {
        if self.take(&run) { run } else { Arc::new(run.without_events()) }
    }
}
