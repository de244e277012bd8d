//! The strategies: one file or folder each, and one row each in [`TABLE`].
//!
//! Whatever the tool says or decides about a strategy by its name is read from its row: help, completions, which options
//! it reads, what it may claim when it ends. So a new one is a file that implements [`Strategy`], and a `mod` line and a
//! row here. What only the tables that compare with the papers need is in [`published`].

mod claim;
mod options;

pub(crate) mod ars;
pub(crate) mod auto;
pub(crate) mod dfs;
pub(crate) mod map_random;
pub(crate) mod mcr;
pub(crate) mod pcr;
pub(crate) mod published;
pub(crate) mod reach;
pub(crate) mod reduction;
pub(crate) mod sampled;
pub(crate) mod total;
pub(crate) mod tsa;

use threadbare_sched::{ClosureStrategy, Sampler};

pub use self::claim::Claim;
pub use self::options::{StrategyOption, StrategyOptions};

use self::ars::{Ars, Style, Walk};
use self::auto::Auto;
use self::dfs::Dfs;
use self::map_random::MapRandom;
use self::mcr::Mcr;
use self::pcr::Pcr;
use self::published::ars::Beam;
use self::published::total::Published;
use self::reach::{Reach, Tpair};
use self::sampled::{RoundRobin, Sampled};
use self::total::Total;
use self::tsa::{Form, Tsa};
use crate::common_heap::ThenCommonHeap;
use crate::error::ExploreError;
use crate::options::{Options, Timers};
use crate::strategy::Strategy;

/// The strategy of whoever names none.
pub const DEFAULT: &str = "auto";

/// The strategy that `verify` runs.
pub const OF_VERIFY: &str = "total";

/// The strategy that `verify` continues with where that one leaves something open.
pub(crate) const STATES: &str = "states";

/// Who a strategy is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// A user chooses from these first.
    First,
    /// What papers propose.
    FromThePapers,
    /// What papers compare with.
    Baselines,
}

impl Group {
    /// All of them, in the order they are listed to people.
    pub const ALL: [Group; 3] = [Group::First, Group::FromThePapers, Group::Baselines];

    /// What is written above it; nothing above the first.
    pub fn heading(self) -> Option<&'static str> {
        match self {
            Group::First => None,
            Group::FromThePapers => Some("From the papers"),
            Group::Baselines => Some("Baselines"),
        }
    }
}

/// What a constructor makes.
type Made = Result<Box<dyn Strategy>, ExploreError>;

