//! How far a campaign is, as somebody who waits for it wants to know.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use threadbare_target::Execution;

use crate::check::Examined;

/// How far a campaign is.
#[derive(Clone, Default, Debug)]
pub struct Progress {
    /// Executions made so far.
    pub executions: u64,
    /// The most that will be made.
    pub budget: u64,
    /// Visible steps so far.
    pub steps: u64,
    /// The largest number of threads in one execution so far, main included.
    pub threads: u32,
    /// Executions that failed so far.
    pub failures: u64,
    /// The time so far.
    pub elapsed: Duration,
    /// The most time that it will take.
    pub time: Option<Duration>,
    /// How much was covered so far, by the criteria asked for.
    pub coverage: Vec<CoverageProgress>,
    /// The policy that has come to most so far.
    pub best: Option<String>,
    /// An execution that has just failed in a way not seen before. This is told the moment that it has ended, so that nothing found is
    /// lost, whatever becomes of the campaign.
    pub failed: Option<FailedJustNow>,
    /// What has just been found in executions that may have passed, or has just been made to happen; for the same reason. What was predicted
    /// and then happens is told twice.
    pub found: Vec<Examined>,
}

/// What has happened that has to be told at once.
pub(crate) enum News {
    /// An execution failed in a way not seen before.
    Failed(FailedJustNow),
    /// Executions show what was not known before, or more surely than before.
    Found(Vec<Examined>),
}

/// An execution that has just failed.
///
/// If several run side by side, one that comes later may be told of first, and one that is told of may turn out not to count.
#[derive(Clone, Debug)]
pub struct FailedJustNow {
    /// Its number, counted from 1.
    pub execution: u64,
    /// The execution.
    pub run: Arc<Execution>,
}

/// How much a criterion has been covered so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoverageProgress {
    /// The criterion.
    pub name: &'static str,
    /// How much was covered.
    pub covered: u64,
    /// How much there is, as far as is known.
    pub total: u64,
}

/// What each policy of a campaign has come to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct PolicyScores {
    of: BTreeMap<String, PolicyScore>,
}

/// Failures first; what was covered first decides between those that found as many.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct PolicyScore {
    failures: u64,
    newly_covered: u64,
}

impl PolicyScores {
    /// Enters an execution: whether it failed, and how much it covered that none before had.
    pub(crate) fn enter(&mut self, policy: &str, failed: bool, newly_covered: u64) {
        if !failed && newly_covered == 0 {
            return;
        }
        let merit = self.of.entry(policy.to_string()).or_default();
        merit.failures += u64::from(failed);
        merit.newly_covered += newly_covered;
    }

    /// The policy that found the most failures or, among those that found as many, covered the most; none before
    /// any did either.
    pub(crate) fn best(&self) -> Option<&str> {
        self.of.iter().max_by_key(|(_, merit)| **merit).map(|(name, _)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_count_for_more_than_what_was_covered() {
        let mut scores = PolicyScores::default();
        assert_eq!(scores.best(), None);
        scores.enter("random", false, 0);
        assert_eq!(scores.best(), None);
        scores.enter("random", false, 40);
        scores.enter("pos", false, 2);
        assert_eq!(scores.best(), Some("random"));
        scores.enter("pos", true, 0);
        assert_eq!(scores.best(), Some("pos"));
    }
}
