//! Strategies that draw every execution afresh: one policy, a new seed each time.

use threadbare_sched::{self as sched, Experience, Portfolio, Rng, Sampler, Surw};
use threadbare_wire::flags;

use crate::history::History;
use crate::strategy::{Plan, Strategy};

/// How many of the first executions are looked at for who touches what. Later ones add little.
const PROFILED: u64 = 32;

impl Experience for History {
    fn expected_steps(&self) -> u64 {
        History::expected_steps(self)
    }

    /// Concentrates on one shared object, drawn anew each time, or now and then on everything: a bug
    /// between two objects is not uniform in either.
    fn surw(&self, seed: u64) -> Surw {
        let profile = self.profile();
        // A stream of its own, so that the choice of the object is independent of the walk.
        let mut rng = Rng::new(Rng::derive(seed, 1));
        let objects = profile.objects() as u64;
        let pick = (rng.below(4) > 0 && objects > 0).then(|| rng.below(objects) as usize);
        profile.concentrate(pick)
    }
}

/// The plan of execution `index` in a portfolio.
pub(crate) fn draw(portfolio: &mut Portfolio, index: u64, history: &History) -> Plan {
    let drawn = portfolio.draw(index, history);
    let name = drawn.policy.parameters.name();
    Plan { flags: if drawn.probes { flags::PROBE } else { 0 }, ..Plan::of(drawn.policy, name) }
}

/// Whether execution `index` should be looked at for who touches what.
pub(crate) fn is_profiled(index: u64) -> bool {
    index <= PROFILED
}

/// Bits for execution `index`: the first ones, and ever fewer later on, look for shared memory that
/// no execution before has shown to be shared.
pub(crate) fn probe(index: u64) -> u32 {
    if index <= 2 || sched::probes_later(index) { flags::PROBE } else { 0 }
}

/// One sampler for the whole campaign.
pub(crate) struct Sampled {
    portfolio: Portfolio,
    /// Whether the sampler is given who touches what.
    profiles: bool,
}

impl Sampled {
    pub(crate) fn new(sampler: Sampler, seed: u64) -> Sampled {
        Sampled { portfolio: Portfolio::only(sampler, seed), profiles: sampler == Sampler::Surw }
    }
}

impl Strategy for Sampled {
    fn plan(&mut self, first: u64, count: usize, history: &History) -> Vec<Plan> {
        let plan = |index| {
            let profile = self.profiles && is_profiled(index);
            Plan { profile, ..draw(&mut self.portfolio, index, history) }
        };
        (first..first + count as u64).map(plan).collect()
    }
}

/// Each thread in turn, with turns of one step, then of two, and so on until a turn is longer than
/// the program.
pub(crate) struct RoundRobin {
    seed: u64,
}

impl RoundRobin {
    pub(crate) fn new(seed: u64) -> RoundRobin {
        RoundRobin { seed }
    }

    /// Turns of this many steps.
    pub(crate) fn plan(seed: u64, turn: u32) -> Plan {
        let spec = sched::PolicySpec::new(sched::RoundRobin { turn }, seed);
        let name = spec.parameters.name();
        Plan::of(spec, name)
    }
}

impl Strategy for RoundRobin {
    fn plan(&mut self, first: u64, count: usize, history: &History) -> Vec<Plan> {
        let longest = match history.expected_steps() {
            0 => u64::MAX,
            steps => steps.saturating_mul(2),
        };
        let turns = (first..first + count as u64).take_while(|&turn| turn <= longest);
        turns.map(|turn| RoundRobin::plan(self.seed, u32::try_from(turn).unwrap_or(u32::MAX))).collect()
    }
}
