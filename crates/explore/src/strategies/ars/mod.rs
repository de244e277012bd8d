//! Adaptive randomized scheduling (ARS): extend the sub-traces that are farthest, in memory-access
//! patterns, from the traces that passed.
//!
//! Algorithm 1 of the paper (`published/ars`) loses to a random walk on real threads: once a trace is complete, the
//! queue holds little but its siblings, which differ from it in their last steps, and each of them costs an execution. And
//! the distance of a sub-trace says little about what it may still become. So `ars` ([`walk`]) compares whole traces, as
//! adaptive random testing does with inputs: it draws candidates, and runs the one that is farthest from what
//! passed. Candidates cost nothing, since most of what threads will do has been seen ([`foresight`]).
//! Beside patterns it counts what threads find in memory: a thread that finds what it has found before in its
//! place does what it has done before. Its first execution, where nothing can be predicted yet, lets threads read
//! what others have just written ([`unread_writes`]).

mod foresight;
mod navigator;
mod paths;
mod unread_writes;
mod walk;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use threadbare_sched::Prefix;
use threadbare_target::Execution;

pub(in crate::strategies) use self::navigator::{Arrival, Navigator, NavigatorState, Since, StoppedCopy};
pub(in crate::strategies) use self::paths::Paths;
pub(in crate::strategies) use self::walk::Walk;
use crate::error::ExploreError;
use crate::history::History;
use crate::options::Options;
use crate::search::{Search, SharedSearch};
use crate::strategy::{Plan, Strategy};

/// The parameters of a search.
#[derive(Clone, Copy, Debug)]
pub(in crate::strategies) struct Style {
    /// What people call the search.
    pub name: &'static str,
    /// How many sub-traces to extend, or to compare.
    pub width: usize,
    /// Looks for memory that is shared in the first execution, which is a random one then.
    pub probes: bool,
    /// Runs every prefix again rather than continuing from snapshots.
    pub always_from_start: bool,
}

impl Style {
    /// What the options ask of a search of this name.
    pub(in crate::strategies) fn of(name: &'static str, options: &Options) -> Style {
        Style {
            name,
            width: options.strategy_options.ars_width.max(1),
            probes: options.known.is_none(),
            always_from_start: !options.strategy_options.snapshots,
        }
    }
}

/// A search that learns from how executions end.
pub(in crate::strategies) trait Adaptive: Search + 'static {
    /// There are more scheduling points than before: paths mean something else from now on.
    fn decisions_changed(&mut self);

    /// The state of the navigator that it uses.
    fn navigator_state(&self) -> &NavigatorState;
}

/// A strategy that runs a search.
pub(in crate::strategies) struct Ars<S> {
    name: &'static str,
    search: Arc<Mutex<S>>,
}

impl<S: Adaptive> Ars<S> {
    pub(in crate::strategies) fn new(name: &'static str, search: S) -> Ars<S> {
        Ars { name, search: Arc::new(Mutex::new(search)) }
    }

    fn search(&self) -> MutexGuard<'_, S> {
        self.search.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Adaptive> Strategy for Ars<S> {
    /// One at a time: where to go next depends on how the last one ended.
    fn plan(&mut self, _first: u64, _count: usize, _history: &History) -> Vec<Plan> {
        let mut plan = Plan::new(Prefix::default(), 0, self.name);
        plan.search = Some(SharedSearch::new(self.search.clone()));
        vec![plan]
    }

    fn learn(
        &mut self,
        _runs: &[(&Plan, &Execution)],
        unread: bool,
        _is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        if unread {
            self.search().decisions_changed();
        }
        Ok(())
    }

    fn snapshots(&self) -> u64 {
        self.search().navigator_state().partial_runs
    }

    fn warnings(&self, speaker: &str) -> Vec<String> {
        self.search().navigator_state().warnings(speaker)
    }
}
