//! The trait every strategy implements, and the strategies by name.

use threadbare_sched::{Parameters, PolicySpec, Random, Sampler};
use threadbare_target::Execution;
use threadbare_wire::flags;

use crate::ars::{self, Style};
use crate::auto::Auto;
use crate::dfs::Dfs;
use crate::error::ExploreError;
use crate::history::History;
use crate::map_random::MapRandom;
use crate::mcr::Mcr;
use crate::options::Options;
use crate::pcr::Pcr;
use crate::reach::{Reach, Tpair};
use crate::sampled::{RoundRobin, Sampled};
use crate::search::SharedSearch;
use crate::search_effort::SearchEffort;
use crate::total::{Published, Total};
use crate::tsa::{Form, Tsa};

/// The names of all strategies, in the order they are listed to people.
pub const STRATEGIES: &[&str] = &[
    "auto",
    "random",
    "pct",
    "pos",
    "surw",
    "ars",
    "ars-paper",
    "dfs",
    "mcr",
    "reach",
    "tpair",
    "pcr",
    "total",
    "total-paper",
    "map-random",
    "tsa",
    "tsa-h",
    "tsa-paper",
    "delay-yield",
    "delay-10ms",
    "delay-100ms",
    "round-robin",
];

/// Everything that decides one execution.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Who picks the next thread inside the run.
    pub policy: PolicySpec,
    /// Bits of `threadbare_wire::flags` on top of the campaign's.
    pub flags: u32,
    /// What people call this policy, such as `pct (depth 3)`.
    pub name: String,
    /// Whether it may go on from checkpoints of executions that began like it.
    pub checkpoints: bool,
    /// Whether to count who touches what, for the history.
    pub profile: bool,
    /// Whether the strategy looks at the events of the execution.
    pub trace: bool,
    /// Whether the campaign looks at them.
    pub watched: bool,
    /// A number by which the strategy knows its plan again.
    pub tag: u64,
    /// The execution is the next one that this search comes to, and all but `name` is of no account.
    pub search: Option<SharedSearch>,
}

impl Plan {
    /// A plan for a policy with this seed.
    pub fn new(policy: impl Into<Parameters>, seed: u64, name: impl Into<String>) -> Plan {
        Plan::of(PolicySpec::new(policy, seed), name)
    }

    /// A plan for this policy.
    pub fn of(policy: PolicySpec, name: impl Into<String>) -> Plan {
        Plan {
            policy,
            flags: 0,
            name: name.into(),
            profile: false,
            checkpoints: false,
            trace: false,
            watched: false,
            tag: 0,
            search: None,
        }
    }

    /// An execution in random order that also stops at private memory, to find out what is shared.
    pub fn probe(seed: u64, name: impl Into<String>) -> Plan {
        Plan { flags: flags::PROBE, ..Plan::new(Random, seed, name) }
    }
}

/// Decides what to run next.
///
/// Executions come in batches. All plans of a batch are made before any of it runs, from what
/// the batches before have taught; so a campaign's result does not depend on how many run at once.
pub trait Strategy {
    /// Plans for the executions from number `first` (counted from 1), at most `count` of them.
    /// None means that there is nothing left to try.
    fn plan(&mut self, first: u64, count: usize, history: &History) -> Vec<Plan>;

    /// Takes note of the executions of a batch, in order. `news` says that the batch found memory
    /// to be shared that was not known before: from now on there are more scheduling points. Whoever thinks for long
    /// asks `is_over` now and then, and gives up what the campaign will not run any more.
    fn learn(
        &mut self,
        _runs: &[(&Plan, &Execution)],
        _news: bool,
        _is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        Ok(())
    }

    /// Whether every interleaving (within [`Strategy::bound`]) has been run.
    fn exhausted(&self) -> bool {
        false
    }

    /// The number of preemptions beyond which interleavings were left out, if any were.
    fn bound(&self) -> Option<u32> {
        None
    }

    /// How many partial runs were made from snapshots.
    fn snapshots(&self) -> u64 {
        0
    }

    /// How much it thought.
    fn effort(&self) -> SearchEffort {
        SearchEffort::default()
    }

    /// What the user should know about the search.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The strategy that the options name.
pub(crate) fn by_name(options: &Options) -> Result<Box<dyn Strategy>, ExploreError> {
    let seed = options.seed;
    let probability = options.delay_probability;
    if !(0.0..=1.0).contains(&probability) {
        return Err(ExploreError::Probability(probability));
    }
    let sampled = |sampler| Ok(Box::new(Sampled::new(sampler, seed)) as Box<dyn Strategy>);
    let style = Style {
        width: options.ars_width.max(1),
        probes: options.known.is_none(),
        always_from_start: !options.snapshots,
    };
    let delay = |longest_micros| sampled(Sampler::Delay { longest_micros, probability });
    match options.strategy.as_str() {
        "auto" => Ok(Box::new(Auto::new(seed, probability))),
        "random" => sampled(Sampler::Random),
        "pct" => sampled(Sampler::Pct { depth: options.pct_depth }),
        "pos" => sampled(Sampler::Pos),
        "surw" => sampled(Sampler::Surw),
        "mcr" => Ok(Box::new(Mcr::new(seed, options.jobs, options.known.is_some()))),
        "map-random" => Ok(Box::new(MapRandom::new(seed))),
        "tsa" => Ok(Box::new(Tsa::new(Form::Full, seed))),
        "tsa-h" => Ok(Box::new(Tsa::new(Form::WithoutHeuristic, seed))),
        "tsa-paper" => Ok(Box::new(Tsa::new(Form::Paper, seed))),
        "total" => Ok(Box::new(Total::new(seed, options.jobs, options.known.is_some()))),
        "total-paper" => Ok(Box::new(Published::new(seed, options.known.is_some()))),
        "pcr" => Ok(Box::new(Pcr::new(seed, options.jobs, options.known.is_some()))),
        "reach" => Ok(Box::new(Reach::new(seed, options.jobs, options.known.is_some()))),
        "tpair" => Ok(Box::new(Tpair::new(seed, options.jobs, options.known.is_some()))),
        "ars" => Ok(ars::ars(seed, style)),
        "ars-paper" => Ok(ars::ars_paper(seed, style)),
        "dfs" => Ok(Box::new(Dfs::new(seed, options.preemption_bound, options.known.is_some()))),
        "delay-yield" => delay(0),
        "delay-10ms" => delay(10_000),
        "delay-100ms" => delay(100_000),
        "round-robin" => Ok(Box::new(RoundRobin::new(seed))),
        other => Err(ExploreError::UnknownStrategy(other.to_string())),
    }
}
