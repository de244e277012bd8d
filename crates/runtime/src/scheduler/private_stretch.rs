//! What happens between steps: where a thread comes by although its accesses are private, and lets others go.

use threadbare_sched::{Op, Policy};

use crate::engine::Engine;
use crate::spin::Stand;

/// Private accesses in a row after which a thread lets others go first: it may wait, in a loop, for
/// a place that has not been seen to be shared because nobody else ever got so far. All small numbers divide
/// it, so that a thread in a short loop is then where it was the last time.
const STRETCH: u32 = 262_080;

/// The same for a thread that was there: it only goes round.
const STRETCH_OF_A_LOOP: u32 = 5_040;

/// Times in a row that a thread may do so before the policy hears of it.
const UNREPORTED_YIELDS: u32 = 4;

/// How many such stretches a thread makes in a replay before it gives way by itself, if it goes round, and if not.
/// Wherever the original gave way there is a switch in the list, after two of them at most.
const REPLAYED_ROUND: u32 = 4;
const REPLAYED: u32 = 16;

/// What a thread has done since its last step, all of it private.
#[derive(Default)]
pub struct PrivateStretch {
    /// Times that it gave way.
    pub turns: u32,
    /// Times that it was looked at since it gave way; at least one if it did.
    stretches: u32,
    /// It stands where it stood the last time it was looked at.
    goes_round: bool,
    stand: Option<Stand>,
}

impl PrivateStretch {
    /// The thread makes a step.
    #[inline(always)]
    pub fn end(&mut self) {
        self.turns = 0;
        self.stretches = 0;
        self.goes_round = false;
    }

    fn look_at(&mut self, stand: Stand) {
        let before = self.stand.replace(stand);
        self.goes_round = self.stretches > 0 && before == Some(stand);
        self.stretches += 1;
    }

    fn give_way(&mut self) {
        self.turns += 1;
        self.stretches = 1;
    }
}

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
            None => {
                // The stop is only looked for by its number: one that the thread has gone past would never come.
                let listed = self.policy.stop_before(fiber.id).filter(|stop| *stop > fiber.ops);
                let stretch = fiber.ops.saturating_add(self.stretch_limit(&fiber.private_stretch));
                listed.map_or(stretch, |stop| stop.min(stretch))
            }
        };
    }

    /// The running thread's last step was only made to look whether the place is shared: other executions do not have it.
    pub fn was_a_look(&mut self) {
        let fiber = self.current();
        fiber.steps = fiber.steps.saturating_sub(1);
    }

    /// Whether the running thread stops at a private access only because it made so many of them.
    pub fn is_in_private_stretch(&self) -> bool {
        // SAFETY: the running fiber.
        let (id, ops) = unsafe { ((*self.current).id, (*self.current).ops) };
        self.spinning.is_looking() || (self.probe.is_none() && self.policy.stop_before(id) != Some(ops))
    }

    /// How many private accesses a thread may make until it is looked at.
    fn stretch_limit(&self, stretch: &PrivateStretch) -> u32 {
        let may_fit = self.policy.has_switches_left() && stretch.turns == 0;
        if stretch.goes_round && !may_fit { STRETCH_OF_A_LOOP } else { STRETCH }
    }

    /// Whether a thread goes on nevertheless, because it follows a list that says where to give way.
    fn is_led(&self, stretch: &PrivateStretch) -> bool {
        let enough = if stretch.goes_round { REPLAYED_ROUND } else { REPLAYED };
        self.policy.has_switches_left() && stretch.stretches < enough
    }

    /// Lets others go before a private access; says whether one did. This is no step: a program
    /// that makes no other is still seen to stand still.
    pub fn yield_to_others(&mut self, op: Op) -> bool {
        let fiber = self.current();
        fiber.pending = op;
        self.complete_write();
        let switches = self.shared.control().switches;
        if !self.looks_on() {
            fiber.private_stretch.look_at(Stand::of(fiber));
            if self.is_led(&fiber.private_stretch) {
                self.update_stop();
                return false;
            }
            fiber.private_stretch.give_way();
            fiber.gave_way_at = Some(self.progress);
            self.world.checkpoints.leave_no_more();
            if fiber.private_stretch.turns >= UNREPORTED_YIELDS {
                self.policy.yielded(fiber.id);
            }
            self.reschedule();
        }
        self.update_stop();
        switches != self.shared.control().switches
    }
}
