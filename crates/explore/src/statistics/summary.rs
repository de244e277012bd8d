//! Where the middle of some numbers is, and how far they spread.

use super::Measure;

/// Mean, median and spread.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Summary {
    /// How many numbers there are.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their median.
    pub median: f64,
    /// Their standard deviation, as of a sample; 0 for fewer than two.
    pub deviation: f64,
    /// A quarter of them is not above.
    pub lower_quartile: f64,
    /// A quarter of them is not below.
    pub upper_quartile: f64,
    /// The smallest one.
    pub smallest: f64,
    /// The largest one.
    pub largest: f64,
}

/// Which figures of a summary would be larger if the trials that did not fail had continued.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Censored {
    /// The mean.
    pub mean: bool,
    /// The median.
    pub median: bool,
    /// The lower quartile.
    pub lower_quartile: bool,
    /// The upper quartile.
    pub upper_quartile: bool,
    /// The smallest number.
    pub smallest: bool,
    /// The largest number.
    pub largest: bool,
}

impl Censored {
    /// Those of [`Summary::of_measures`]. A figure is certain if it stays the same when no trial that did not fail
    /// would ever have failed; infinity less infinity is no number, and so not the same either.
    pub fn of_measures(measures: &[Measure]) -> Censored {
        let lowest = Summary::of_measures(measures);
        let never = Summary::of(measures.iter().map(|measure| match measure {
            Measure::Failed(execution) => *execution as f64,
            Measure::Unfailed(_) => f64::INFINITY,
        }));
        Censored {
            mean: lowest.mean != never.mean,
            median: lowest.median != never.median,
            lower_quartile: lowest.lower_quartile != never.lower_quartile,
            upper_quartile: lowest.upper_quartile != never.upper_quartile,
            smallest: lowest.smallest != never.smallest,
            largest: lowest.largest != never.largest,
        }
    }
}

impl Summary {
    /// The summary of some numbers; all zero if there are none.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Summary {
        let mut sorted: Vec<f64> = numbers.into_iter().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (Some(smallest), Some(largest)) = (sorted.first(), sorted.last()) else {
            return Summary::default();
        };
        let count = sorted.len();
        let mean = sorted.iter().sum::<f64>() / count as f64;
        let squares: f64 = sorted.iter().map(|number| (number - mean).powi(2)).sum();
        Summary {
            count,
            mean,
            median: quantile(&sorted, 0.5),
            deviation: if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 },
            lower_quartile: quantile(&sorted, 0.25),
            upper_quartile: quantile(&sorted, 0.75),
            smallest: *smallest,
            largest: *largest,
        }
    }

    /// The summary of P-measures. Trials that did not fail count with the lowest number that they can have, and
    /// [`Censored`] says which figures are lower bounds for that.
    pub fn of_measures(measures: &[Measure]) -> Summary {
        Summary::of(measures.iter().map(|measure| measure.at_least() as f64))
    }
}

/// Between the two numbers around it, in proportion.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * (place - place.floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R: `x <- c(2,4,4,4,5,5,7,9); mean(x); sd(x); quantile(x)`.
    #[test]
    fn figures_are_those_of_r() {
        let summary = Summary::of([9.0, 4.0, 4.0, 2.0, 4.0, 5.0, 5.0, 7.0]);
        assert_eq!((summary.count, summary.mean, summary.median), (8, 5.0, 4.5));
        assert!((summary.deviation - 2.138_089_935).abs() < 1e-8);
        assert_eq!((summary.lower_quartile, summary.upper_quartile), (4.0, 5.5));
        assert_eq!((summary.smallest, summary.largest), (2.0, 9.0));
        assert_eq!((Summary::of([]), Summary::of([3.0]).deviation), (Summary::default(), 0.0));
    }

    #[test]
    fn a_figure_that_rests_on_a_trial_without_failure_is_a_lower_bound() {
        use Measure::{Failed, Unfailed};
        let bounds = |measures: &[Measure]| {
            let it = Censored::of_measures(measures);
            [it.smallest, it.lower_quartile, it.median, it.upper_quartile, it.largest, it.mean]
        };
        assert_eq!(bounds(&[]), [false; 6]);
        assert_eq!(bounds(&[Failed(3), Failed(9)]), [false; 6]);
        assert_eq!(bounds(&[Unfailed(15), Unfailed(15)]), [true; 6]);
        let one_of_five = [Failed(1), Failed(2), Failed(3), Failed(4), Unfailed(15)];
        assert_eq!(bounds(&one_of_five), [false, false, false, false, true, true]);
        let three_of_five = [Failed(1), Failed(2), Unfailed(15), Unfailed(15), Unfailed(15)];
        assert_eq!(bounds(&three_of_five), [false, false, true, true, true, true]);
        // The clock ended the first one early: the others may be the smaller ones.
        assert_eq!(bounds(&[Unfailed(1), Failed(5), Failed(6), Failed(7), Failed(8)]), [true; 6]);
    }
}
