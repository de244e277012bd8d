//! How many steps the threads of a closure make.

use threadbare_trace::ThreadId;

use crate::{Experience, Surw};

/// How many threads are counted. It is a fixed number because counts lie in shared memory; closures with more threads
/// are rare, and what is not counted is drawn as SURW draws unexpected operations.
const THREADS: usize = 64;

/// What earlier repetitions of a closure have shown of it. Part of the shared-memory layout.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Counts {
    /// The most steps that a thread made in one of them, those of threads that it created included.
    weights: [u32; THREADS],
    /// The most steps that one of them had.
    steps: u64,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts { weights: [0; THREADS], steps: 0 }
    }
}

impl Counts {
    /// Whether an execution of so many steps is worth taking in: the longest one is known, and ever fewer others.
    pub fn may_learn_from(&self, index: u64, steps: u64) -> bool {
        const FIRST: u64 = 64;
        index <= FIRST || index.is_power_of_two() || steps > self.steps
    }

    /// Takes in one execution: for each thread in the order of their creation, its creator and its own steps.
    pub fn take_in(&mut self, threads: impl DoubleEndedIterator<Item = (ThreadId, ThreadId, u32)>) {
        let mut weights = [0u32; THREADS];
        let mut steps = 0;
        // Every child comes after its creator.
        for (thread, creator, own) in threads.rev() {
            steps += u64::from(own);
            let Some(weight) = weights.get_mut(thread.index()) else { continue };
            *weight += own;
            let whole = *weight;
            if creator.index() < thread.index() {
                weights[creator.index()] += whole;
            }
        }
        self.steps = self.steps.max(steps);
        for (known, new) in self.weights.iter_mut().zip(weights) {
            *known = new.max(*known);
        }
    }
}

impl Experience for Counts {
    fn expected_steps(&self) -> u64 {
        self.steps
    }

    /// A closure's memory is allocated anew each time, so no object is known: every operation is of interest.
    fn surw(&self, _seed: u64) -> Surw {
        let known = self.weights.iter().rposition(|weight| *weight > 0).map_or(0, |last| last + 1);
        Surw { object: None, weights: self.weights[..known].to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(threads: &[(u16, u16, u32)]) -> Counts {
        let mut counts = Counts::default();
        counts.take_in(
            threads.iter().map(|(thread, creator, steps)| (ThreadId(*thread), ThreadId(*creator), *steps)),
        );
        counts
    }

    #[test]
    fn a_thread_counts_with_those_that_it_creates() {
        let counts = counts(&[(0, 0, 5), (1, 0, 3), (2, 1, 2)]);
        assert_eq!((&counts.weights[..4], counts.steps), (&[10, 5, 2, 0][..], 10));
        assert_eq!(counts.surw(1), Surw { object: None, weights: vec![10, 5, 2] });
    }

    #[test]
    fn the_larger_count_is_kept() {
        let mut known = counts(&[(0, 0, 5), (1, 0, 3)]);
        known.take_in([(ThreadId(0), ThreadId(0), 6), (ThreadId(1), ThreadId(0), 1)].into_iter());
        assert_eq!((&known.weights[..2], known.steps), (&[8, 3][..], 8));
    }
}