/// Everything about a strategy that others need to know.
pub struct Row {
    /// What people call it.
    pub name: &'static str,
    /// Who it is for.
    pub group: Group,
    /// What it does, in a line.
    pub help: &'static str,
    /// The options that it reads, of those that only some strategies read.
    pub reads: &'static [StrategyOption],
    /// What it may claim when it ends.
    pub claim: Claim,
    /// What replaces it where a closure is repeated inside one process; nothing if it needs to see executions.
    pub(crate) in_process: Option<ClosureStrategy>,
    /// Makes one of this name.
    make: fn(&'static str, &Options) -> Made,
}

/// All strategies, in the order they are listed to people.
pub const TABLE: &[Row] = &[
    Row {
        name: DEFAULT,
        group: Group::First,
        help: "preempts at all places of one kind, then between a read and its use, then samples",
        reads: &[StrategyOption::Probability],
        claim: Claim::Nothing,
        in_process: Some(ClosureStrategy::Mixed),
        make: |_, options| {
            let is_mixed = options.timers() == Timers::Mixed;
            Ok(Box::new(Auto::new(options.seed, options.strategy_options.probability()?, is_mixed)))
        },
    },
    Row {
        name: "random",
        group: Group::First,
        help: "uniform choice among the runnable threads",
        reads: &[],
        claim: Claim::Nothing,
        in_process: Some(ClosureStrategy::Random),
        make: |_, options| sampled(Sampler::Random, options),
    },
    Row {
        name: "pct",
        group: Group::First,
        help: "random priorities with a few change points",
        reads: &[StrategyOption::PctDepth],
        claim: Claim::Nothing,
        in_process: Some(ClosureStrategy::Pct),
        make: |_, options| sampled(Sampler::Pct { depth: options.strategy_options.pct_depth }, options),
    },
    Row {
        name: "pos",
        group: Group::First,
        help: "partial order sampling: random priorities, drawn again at conflicts",
        reads: &[],
        claim: Claim::Nothing,
        in_process: Some(ClosureStrategy::Pos),
        make: |_, options| sampled(Sampler::Pos, options),
    },
    Row {
        name: "surw",
        group: Group::First,
        help: "selectively uniform random walk: uniform over the orders of accesses to one object",
        reads: &[],
        claim: Claim::Nothing,
        in_process: Some(ClosureStrategy::Urw),
        make: |_, options| sampled(Sampler::Surw, options),
    },
    Row {
        name: OF_VERIFY,
        group: Group::First,
        help: "every path that threads can take, by solving for what decides it, until exhausted",
        reads: &[StrategyOption::NoCheckpoints],
        claim: Claim::EveryPath,
        in_process: None,
        make: |name, options| {
            let total = Total::new(name, options.seed, options.jobs, options.known.is_some())
                .overlooking(options.overlooked);
            Ok(Box::new(ThenCommonHeap::new(total, name, options.seed)))
        },
    },
    Row {
        name: "ars",
        group: Group::FromThePapers,
        help: "adaptive: of the futures it foresees, runs the one farthest from what passed",
        reads: &[StrategyOption::ArsWidth, StrategyOption::NoSnapshots],
        claim: Claim::Nothing,
        in_process: None,
        make: |name, options| Ok(Box::new(Ars::new(name, Walk::new(options.seed, Style::of(name, options))))),
    },
    Row {
        name: "ars-paper",
        group: Group::FromThePapers,
        help: "ars as published: extends the sub-traces that are farthest from those that passed",
        reads: &[StrategyOption::ArsWidth, StrategyOption::NoSnapshots],
        claim: Claim::Nothing,
        in_process: None,
        make: |name, options| Ok(Box::new(Ars::new(name, Beam::new(options.seed, Style::of(name, options))))),
    },
    Row {
        name: "mcr",
        group: Group::FromThePapers,
        help: "every value that a read can return, by solving for it, until exhausted",
        reads: &[],
        claim: Claim::EveryReadValue,
        in_process: None,
        make: |name, options| {
            Ok(Box::new(
                Mcr::new(name, options.seed, options.jobs, options.known.is_some())
                    .overlooking(options.overlooked),
            ))
        },
    },
    Row {
        name: "pcr",
        group: Group::FromThePapers,
        help: "memory-access patterns that no execution has shown, by solving for them",
        reads: &[],
        claim: Claim::Nothing,
        in_process: None,
        make: |name, options| {
            Ok(Box::new(Pcr::new(name, options.seed, options.jobs, options.known.is_some())))
        },
    },
    Row {
        name: "tsa",
        group: Group::FromThePapers,
        help: "synchronization pairs that no execution has shown, by pausing threads before locks",
        reads: &[],
        claim: Claim::Nothing,
        in_process: None,
        make: |name, options| Ok(Box::new(Tsa::new(name, Form::FULL, options.seed))),
    },
    Row {
        name: "tsa-h",
        group: Group::FromThePapers,
        help: "tsa without the rule that looks at how much is left to show",
        reads: &[],
        claim: Claim::Nothing,
        in_process: None,
        make: |name, options| Ok(Box::new(Tsa::new(name, published::tsa::WITHOUT_HEURISTIC, options.seed))),
    },
    Row {
        name: "tsa-paper",
        group: Group::FromThePapers,
        help: "tsa as published: always aims at all pairs that are left",
        reads: &[],
        claim: Claim::Nothing,
        in_process: None,
        make: |name, options| Ok(Box::new(Tsa::new(name, published::tsa::PAPER, options.seed))),
    },
    Row {
        name: "total-paper",
        group: Group::FromThePapers,
        help: "total as published: by holding threads back, without solving",
        reads: &[StrategyOption::NoCheckpoints],
        claim: Claim::Nothing,
        in_process: None,
        make: |name, options| Ok(Box::new(Published::new(name, options.seed, options.known.is_some()))),
    },
    Row {
        name: "dfs",
        group: Group::Baselines,
        help: "all interleavings, depth first, until exhausted",
        reads: &[StrategyOption::PreemptionBound],
        claim: Claim::EveryInterleaving,
        in_process: None,
        make: |name, options| {
            let bound = options.strategy_options.preemption_bound;
            let dfs =
                Dfs::new(name, options.seed, bound, options.known.is_some()).overlooking(options.overlooked);
            Ok(Box::new(ThenCommonHeap::new(dfs, name, options.seed)))
        },
    },
    Row {
        name: STATES,
        group: Group::Baselines,
        help: "all states that the program can be in, each continued from once, until exhausted",
        reads: &[],
        claim: Claim::EveryState,
        in_process: None,
        make: |name, options| {
            let states =
                Dfs::over_states(name, options.seed, options.known.is_some()).overlooking(options.overlooked);
            Ok(Box::new(ThenCommonHeap::new(states, name, options.seed)))
        },
    },
    Row {
        name: "reach",
        group: Group::Baselines,
        help: "reachability testing: every observable order of accesses, until exhausted",
        reads: &[],
        claim: Claim::EveryObservableOrder,
        in_process: None,
        make: |name, options| {
            let reach = Reach::new(name, options.seed, options.jobs, options.known.is_some())
                .overlooking(options.overlooked);
            Ok(Box::new(ThenCommonHeap::new(reach, name, options.seed)))
        },
    },
    Row {
        name: "tpair",
        group: Group::Baselines,
        help: "reach for the orders of every two threads, with all others as recorded",
        reads: &[],
        claim: Claim::Nothing,
        in_process: None,
        make: |name, options| {
            Ok(Box::new(Tpair::new(name, options.seed, options.jobs, options.known.is_some())))
        },
    },
    Row {
        name: "map-random",
        group: Group::Baselines,
        help: "pcr without solving: holds threads back to show another pattern",
        reads: &[],
        claim: Claim::Nothing,
        in_process: None,
        make: |name, options| Ok(Box::new(MapRandom::new(name, options.seed))),
    },
    Row {
        name: "delay-yield",
        group: Group::Baselines,
        help: "threads in virtual parallel, some operations delayed by a yield",
        reads: &[StrategyOption::Probability],
        claim: Claim::Nothing,
        in_process: None,
        make: |_, options| delayed(0, options),
    },
    Row {
        name: "delay-10ms",
        group: Group::Baselines,
        help: "threads in virtual parallel, some operations delayed by up to 10 ms",
        reads: &[StrategyOption::Probability],
        claim: Claim::Nothing,
        in_process: None,
        make: |_, options| delayed(10_000, options),
    },
    Row {
        name: "delay-100ms",
        group: Group::Baselines,
        help: "threads in virtual parallel, some operations delayed by up to 100 ms",
        reads: &[StrategyOption::Probability],
        claim: Claim::Nothing,
        in_process: None,
        make: |_, options| delayed(100_000, options),
    },
    Row {
        name: "round-robin",
        group: Group::Baselines,
        help: "each thread in turn: turns of one step, then of two, and so on",
        reads: &[],
        claim: Claim::Nothing,
        in_process: None,
        make: |_, options| Ok(Box::new(RoundRobin::new(options.seed))),
    },
];

fn sampled(sampler: Sampler, options: &Options) -> Made {
    Ok(Box::new(Sampled::new(sampler, options.seed)))
}

fn delayed(longest_micros: u32, options: &Options) -> Made {
    let probability = options.strategy_options.probability()?;
    sampled(Sampler::Delay { longest_micros, probability }, options)
}

/// The names of all strategies, in the order of [`TABLE`].
pub const STRATEGIES: &[&str] = &{
    let mut names = [""; TABLE.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = TABLE[place].name;
        place += 1;
    }
    names
};

/// The row of a strategy.
pub fn find(name: &str) -> Result<&'static Row, ExploreError> {
    let row = TABLE.iter().find(|row| row.name == name);
    row.ok_or_else(|| ExploreError::UnknownStrategy(name.to_string()))
}

/// What a strategy may claim; nothing if there is none of this name.
pub fn claim_of(name: &str) -> Claim {
    find(name).map_or(Claim::Nothing, |row| row.claim)
}

/// The strategy that the options name.
pub(crate) fn by_name(options: &Options) -> Made {
    let row = find(&options.strategy)?;
    (row.make)(row.name, options)
}

impl Row {
    /// Whether it needs to see no executions, so that no traces are kept and executions may be long.
    pub fn samples(&self) -> bool {
        self.in_process.is_some()
    }

    /// What to report to a user who has changed options that none of these strategies reads: a sentence for each.
    pub fn unread(rows: &[&Row], options: &Options) -> Vec<String> {
        let is_read = |option: &StrategyOption| rows.iter().any(|row| row.reads.contains(option));
        let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
        let sentence = |option: StrategyOption| {
            let (option, readers) = (option.name(), option.readers().join(", "));
            format!("--{option} changes nothing with {}; it is an option of {readers}", names.join(", "))
        };
        options.changed().into_iter().filter(|option| !is_read(option)).map(sentence).collect()
    }
}
