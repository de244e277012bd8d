//! Steps by the same code that differ in what their threads knew.

use super::step::Step;
use crate::clocks::Epoch;

/// How many such steps are kept. Beyond, some in the middle are forgotten.
const KEPT: usize = 8;

/// The steps of one thread at one site under the same locks, oldest first. A step replaces the last one
/// if the thread has learned nothing since: then whatever is concurrent with the older one is with the
/// younger one too.
#[derive(Clone, Default)]
pub struct Remembered {
    pub steps: Vec<Step>,
}

impl Remembered {
    /// Adds a step; `is_known_to_all` tells which moments come before everything that is still to come.
    pub fn push(&mut self, step: Step, is_known_to_all: impl Fn(Epoch) -> bool) {
        let thread = step.access.thread;
        if let Some(last) = self.steps.last_mut()
            && last.enforced.clock.differs_only_in(thread, &step.enforced.clock)
            && last.handed_over.clock.differs_only_in(thread, &step.handed_over.clock)
        {
            *last = step;
            return;
        }
        self.steps.push(step);
        if self.steps.len() > KEPT {
            self.steps.retain(|step| !is_known_to_all(step.enforced.epoch));
        }
        if self.steps.len() > KEPT {
            self.steps.remove(KEPT / 2);
        }
    }
}
