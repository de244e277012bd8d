//! Whether counts agree with a uniform distribution.

use std::collections::BTreeMap;

/// Counts how often each of `expected` orders came up in `runs` runs, and asserts by a chi-square
/// test that they are equally likely. The limit is six standard deviations above the mean, which
/// a right sampler never meets and a slightly skewed one passes quickly.
pub fn assert_uniform(expected: usize, runs: u64, mut sample: impl FnMut(u64) -> String) {
    let counts = count(runs, &mut sample);
    assert_eq!(counts.len(), expected, "not every order came up, or one that cannot: {counts:?}");
    let (chi, limit) = (chi_square(&counts, runs), limit(expected));
    assert!(chi < limit, "chi-square {chi:.1} exceeds {limit:.1}: {counts:?}");
}

/// Asserts that the same test distinguishes this sampler from a uniform one.
pub fn assert_skewed(expected: usize, runs: u64, mut sample: impl FnMut(u64) -> String) {
    let counts = count(runs, &mut sample);
    let (chi, limit) = (chi_square(&counts, runs), limit(expected));
    assert!(counts.len() != expected || chi > limit, "chi-square {chi:.1} is below {limit:.1}");
}

/// How often each order came up.
pub fn count(runs: u64, sample: &mut impl FnMut(u64) -> String) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for seed in 0..runs {
        *counts.entry(sample(seed)).or_insert(0) += 1;
    }
    counts
}

fn chi_square(counts: &BTreeMap<String, u64>, runs: u64) -> f64 {
    let mean = runs as f64 / counts.len() as f64;
    counts.values().map(|&n| (n as f64 - mean).powi(2) / mean).sum()
}

fn limit(cells: usize) -> f64 {
    let freedom = (cells - 1) as f64;
    freedom + 6.0 * (2.0 * freedom).sqrt()
}
