//! The states that all sub-traces so far have come to, and which of them have nothing new behind them.

use std::collections::{HashMap, HashSet};

use threadbare_trace::ThreadId;

/// Steps that are remembered at most; then all is forgotten and learned anew.
const MOST_STEPS: usize = 4_000_000;

/// Where a step leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Nobody has made it.
    Unknown,
    /// To what has been seen to its last end.
    Spent,
    /// To something that has been seen in part.
    Open,
}

/// The steps made so far.
#[derive(Default)]
pub(super) struct Graph {
    /// The state behind a step; none if the program ended.
    steps: HashMap<(u64, ThreadId), Option<u64>>,
    spent: HashSet<u64>,
}

impl Graph {
    /// A step from a state by a thread led to another state, or to the end.
    pub fn add(&mut self, state: u64, thread: ThreadId, next: Option<u64>) {
        if self.steps.len() >= MOST_STEPS {
            self.forget();
        }
        self.steps.insert((state, thread), next);
    }

    /// What is known of a step.
    pub fn step(&self, state: u64, thread: ThreadId) -> Step {
        match self.steps.get(&(state, thread)) {
            None => Step::Unknown,
            Some(None) => Step::Spent,
            Some(Some(next)) if self.spent.contains(next) => Step::Spent,
            Some(Some(_)) => Step::Open,
        }
    }

    /// Every step from this state is spent.
    pub fn spend(&mut self, state: u64) {
        self.spent.insert(state);
    }

    /// Begins anew.
    pub fn forget(&mut self) {
        self.steps.clear();
        self.spent.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_spent_once_everything_behind_it_is() {
        let (one, two) = (ThreadId(1), ThreadId(2));
        let mut graph = Graph::default();
        assert_eq!(graph.step(0, one), Step::Unknown);
        graph.add(0, one, Some(7));
        graph.add(7, two, None);
        assert_eq!((graph.step(0, one), graph.step(7, two)), (Step::Open, Step::Spent));
        graph.spend(7);
        assert_eq!(graph.step(0, one), Step::Spent);
        graph.forget();
        assert_eq!(graph.step(0, one), Step::Unknown);
    }
}
