//! What the batches so far have taught.

use std::collections::BTreeSet;
use std::sync::Arc;

use threadbare_target::Execution;
use threadbare_trace::FailureKind;
use threadbare_wire::LearnedRecord;

use crate::profile::Profile;

/// What all executions up to the last full batch have shown. It changes only between batches.
#[derive(Clone, Default, Debug)]
pub struct History {
    known: BTreeSet<LearnedRecord>,
    /// In the order in which the servers were given them.
    shared: Arc<Vec<LearnedRecord>>,
    profile: Profile,
    measured: u64,
    measured_steps: u64,
    peak_threads: u32,
}

impl History {
    /// Before the first batch, with what is known already.
    pub(crate) fn knowing(shared: Arc<Vec<LearnedRecord>>) -> History {
        History { known: shared.iter().copied().collect(), shared, ..History::default() }
    }

    /// Visible steps of an average execution, 0 if nothing is known.
    pub fn expected_steps(&self) -> u64 {
        self.measured_steps.div_ceil(self.measured.max(1))
    }

    /// Who touches what.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The memory known to be shared, in a fixed order to which more is only appended.
    pub fn shared(&self) -> &Arc<Vec<LearnedRecord>> {
        &self.shared
    }

    /// The largest number of threads that were alive at once.
    pub fn peak_threads(&self) -> u32 {
        self.peak_threads
    }

    /// Adds a batch, each execution with its profile and whether its length is typical; says whether it found memory to be shared that was not known before.
    pub(crate) fn absorb<'a>(
        &mut self,
        runs: impl Iterator<Item = (&'a Execution, Option<&'a Profile>, bool)>,
    ) -> bool {
        let mut new = BTreeSet::new();
        for (run, profile, is_typical) in runs {
            new.extend(run.discovered.iter().filter(|record| !self.known.contains(record)));
            self.peak_threads = self.peak_threads.max(run.peak_threads);
            // A hang's length is the step limit's, not the program's.
            if is_typical && run.outcome.failure().is_none_or(|failure| failure.kind != FailureKind::Hang) {
                self.measured += 1;
                self.measured_steps += run.steps;
            }
            if let Some(profile) = profile {
                self.profile.merge(profile);
            }
        }
        if !new.is_empty() {
            Arc::make_mut(&mut self.shared).extend(&new);
            self.known.extend(&new);
        }
        !new.is_empty()
    }
}
