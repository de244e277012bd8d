//! What a campaign is to do, and how far it is.

use std::sync::Arc;
use std::time::Duration;

use threadbare_library::Dependence;
use threadbare_wire::{LearnedRecord, flags};

use crate::checkpoints::CHECKPOINT_GAP;
use crate::coverage::Measuring;
use crate::error::ExploreError;
use crate::saturation::SaturationRule;
use crate::strategies::{self, StrategyOption, StrategyOptions};

/// The steps after which executions are cut where nobody says how many: a few seconds.
pub const MAX_STEPS: u64 = 10_000_000;
/// The same where whole traces of several executions are held in memory: those of as many steps take 64 MB each.
pub const MAX_STEPS_OF_TRACES: u64 = 1_000_000;

/// When sleeps and waits end by time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timers {
    /// When no thread is runnable, and then the earliest deadline comes first: as on an idle machine.
    Ordered,
    /// At any point, in any order: threads may be delayed for as long as a sleep takes.
    Loose,
    /// Ordered in the first executions, and loose in some of the later ones.
    Mixed,
}

/// Why nothing is claimed where time passes in order.
pub(crate) const ORDERED_IS_NOT_ALL: &str = "nothing is claimed to be complete, because --timers ordered leaves out that threads \
     are delayed for longer than others sleep";

/// What to do in a campaign.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of a strategy; see [`strategies::TABLE`].
    pub strategy: String,
    /// The seed: same seed, same result.
    pub seed: u64,
    /// The most executions to make.
    pub executions: u64,
    /// The time after which no further execution begins.
    pub time: Option<Duration>,
    /// How many executions run at once.
    pub jobs: usize,
    /// Visible steps after which an execution is cut.
    pub max_steps: u64,
    /// Cut executions earlier that are much longer than those that came to their end.
    pub measures_length: bool,
    /// How many bytes of memory executions and what is kept of them may take, roughly. What does not fit is left out, which is said.
    pub memory: u64,
    /// A kind of dependence that is passed over: what is claimed without it shows what it is good for.
    pub overlooked: Option<Dependence>,
    /// Go on after a failure.
    pub keep_going: bool,
    /// When sleeps and waits end by time; none for what suits the strategy.
    pub timers: Option<Timers>,
    /// What only some strategies read.
    pub strategy_options: StrategyOptions,
    /// The steps from one checkpoint to the next, where executions may continue from those of others; none for always from the
    /// beginning.
    pub checkpoint_gap: Option<u64>,
    /// Condition waits may wake without a signal.
    pub spurious: bool,
    /// Every thread of the program is an operating-system thread.
    pub os_threads: bool,
    /// A non-zero exit status is not a failure.
    pub any_exit: bool,
    /// How long one execution may make no progress in real time.
    pub stall: Duration,
    /// The coverage criteria to measure by; see `threadbare_coverage`.
    pub coverage: Vec<String>,
    /// When a criterion counts as saturated.
    pub saturation: SaturationRule,
    /// End the campaign when all criteria are saturated.
    pub until_saturated: bool,
    /// What is known to be shared beforehand. Then no execution makes additional scheduling points to find
    /// out.
    pub known: Option<Arc<Vec<LearnedRecord>>>,
    /// Repeat the closure of a program that offers one inside one process, where the strategy can.
    pub in_process: bool,
    /// Such a closure's own wishes count before `executions` and `seed`.
    pub heeds_wishes: bool,
}

/// The memory that is used where nobody says how much: so much, or a quarter of the machine's if that is less.
pub const DEFAULT_MEMORY: u64 = 1 << 30;

impl Default for Options {
    fn default() -> Options {
        Options {
            strategy: strategies::DEFAULT.to_string(),
            seed: 1,
            executions: 10_000,
            time: None,
            jobs: 1,
            max_steps: MAX_STEPS_OF_TRACES,
            measures_length: false,
            memory: DEFAULT_MEMORY,
            overlooked: None,
            keep_going: false,
            timers: None,
            strategy_options: StrategyOptions::default(),
            checkpoint_gap: Some(CHECKPOINT_GAP),
            spurious: false,
            os_threads: false,
            any_exit: false,
            stall: Duration::from_secs(10),
            coverage: Vec::new(),
            saturation: SaturationRule::default(),
            until_saturated: false,
            known: None,
            in_process: true,
            heeds_wishes: false,
        }
    }
}

impl Options {
    /// Measures by the criteria that are asked for.
    pub fn measuring(&self) -> Result<Measuring, ExploreError> {
        Measuring::by(&self.coverage, self.saturation)
    }

    /// The most events of an execution that are kept. At the default there is room for all events of as many steps as an execution makes by
    /// default.
    pub fn most_events(&self) -> u64 {
        /// An event takes 64 bytes in the memory shared with the program and as many in the tool, and detectors need some more for each.
        const BYTES: u64 = 512;
        const LEAST: u64 = 1 << 14;
        (self.memory / BYTES).max(LEAST)
    }

    /// The same where executions are only sampled. Then no more is read of those that pass than what their beginnings show of shared memory, and those
    /// that fail are run again.
    pub(crate) fn most_sampled(&self) -> u64 {
        const MOST: u64 = 1 << 20;
        let samples = strategies::find(&self.strategy).is_ok_and(strategies::Row::samples);
        let most = if samples && self.coverage.is_empty() { MOST } else { u64::MAX };
        self.most_events().min(most)
    }

    /// The options of single strategies that differ from their defaults.
    pub(crate) fn changed(&self) -> Vec<StrategyOption> {
        let (own, default) = (self, Options::default());
        let differs = |option: &StrategyOption| {
            let (given, usual) = (&own.strategy_options, &default.strategy_options);
            match option {
                StrategyOption::PctDepth => given.pct_depth != usual.pct_depth,
                StrategyOption::Probability => given.delay_probability != usual.delay_probability,
                StrategyOption::ArsWidth => given.ars_width != usual.ars_width,
                StrategyOption::NoSnapshots => given.snapshots != usual.snapshots,
                StrategyOption::NoCheckpoints => own.checkpoint_gap != default.checkpoint_gap,
                StrategyOption::PreemptionBound => given.preemption_bound != usual.preemption_bound,
            }
        };
        StrategyOption::ALL.into_iter().filter(differs).collect()
    }

    /// Whether failures have to be run again with loops followed as the strategy follows them.
    pub fn exact_loops(&self) -> bool {
        [strategies::STATES, "dfs"].contains(&self.strategy.as_str())
    }

    /// When sleeps and waits end by time. A strategy that is to be through in the end has to try every point, and those that solve for
    /// orders reckon with every point.
    pub fn timers(&self) -> Timers {
        let samples = strategies::find(&self.strategy).is_ok_and(strategies::Row::samples);
        let usual = match samples {
            true if self.strategy == strategies::DEFAULT => Timers::Mixed,
            true => Timers::Ordered,
            false => Timers::Loose,
        };
        self.timers.unwrap_or(usual)
    }

    pub(crate) fn flags(&self) -> u32 {
        let bit = |set: bool, flag: u32| if set { flag } else { 0 };
        bit(self.spurious, flags::SPURIOUS)
            | bit(self.os_threads, flags::OS_THREADS)
            | bit(self.any_exit, flags::ANY_EXIT)
            | bit(self.timers() == Timers::Loose, flags::LOOSE_TIME)
    }
}
