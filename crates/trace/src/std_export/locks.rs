//! Which lock stands for what, and who holds it.

use std::collections::{BTreeMap, HashMap};

use crate::ThreadId;

/// What a lock stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Duty {
    Mutex,
    Reader(ThreadId),
    Atomic,
    Condition,
    Barrier,
    Semaphore,
    Once,
    Futex,
}

impl Duty {
    /// The words of the map.
    fn describe(self, name: &str) -> String {
        match self {
            Duty::Mutex => name.to_string(),
            Duty::Reader(thread) => format!("{name}, as read by {thread}"),
            Duty::Atomic => format!("{name}, atomic accesses"),
            Duty::Condition => format!("{name}, signals"),
            Duty::Barrier => format!("{name}, barrier"),
            Duty::Semaphore => format!("{name}, semaphore"),
            Duty::Once => format!("{name}, once"),
            Duty::Futex => format!("{name}, futex"),
        }
    }
}

/// All locks, counted from 1.
#[derive(Default)]
pub(super) struct Locks {
    numbers: BTreeMap<(u64, Duty), usize>,
    names: Vec<String>,
    holders: HashMap<usize, (ThreadId, usize)>,
}

impl Locks {
    /// The number of a lock, which is given if it has none.
    pub fn number(&mut self, duty: Duty, address: u64, name: &str) -> usize {
        let next = self.names.len() + 1;
        let number = *self.numbers.entry((address, duty)).or_insert(next);
        if number == next {
            self.names.push(duty.describe(name));
        }
        number
    }

    /// Takes note that memory is used for something else from now on.
    pub fn forget(&mut self, start: u64, length: u64) {
        let range = (start, Duty::Mutex)..(start.saturating_add(length.max(1)), Duty::Mutex);
        let inside: Vec<(u64, Duty)> = self.numbers.range(range).map(|(lock, _)| *lock).collect();
        inside.iter().for_each(|lock| {
            self.numbers.remove(lock);
        });
    }

    /// Who holds a lock.
    pub fn holder(&self, duty: Duty, address: u64) -> Option<ThreadId> {
        let number = self.numbers.get(&(address, duty))?;
        self.holders.get(number).map(|(thread, _)| *thread)
    }

    /// Another thread that holds the lock; it does no more.
    pub fn held_by_another(&mut self, lock: usize, thread: ThreadId) -> Option<ThreadId> {
        let holder = self.holders.get(&lock)?.0;
        if holder == thread {
            return None;
        }
        self.holders.remove(&lock);
        Some(holder)
    }

    /// Takes a lock so many levels deep; whether it was free before.
    pub fn acquire(&mut self, lock: usize, thread: ThreadId, depth: usize) -> bool {
        let (_, held) = self.holders.entry(lock).or_insert((thread, 0));
        *held += depth;
        *held == depth
    }

    /// Releases a lock by so many levels: who held it, how deep, and whether it is free now. None
    /// if nobody held it.
    pub fn release(&mut self, lock: usize, levels: usize) -> Option<(ThreadId, usize, bool)> {
        let (holder, depth) = self.holders.get_mut(&lock)?;
        let before = (*holder, *depth);
        *depth = depth.saturating_sub(levels);
        let free = *depth == 0;
        if free {
            self.holders.remove(&lock);
        }
        Some((before.0, before.1, free))
    }

    /// All locks by number, from 1.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}
