//! How far a trace is from those that passed (Definitions 4.1 and 4.2 of the paper).

use std::collections::HashMap;

use threadbare_analysis::patterns::PatternKey;

/// The traces that passed, by their patterns.
#[derive(Default)]
pub(super) struct Passed {
    traces: usize,
    /// The traces that have a pattern, a bit each.
    having: HashMap<PatternKey, Vec<u64>>,
}

/// For each trace that passed, how many patterns it lacks of a growing trace.
#[derive(Clone, Default)]
pub(super) struct Distance {
    lacking: Vec<u32>,
    patterns: u32,
    rarity: u64,
}

impl Passed {
    /// How many traces there are.
    pub fn len(&self) -> usize {
        self.traces
    }

    /// Adds a trace that passed. Distances taken before are of no use afterwards.
    pub fn add(&mut self, patterns: impl Iterator<Item = PatternKey>) {
        let (word, bit) = (self.traces / 64, 1 << (self.traces % 64));
        for key in patterns {
            let words = self.having.entry(key).or_default();
            words.resize(words.len().max(word + 1), 0);
            words[word] |= bit;
        }
        self.traces += 1;
    }

    /// The distance of a trace without patterns.
    pub fn start(&self) -> Distance {
        Distance { lacking: vec![0; self.traces], patterns: 0, rarity: 0 }
    }

    /// The trace has one more pattern.
    pub fn grow(&self, distance: &mut Distance, key: PatternKey, pattern: u8) {
        distance.patterns += 1;
        let words = self.having.get(&key).map_or(&[][..], Vec::as_slice);
        let having: u32 = words.iter().map(|word| word.count_ones()).sum();
        let w: u32 = std::env::var("W").map_or(0, |v| v.parse().unwrap());
        let weights: [u64; 3] = match w { 0 => [1, 1, 1], 1 => [1, 8, 1], 2 => [1, 4, 4], 3 => [1, 16, 2], 4 => [0, 1, 0], 5 => [2, 16, 1], 6 => [4, 4, 1], _ => [1, 2, 1] };
        let weight = match pattern { 1..=3 => weights[0], 4..=7 => weights[1], 8 => weights[0], _ => weights[2] };
        distance.rarity += weight * (1 << 20) / (1 + u64::from(having)).pow(2);
        for (trace, lacking) in distance.lacking.iter_mut().enumerate() {
            let has = words.get(trace / 64).is_some_and(|word| word >> (trace % 64) & 1 == 1);
            *lacking += u32::from(!has);
        }
    }
}

impl Distance {
    pub fn patterns(&self) -> u64 {
        u64::from(self.patterns)
    }
    /// The more patterns that few of the passed traces have, the greater.
    pub fn rarity(&self) -> u64 {
        self.rarity
    }

    /// The number of patterns that the nearest of the passed traces lacks; all, if none has passed.
    pub fn nearest(&self) -> u32 {
        self.lacking.iter().copied().min().unwrap_or(self.patterns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(numbers: std::ops::Range<u64>) -> impl Iterator<Item = PatternKey> {
        numbers.map(PatternKey)
    }

    #[test]
    fn the_distance_is_to_the_nearest_of_the_passed_traces() {
        let mut passed = Passed::default();
        passed.add(keys(0..3));
        passed.add(keys(2..6));
        for _ in 0..100 {
            passed.add(keys(0..1));
        }
        assert_eq!(passed.len(), 102);
        let mut distance = passed.start();
        keys(1..6).for_each(|key| passed.grow(&mut distance, key));
        // {1, …, 5} lacks 3, 4, 5 in the first and 1 in the second.
        assert_eq!(distance.lacking[..3], [3, 1, 5]);
        assert_eq!(distance.nearest(), 1);
    }

    #[test]
    fn without_a_passed_trace_every_pattern_counts() {
        let passed = Passed::default();
        let mut distance = passed.start();
        keys(0..4).for_each(|key| passed.grow(&mut distance, key));
        assert_eq!(distance.nearest(), 4);
    }
}
