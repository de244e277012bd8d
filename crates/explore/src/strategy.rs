//! The trait that every strategy implements, and the plans that it makes.

use threadbare_sched::{Parameters, PolicySpec, Random};
use threadbare_target::Execution;
use threadbare_wire::flags;

use crate::claims::Doubt;
use crate::error::ExploreError;
use crate::history::History;
use crate::search::SharedSearch;
use crate::search_effort::SearchEffort;

/// Everything that decides one execution.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Who picks the next thread inside the run.
    pub policy: PolicySpec,
    /// Bits of `threadbare_wire::flags` on top of the campaign's.
    pub flags: u32,
    /// What people call this policy, such as `pct (depth 3)`.
    pub name: String,
    /// Whether it may continue from checkpoints of executions that began like it.
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
    /// Whether anybody reads the switches of its execution if that does not fail. Whoever may claim something runs its schedules again.
    pub(crate) fn reads_switches(&self) -> bool {
        self.trace || self.watched || self.flags & flags::CLAIMS != 0
    }

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

    /// Takes note of the executions of a batch, in order. `sharing_grew` says that the batch found memory
    /// to be shared that was not known before: from now on there are more scheduling points. A strategy that computes for long
    /// asks `is_over` now and then, and gives up what the campaign will not run any more.
    fn learn(
        &mut self,
        _runs: &[(&Plan, &Execution)],
        _sharing_grew: bool,
        _is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        Ok(())
    }

    /// Whether all has been run that the strategy's [`Claim`](crate::strategies::Claim) is about (within
    /// [`Strategy::bound`]).
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

    /// What speaks against its claim, or what that rests on, once it is through.
    fn doubts(&self) -> Vec<Doubt> {
        Vec::new()
    }

    /// What the user should know about the search besides, in whole sentences. `speaker` is what the user knows it by: the name of
    /// the strategy, or of the command that runs it.
    fn warnings(&self, _speaker: &str) -> Vec<String> {
        Vec::new()
    }
}
