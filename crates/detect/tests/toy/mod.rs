//! Small made-up programs: running them, and walking through everything they can do.

#![allow(dead_code)]

pub mod naive;
pub mod space;

use std::collections::BTreeMap;

use threadbare_sched::Rng;
use threadbare_trace::{Event, EventKind, ThreadId};

/// One operation of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// A read or write, plain or atomic: address and size.
    Access(EventKind, u64, u8),
    Lock(u64),
    ReadLock(u64),
    Unlock(u64),
    Create(usize),
    Join(usize),
    Post(u64),
    Wait(u64),
}

/// The operations of each thread, main first. The others begin when they are created.
#[derive(Clone, Debug)]
pub struct Program {
    pub threads: Vec<Vec<Op>>,
    /// How many sites there are; operations share them in turn.
    pub sites: u64,
}

/// What a program may be made of.
#[derive(Clone, Copy)]
pub struct Ingredients {
    pub threads: usize,
    pub ops: u64,
    pub atomics: bool,
    pub read_locks: bool,
    pub semaphores: bool,
    pub mixed_sizes: bool,
    pub sites: u64,
    /// How many locks there are.
    pub locks: u64,
    /// Nobody is joined by a thread that holds a lock.
    pub joins_hold_nothing: bool,
    /// How many of ten operations are about locks.
    pub locking: u64,
}

pub const PLAIN: Ingredients = Ingredients {
    threads: 3,
    ops: 5,
    atomics: false,
    read_locks: false,
    semaphores: false,
    mixed_sizes: false,
    sites: u64::MAX,
    locks: 2,
    joins_hold_nothing: true,
    locking: 5,
};

pub const RICH: Ingredients = Ingredients {
    threads: 3,
    ops: 8,
    atomics: true,
    read_locks: true,
    semaphores: true,
    mixed_sizes: true,
    sites: 5,
    locks: 2,
    joins_hold_nothing: false,
    locking: 4,
};

pub const VARIABLES: [u64; 2] = [0x1000, 0x2000];
pub const LOCKS: [u64; 2] = [0xa000, 0xb000];
const SEMAPHORE: u64 = 0xc000;

impl Program {
    pub fn random(rng: &mut Rng, with: Ingredients) -> Program {
        let count = 2 + rng.below(with.threads as u64 - 1) as usize;
        let mut threads: Vec<Vec<Op>> = (0..count).map(|_| body(rng, with)).collect();
        for child in 1..count {
            // A child is created somewhere in main, and joined somewhere later or not at all.
            let created = rng.below(threads[0].len() as u64 / 2 + 1) as usize;
            threads[0].insert(created, Op::Create(child));
            if rng.below(3) == 0 {
                let joined = created + 1 + rng.below((threads[0].len() - created) as u64) as usize;
                if with.joins_hold_nothing && holds_locks(&threads[0][..joined]) {
                    continue;
                }
                threads[0].insert(joined, Op::Join(child));
            }
        }
        Program { threads, sites: with.sites }
    }

    pub fn site(&self, thread: usize, op: usize) -> u64 {
        let unique = (thread * 100 + op) as u64;
        1 + if self.sites == u64::MAX { unique } else { thread as u64 * 100 + unique % self.sites }
    }
}

fn holds_locks(ops: &[Op]) -> bool {
    let count = |is: fn(&Op) -> bool| ops.iter().filter(|op| is(op)).count();
    count(|op| matches!(op, Op::Lock(_) | Op::ReadLock(_))) > count(|op| matches!(op, Op::Unlock(_)))
}

fn body(rng: &mut Rng, with: Ingredients) -> Vec<Op> {
    let mut ops = Vec::new();
    let mut held: Vec<u64> = Vec::new();
    let length = 1 + rng.below(with.ops);
    while (ops.len() as u64) < length {
        if rng.below(10) < with.locking {
            let lock = LOCKS[rng.below(with.locks) as usize];
            if let Some(place) = held.iter().position(|other| *other == lock) {
                held.remove(place);
                ops.push(Op::Unlock(lock));
            } else {
                held.push(lock);
                let read = with.read_locks && rng.below(2) == 0;
                ops.push(if read { Op::ReadLock(lock) } else { Op::Lock(lock) });
            }
        } else if with.semaphores && rng.below(6) == 0 {
            ops.push(if rng.below(3) == 0 { Op::Wait(SEMAPHORE) } else { Op::Post(SEMAPHORE) });
        } else {
            ops.push(access(rng, with));
        }
    }
    ops.extend(held.into_iter().map(Op::Unlock));
    ops
}

