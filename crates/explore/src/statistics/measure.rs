//! The P-measure of a trial, which may be known in part only.

/// How many executions it took to find the first failure (Definition 4.4 of the ARS paper).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// The execution with this number, counted from 1, failed.
    Failed(u64),
    /// None of this many executions failed, and then the budget was spent. The first failure would have come later, if
    /// at all.
    Unfailed(u64),
}

impl Measure {
    /// The number of the execution that failed, or the lowest one that can have.
    pub fn at_least(self) -> u64 {
        match self {
            Measure::Failed(execution) => execution,
            Measure::Unfailed(executions) => executions.saturating_add(1),
        }
    }

    /// Whether a failure was found.
    pub fn failed(self) -> bool {
        matches!(self, Measure::Failed(_))
    }

    /// How many executions more than the other one it took, as far as that is certain. Of two trials that
    /// did not fail none is said to be longer, nor where the other one failed only after this one had been
    /// given up: no strategy gains from what nobody has seen.
    pub fn difference(self, other: Measure) -> i64 {
        let (own, others) = (self.at_least(), other.at_least());
        let certain = match (self, other) {
            (Measure::Failed(_), Measure::Failed(_)) => true,
            (Measure::Unfailed(_), Measure::Failed(_)) => own > others,
            (Measure::Failed(_), Measure::Unfailed(_)) => own < others,
            (Measure::Unfailed(_), Measure::Unfailed(_)) => false,
        };
        let difference = i128::from(own) - i128::from(others);
        if certain { difference.clamp(i64::MIN.into(), i64::MAX.into()) as i64 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::Measure::{Failed, Unfailed};

    #[test]
    fn only_what_is_certain_counts() {
        assert_eq!(Failed(3).difference(Failed(7)), -4);
        assert_eq!(Unfailed(100).difference(Failed(7)), 94);
        assert_eq!(Failed(7).difference(Unfailed(100)), -94);
        assert_eq!(Unfailed(5).difference(Failed(7)), 0, "it was given up before the other one failed");
        assert_eq!(Failed(7).difference(Unfailed(5)), 0);
        assert_eq!(Unfailed(100).difference(Unfailed(5)), 0);
        assert_eq!(Unfailed(6).difference(Failed(7)), 0, "it might have failed in the next one as well");
        assert_eq!(Unfailed(u64::MAX).at_least(), u64::MAX);
    }
}
