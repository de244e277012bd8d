//! No runnable thread is starved, whatever the policy prefers.
//!
//! A thread that goes round in a loop until another one has done something must give way to it, or the loop never ends. After
//! "Fair Stateless Model Checking" (Musuvathi and Qadeer, PLDI 2008) a thread that shows that it waits (it yields, it sleeps, it
//! fails to take something, it reads again what it has read) gives way to all that are runnable until something
//! has changed. But a loop may change something each time round (a queue counts who looks into it, a lock its waiters), and then nothing
//! shows. So besides, a thread that has been runnable for long without being scheduled gets a turn as long as it has waited. What counts as
//! long grows with the execution, so that a thread can still be held back for a good part of it: some bugs want that.

use std::cell::Cell;

use threadbare_trace::ThreadId;

/// Steps of other threads for which a runnable thread is held back at least, if the policy wants to. Waits of loops in real programs end
/// after some hundred steps, and bugs that want a thread to be held back are found in the subjects with a few hundred.
const PATIENCE: u64 = 10_000;

/// And the part of the execution so far.
const PART: u64 = 4;

/// How many steps of others one step of its own makes up for: a thread that gets a smaller share is starved, if slowly.
const SHARE: u64 = 16;

/// How long a thread has been runnable without being scheduled.
#[derive(Default)]
pub struct Waiting {
    /// The step since which it has, with what its own steps make up for.
    since: Cell<u64>,
}

impl Waiting {
    /// The execution begins, or the thread has had its turn.
    #[inline(always)]
    pub fn begin(&self, step: u64) {
        self.since.set(step);
    }

    /// So many steps were made while it was not runnable. They do not count, but what it has waited before does.
    #[inline(always)]
    pub fn pause(&self, steps: u64) {
        self.since.set(self.since.get() + steps);
    }

    /// The thread makes a step.
    #[inline(always)]
    pub fn end(&self, step: u64) {
        self.since.set((self.since.get() + SHARE).min(step));
    }

    /// The first step at which it can have waited for too long.
    pub fn ends_at_the_earliest(&self) -> u64 {
        let since = self.since.get();
        since + PATIENCE.max(since / (PART - 1)) + 1
    }

    /// How many steps others have made meanwhile, if those are too many.
    pub fn too_long(&self, step: u64) -> Option<u64> {
        let waited = step.saturating_sub(self.since.get());
        (waited > PATIENCE && waited > step / PART).then_some(waited)
    }
}

/// A turn of a thread that was starved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The thread.
    pub thread: ThreadId,
    /// The step at which it ends, unless the thread gives way or cannot continue.
    pub until: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_waits_as_long_as_others_make_steps_and_longer_late_in_an_execution() {
        let waiting = Waiting::default();
        waiting.begin(5);
        assert_eq!(waiting.too_long(PATIENCE + 5), None);
        assert_eq!(waiting.too_long(PATIENCE + 6), Some(PATIENCE + 1));
        waiting.begin(1_000_000);
        assert_eq!(waiting.too_long(1_300_000), None);
        assert_eq!(waiting.too_long(1_400_000), Some(400_000));
    }

    #[test]
    fn nobody_waits_too_long_before_it_is_said() {
        let waiting = Waiting::default();
        for since in (0..200_000).step_by(977) {
            waiting.begin(since);
            let first = waiting.ends_at_the_earliest();
            assert_eq!((waiting.too_long(first - 1), waiting.too_long(first).is_some()), (None, true));
        }
    }

    #[test]
    fn a_step_now_and_then_is_not_enough() {
        let waiting = Waiting::default();
        for round in 1..=100 {
            waiting.end(round * 1_000);
        }
        assert!(waiting.too_long(100_000).is_some(), "one of a thousand steps");
        waiting.begin(0);
        for round in 1..=10_000 {
            waiting.end(round * 10);
        }
        assert_eq!(waiting.too_long(100_000), None, "one of ten");
    }
}
