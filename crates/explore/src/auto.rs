//! The default: a portfolio, because no single way of sampling finds every bug quickly.

use threadbare_sched::Rng;

use crate::history::History;
use crate::sampled::{RoundRobin, Sampler, is_profiled, probe};
use crate::strategy::{Plan, Strategy};

/// Which execution runs round robin. The first one is random, to learn what is shared.
const ROUND_ROBIN_AT: u64 = 2;

/// Runs every member of the portfolio once a round, in an order drawn from the seed.
pub(crate) struct Auto {
    seed: u64,
    members: Vec<Sampler>,
}

impl Auto {
    pub(crate) fn new(seed: u64, probability: f64) -> Auto {
        let members = vec![
            Sampler::Random,
            Sampler::Pct { depth: 2 },
            Sampler::Pos,
            Sampler::Surw,
            Sampler::Pct { depth: 3 },
            Sampler::Delay { micros: 0, probability },
            Sampler::Random,
            Sampler::Pos,
            Sampler::Delay { micros: 10_000, probability },
        ];
        Auto { seed, members }
    }

    /// Who runs execution `index`.
    fn member(&self, index: u64) -> Sampler {
        if index <= ROUND_ROBIN_AT {
            return Sampler::Random;
        }
        let place = index - ROUND_ROBIN_AT - 1;
        let size = self.members.len() as u64;
        let mut rng = Rng::new(Rng::derive(!self.seed, place / size));
        let mut order = self.members.clone();
        for end in (1..order.len()).rev() {
            order.swap(end, rng.below(end as u64 + 1) as usize);
        }
        order[(place % size) as usize]
    }
}

impl Strategy for Auto {
    fn plan(&mut self, first: u64, count: usize, history: &History) -> Vec<Plan> {
        let plan = |index| {
            let plan = match index {
                ROUND_ROBIN_AT => RoundRobin::plan(Rng::derive(self.seed, index), 1),
                _ => self.member(index).plan(self.seed, index, history),
            };
            Plan { profile: is_profiled(index), flags: probe(index), ..plan }
        };
        (first..first + count as u64).map(plan).collect()
    }
}
