//! What is known to be impossible (Algorithm 4): the cores of goals that could not be reached, so that goals with the
//! same core need not be solved.

use std::collections::HashMap;

use threadbare_order::{Core, Forest, Goal, Model, StepId, can_be_carried};

/// Cores that hold in all executions of a campaign.
#[derive(Default)]
pub(super) struct Cores {
    /// By a step that the goal has to have: what contradicts it.
    by_step: HashMap<StepId, Vec<Core>>,
    len: usize,
}

/// The most cores that are kept.
const MOST: usize = 20_000;

impl Cores {
    /// Keeps a core, if it says something about other executions too.
    pub(super) fn add(&mut self, core: Core, forest: &Forest) {
        let step = core.iter().find(|constraint| constraint.is_of_goal()).map(|of_goal| of_goal.steps[0]);
        if let Some(step) = step.filter(|_| self.len < MOST && can_be_carried(&core, forest)) {
            self.len += 1;
            self.by_step.entry(step).or_default().push(core);
        }
    }

    /// Whether the goal is known to be impossible in an execution.
    pub(super) fn refute(&self, goal: &Goal, model: &Model) -> bool {
        let mut known = goal.steps().iter().filter_map(|step| self.by_step.get(step)).flatten();
        known.any(|core| model.is_refuted_by(goal, core))
    }
}
