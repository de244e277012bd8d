//! Cliff's delta: how often one strategy needs more executions than another one.

use super::Measure;

/// The share of pairs in which the first takes longer, less the share in which the second does: -1 if the
/// first is always faster, 1 if it is always slower. Pairs that cannot be compared count for neither.
pub fn cliffs_delta(first: &[Measure], second: &[Measure]) -> f64 {
    let pairs = first.len() * second.len();
    if pairs == 0 {
        return 0.0;
    }
    let signs = first.iter().flat_map(|a| second.iter().map(|b| a.difference(*b).signum()));
    signs.sum::<i64>() as f64 / pairs as f64
}

/// What a delta amounts to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Magnitude {
    /// Below 0.147.
    Negligible,
    /// Below 0.33.
    Small,
    /// Below 0.474.
    Medium,
    /// From there on.
    Large,
}

impl Magnitude {
    /// The magnitude of a delta, whichever its sign.
    pub fn of(delta: f64) -> Magnitude {
        match delta.abs() {
            size if size < 0.147 => Magnitude::Negligible,
            size if size < 0.33 => Magnitude::Small,
            size if size < 0.474 => Magnitude::Medium,
            _ => Magnitude::Large,
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Magnitude::Negligible => "negligible",
            Magnitude::Small => "small",
            Magnitude::Medium => "medium",
            Magnitude::Large => "large",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(numbers: &[u64]) -> Vec<Measure> {
        numbers.iter().map(|number| Measure::Failed(*number)).collect()
    }

    /// The example of the R package `effsize`: `cliff.delta(treatment, control)`, estimate -0.25 (small).
    #[test]
    fn delta_is_that_of_r() {
        let treatment = failed(&[10, 10, 20, 20, 20, 30, 30, 30, 40, 50]);
        let control = failed(&[10, 20, 30, 40, 40, 50]);
        let delta = cliffs_delta(&treatment, &control);
        assert!((delta + 0.25).abs() < 1e-12, "{delta}");
        assert_eq!(Magnitude::of(delta).word(), "small");
    }

    #[test]
    fn faster_is_negative_and_what_is_unknown_is_neither() {
        assert_eq!(cliffs_delta(&failed(&[1, 2]), &failed(&[3, 4])), -1.0);
        assert_eq!(cliffs_delta(&failed(&[3, 4]), &failed(&[1, 2])), 1.0);
        assert_eq!(cliffs_delta(&failed(&[5]), &[Measure::Unfailed(3)]), 0.0);
        assert_eq!(cliffs_delta(&failed(&[5]), &[Measure::Unfailed(9)]), -1.0);
        assert_eq!(cliffs_delta(&[], &failed(&[1])), 0.0);
        let words = [0.1, -0.2, 0.4, -0.474].map(|delta| Magnitude::of(delta).word());
        assert_eq!(words, ["negligible", "small", "medium", "large"]);
    }
}
