//! Strategies that draw every execution afresh: one policy, a new seed each time.

use threadbare_sched::{PolicyKind, Rng};

use threadbare_wire::flags;

use crate::history::History;
use crate::strategy::{Plan, Strategy};

/// How many of the first executions are looked at for who touches what. Later ones add little.
const PROFILED: u64 = 32;

/// A policy whose executions differ by their seed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Sampler {
    /// The plain random walk.
    Random,
    /// Random priorities with `depth - 1` change points.
    Pct {
        /// The bug depth.
        depth: u32,
    },
    /// Partial order sampling.
    Pos,
    /// Selectively uniform random walk.
    Surw,
    /// Virtual parallelism with random delays.
    Delay {
        /// The longest delay in virtual microseconds; 0 for a yield.
        micros: u32,
        /// How likely an operation is delayed.
        probability: f64,
    },
}

impl Sampler {
    /// The plan of execution `index` in a campaign with this seed.
    pub(crate) fn plan(self, seed: u64, index: u64, history: &History) -> Plan {
        let seed = Rng::derive(seed, index);
        match self {
            Sampler::Random => Plan::new(PolicyKind::Random, seed, "random"),
            Sampler::Pct { depth } => {
                let mut plan = Plan::new(PolicyKind::Pct, seed, format!("pct (depth {depth})"));
                plan.policy.size = depth;
                plan.policy.steps = history.expected_steps();
                plan
            }
            Sampler::Pos => Plan::new(PolicyKind::Pos, seed, "pos"),
            Sampler::Surw => surw(seed, history),
            Sampler::Delay { micros, probability } => {
                let name = match micros {
                    0 => "delay-yield".to_string(),
                    _ => format!("delay-{}ms", micros / 1000),
                };
                let mut plan = Plan::new(PolicyKind::Delay, seed, name);
                plan.policy.size = micros;
                plan.policy.probability = probability;
                plan
            }
        }
    }
}

/// Concentrates on one shared object, drawn anew each time, or now and then on everything: a bug
/// between two objects is not uniform in either.
fn surw(seed: u64, history: &History) -> Plan {
    let mut plan = Plan::new(PolicyKind::Surw, seed, "surw");
    let profile = history.profile();
    // A stream of its own, so that the choice of the object is independent of the walk.
    let mut rng = Rng::new(Rng::derive(seed, 1));
    let objects = profile.objects() as u64;
    let pick = (rng.below(4) > 0 && objects > 0).then(|| rng.below(objects) as usize);
    profile.concentrate(&mut plan.policy, pick);
    plan
}

/// Whether execution `index` should be looked at for who touches what.
pub(crate) fn is_profiled(index: u64) -> bool {
    index <= PROFILED
}

/// Bits for execution `index`: the first ones, and ever fewer later on, look for shared memory that
/// no execution before has shown to be shared.
pub(crate) fn probe(index: u64) -> u32 {
    let is_power_of_eight = index.is_power_of_two() && index.trailing_zeros().is_multiple_of(3);
    if index <= 2 || is_power_of_eight { flags::PROBE } else { 0 }
}

/// One sampler for the whole campaign.
pub(crate) struct Sampled {
    sampler: Sampler,
    seed: u64,
}

impl Sampled {
    pub(crate) fn new(sampler: Sampler, seed: u64) -> Sampled {
        Sampled { sampler, seed }
    }
}

impl Strategy for Sampled {
    fn plan(&mut self, first: u64, count: usize, history: &History) -> Vec<Plan> {
        let plan = |index| {
            let profile = self.sampler == Sampler::Surw && is_profiled(index);
            Plan { profile, flags: probe(index), ..self.sampler.plan(self.seed, index, history) }
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
        let plural = if turn == 1 { "" } else { "s" };
        let mut plan =
            Plan::new(PolicyKind::RoundRobin, seed, format!("round-robin ({turn} step{plural} a turn)"));
        plan.policy.size = turn;
        plan
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
