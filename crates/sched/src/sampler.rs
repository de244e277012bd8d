//! Which policy runs the next of many executions, where nobody outside is asked in between.

use threadbare_trace::ThreadId;

use crate::{Interruption, Intrusions, PolicyKind, PolicySpec, Rng};

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
    /// Threads interrupted at every place of one kind, then where one acts on what it has read, then all the others.
    Mixed = 5,
}

/// The execution in which nobody is interrupted.
const FIRST_LOOK: u64 = Interruption::ALL.len() as u64 + 1;

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
    /// Whether an execution of so many steps is worth taking in: the longest one is known, and ever fewer others.
    pub fn may_learn_from(&self, index: u64, steps: u64) -> bool {
        const FIRST: u64 = 64;
        index <= FIRST || index.is_power_of_two() || steps > self.steps
    }

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
    /// scheduling points at private accesses: the first ones that are not after places of one kind, and ever fewer later
    /// on.
    pub fn probes(self, index: u64) -> bool {
        let first = if self == Sampler::Mixed { FIRST_LOOK } else { 1 };
        (first..first + 2).contains(&index)
            || (index > first && index.is_power_of_two() && index.trailing_zeros().is_multiple_of(3))
    }

    /// Whether locks may be found held in execution `index` by those who do not wait for them, wherever they are.
    pub fn shows_locks(self, index: u64) -> bool {
        const EVERY: u64 = 4;
        index <= FIRST_LOOK || index.is_multiple_of(EVERY) || self.probes(index)
    }

    /// The policy of execution `index` (counted from 1) in a campaign with this seed.
    pub fn policy(self, seed: u64, index: u64, counts: &Counts, intrusions: &mut Intrusions) -> PolicySpec {
        let seed_here = Rng::derive(seed, index);
        let kind = match self {
            Sampler::Mixed => return mixed(seed, index, counts, intrusions),
            Sampler::Random => PolicyKind::Random,
            Sampler::Pct => PolicyKind::Pct,
            Sampler::Pos => PolicyKind::Pos,
            Sampler::Uniform => PolicyKind::Surw,
        };
        let mut spec = PolicySpec::new(kind, seed_here);
        spec.steps = counts.steps;
        if kind == PolicyKind::Surw {
            spec.weights = counts.weights;
        }
        spec
    }
}

/// First every sort of interruption everywhere, then a look at who comes after whom if nobody is interrupted, then what
/// could come in between there, and all the while and afterwards the others in turn: no single way finds every bug.
fn mixed(seed: u64, index: u64, counts: &Counts, intrusions: &mut Intrusions) -> PolicySpec {
    // A plain walk costs least, and none of the others is better at everything.
    const MEMBERS: [Sampler; 8] = [
        Sampler::Uniform,
        Sampler::Random,
        Sampler::Pos,
        Sampler::Random,
        Sampler::Pct,
        Sampler::Random,
        Sampler::Random,
        Sampler::Random,
    ];
    /// So many executions are led, then one is drawn.
    const LED: u64 = 7;
    let seed_here = Rng::derive(seed, index);
    if let Some(at) = (index as usize).checked_sub(1).and_then(|place| Interruption::ALL.get(place)) {
        return PolicySpec::interruptions(*at, 1.0, seed_here);
    }
    if index == FIRST_LOOK {
        return PolicySpec::new(PolicyKind::Journal, seed_here);
    }
    if !index.is_multiple_of(LED + 1)
        && let Some((held, other)) = intrusions.take()
    {
        return PolicySpec::between(held, other);
    }
    let mut rng = Rng::new(seed_here);
    match rng.below(2 * MEMBERS.len() as u64) as usize {
        0 => {
            let at = Interruption::ALL[rng.below(Interruption::ALL.len() as u64) as usize];
            PolicySpec::interruptions(at, rng.unit(), seed_here)
        }
        place => MEMBERS[place % MEMBERS.len()].policy(seed, index, counts, intrusions),
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
    }

    #[test]
    fn the_larger_count_is_kept() {
        let mut known = counts(&[(0, 0, 5), (1, 0, 3)]);
        known.take_in([(ThreadId(0), ThreadId(0), 6), (ThreadId(1), ThreadId(0), 1)].into_iter());
        assert_eq!((&known.weights[..2], known.steps), (&[8, 3][..], 8));
    }

    #[test]
    fn the_mixture_has_every_execution_drawn_anew_and_names_lead_back() {
        let counts = Counts::default();
        let seeds: std::collections::BTreeSet<u64> = (1..=100)
            .map(|index| Sampler::Mixed.policy(7, index, &counts, &mut Intrusions::default()).seed)
            .collect();
        assert_eq!(seeds.len(), 100);
        for (name, sampler) in Sampler::NAMES {
            assert_eq!((Sampler::from_name(name), sampler.name()), (Some(sampler), name));
            assert_eq!(Sampler::from_number(sampler as u32), Some(sampler));
        }
        assert_eq!(Sampler::from_number(0), None);
    }
}
