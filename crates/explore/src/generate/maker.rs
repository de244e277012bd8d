//! Making tests: every pair of operations is tested concurrently before any pair is tested again.

use threadbare_sched::Rng;

use super::{ObjectOperation, OperationCall, Operations, Test};

/// How large tests are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// How many threads there are beside the main one.
    pub threads: usize,
    /// The most calls before they begin.
    pub prefix: usize,
    /// The most calls of each of them.
    pub suffix: usize,
}

/// Makes one test after the other; the seed decides which.
pub struct TestMaker {
    operations: Operations,
    shape: Shape,
    rng: Rng,
    /// The pairs still to be tested in this round, last first.
    pairs: Vec<(usize, usize)>,
    /// How many calls the suffixes of this round have at most.
    length: usize,
}

impl TestMaker {
    /// A maker of tests for these operations, of which there is at least one.
    pub fn new(operations: Operations, shape: Shape, seed: u64) -> TestMaker {
        let rng = Rng::new(Rng::derive(seed, operations.all.len() as u64));
        TestMaker { operations, shape, rng, pairs: Vec::new(), length: 0 }
    }

    /// The next test: short ones come first.
    pub fn next_test(&mut self) -> Test {
        let (first, second) = match self.pairs.pop() {
            Some(pair) => pair,
            None => {
                self.begin_round();
                self.pairs.pop().unwrap_or_default()
            }
        };
        let prefix = self.calls(0, self.shape.prefix);
        let mut suffixes = Vec::with_capacity(self.shape.threads);
        for thread in 0..self.shape.threads {
            let meeting = match thread {
                0 => first,
                1 => second,
                _ => self.below(self.operations.all.len()),
            };
            let mut suffix = self.calls(0, self.length - 1);
            let place = self.below(suffix.len() + 1);
            suffix.insert(place, self.call(meeting));
            suffixes.push(suffix);
        }
        Test { prefix, suffixes }
    }

    fn begin_round(&mut self) {
        self.length = (self.length + 1).min(self.shape.suffix.max(1));
        let count = self.operations.all.len();
        self.pairs = (0..count).flat_map(|first| (first..count).map(move |second| (first, second))).collect();
        for last in (1..self.pairs.len()).rev() {
            let other = self.below(last + 1);
            self.pairs.swap(last, other);
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound as u64) as usize
    }

    fn calls(&mut self, least: usize, most: usize) -> Vec<OperationCall> {
        let count = least + self.below(most - least + 1);
        let operations = self.operations.all.len();
        (0..count)
            .map(|_| {
                let operation = self.below(operations);
                self.call(operation)
            })
            .collect()
    }

    fn call(&mut self, operation: usize) -> OperationCall {
        let ObjectOperation { name, arguments, .. } = self.operations.all[operation].clone();
        let values = self.operations.values as usize;
        let arguments = (0..arguments).map(|_| self.below(values) as u32).collect();
        OperationCall { operation: name, arguments }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn maker(seed: u64) -> TestMaker {
        let operations = Operations::parse("values 3\na 0\nb 2\nc 1\nd 0 observer\n").expect("operations");
        TestMaker::new(operations, Shape { threads: 2, prefix: 2, suffix: 3 }, seed)
    }

    #[test]
    fn every_pair_is_tested_before_any_is_tested_again() {
        let mut maker = maker(7);
        for round in 1..4 {
            let mut met = HashSet::new();
            for _ in 0..10 {
                let test = maker.next_test();
                assert!(test.suffixes.iter().all(|suffix| (1..=round).contains(&suffix.len())), "{test}");
                assert!(test.prefix.len() <= 2);
                if round == 1 {
                    let mut pair: Vec<_> =
                        test.suffixes.iter().map(|suffix| suffix[0].operation.clone()).collect();
                    pair.sort();
                    met.insert(pair);
                }
            }
            assert!(round > 1 || met.len() == 10, "{met:?}");
        }
    }

    #[test]
    fn arguments_are_small_and_the_seed_decides() {
        let text = |seed| {
            (0..30).map(|_| String::new()).fold((maker(seed), String::new()), |(mut maker, text), _| {
                let test = maker.next_test();
                assert!(test.calls().all(|call| call.arguments.iter().all(|value| *value < 3)));
                (maker, format!("{text}{test}\n"))
            })
        };
        assert_eq!(text(1).1, text(1).1);
        assert_ne!(text(1).1, text(2).1);
    }
}
