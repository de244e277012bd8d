//! What all executions together suggest.

use threadbare_order::{Answer, Goal, Model, Solver};

use super::{BUDGET, Mcr, targets};
use crate::cut::Cut;
use crate::strategy::Plan;

/// How much may be asked in a search. An order that is tried out costs as much as there are steps, a conflict as
/// much as a hundred; it takes some seconds to use up all of it.
pub(super) const ALLOWANCE: u64 = 4_000_000;

/// What a conflict costs.
const CONFLICT: u64 = 100;

/// How many plans are made before they are run: to begin anew takes much longer than to go on.
const AT_ONCE: usize = 64;

/// Unanswered questions after which no more are asked.
const MOST_UNANSWERED: usize = 8;

impl Mcr {
    /// The plans that all executions together suggest, some at a time. If there are none, and nothing was left out,
    /// then there is nothing more.
    pub(super) fn plans_of_all(&mut self, is_over: &dyn Fn() -> bool) -> Vec<Plan> {
        let model = match Model::of_all(&self.forest) {
            Ok(model) => model,
            Err(doubts) => {
                self.cuts.extend(doubts.into_iter().map(Cut::Doubt));
                return Vec::new();
            }
        };
        let price = model.len() as u64;
        let mut solver = Solver::with_budget(model, BUDGET);
        let (targets, cut) = targets::of_all(&self.forest);
        if cut {
            self.cuts.insert(Cut::Spinning);
        }
        let mut plans = Vec::new();
        let mut unanswered = 0;
        for target in targets {
            if self.asked.contains(&target.key) {
                continue;
            }
            if is_over() {
                self.cuts.insert(Cut::TimeUp);
                return plans;
            }
            if self.allowance == 0 {
                self.cuts.insert(Cut::TooMany);
                return plans;
            }
            self.effort.questions += 1;
            let before = solver.effort();
            let answer = solver.solve(&target.goal);
            let after = solver.effort();
            let cost = (after.rounds - before.rounds).max(1) * price
                + (after.conflicts - before.conflicts) * CONFLICT;
            self.allowance = self.allowance.saturating_sub(cost);
            unanswered += usize::from(answer == Answer::Unknown);
            if let Some(schedule) = self.take(answer) {
                self.asked.insert(target.key.clone());
                plans.extend(self.follow(schedule, Some(target)));
            }
            if plans.len() == AT_ONCE || unanswered > MOST_UNANSWERED {
                return plans;
            }
        }
        if plans.is_empty() {
            self.effort.questions += 1;
            let answer = solver.solve(&Goal::stuck(self.stuck.clone()));
            if let Some(schedule) = self.take(answer) {
                plans.extend(self.get_stuck(schedule));
            }
        }
        plans
    }
}
