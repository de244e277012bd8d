//! Condition variables: a wake-up comes after the signal that it used.

use std::sync::Arc;

use threadbare_trace::ThreadId;

use crate::clocks::VectorClock;

/// Who waits, and which signals have not been used up. A waiter can use any signal that came after its
/// wait began, and uses the oldest of them.
#[derive(Default)]
pub struct Condition {
    now: u64,
    waiters: Vec<(ThreadId, u64)>,
    permits: Vec<(u64, Arc<VectorClock>)>,
}

impl Condition {
    /// A wait begins.
    pub fn wait(&mut self, thread: ThreadId) {
        self.now += 1;
        self.waiters.retain(|(waiter, _)| *waiter != thread);
        self.waiters.push((thread, self.now));
    }

    /// Somebody who knows this signals up to `count` waiters.
    pub fn signal(&mut self, count: usize, clock: &Arc<VectorClock>) {
        self.now += 1;
        let woken = count.min(self.waiters.len().saturating_sub(self.permits.len()));
        self.permits.extend((0..woken).map(|_| (self.now, Arc::clone(clock))));
    }

    /// A wait ends, by a signal or early; a signal that could end it is used up.
    pub fn leave(&mut self, thread: ThreadId) -> Option<Arc<VectorClock>> {
        let place = self.waiters.iter().position(|(waiter, _)| *waiter == thread)?;
        let (_, since) = self.waiters.remove(place);
        let permit = self.permits.iter().position(|(came, _)| *came > since);
        let clock = permit.map(|place| self.permits.remove(place).1);
        // A signal does not outlive the last waiter that could use it.
        let waiters = &self.waiters;
        self.permits.retain(|(came, _)| waiters.iter().any(|(_, since)| came > since));
        clock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiter_uses_the_oldest_signal_that_came_after_it() {
        let clock = |time| {
            let mut clock = VectorClock::default();
            clock.set(ThreadId(0), time);
            Arc::new(clock)
        };
        let mut condition = Condition::default();
        condition.signal(1, &clock(1));
        condition.wait(ThreadId(1));
        condition.wait(ThreadId(2));
        condition.signal(1, &clock(2));
        condition.wait(ThreadId(3));
        condition.signal(usize::MAX, &clock(3));
        assert_eq!(condition.leave(ThreadId(3)), Some(clock(3)));
        assert_eq!(condition.leave(ThreadId(2)), Some(clock(2)));
        assert_eq!(condition.leave(ThreadId(1)), Some(clock(3)));
        assert!(condition.permits.is_empty());
    }
}
