//! Searches: strategies that make their way through an execution decision by decision, from
//! snapshots, rather than plan whole executions.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use threadbare_target::{Execution, Snapshot, Stop};
use threadbare_trace::ThreadId;

use crate::error::ExploreError;
use crate::strategy::Plan;

/// Stops executions at decisions, and copies them there. See `threadbare_target::Server`.
pub trait Steer {
    /// Runs one plan from beginning to end. All snapshots are lost.
    fn run(&mut self, plan: &Plan) -> Result<Execution, ExploreError>;

    /// Begins an execution that follows these choices and stops at the next decision. All
    /// snapshots are lost.
    fn steer(&mut self, seed: u64, choices: &[ThreadId]) -> Result<Stop, ExploreError>;

    /// Continues from a snapshot, which is used up.
    fn go_on(&mut self, snapshot: Snapshot, choices: &[ThreadId]) -> Result<Stop, ExploreError>;

    /// Continues in a copy of a snapshot, which stays.
    fn split(&mut self, snapshot: Snapshot, choices: &[ThreadId]) -> Result<Stop, ExploreError>;

    /// Discards a snapshot.
    fn discard(&mut self, snapshot: Snapshot);
}

/// A search through the tree of decisions.
pub trait Search: Send {
    /// Searches until an execution ends, and returns it; none if `stop` said so before.
    fn next(
        &mut self,
        steer: &mut dyn Steer,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Execution>, ExploreError>;
}

/// A search that a plan refers to.
#[derive(Clone)]
pub struct SharedSearch(Arc<Mutex<dyn Search>>);

impl SharedSearch {
    /// A plan's share of a search that the strategy keeps, too.
    pub fn new(search: Arc<Mutex<dyn Search>>) -> SharedSearch {
        SharedSearch(search)
    }

    /// The search.
    pub fn lock(&self) -> MutexGuard<'_, dyn Search + 'static> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SharedSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedSearch")
    }
}
