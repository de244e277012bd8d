//! What happens between steps: where a thread comes by although its accesses are private, and lets others go.

use threadbare_sched::{Op, Policy};

use crate::engine::Engine;

/// Private accesses in a row after which a thread lets others go first: it may wait, in a loop, for
/// a place that has not been seen to be shared because nobody else ever got so far.
const QUIET: u32 = 1 << 18;

/// Times in a row that a thread may do so before the policy hears of it.
const QUIET_TURNS: u32 = 4;

impl Engine {
    /// Says at which operation the running thread has to come here although it may be private:
    /// where a replay wants to decide, or where a probe is due.
    pub fn update_stop(&mut self) {
        const DENSE_STEPS: u64 = 256;
        let fiber = self.current();
        if self.spinning.is_looking() {
            fiber.stop_at = fiber.ops.saturating_add(1);
            return;
        }
        fiber.stop_at = match &mut self.probe {
            Some(rng) => {
                let gap = 1 + rng.below(1 + self.shared.control().steps / DENSE_STEPS);
                fiber.ops.saturating_add(gap as u32)
            }
            None => self.policy.stop_at(fiber.id).min(fiber.ops.saturating_add(self.quiet_limit())),
        };
    }

    /// The running thread's last step was only made to look whether the place is shared: other executions do not have it.
    pub fn was_a_look(&mut self) {
        let fiber = self.current();
        fiber.steps = fiber.steps.saturating_sub(1);
    }

    /// Whether the running thread stops at a private access only because it made so many of them.
    pub fn is_quiet(&self) -> bool {
        // SAFETY: the running fiber.
        let (id, ops) = unsafe { ((*self.current).id, (*self.current).ops) };
        self.spinning.is_looking() || (self.probe.is_none() && self.policy.stop_at(id) != ops)
    }

    /// Wherever the original of a replay gave way there is a switch in the list: until its end a thread gives
    /// way by itself only where the list does not fit.
    fn quiet_limit(&self) -> u32 {
        if self.policy.is_unfinished_replay() { 16 * QUIET } else { QUIET }
    }

    /// Lets others go before a private access; says whether one did. This is no step: a program
    /// that makes no other is still seen to stand still.
    pub fn let_others_go(&mut self, op: Op) -> bool {
        let fiber = self.current();
        fiber.pending = op;
        self.complete_write();
        let switches = self.shared.control().switches;
        if !self.looks_on() {
            fiber.quiet_turns += 1;
            fiber.gave_way_at = Some(self.progress);
            self.world.checkpoints.leave_no_more();
            if fiber.quiet_turns >= QUIET_TURNS {
                self.policy.gave_way(fiber.id);
            }
            self.reschedule();
        }
        self.update_stop();
        switches != self.shared.control().switches
    }
}
