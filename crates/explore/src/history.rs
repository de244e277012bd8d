//! What the batches so far have taught.

use std::collections::BTreeSet;
use std::sync::Arc;

use threadbare_target::Execution;
use threadbare_trace::{FailureKind, Outcome};
use threadbare_wire::LearnedRecord;

use crate::profile::Profile;

/// How many times as long as any other an execution may take: threads that wait for each other while others run
/// seldom make it ten times as long.
const MANY_TIMES: u64 = 20;

/// As many steps cost nothing worth saving: a fraction of a second.
const SHORT: u64 = 1_000_000;

/// What all executions up to the last full batch have shown. It changes only between batches.
#[derive(Clone, Default, Debug)]
pub struct History {
    known: BTreeSet<LearnedRecord>,
    /// In the order in which the servers were given them.
    shared: Arc<Vec<LearnedRecord>>,
    profile: Profile,
    measured: u64,
    measured_steps: u64,
    longest: u64,
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

    /// The steps after which an execution is so much longer than others that were run to their end that it is cut. There is no
    /// limit until one was.
    pub(crate) fn step_limit(&self) -> u64 {
        match self.longest {
            0 => u64::MAX,
            longest => longest.saturating_mul(MANY_TIMES).max(SHORT),
        }
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
            // The length of one that was cut is the limit's, and that of a hang is not the program's either.
            let is_whole = match &run.outcome {
                Outcome::Passed | Outcome::Uncontrolled(_) => true,
                Outcome::Failed(failure) => failure.kind != FailureKind::Hang,
                Outcome::Cut(_) => false,
            };
            if is_typical && is_whole {
                self.measured += 1;
                self.measured_steps += run.steps;
                self.longest = self.longest.max(run.steps);
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
