//! The ways in which a closure is repeated.

use crate::{Portfolio, Sampler};

/// How executions of a closure are drawn, where nobody outside is asked in between. The numbers are part of the
/// shared-memory layout, and of the interface of the package `threadbare-test`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum ClosureStrategy {
    /// Uniform choice among the runnable threads.
    Random = 1,
    /// Random priorities with two change points.
    Pct = 2,
    /// Partial order sampling.
    Pos = 3,
    /// A walk that is uniform over interleavings, by the numbers of steps seen so far.
    Urw = 4,
    /// Threads preempted at every place of one kind, then where one acts on what it has read, then all the others.
    Mixed = 5,
}

impl ClosureStrategy {
    /// All of them.
    pub const ALL: [ClosureStrategy; 5] = [
        ClosureStrategy::Random,
        ClosureStrategy::Pct,
        ClosureStrategy::Pos,
        ClosureStrategy::Urw,
        ClosureStrategy::Mixed,
    ];

    /// The strategy with this number, if there is one.
    pub fn from_number(number: u32) -> Option<ClosureStrategy> {
        Self::ALL.into_iter().find(|strategy| *strategy as u32 == number)
    }

    /// The name that people use.
    pub fn name(self) -> &'static str {
        match self {
            ClosureStrategy::Random => "random",
            ClosureStrategy::Pct => "pct",
            ClosureStrategy::Pos => "pos",
            ClosureStrategy::Urw => "urw",
            ClosureStrategy::Mixed => "mixed",
        }
    }

    /// The executions of a campaign with this seed.
    pub fn portfolio(self, seed: u64) -> Portfolio {
        match self {
            ClosureStrategy::Random => Portfolio::only(Sampler::Random, seed),
            ClosureStrategy::Pct => Portfolio::only(Sampler::Pct { depth: 3 }, seed),
            ClosureStrategy::Pos => Portfolio::only(Sampler::Pos, seed),
            ClosureStrategy::Urw => Portfolio::only(Sampler::Surw, seed),
            ClosureStrategy::Mixed => Portfolio::for_closures(seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lead_back() {
        for strategy in ClosureStrategy::ALL {
            assert_eq!(ClosureStrategy::from_number(strategy as u32), Some(strategy));
        }
        assert_eq!(ClosureStrategy::from_number(0), None);
    }
}
