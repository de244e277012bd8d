//! Which policy runs the next of many executions, where nobody outside is asked in between.

use threadbare_trace::ThreadId;

use crate::{PolicyKind, PolicySpec, Rng};

/// A way to draw executions one after the other; the numbers are part of the shared-memory layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Sampler {
    /// Uniform choice among the threads that can go on.
    Random = 1,
    /// Random priorities with two change points.
    Pct = 2,
    /// Partial order sampling.
    Pos = 3,
    /// A walk that is uniform over interleavings, by the numbers of steps seen so far.
    Uniform = 4,
    /// Each of them in turn.
    Mixed = 5,
}

/// What earlier executions told of the program.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Counts {
    /// The most steps that a thread made in one of them, those of threads that it created included.
    weights: [u32; PolicySpec::MAX_WEIGHTS],
    /// The most steps that one of them had.
    steps: u64,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts { weights: [0; PolicySpec::MAX_WEIGHTS], steps: 0 }
    }
}

impl Counts {
    /// Takes in one execution: for each thread in the order of their creation, its creator and its own steps.
    pub fn take_in(&mut self, threads: impl DoubleEndedIterator<Item = (ThreadId, ThreadId, u32)>) {
        let mut weights = [0u32; PolicySpec::MAX_WEIGHTS];
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

impl Sampler {
    /// All of them, by the names that people use.
    pub const NAMES: [(&'static str, Sampler); 5] = [
        ("random", Sampler::Random),
        ("pct", Sampler::Pct),
        ("pos", Sampler::Pos),
        ("urw", Sampler::Uniform),
        ("mixed", Sampler::Mixed),
    ];

    /// The sampler with this number, if there is one.
    pub fn from_number(number: u32) -> Option<Sampler> {
        Self::NAMES.into_iter().map(|(_, sampler)| sampler).find(|sampler| *sampler as u32 == number)
    }

    /// The sampler with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Sampler> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, sampler)| sampler)
    }

    /// The name that people use.
    pub fn name(self) -> &'static str {
        Self::NAMES.into_iter().find(|(_, sampler)| *sampler == self).map_or("random", |(name, _)| name)
    }

    /// Whether execution `index` also looks for shared memory that no execution before has shown to be shared, by making
    /// scheduling points at private accesses: the first ones, and ever fewer later on.
    pub fn probes(index: u64) -> bool {
        index <= 2 || (index.is_power_of_two() && index.trailing_zeros().is_multiple_of(3))
    }

    /// The policy of execution `index` (counted from 1) in a campaign with this seed.
    pub fn policy(self, seed: u64, index: u64, counts: &Counts) -> PolicySpec {
        const MEMBERS: [Sampler; 4] = [Sampler::Uniform, Sampler::Pos, Sampler::Pct, Sampler::Random];
        let kind = match self {
            // Nothing is known of the program yet.
            Sampler::Mixed if index <= 1 => PolicyKind::Random,
            Sampler::Mixed => return MEMBERS[index as usize % MEMBERS.len()].policy(seed, index, counts),
            Sampler::Random => PolicyKind::Random,
            Sampler::Pct => PolicyKind::Pct,
            Sampler::Pos => PolicyKind::Pos,
            Sampler::Uniform => PolicyKind::Surw,
        };
        let mut spec = PolicySpec::new(kind, Rng::derive(seed, index));
        spec.steps = counts.steps;
        if kind == PolicyKind::Surw {
            spec.weights = counts.weights;
        }
        spec
    }
}
