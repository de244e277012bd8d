//! How long a thread that only makes private accesses runs between two steps before it lets others run.

use std::cell::Cell;

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

    /// How many private accesses the thread may make until it is looked at.
    pub fn limit(&self, has_switches_left: bool) -> u32 {
        let may_fit = has_switches_left && self.yields.get() == 0;
        if self.goes_round.get() && !may_fit { STRETCH_OF_A_LOOP } else { STRETCH }
    }

    /// Whether the thread continues nevertheless, because it follows a schedule that says where to yield.
    pub fn is_led(&self, has_switches_left: bool) -> bool {
        let enough = if self.goes_round.get() { REPLAYED_ROUND } else { REPLAYED };
        has_switches_left && self.stretches.get() < enough
    }

    /// Whether the yields in a row are so many that the policy is to know.
    pub fn yields_often(&self) -> bool {
        self.yields.get() >= UNREPORTED_YIELDS
    }

    /// The thread is looked at, in this state.
    pub fn look_at(&self, state: ThreadState) {
        let before = self.state.replace(Some(state));
        self.goes_round.set(self.stretches.get() > 0 && before == Some(state));
        self.stretches.set(self.stretches.get() + 1);
    }

    /// The thread yields.
    pub fn note_yield(&self) {
        self.yields.set(self.yields.get() + 1);
        self.stretches.set(1);
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
