//! What comes of a question.

use std::collections::HashMap;

use threadbare_trace::ThreadId;

use crate::forest::{Forest, StepId};

/// An order of steps that reaches the goal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SolvedSchedule {
    /// The steps, the last of the goal at the end. Steps that are not needed are left out.
    pub steps: Vec<StepId>,
}

/// Where a thread stops and another is scheduled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SolvedSwitch {
    /// The thread that stops.
    pub from: ThreadId,
    /// The operation before which it stops, counted from 1 in its thread.
    pub op: u32,
    /// The code that announces that operation, where it is known.
    pub pc: u64,
    /// The thread that is scheduled.
    pub to: ThreadId,
}

impl SolvedSchedule {
    /// The schedule as context switches. `first` is the thread that runs at the beginning.
    pub fn turns(&self, forest: &Forest, first: ThreadId) -> Vec<SolvedSwitch> {
        let mut turns = Vec::new();
        let mut running = first;
        let mut stands: HashMap<ThreadId, StepId> = HashMap::new();
        for &id in &self.steps {
            let to = forest.step(id).thread;
            if to != running {
                let (op, pc) = forest.next_operation(running, stands.get(&running).copied());
                turns.push(SolvedSwitch { from: running, op, pc, to });
                running = to;
            }
            stands.insert(to, id);
        }
        turns
    }
}

/// The answer to a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It can happen like this.
    Schedule(SolvedSchedule),
    /// It cannot happen with these steps.
    Impossible,
    /// The budget was used up, or the steps are too many.
    Unknown,
}
