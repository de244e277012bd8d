//! Random executions of random programs.

use std::collections::{BTreeMap, BTreeSet};

use threadbare_sched::Rng;
use threadbare_trace::{Event, EventKind, ThreadId};

use super::program::{Op, Program};

#[derive(Default)]
struct Condition {
    now: u64,
    waiters: Vec<(usize, u64)>,
    permits: Vec<u64>,
}

/// Runs a program at random.
struct Run<'a> {
    program: &'a Program,
    next: Vec<usize>,
    alive: Vec<bool>,
    ops: Vec<u32>,
    registers: Vec<u64>,
    memory: BTreeMap<u64, u64>,
    owner: BTreeMap<u64, usize>,
    readers: BTreeMap<u64, Vec<usize>>,
    condition: Condition,
    /// Who has begun to wait and has not been woken.
    waiting: BTreeSet<usize>,
    tokens: u64,
    arrived: BTreeSet<usize>,
    round: u64,
    events: Vec<Event>,
}

/// The trace of one random execution. It ends early if no thread is enabled.
pub fn trace(program: &Program, rng: &mut Rng) -> Vec<Event> {
    let count = program.threads.len();
    let created = |thread: usize| program.threads.iter().flatten().any(|op| *op == Op::Create(thread as u16));
    let mut run = Run {
        program,
        next: vec![0; count],
        alive: (0..count).map(|thread| !created(thread)).collect(),
        ops: vec![0; count],
        registers: vec![0; count],
        memory: BTreeMap::new(),
        owner: BTreeMap::new(),
        readers: BTreeMap::new(),
        condition: Condition::default(),
        waiting: BTreeSet::new(),
        tokens: program.tokens,
        arrived: BTreeSet::new(),
        round: 0,
        events: Vec::new(),
    };
    loop {
        let ready: Vec<usize> = (0..count).filter(|thread| run.can_go(*thread)).collect();
        if ready.is_empty() {
            return run.events;
        }
        run.go(ready[rng.below(ready.len() as u64) as usize]);
    }
}

