//! The default: a portfolio, because no single way of sampling finds every bug quickly.

use threadbare_sched::{Interruption, Intrusions, Journal, PolicyKind, PolicySpec, Rng};
use threadbare_target::Execution;
use threadbare_wire::flags;

use crate::error::ExploreError;
use crate::history::History;
use crate::strategies::sampled::{RoundRobin, Sampler, is_profiled, probe};
use crate::strategy::{Plan, Strategy};

/// What an execution of the beginning does.
#[derive(Clone, Copy)]
enum Opening {
    /// Goes at random, to learn what is shared.
    Look,
    /// Interrupts threads at all places of one kind.
    Interrupt(Interruption),
    /// Interrupts nobody, to learn who could come in between.
    Journal,
    /// Each thread one step in turn.
    RoundRobin,
}

/// How every campaign begins.
const OPENING: [Opening; 7] = [
    Opening::Look,
    Opening::Interrupt(Interruption::BeforeStore),
    Opening::Interrupt(Interruption::AfterTelling),
    Opening::Interrupt(Interruption::AfterLock),
    Opening::Journal,
    Opening::Interrupt(Interruption::BeforeLock),
    Opening::RoundRobin,
];

/// First one execution of each sort that finds many bugs at once. Then every member of the portfolio once a round, in an
/// order drawn from the seed, by turns with what could come in between where one acts on what it has read.
pub(crate) struct Auto {
    seed: u64,
    members: Vec<Sampler>,
    intrusions: Intrusions,
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
        Auto { seed, members, intrusions: Intrusions::default() }
    }

    /// Who runs execution `index`, after the opening.
    fn member(&self, index: u64) -> Sampler {
        let place = index - OPENING.len() as u64 - 1;
        let size = self.members.len() as u64;
        let mut rng = Rng::new(Rng::derive(!self.seed, place / size));
        let mut order = self.members.clone();
        rng.shuffle(&mut order);
        order[(place % size) as usize]
    }

    fn one(&mut self, index: u64, history: &History) -> Plan {
        let seed = Rng::derive(self.seed, index);
        let Some(opening) = OPENING.get(index as usize - 1) else {
            if index.is_multiple_of(2)
                && let Some((held, other)) = self.intrusions.take()
            {
                return Plan::of(PolicySpec::between(held, other), "interrupted where it acts on a read");
            }
            return Plan { flags: probe(index), ..self.member(index).plan(self.seed, index, history) };
        };
        match opening {
            Opening::Look => {
                let random = Sampler::Random.plan(self.seed, index, history);
                Plan { flags: flags::PROBE, ..random }
            }
            Opening::Interrupt(at) => Plan::of(PolicySpec::interruptions(*at, 1.0, seed), at.words()),
            Opening::Journal => {
                Plan { trace: true, ..Plan::new(PolicyKind::Journal, seed, "nobody interrupted") }
            }
            Opening::RoundRobin => RoundRobin::plan(seed, 1),
        }
    }
}

impl Strategy for Auto {
    fn plan(&mut self, first: u64, count: usize, history: &History) -> Vec<Plan> {
        let plan = |index| Plan { profile: is_profiled(index), ..self.one(index, history) };
        (first..first + count as u64).map(plan).collect()
    }

    fn learn(
        &mut self,
        runs: &[(&Plan, &Execution)],
        _news: bool,
        _is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        let journals = runs.iter().filter(|(plan, _)| plan.policy.kind == PolicyKind::Journal as u32);
        for (_, run) in journals {
            self.intrusions = Intrusions::shown_by(&Journal::of(&run.events), self.seed);
        }
        Ok(())
    }
}
