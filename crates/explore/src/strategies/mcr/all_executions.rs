//! What all executions together suggest.

use threadbare_order::{Answer, Budget, Goal, Model, Panel, PanelReply, Question, StepId};

use super::deadlock_targets;
use super::targets::{self, Target};
use super::{Aim, Values};
use crate::omission::Omission;
use crate::solved::{BUDGET, Notes};
use crate::strategy::Plan;

/// How much may be asked in a search. An order that is tried out costs as much as there are steps, a conflict as
/// much as a hundred; it takes some seconds to use up all of it.
pub(super) const ALLOWANCE: u64 = 4_000_000;

/// What a conflict costs.
const CONFLICT: u64 = 100;

/// How hard to try for an answer: what nobody answers here is left out.
const QUESTION_BUDGET: Budget = Budget { conflicts: 10 * BUDGET.conflicts, rounds: 4 * BUDGET.rounds };

/// How many plans are made before they are run: to begin anew takes much longer than to continue.
const AT_ONCE: usize = 64;

/// Unanswered questions after which no more are asked.
const MOST_UNANSWERED: usize = 8;

/// How many questions are asked at once.
const WIDTH: usize = 16;

impl Values {
    /// The plans that all executions together suggest, some at a time. If there are none, and nothing was left out,
    /// then there is nothing more.
    pub(super) fn plans_of_all(&mut self, notes: &mut Notes<Aim>, is_over: &dyn Fn() -> bool) -> Vec<Plan> {
        let model = match Model::of_all(&notes.forest) {
            Ok(model) => model,
            Err(doubts) => {
                self.known.omissions.extend(doubts.into_iter().map(Omission::Doubt));
                return Vec::new();
            }
        };
        let price = model.len() as u64;
        let mut panel = Panel::new(QUESTION_BUDGET, self.jobs);
        let (mut targets, cut) = targets::of_all(&notes.forest);
        if cut {
            self.known.omissions.insert(Omission::Spinning);
        }
        let everything: Vec<StepId> = notes.forest.ids().collect();
        targets.extend(self.race_and_lifetime_targets(&notes.forest, &everything));
        targets.retain(|target| !self.known.asked.contains(&target.key));
        let mut plans = Vec::new();
        let mut unanswered = 0;
        let mut targets = targets.into_iter();
        loop {
            let together: Vec<Target> = targets.by_ref().take(WIDTH).collect();
            if together.is_empty() {
                break;
            }
            if is_over() {
                self.known.omissions.insert(Omission::TimeUp);
                return plans;
            }
            if self.allowance == 0 {
                self.known.omissions.insert(Omission::TooMany);
                return plans;
            }
            let question = |target: &Target| Question { about: 0, goal: target.goal.clone() };
            let questions: Vec<Question> = together.iter().map(question).collect();
            let replies = panel.ask(&questions, &|_| model.clone());
            notes.effort.questions += replies.len() as u64;
            for (target, PanelReply { answer, effort, .. }) in together.into_iter().zip(replies) {
                let cost = effort.rounds.max(1) * price + effort.conflicts * CONFLICT;
                self.allowance = self.allowance.saturating_sub(cost);
                unanswered += usize::from(answer == Answer::Unknown);
                if self.known.asked.contains(&target.key) {
                    continue;
                }
                plans.extend(self.known.follow(answer, Some(target), notes));
            }
            if plans.len() >= AT_ONCE || unanswered > MOST_UNANSWERED {
                return plans;
            }
        }
        if plans.is_empty() && deadlock_targets::are_possible(&notes.forest, &everything) {
            let deadlock = Question { about: 0, goal: Goal::deadlock(self.known.deadlocks.clone()) };
            notes.effort.questions += 1;
            for PanelReply { answer, .. } in panel.ask(&[deadlock], &|_| model.clone()) {
                plans.extend(self.known.follow(answer, None, notes));
            }
        }
        plans
    }
}
