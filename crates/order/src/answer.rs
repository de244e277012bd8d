//! What comes of a question.

use threadbare_trace::ThreadId;

use crate::forest::{Forest, StepId};

/// An order of steps that reaches the goal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The steps, the last of the goal at the end. Steps that are not needed are left out.
    pub steps: Vec<StepId>,
}

/// Where a thread stops and another goes on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Turn {
    /// The thread that stops.
    pub from: ThreadId,
    /// The operation before which it stops, counted from 1 in its thread.
    pub op: u32,
    /// The code that announces that operation, where it is known.
    pub pc: u64,
    /// The thread that goes on.
    pub to: ThreadId,
}

impl Schedule {
    /// The schedule as context switches. `first` is the thread that runs at the beginning.
    pub fn turns(&self, forest: &Forest, first: ThreadId) -> Vec<Turn> {
        let mut turns = Vec::new();
        let mut running = first;
        let mut stands: std::collections::HashMap<ThreadId, StepId> = std::collections::HashMap::new();
        for &id in &self.steps {
            let step = forest.step(id);
            if step.thread != running {
                // Private operations are counted too, so the next operation is simply the next number.
                let op = stands.get(&running).map_or(1, |last| forest.step(*last).op + 1);
                let next = stands.get(&running).and_then(|last| forest.step(*last).children.first());
                let pc = next.map_or(0, |next| forest.step(*next).pc);
                turns.push(Turn { from: running, op, pc, to: step.thread });
                running = step.thread;
            }
            stands.insert(step.thread, id);
        }
        turns
    }
}

/// The answer to a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It can happen like this.
    Schedule(Schedule),
    /// It cannot happen with these steps.
    Impossible,
    /// The budget was used up, or the steps are too many.
    Unknown,
}
