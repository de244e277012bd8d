//! The Wilcoxon signed-rank test on paired differences, two-sided.
//!
//! Differences of zero are left out, as Wilcoxon did. Equal differences share the mean of their ranks. Up to
//! fifty differences the probability is exact, ties included: that of all ways to choose the signs. Beyond
//! that it is the normal approximation with the correction for ties and for continuity.

/// How a probability was obtained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// All signs were considered.
    Exact,
    /// The normal distribution was taken for it.
    Normal,
}

impl Method {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Method::Exact => "exact",
            Method::Normal => "normal approximation",
        }
    }
}

/// What the test says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wilcoxon {
    /// The differences that are not zero.
    pub used: usize,
    /// Those that are.
    pub zeros: usize,
    /// The sum of the ranks of positive differences (V in R).
    pub rank_sum: f64,
    /// How likely so uneven a sum is if neither side tends to be larger.
    pub p: f64,
    /// Where `p` comes from.
    pub method: Method,
}

/// From more differences than this on, the normal approximation is as good.
const MOST_EXACT: usize = 50;

/// Tests whether differences lie evenly around zero.
pub fn wilcoxon(differences: &[i64]) -> Wilcoxon {
    let mut sizes: Vec<(u64, bool)> = differences
        .iter()
        .filter(|difference| **difference != 0)
        .map(|difference| (difference.unsigned_abs(), *difference > 0))
        .collect();
    sizes.sort_unstable();
    let used = sizes.len();
    // Ranks count double, so that shared ones are whole numbers too.
    let mut ranks: Vec<u64> = Vec::with_capacity(used);
    let mut ties = 0.0;
    for equal in sizes.chunk_by(|a, b| a.0 == b.0) {
        let before = ranks.len() as u64;
        let count = equal.len() as u64;
        ranks.extend(std::iter::repeat_n(2 * before + count + 1, equal.len()));
        ties += (count as f64).powi(3) - count as f64;
    }
    let positive: u64 = ranks.iter().zip(&sizes).filter(|(_, size)| size.1).map(|(rank, _)| rank).sum();
    let (p, method) = match used {
        0 => (1.0, Method::Exact),
        _ if used <= MOST_EXACT => (exact(&ranks, positive), Method::Exact),
        _ => (normal(used, ties, positive as f64 / 2.0), Method::Normal),
    };
    Wilcoxon { used, zeros: differences.len() - used, rank_sum: positive as f64 / 2.0, p, method }
}

/// The probability over all signs of these doubled ranks.
fn exact(ranks: &[u64], positive: u64) -> f64 {
    let total: u64 = ranks.iter().sum();
    // The probability of each sum, as one rank after the other is added or not.
    let mut sums = vec![0.0; total as usize + 1];
    sums[0] = 1.0;
    let mut largest = 0;
    for rank in ranks.iter().map(|rank| *rank as usize) {
        largest += rank;
        for sum in (0..=largest).rev() {
            let with = if sum >= rank { sums[sum - rank] } else { 0.0 };
            sums[sum] = (sums[sum] + with) / 2.0;
        }
    }
    // The distribution is symmetric, so the other tail is as large.
    let smaller = positive.min(total - positive) as usize;
    (2.0 * sums[..=smaller].iter().sum::<f64>()).min(1.0)
}

/// The probability by the normal distribution.
fn normal(used: usize, ties: f64, rank_sum: f64) -> f64 {
    let n = used as f64;
    let mean = n * (n + 1.0) / 4.0;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let distance = ((rank_sum - mean).abs() - 0.5).max(0.0);
    libm::erfc(distance / (2.0 * variance).sqrt()).min(1.0)
}

/// The probability that any of so many tests comes out so low at random is at most this.
pub fn bonferroni(p: f64, tests: usize) -> f64 {
    (p * tests as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() <= 5e-5 * expected.max(1e-3), "{value}, not {expected}");
    }

    /// Hollander and Wolfe's depression scores, the example of R's `wilcox.test`: V = 40, and
    /// p-value = 0.01953 one-sided, hence 0.03906 two-sided.
    #[test]
    fn depression_scores_come_out_as_in_r() {
        let before = [1830, 500, 1620, 2480, 1680, 1880, 1550, 3060, 1300];
        let after = [878, 647, 598, 2050, 1060, 1290, 1060, 3140, 1290];
        let differences: Vec<i64> = before.iter().zip(&after).map(|(x, y)| x - y).collect();
        let test = wilcoxon(&differences);
        assert_eq!((test.rank_sum, test.used, test.method), (40.0, 9, Method::Exact));
        near(test.p, 0.039_062_5);
    }

    /// Darwin's heights of maize, the example of SciPy's `wilcoxon`: p = 0.041259765625, and the smaller sum is 24.
    #[test]
    fn heights_of_maize_come_out_as_in_scipy() {
        let test = wilcoxon(&[6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]);
        assert_eq!((test.rank_sum, test.p), (120.0 - 24.0, 0.041_259_765_625));
    }

    /// R's `sleep` data, with a tie and a zero: V = 0, p-value = 0.009091 by the normal approximation.
    #[test]
    fn the_approximation_with_ties_is_that_of_r() {
        let differences = [-12, -24, -13, -13, 0, -10, -18, -8, -46, -14];
        near(normal(9, 6.0, 0.0), 0.009_091);
        let test = wilcoxon(&differences);
        assert_eq!((test.used, test.zeros, test.rank_sum), (9, 1, 0.0));
        // Of the 512 ways to choose nine signs, two are as uneven.
        assert_eq!((test.p, test.method), (2.0 / 512.0, Method::Exact));
    }

    /// Every choice of signs counted one by one.
    #[test]
    fn exact_probabilities_agree_with_counting() {
        for differences in [
            vec![1, -2, 3],
            vec![1, 1, -1, 2],
            vec![5, -5, 5, -5, 5, 9],
            vec![3, 1, 4, -1, 5, -9, 2, 6, 5, 3],
        ] {
            let test = wilcoxon(&differences);
            let n = differences.len();
            let (mut as_uneven, middle) = (0, n as f64 * (n as f64 + 1.0) / 4.0);
            for signs in 0..1u32 << n {
                let flipped: Vec<i64> = (0..n)
                    .map(|i| if signs >> i & 1 == 1 { differences[i].abs() } else { -differences[i].abs() })
                    .collect();
                let distance = (wilcoxon(&flipped).rank_sum - middle).abs();
                as_uneven += u32::from(distance >= (test.rank_sum - middle).abs());
            }
            assert!((test.p - f64::from(as_uneven) / f64::from(1u32 << n)).abs() < 1e-12, "{differences:?}");
        }
    }

    #[test]
    fn both_ways_agree_where_they_meet() {
        let differences: Vec<i64> = (1..=50).map(|i| if i % 3 == 0 { -i } else { i }).collect();
        let (exact, approximate) =
            (wilcoxon(&differences).p, normal(50, 0.0, wilcoxon(&differences).rank_sum));
        assert!((exact - approximate).abs() < 0.001, "{exact} {approximate}");
        let more: Vec<i64> = differences.iter().copied().chain([51]).collect();
        assert_eq!(wilcoxon(&more).method, Method::Normal);
    }

    #[test]
    fn no_difference_is_not_significant() {
        assert_eq!((wilcoxon(&[]).p, wilcoxon(&[0, 0]).p, wilcoxon(&[0, 0]).zeros), (1.0, 1.0, 2));
        assert_eq!(wilcoxon(&[1, -1]).p, 1.0);
        assert_eq!((bonferroni(0.02, 3), bonferroni(0.5, 3)), (0.06, 1.0));
    }
}
