//! Adaptive randomized scheduling (ARS): go on with the sub-traces that are farthest, in memory-access
//! patterns, from the traces that passed.
//!
//! `ars-paper` is Algorithm 1 of the paper ([`beam`]). The first execution is a random one. Then each iteration
//! grows sub-traces from the first decision on: of those at hand it takes the farthest, makes one step with
//! every thread that can go on, and keeps the `width` farthest of what it then has. When none is left,
//! the traces that ended and passed join those that passed before.
//!
//! On real threads that loses to a random walk: once a trace is complete, the queue holds little but its
//! siblings, which differ from it in their last steps, and each of them costs an execution. And the distance
//! of a sub-trace says little about what it may still become. So `ars` ([`walk`]) compares whole traces, as
//! adaptive random testing does with inputs: it draws candidates, and runs the one that is farthest from what
//! passed. Candidates cost nothing, since most of what threads will do has been seen ([`foresight`]).
//! Beside patterns it counts what threads find in memory: a thread that finds what it has found before in its
//! place does what it has done before. Its first execution, where nothing can be foreseen yet, lets threads read
//! what others have just written ([`unread_writes`]).

mod beam;
mod foresight;
mod navigator;
mod passed;
mod subtrace;
mod unread_writes;
mod walk;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use threadbare_sched::Prefix;
use threadbare_target::Execution;

use crate::error::ExploreError;
use crate::history::History;
use crate::search::{Search, SharedSearch};
use crate::strategy::{Plan, Strategy};
use beam::Beam;
use walk::Walk;

/// How a search goes about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// How many sub-traces to go on with, or to compare.
    pub width: usize,
    /// Looks for memory that is shared in the first execution, which is a random one then.
    pub probes: bool,
    /// Runs every prefix again rather than going on from snapshots.
    pub always_from_start: bool,
}

/// A search that learns from how executions end.
trait Adaptive: Search + 'static {
    /// There are more scheduling points than before: paths mean something else from now on.
    fn decisions_changed(&mut self);

    /// What is known of the navigator it goes over.
    fn ground_state(&self) -> &navigator::State;
}

/// A strategy that stands for a search.
struct Ars<S> {
    name: &'static str,
    search: Arc<Mutex<S>>,
}

/// The strategy `ars`.
pub(crate) fn ars(seed: u64, style: Style) -> Box<dyn Strategy> {
    Box::new(Ars::new("ars", Walk::new(seed, style)))
}

/// The strategy `ars-paper`.
pub(crate) fn ars_paper(seed: u64, style: Style) -> Box<dyn Strategy> {
    Box::new(Ars::new("ars-paper", Beam::new(seed, style)))
}

impl<S: Adaptive> Ars<S> {
    fn new(name: &'static str, search: S) -> Ars<S> {
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
        news: bool,
        _is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        if news {
            self.search().decisions_changed();
        }
        Ok(())
    }

    fn snapshots(&self) -> u64 {
        self.search().ground_state().partial_runs
    }

    fn warnings(&self) -> Vec<String> {
        self.search().ground_state().warnings()
    }
}