fn access(rng: &mut Rng, with: Ingredients) -> Op {
    use EventKind::*;
    let variable = VARIABLES[rng.below(2) as usize];
    let kinds = [Read, Write, AtomicRead, AtomicWrite, AtomicUpdate];
    let kind = kinds[rng.below(if with.atomics { 5 } else { 2 }) as usize];
    if !with.mixed_sizes {
        return Op::Access(kind, variable, 4);
    }
    let size = [1, 2, 4, 8][rng.below(4) as usize];
    // Atomics keep to one place, for what they hand on is kept by address.
    let offset = if kind as u8 >= AtomicRead as u8 { 0 } else { rng.below(6) };
    Op::Access(kind, variable + offset, size)
}

/// How far each thread is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct State {
    pub next: Vec<usize>,
}

impl Program {
    pub fn start(&self) -> State {
        State { next: vec![0; self.threads.len()] }
    }

    pub fn op(&self, state: &State, thread: usize) -> Option<Op> {
        self.threads[thread].get(state.next[thread]).copied()
    }

    fn done(&self, state: &State) -> impl Iterator<Item = (usize, Op)> {
        let made: Vec<(usize, Op)> = (0..self.threads.len())
            .flat_map(|thread| self.threads[thread][..state.next[thread]].iter().map(move |op| (thread, *op)))
            .collect();
        made.into_iter()
    }

    /// Who holds each lock, and whether alone.
    pub fn holders(&self, state: &State) -> BTreeMap<u64, Vec<(usize, bool)>> {
        let mut holders: BTreeMap<u64, Vec<(usize, bool)>> = BTreeMap::new();
        for (thread, op) in self.done(state) {
            match op {
                Op::Lock(lock) => holders.entry(lock).or_default().push((thread, true)),
                Op::ReadLock(lock) => holders.entry(lock).or_default().push((thread, false)),
                Op::Unlock(lock) => holders.entry(lock).or_default().retain(|(holder, _)| *holder != thread),
                _ => {}
            }
        }
        holders
    }

    pub fn exists(&self, state: &State, thread: usize) -> bool {
        thread == 0 || self.done(state).any(|(_, op)| op == Op::Create(thread))
    }

    pub fn can_go(&self, state: &State, thread: usize) -> bool {
        let Some(op) = self.op(state, thread) else { return false };
        self.exists(state, thread)
            && match op {
                Op::Lock(lock) => self.holders(state).get(&lock).is_none_or(Vec::is_empty),
                Op::ReadLock(lock) => {
                    self.holders(state).get(&lock).is_none_or(|all| all.iter().all(|(_, alone)| !alone))
                }
                Op::Join(child) => {
                    self.exists(state, child) && state.next[child] == self.threads[child].len()
                }
                Op::Wait(semaphore) => {
                    let value = self.done(state).fold(0, |value, (_, op)| match op {
                        Op::Post(other) if other == semaphore => value + 1,
                        Op::Wait(other) if other == semaphore => value - 1,
                        _ => value,
                    });
                    value > 0
                }
                _ => true,
            }
    }

    pub fn enabled(&self, state: &State) -> Vec<usize> {
        (0..self.threads.len()).filter(|thread| self.can_go(state, *thread)).collect()
    }

    pub fn after(&self, state: &State, thread: usize) -> State {
        let mut state = state.clone();
        state.next[thread] += 1;
        state
    }

    pub fn is_done(&self, state: &State) -> bool {
        (0..self.threads.len()).all(|thread| state.next[thread] == self.threads[thread].len())
    }

    /// The event of a thread's next operation.
    pub fn event(&self, state: &State, thread: usize) -> Option<Event> {
        let op = self.op(state, thread)?;
        let (kind, addr, value, size) = match op {
            Op::Access(kind, addr, size) => (kind, addr, 1, size),
            Op::Lock(lock) => (EventKind::Lock, lock, 1, 0),
            Op::ReadLock(lock) => (EventKind::ReadLock, lock, 1, 0),
            Op::Unlock(lock) => (EventKind::Unlock, lock, 0, 0),
            Op::Create(child) => (EventKind::Create, 0, child as u64, 0),
            Op::Join(child) => (EventKind::Join, 0, child as u64, 0),
            Op::Post(semaphore) => (EventKind::SemPost, semaphore, 0, 0),
            Op::Wait(semaphore) => (EventKind::SemWait, semaphore, 0, 0),
        };
        let old = u64::from(kind == EventKind::AtomicUpdate);
        let pc = self.site(thread, state.next[thread]);
        let thread = ThreadId(thread as u16);
        Some(Event { pc, addr, value, old, thread, kind: kind as u8, size, ..Event::default() })
    }

    /// A run under a random schedule; also says whether it came to the end.
    pub fn run(&self, rng: &mut Rng) -> (Vec<Event>, bool) {
        let mut state = self.start();
        let mut events = Vec::new();
        loop {
            let enabled = self.enabled(&state);
            if enabled.is_empty() {
                return (events, self.is_done(&state));
            }
            let thread = enabled[rng.below(enabled.len() as u64) as usize];
            events.extend(self.event(&state, thread));
            state = self.after(&state, thread);
        }
    }
}
