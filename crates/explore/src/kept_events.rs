//! How many events of executions are kept until the end of a campaign.

use std::sync::Arc;

use threadbare_target::Execution;

use crate::options::Options;

/// How many executions of the largest size may be kept: with those under way, they take the memory that may be used.
const EXECUTIONS: u64 = 4;

/// Room for events of executions that are kept until the end.
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
        KeptEvents { left: options.most_events().saturating_mul(EXECUTIONS) }
    }

    /// Takes room for an execution, if there is enough.
    pub(crate) fn take(&mut self, run: &Execution) -> bool {
        let fits = self.left.checked_sub(run.events.len() as u64);
        self.left = fits.unwrap_or(self.left);
        fits.is_some()
    }

    /// The execution, without its events if there is no room for them.
    pub(crate) fn keep(&mut self, run: Arc<Execution>) -> Arc<Execution> {
        if self.take(&run) { run } else { Arc::new(run.without_events()) }
    }
}
