//! Vector clocks, epochs and the adaptive representation between the two.

use std::sync::Arc;

use threadbare_trace::ThreadId;

/// One moment of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Epoch {
    /// The thread.
    pub thread: ThreadId,
    /// Its own time, which advances when others can learn of it.
    pub time: u32,
}

/// For each thread the latest moment that is known here. The entry of a thread that is not mentioned is 0.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct VectorClock {
    times: Vec<u32>,
}

impl VectorClock {
    /// The latest known time of a thread.
    #[inline]
    pub fn get(&self, thread: ThreadId) -> u32 {
        self.times.get(thread.index()).copied().unwrap_or(0)
    }

    /// Sets a thread's time.
    pub fn set(&mut self, thread: ThreadId, time: u32) {
        if self.times.len() <= thread.index() {
            self.times.resize(thread.index() + 1, 0);
        }
        self.times[thread.index()] = time;
    }

    /// Learns what the other clock knows.
    pub fn join(&mut self, other: &VectorClock) {
        if self.times.len() < other.times.len() {
            self.times.resize(other.times.len(), 0);
        }
        for (mine, theirs) in self.times.iter_mut().zip(&other.times) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Keeps only what the other clock knows too.
    pub fn meet(&mut self, other: &VectorClock) {
        self.times.truncate(other.times.len());
        for (mine, theirs) in self.times.iter_mut().zip(&other.times) {
            *mine = (*mine).min(*theirs);
        }
    }

    /// Whether the moment is known here, that is, came before.
    #[inline]
    pub fn covers(&self, epoch: Epoch) -> bool {
        epoch.time <= self.get(epoch.thread)
    }

    /// Whether all that the other clock knows is known here.
    pub fn covers_all(&self, other: &VectorClock) -> bool {
        other
            .times
            .iter()
            .enumerate()
            .all(|(index, time)| *time <= self.times.get(index).copied().unwrap_or(0))
    }

    /// Whether the clocks know the same of all threads but this one.
    pub fn differs_only_in(&self, thread: ThreadId, other: &VectorClock) -> bool {
        (0..self.times.len().max(other.times.len()))
            .filter(|index| *index != thread.index())
            .all(|index| self.times.get(index).unwrap_or(&0) == other.times.get(index).unwrap_or(&0))
    }

    /// Forgets everything but keeps the memory.
    pub fn clear(&mut self) {
        self.times.clear();
    }

    /// Becomes a copy of the other clock.
    pub fn copy_from(&mut self, other: &VectorClock) {
        self.times.clear();
        self.times.extend_from_slice(&other.times);
    }
}

/// A moment with all that was known then, so that any two can be compared.
#[derive(Clone, Debug)]
pub struct Stamp {
    /// The moment.
    pub epoch: Epoch,
    /// What its thread knew. Shared by all steps between two synchronizations.
    pub clock: Arc<VectorClock>,
}

impl Stamp {
    /// Whether this moment came before the other (or is of the same thread and not after it).
    #[inline]
    pub fn precedes(&self, other: &Stamp) -> bool {
        other.clock.covers(self.epoch)
    }

    /// Whether neither came before the other.
    pub fn is_concurrent_with(&self, other: &Stamp) -> bool {
        !self.precedes(other) && !other.precedes(self)
    }
}

/// The latest moments of a set of accesses. While each came after all the ones before it, which
/// is the usual case, the last one speaks for all (the idea of FastTrack).
#[derive(Clone, Default, Debug)]
pub enum Frontier {
    /// No access.
    #[default]
    Empty,
    /// The last access came after all others.
    One(Epoch),
    /// Accesses that are not ordered among each other: the latest of each thread.
    Many(Box<VectorClock>),
}

impl Frontier {
    /// Whether all the accesses came before the moment that knows this clock.
    #[inline]
    pub fn is_covered_by(&self, clock: &VectorClock) -> bool {
        match self {
            Frontier::Empty => true,
            Frontier::One(epoch) => clock.covers(*epoch),
            Frontier::Many(latest) => clock.covers_all(latest),
        }
    }

    /// Adds an access.
    #[inline]
    pub fn push(&mut self, epoch: Epoch, clock: &VectorClock) {
        if self.is_covered_by(clock) {
            *self = Frontier::One(epoch);
            return;
        }
        match self {
            Frontier::Empty => {}
            Frontier::One(other) => {
                let mut latest = VectorClock::default();
                latest.set(other.thread, other.time);
                latest.set(epoch.thread, epoch.time);
                *self = Frontier::Many(Box::new(latest));
            }
            Frontier::Many(latest) => latest.set(epoch.thread, epoch.time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(times: &[u32]) -> VectorClock {
        VectorClock { times: times.to_vec() }
    }

    fn epoch(thread: u16, time: u32) -> Epoch {
        Epoch { thread: ThreadId(thread), time }
    }

    #[test]
    fn joining_keeps_the_later_time_of_each_thread() {
        let mut a = clock(&[3, 1]);
        a.join(&clock(&[2, 5, 1]));
        assert_eq!(a, clock(&[3, 5, 1]));
        assert!(a.covers(epoch(1, 5)) && !a.covers(epoch(2, 2)) && !a.covers(epoch(9, 1)));
    }

    #[test]
    fn a_frontier_stays_small_while_accesses_are_ordered_and_shrinks_again() {
        let mut frontier = Frontier::default();
        frontier.push(epoch(0, 1), &clock(&[1]));
        frontier.push(epoch(1, 1), &clock(&[1, 1]));
        assert!(matches!(frontier, Frontier::One(_)));
        frontier.push(epoch(2, 1), &clock(&[1, 0, 1]));
        assert!(matches!(frontier, Frontier::Many(_)));
        assert!(!frontier.is_covered_by(&clock(&[1, 1, 0])));
        frontier.push(epoch(0, 2), &clock(&[2, 1, 1]));
        assert!(matches!(frontier, Frontier::One(_)));
    }
}
