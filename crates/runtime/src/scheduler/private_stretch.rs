//! What happens between steps: where a thread comes by although its accesses are private, and lets others run.

use std::cell::Cell;

use threadbare_sched::{Op, Policy};

use crate::engine::Engine;
use crate::spin::ThreadState;

/// Private accesses in a row after which a thread yields to others: it may wait, in a loop, for
/// a place that has not been seen to be shared because no other thread ever got so far. All small numbers divide
/// it, so that a thread in a short loop is then where it was the last time.
const STRETCH: u32 = 262_080;

/// The same for a thread that was there: it only goes round.
const STRETCH_OF_A_LOOP: u32 = 5_040;

/// Times in a row that a thread may do so before that is reported to the policy.
const UNREPORTED_YIELDS: u32 = 4;

/// How many such stretches a thread makes in a replay before it yields by itself, if it goes round, and if not.
/// Wherever the original yielded there is a switch in the list, after two of them at most.
const REPLAYED_ROUND: u32 = 4;
const REPLAYED: u32 = 16;

/// What a thread has done since its last step, all of it private.
#[derive(Default)]
pub struct PrivateStretch {
    /// Times that it yielded.
    pub yields: Cell<u32>,
    /// Times that it was looked at since it yielded; at least one if it did.
    stretches: Cell<u32>,
    /// It is in the state in which it was the last time it was looked at.
    goes_round: Cell<bool>,
    state: Cell<Option<ThreadState>>,
}

impl PrivateStretch {
    /// The thread makes a step.
    #[inline(always)]
    pub fn end(&self) {
        self.yields.set(0);
        self.stretches.set(0);
        self.goes_round.set(false);
    }

    fn look_at(&self, state: ThreadState) {
        let before = self.state.replace(Some(state));
        self.goes_round.set(self.stretches.get() > 0 && before == Some(state));
        self.stretches.set(self.stretches.get() + 1);
    }

    fn note_yield(&self) {
        self.yields.set(self.yields.get() + 1);
        self.stretches.set(1);
    }
}

impl Engine {
    /// Says at which operation the running thread has to come here although it may be private:
    /// where a replay wants to decide, or where a probe is due.
    pub fn update_stop(&self) {
        const DENSE_STEPS: u64 = 256;
        let fiber = self.current();
        if self.spin_detector.is_looking() {
            fiber.stop_at.set(fiber.ops.get().saturating_add(1));
            return;
        }
        fiber.stop_at.set(match &mut *self.probe.borrow_mut() {
            Some(rng) => {
                let gap = 1 + rng.below(1 + self.shared.control().steps / DENSE_STEPS);
                fiber.ops.get().saturating_add(gap as u32)
            }
            None => {
                // The stop is only looked for by its number: one that the thread has gone past would never come.
                let listed =
                    self.policy.borrow_mut().stop_before(fiber.id).filter(|stop| *stop > fiber.ops.get());
                let stretch = fiber.ops.get().saturating_add(self.stretch_limit(&fiber.private_stretch));
                listed.map_or(stretch, |stop| stop.min(stretch))
            }
        });
    }

    /// The running thread's last step was only made to look whether the place is shared: other executions do not have it.
    pub fn was_a_look(&self) {
        let fiber = self.current();
        fiber.steps.set(fiber.steps.get().saturating_sub(1));
    }

    /// Whether the running thread stops at a private access only because it made so many of them.
    pub fn is_in_private_stretch(&self) -> bool {
        let fiber = self.current();
        self.spin_detector.is_looking()
            || (self.probe.borrow_mut().is_none()
                && self.policy.borrow_mut().stop_before(fiber.id) != Some(fiber.ops.get()))
    }

    /// How many private accesses a thread may make until it is looked at.
    fn stretch_limit(&self, stretch: &PrivateStretch) -> u32 {
        let may_fit = self.policy.borrow_mut().has_switches_left() && stretch.yields.get() == 0;
        if stretch.goes_round.get() && !may_fit { STRETCH_OF_A_LOOP } else { STRETCH }
    }

    /// Whether a thread continues nevertheless, because it follows a schedule that says where to yield.
    fn is_led(&self, stretch: &PrivateStretch) -> bool {
        let enough = if stretch.goes_round.get() { REPLAYED_ROUND } else { REPLAYED };
        self.policy.borrow_mut().has_switches_left() && stretch.stretches.get() < enough
    }

    /// Lets others run before a private access; says whether one did. This is no step: a program
    /// that makes no other is still seen to make no progress.
    pub fn yield_to_others(&self, op: Op) -> bool {
        let fiber = self.current();
        fiber.pending.set(op);
        self.complete_write();
        let switches = self.shared.control().switches;
        if !self.looks_on() {
            fiber.private_stretch.look_at(ThreadState::of(fiber));
            if self.is_led(&fiber.private_stretch) {
                self.update_stop();
                return false;
            }
            fiber.private_stretch.note_yield();
            fiber.yielded_at.set(Some(self.progress.get()));
            self.world.checkpoints.borrow_mut().leave_no_more();
            if fiber.private_stretch.yields.get() >= UNREPORTED_YIELDS {
                self.policy.borrow_mut().yielded(fiber.id);
            }
            self.reschedule();
        }
        self.update_stop();
        switches != self.shared.control().switches
    }
}

#[cfg(test)]
mod tests {
    use threadbare_trace::ThreadId;

    use super::*;
    use crate::fiber::Fiber;

    #[test]
    fn a_thread_goes_round_if_its_state_is_what_it_was() {
        let fiber = Fiber::new(ThreadId::MAIN, std::ptr::null_mut());
        let (here, stretch) = (ThreadState::of(&fiber), PrivateStretch::default());
        fiber.set_site(7);
        let there = ThreadState::of(&fiber);
        stretch.look_at(here);
        assert!(!stretch.goes_round.get(), "the first look has nothing to compare with");
        stretch.look_at(here);
        assert!(stretch.goes_round.get());
        stretch.look_at(there);
        assert!(!stretch.goes_round.get());
        stretch.note_yield();
        assert_eq!((stretch.yields.get(), stretch.stretches.get()), (1, 1));
        stretch.look_at(there);
        assert!(stretch.goes_round.get(), "yielding does not move it");
        stretch.end();
        assert!(!stretch.goes_round.get() && stretch.yields.get() == 0);
    }
}
