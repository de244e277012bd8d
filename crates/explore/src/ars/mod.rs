//! Adaptive randomized scheduling (ARS): go on with the sub-traces that are farthest, in memory-access
//! patterns, from the traces that passed.
//!
//! This is Algorithm 1 of the paper. The first execution is a random one. Then each iteration grows
//! sub-traces from the first decision on: of those at hand it takes the farthest, makes one step with
//! every thread that can go on, and keeps the `width` farthest of what it then has. When none is left,
//! the traces that ended and passed join those that passed before.
//!
//! On real threads that loses to a random walk: once a trace is complete, the queue holds little but its
//! siblings, which differ from it in their last steps, and each of them costs an execution. So `ars` departs
//! from the paper (`ars-paper`) in what [`Style`] names.

mod beam;
mod footprint;
mod graph;
mod ground;
mod passed;
mod subtrace;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use threadbare_sched::PolicyKind;
use threadbare_target::Execution;

use crate::error::ExploreError;
use crate::history::History;
use crate::search::SharedSearch;
use crate::strategy::{Plan, Strategy};
use beam::Beam;

/// Which sub-traces go on first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// Those whose nearest passed trace is farthest.
    Nearest,
    /// The longest, and of those in turn the ones whose patterns are rarest among passed traces and the
    /// ones whose last step is new.
    RarestAndNewest,
}

/// How the search goes about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// How many sub-traces to go on with.
    pub width: usize,
    /// Which of them go on first.
    pub order: Order,
    /// Makes every step at once, as the paper does; otherwise only those whose thread has never been in
    /// the same situation.
    pub always_looks_ahead: bool,
    /// Does not go on from a state twice in an iteration, nor ever where all has been seen.
    pub remembers: bool,
    /// Ends an iteration with its first complete trace: those that come after it differ from it in their
    /// last steps only.
    pub restarts: bool,
    /// Looks for memory that is shared in the first, random execution.
    pub probes: bool,
    /// Runs every prefix again rather than going on from snapshots.
    pub always_from_start: bool,
}

impl Style {
    /// Exactly what the paper says.
    pub(crate) fn paper(width: usize) -> Style {
        Style {
            width: width.max(1),
            order: Order::Nearest,
            always_looks_ahead: true,
            remembers: false,
            restarts: false,
            probes: true,
            always_from_start: false,
        }
    }

    /// What has turned out to be better.
    pub(crate) fn improved(width: usize) -> Style {
        Style {
            order: Order::RarestAndNewest,
            always_looks_ahead: false,
            remembers: true,
            restarts: true,
            ..Style::paper(width)
        }
    }
}

/// The strategy of this name.
pub(crate) struct Ars {
    beam: Arc<Mutex<Beam>>,
}

impl Ars {
    pub(crate) fn new(seed: u64, style: Style) -> Ars {
        Ars { beam: Arc::new(Mutex::new(Beam::new(seed, style))) }
    }

    fn beam(&self) -> MutexGuard<'_, Beam> {
        self.beam.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Strategy for Ars {
    /// One at a time: where to go next depends on how the last one ended.
    fn plan(&mut self, _first: u64, _count: usize, _history: &History) -> Vec<Plan> {
        let mut plan = Plan::new(PolicyKind::Prefix, 0, "ars");
        plan.search = Some(SharedSearch::new(self.beam.clone()));
        vec![plan]
    }

    fn learn(
        &mut self,
        _runs: &[(&Plan, &Execution)],
        news: bool,
        _is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        if news {
            self.beam().decisions_changed();
        }
        Ok(())
    }

    fn snapshots(&self) -> u64 {
        self.beam().partial_runs()
    }

    fn warnings(&self) -> Vec<String> {
        self.beam().warnings()
    }
}
