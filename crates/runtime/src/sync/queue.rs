//! Waiters and wake-ups without an order of their own.
//!
//! A signal wakes *some* waiter that was there when it came. Which one is left open until one of
//! them is chosen to run: the choice of thread is then the choice of waiter, and no second kind
//! of nondeterminism is needed.

use threadbare_trace::ThreadId;

use crate::thread_state_hash::mix;

/// Who waits, and how many may go.
#[derive(Default)]
pub struct Queue {
    now: u64,
    /// When each waiter came, and which wake-ups it listens to.
    waiters: Vec<(u64, u32)>,
    /// Who they are, in the same order.
    threads: Vec<ThreadId>,
    /// When each unused wake-up came, and whom it addresses.
    permits: Vec<(u64, u32)>,
}

/// Everybody's wake-ups.
pub const ANY: u32 = u32::MAX;

impl Queue {
    /// A thread joins the waiters; the ticket identifies the wait.
    pub fn join(&mut self, thread: ThreadId, mask: u32) -> u64 {
        self.now += 1;
        self.waiters.push((self.now, mask));
        self.threads.push(thread);
        self.now
    }

    /// One number for all that decides what can happen next: the wake-ups, and who came before which. In which order waiters came
    /// that no wake-up lies between does not matter. 0 if nobody waits.
    pub fn state(&self) -> u64 {
        let waiters = self.waiters.iter().zip(&self.threads).map(|((ticket, mask), thread)| {
            let before = self.permits.iter().filter(|(came, _)| came < ticket).count() as u64;
            mix(mix(u64::from(thread.0) + 1, before), u64::from(*mask))
        });
        let waiters = waiters.fold(0, u64::wrapping_add);
        self.permits.iter().fold(waiters, |sum, (_, mask)| mix(sum, u64::from(*mask)))
    }

    /// How many wait and have not been woken.
    pub fn waiting(&self) -> usize {
        self.waiters.len() - self.permits.len()
    }

    /// Wakes up to `count` waiters; returns how many.
    pub fn wake(&mut self, count: usize, mask: u32) -> usize {
        self.now += 1;
        let listening = self.waiters.iter().filter(|(_, listens)| listens & mask != 0).count();
        let served = self.permits.iter().filter(|(_, addressed)| addressed & mask != 0).count();
        let woken = count.min(listening.saturating_sub(served));
        self.permits.extend(std::iter::repeat_n((self.now, mask), woken));
        woken
    }

    /// Whether a wake-up can be used by the waiter with this ticket.
    pub fn is_woken(&self, ticket: u64) -> bool {
        self.permit_for(ticket).is_some()
    }

    fn permit_for(&self, ticket: u64) -> Option<usize> {
        let (_, mask) = self.waiters.iter().find(|(waiter, _)| *waiter == ticket)?;
        // The oldest usable one, so that those who came later keep the younger ones.
        self.permits.iter().position(|(came, addressed)| *came > ticket && addressed & mask != 0)
    }

    /// Leaves the waiters; says whether a wake-up was used.
    pub fn leave(&mut self, ticket: u64) -> bool {
        let permit = self.permit_for(ticket).map(|index| self.permits.remove(index)).is_some();
        if let Some(place) = self.waiters.iter().position(|(waiter, _)| *waiter == ticket) {
            self.waiters.remove(place);
            self.threads.remove(place);
        }
        // A wake-up never outlives the last waiter that could use it.
        let waiters = &self.waiters;
        self.permits.retain(|(came, mask)| waiters.iter().any(|(w, m)| came > w && m & mask != 0));
        permit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ThreadId = ThreadId(1);
    const B: ThreadId = ThreadId(2);

    #[test]
    fn a_wake_up_is_for_those_who_were_there() {
        let mut queue = Queue::default();
        let early = queue.join(A, ANY);
        assert_eq!(queue.wake(1, ANY), 1);
        let late = queue.join(A, ANY);
        assert!(queue.is_woken(early) && !queue.is_woken(late));
        assert!(!queue.leave(late));
        assert!(queue.leave(early));
        assert_eq!(queue.waiting(), 0);
    }

    #[test]
    fn any_of_the_waiters_may_use_a_wake_up_and_only_one_does() {
        let mut queue = Queue::default();
        let (first, second) = (queue.join(A, ANY), queue.join(B, ANY));
        assert_eq!(queue.wake(1, ANY), 1);
        assert!(queue.is_woken(first) && queue.is_woken(second));
        assert!(queue.leave(second));
        assert!(!queue.is_woken(first));
    }

    #[test]
    fn nobody_is_woken_twice_and_nothing_is_kept_for_later() {
        let mut queue = Queue::default();
        assert_eq!(queue.wake(5, ANY), 0);
        let waiter = queue.join(A, ANY);
        assert!(!queue.is_woken(waiter));
        assert_eq!((queue.wake(5, ANY), queue.wake(5, ANY)), (1, 0));
    }

    #[test]
    fn a_wake_up_goes_to_those_who_listen() {
        let mut queue = Queue::default();
        let (odd, even) = (queue.join(A, 1), queue.join(B, 2));
        assert_eq!(queue.wake(usize::MAX, 2), 1);
        assert!(!queue.is_woken(odd) && queue.is_woken(even));
    }

    #[test]
    fn who_leaves_by_time_takes_a_wake_up_along_that_nobody_else_can_use() {
        let mut queue = Queue::default();
        let first = queue.join(A, ANY);
        queue.wake(1, ANY);
        let second = queue.join(A, ANY);
        queue.leave(first);
        assert!(!queue.is_woken(second));
        assert_eq!(queue.waiting(), 1);
    }

    #[test]
    fn the_order_of_waiters_matters_only_where_a_wake_up_lies_between() {
        let after = |steps: &[Option<ThreadId>]| {
            let mut queue = Queue::default();
            for step in steps {
                match step {
                    Some(thread) => drop(queue.join(*thread, ANY)),
                    None => drop(queue.wake(1, ANY)),
                }
            }
            queue.state()
        };
        let (a, b, wake) = (Some(A), Some(B), None);
        assert_eq!(after(&[a, b]), after(&[b, a]));
        assert_eq!(after(&[a, b, wake]), after(&[b, a, wake]));
        assert_ne!(after(&[a, wake, b]), after(&[b, wake, a]));
        assert_ne!(after(&[a, wake, b]), after(&[a, b, wake]));
        assert_ne!(after(&[a]), after(&[b]));
        let mut queue = Queue::default();
        let ticket = queue.join(A, ANY);
        queue.wake(1, ANY);
        queue.leave(ticket);
        assert_eq!(queue.state(), 0, "nobody waits");
    }
}