impl Run<'_> {
    fn op(&self, thread: usize) -> Option<Op> {
        self.program.threads[thread].get(self.next[thread]).copied()
    }

    fn is_free(&self, lock: u64, shared: bool) -> bool {
        !self.owner.contains_key(&lock) && (shared || self.readers.get(&lock).is_none_or(Vec::is_empty))
    }

    fn can_go(&self, thread: usize) -> bool {
        let Some(op) = self.op(thread) else { return false };
        if !self.alive[thread] {
            return false;
        }
        match op {
            Op::Lock(lock) => self.is_free(lock, false),
            Op::ReadLock(lock) => self.is_free(lock, true),
            Op::Wait(_, lock) if self.waiting.contains(&thread) => {
                let waiter = self.condition.waiters.iter().find(|(waiter, _)| *waiter == thread);
                let came = waiter.map_or(0, |(_, came)| *came);
                self.is_free(lock, false) && self.condition.permits.iter().any(|permit| *permit > came)
            }
            Op::Take(_) => self.tokens > 0,
            Op::Meet(_) if self.arrived.contains(&thread) => false,
            Op::Meet(_) if self.waiting.contains(&thread) => true,
            Op::Join(other) => self.op(other as usize).is_none(),
            // Whoever comes later would crash, and the trace would end there.
            Op::Free(_) => (1..self.next.len()).all(|other| self.op(other).is_none()),
            _ => true,
        }
    }

    fn push(&mut self, thread: usize, kind: EventKind, addr: u64, value: u64, old: u64) {
        let size = if kind.accesses_memory() && kind != EventKind::Free { 8 } else { 0 };
        self.events.push(Event {
            pc: 100 * thread as u64 + self.next[thread] as u64,
            addr,
            value,
            old,
            op: self.ops[thread],
            thread: ThreadId(thread as u16),
            kind: kind as u8,
            size,
            ..Event::default()
        });
    }

    fn go(&mut self, thread: usize) {
        let Some(op) = self.op(thread) else { return };
        if self.ops[thread] == 0 && thread > 0 {
            self.push(thread, EventKind::Start, 0, 0, 0);
        }
        self.ops[thread] += 1;
        let is_through = self.make(thread, op);
        if is_through {
            self.next[thread] += 1;
            if self.op(thread).is_none() {
                self.next[thread] -= 1;
                self.push(thread, EventKind::Exit, 0, 0, 0);
                self.next[thread] += 1;
            }
        }
    }

    /// Makes an operation, or the first half of one; says whether it is done.
    fn make(&mut self, thread: usize, op: Op) -> bool {
        use EventKind as K;
        match op {
            Op::Read(x) => {
                let value = *self.memory.entry(x).or_default();
                self.registers[thread] = value;
                self.push(thread, K::Read, x, value, value);
            }
            Op::Write(x, value) => self.write(thread, K::Write, x, value),
            Op::Bump(x) => self.write(thread, K::Write, x, self.registers[thread] + 1),
            Op::Add(x) => {
                let value = self.memory.get(&x).copied().unwrap_or(0) + 1;
                self.write(thread, K::AtomicUpdate, x, value);
            }
            Op::Swap(x, expected, new) => {
                let found = self.memory.get(&x).copied().unwrap_or(0);
                if found == expected {
                    self.write(thread, K::AtomicUpdate, x, new);
                } else {
                    self.push(thread, K::AtomicFailed, x, found, found);
                }
            }
            Op::TryLock(lock) if !self.is_free(lock, false) => {
                self.push(thread, K::LockFailed, lock, 0, 0);
                // What it would have done inside is left out.
                while self.op(thread) != Some(Op::Unlock(lock)) {
                    self.next[thread] += 1;
                }
            }
            Op::Lock(lock) | Op::TryLock(lock) => {
                self.owner.insert(lock, thread);
                self.push(thread, K::Lock, lock, 1, u64::from(op == Op::TryLock(lock)));
            }
            Op::ReadLock(lock) => {
                self.readers.entry(lock).or_default().push(thread);
                self.push(thread, K::ReadLock, lock, 1, 0);
            }
            Op::Unlock(lock) => {
                if self.owner.get(&lock) == Some(&thread) {
                    self.owner.remove(&lock);
                } else if let Some(readers) = self.readers.get_mut(&lock) {
                    readers.retain(|reader| *reader != thread);
                }
                self.push(thread, K::Unlock, lock, 0, 0);
            }
            Op::Wait(condition, lock) => return self.wait(thread, condition, lock),
            Op::Signal(condition) | Op::Broadcast(condition) => {
                let unserved = self.condition.waiters.len() - self.condition.permits.len();
                let all = op == Op::Broadcast(condition);
                self.condition.now += 1;
                let woken = if all { unserved } else { unserved.min(1) };
                let now = self.condition.now;
                self.condition.permits.extend(std::iter::repeat_n(now, woken));
                let kind = if all { K::CondBroadcast } else { K::CondSignal };
                self.push(thread, kind, condition, unserved as u64, 0);
            }
            Op::Take(semaphore) => {
                self.tokens -= 1;
                self.push(thread, K::SemWait, semaphore, self.tokens, 0);
            }
            Op::Post(semaphore) => {
                self.tokens += 1;
                self.push(thread, K::SemPost, semaphore, self.tokens, 0);
            }
            Op::Meet(barrier) => return self.meet(thread, barrier),
            Op::Create(child) => {
                self.alive[child as usize] = true;
                self.push(thread, K::Create, 0, u64::from(child), 0);
            }
            Op::Join(other) => self.push(thread, K::Join, 0, u64::from(other), 0),
            Op::Free(x) => self.push(thread, K::Free, x, 8, 0),
        }
        true
    }

    fn write(&mut self, thread: usize, kind: EventKind, x: u64, value: u64) {
        let old = self.memory.insert(x, value).unwrap_or(0);
        self.push(thread, kind, x, value, old);
    }

    fn wait(&mut self, thread: usize, condition: u64, lock: u64) -> bool {
        let queue = &mut self.condition;
        if self.waiting.insert(thread) {
            queue.now += 1;
            queue.waiters.push((thread, queue.now));
            self.owner.remove(&lock);
            self.push(thread, EventKind::CondWait, condition, lock, 0);
            return false;
        }
        self.waiting.remove(&thread);
        if let Some(place) = queue.waiters.iter().position(|(waiter, _)| *waiter == thread) {
            let (_, came) = queue.waiters.remove(place);
            if let Some(permit) = queue.permits.iter().position(|permit| *permit > came) {
                queue.permits.remove(permit);
            }
            let waiters = &queue.waiters;
            queue.permits.retain(|permit| waiters.iter().any(|(_, came)| permit > came));
        }
        self.owner.insert(lock, thread);
        self.push(thread, EventKind::CondWake, condition, lock, 0);
        true
    }

    fn meet(&mut self, thread: usize, barrier: u64) -> bool {
        if self.waiting.remove(&thread) {
            self.push(thread, EventKind::BarrierLeave, barrier, self.round, 0);
            return true;
        }
        self.arrived.insert(thread);
        self.push(thread, EventKind::BarrierArrive, barrier, self.arrived.len() as u64, 0);
        if self.arrived.len() < self.program.threads.len() {
            return false;
        }
        self.round += 1;
        self.arrived.remove(&thread);
        self.waiting.extend(std::mem::take(&mut self.arrived));
        self.push(thread, EventKind::BarrierLeave, barrier, self.round, 0);
        true
    }
}
