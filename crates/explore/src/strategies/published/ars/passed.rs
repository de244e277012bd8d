//! How far a trace is from those that passed.

use std::collections::HashMap;

use threadbare_patterns::PatternKey;

/// The traces that passed, by their patterns.
#[derive(Default)]
pub(super) struct Passed {
    traces: usize,
    /// The traces that have a pattern, a bit each.
    having: HashMap<PatternKey, Vec<u64>>,
}

/// How far a growing trace is from those that passed.
#[derive(Clone, Default)]
pub(super) struct Distance {
    patterns: u32,
    /// For each passed trace, how many of the patterns it lacks.
    lacking: Vec<u32>,
}

impl Passed {
    /// Adds a trace that passed. Distances taken before are of no use afterwards.
    pub fn add(&mut self, patterns: impl Iterator<Item = PatternKey>) {
        let (word, bit) = (self.traces / 64, 1 << (self.traces % 64));
        for key in patterns {
            let having = self.having.entry(key).or_default();
            having.resize(having.len().max(word + 1), 0);
            having[word] |= bit;
        }
        self.traces += 1;
    }

    /// The distance of a trace without patterns.
    pub fn start(&self) -> Distance {
        Distance { lacking: vec![0; self.traces], ..Distance::default() }
    }

    /// The trace has one more pattern.
    pub fn grow(&self, distance: &mut Distance, key: PatternKey) {
        let having = self.having.get(&key).map_or(&[][..], |having| having);
        distance.patterns += 1;
        for (trace, lacking) in distance.lacking.iter_mut().enumerate() {
            let has = having.get(trace / 64).is_some_and(|word| word >> (trace % 64) & 1 == 1);
            *lacking += u32::from(!has);
        }
    }
}

impl Distance {
    /// The distance to the nearest of the passed traces (Definitions 4.1 and 4.2 of the paper): the number
    /// of patterns that it lacks; all, if none has passed.
    pub fn nearest(&self) -> u64 {
        u64::from(self.lacking.iter().copied().min().unwrap_or(self.patterns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(numbers: std::ops::Range<u64>) -> impl Iterator<Item = PatternKey> {
        numbers.map(PatternKey)
    }

    fn distance(passed: &Passed, patterns: std::ops::Range<u64>) -> Distance {
        let mut distance = passed.start();
        keys(patterns).for_each(|key| passed.grow(&mut distance, key));
        distance
    }

    #[test]
    fn the_distance_is_to_the_nearest_of_the_passed_traces() {
        let mut passed = Passed::default();
        assert_eq!(distance(&passed, 0..4).nearest(), 4);
        passed.add(keys(0..3));
        passed.add(keys(2..6));
        for _ in 0..100 {
            passed.add(keys(0..1));
        }
        // {1, …, 5} has 3, 4 and 5 that the first lacks, and 1 that the second lacks.
        let distance = distance(&passed, 1..6);
        assert_eq!(distance.lacking[..3], [3, 1, 5]);
        assert_eq!(distance.nearest(), 1);
    }
}
