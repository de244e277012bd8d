//! How far a campaign is, as somebody who waits for it wants to know.

use std::collections::BTreeMap;

/// How much a criterion has been covered so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoverageStanding {
    /// The criterion.
    pub name: &'static str,
    /// How much was covered.
    pub covered: u64,
    /// How much there is, as far as is known.
    pub total: u64,
}

/// What each policy of a campaign has come to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Merits {
    of: BTreeMap<String, Merit>,
}

/// Failures first; what was covered first decides between those that found as many.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Merit {
    failures: u64,
    news: u64,
}

impl Merits {
    /// Enters an execution: whether it failed, and how much it covered that none before had.
    pub(crate) fn enter(&mut self, policy: &str, failed: bool, news: u64) {
        if !failed && news == 0 {
            return;
        }
        let merit = self.of.entry(policy.to_string()).or_default();
        merit.failures += u64::from(failed);
        merit.news += news;
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
        let mut merits = Merits::default();
        assert_eq!(merits.best(), None);
        merits.enter("random", false, 0);
        assert_eq!(merits.best(), None);
        merits.enter("random", false, 40);
        merits.enter("pos", false, 2);
        assert_eq!(merits.best(), Some("random"));
        merits.enter("pos", true, 0);
        assert_eq!(merits.best(), Some("pos"));
    }
}
