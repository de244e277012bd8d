//! Random programs and random executions of them.

use std::collections::{BTreeMap, BTreeSet};

use threadbare_sched::Rng;
use threadbare_trace::{Event, EventKind, ThreadId};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Read(u64),
    Write(u64, u64),
    /// Writes the last value read, plus one.
    Bump(u64),
    Add(u64),
    Swap(u64, u64, u64),
    Lock(u64),
    TryLock(u64),
    Unlock(u64),
    ReadLock(u64),
    Wait(u64, u64),
    Signal(u64),
    Broadcast(u64),
    Take(u64),
    Post(u64),
    Meet(u64),
    Create(u16),
    Join(u16),
    Free(u64),
}

/// What may occur in a program.
#[derive(Clone, Copy, Default)]
pub struct Flavour {
    pub atomics: bool,
    pub locks: bool,
    pub try_locks: bool,
    pub read_locks: bool,
    pub nested: bool,
    pub conditions: bool,
    pub semaphores: bool,
    pub barriers: bool,
    pub creation: bool,
    pub frees: bool,
}

pub const X: u64 = 0x1000;
const LOCK: u64 = 0x2000;
const CONDITION: u64 = 0x3000;
const SEMAPHORE: u64 = 0x4000;
const BARRIER: u64 = 0x5000;

pub struct Program {
    pub threads: Vec<Vec<Op>>,
    tokens: u64,
}

impl Program {
    pub fn random(rng: &mut Rng, flavour: Flavour, threads: usize, length: usize) -> Program {
        let variables = 1 + rng.below(3);
        let mut lists: Vec<Vec<Op>> = Vec::new();
        for _ in 0..threads {
            let mut ops = Vec::new();
            while ops.len() < length {
                some_ops(rng, flavour, variables, &mut ops);
            }
            lists.push(ops);
        }
        if flavour.barriers {
            for ops in &mut lists {
                let place = rng.below(ops.len() as u64 + 1) as usize;
                // Not while a lock is held: nobody would get there.
                if held_at(ops, place) == 0 {
                    ops.insert(place, Op::Meet(BARRIER));
                } else {
                    ops.push(Op::Meet(BARRIER));
                }
            }
        }
        if flavour.frees {
            lists[0].push(Op::Free(X));
        }
        if flavour.creation {
            let mut created = 0;
            for child in 1..threads {
                created = create_and_join(rng, created, child, &mut lists);
            }
        }
        Program { threads: lists, tokens: rng.below(2) }
    }
}

/// Lets the first thread create another one, not before this place, and sometimes it or a later one join it. Says where
/// the next one may be created.
fn create_and_join(rng: &mut Rng, least: usize, child: usize, lists: &mut [Vec<Op>]) -> usize {
    let created = some_place(rng, least, &lists[0]);
    lists[0].insert(created, Op::Create(child as u16));
    match rng.below(4) {
        0 => lists[0].extend([Op::Join(child as u16), Op::Read(X)]),
        1 => {
            let place = some_place(rng, created + 1, &lists[0]);
            lists[0].insert(place, Op::Join(child as u16));
        }
        2 if child + 1 < lists.len() => {
            let place = some_place(rng, 0, &lists[child + 1]);
            lists[child + 1].insert(place, Op::Join(child as u16));
        }
        _ => {}
    }
    created + 1
}

/// A place from `least` on at which a thread always comes by: not where it is only if it got a lock that it tried.
fn some_place(rng: &mut Rng, least: usize, ops: &[Op]) -> usize {
    let mut place = least + rng.below((ops.len() - least) as u64 + 1) as usize;
    let is_tried = |place: usize| {
        let begin = ops[..place].iter().rposition(|op| matches!(op, Op::TryLock(_)));
        begin.is_some_and(|begin| !ops[begin..place].iter().any(|op| matches!(op, Op::Unlock(_))))
    };
    while is_tried(place) {
        place += 1;
    }
    place
}

fn held_at(ops: &[Op], place: usize) -> i32 {
    let change = |op: &Op| match op {
        Op::Lock(_) | Op::ReadLock(_) | Op::TryLock(_) => 1,
        Op::Unlock(_) => -1,
        _ => 0,
    };
    ops[..place].iter().map(change).sum()
}

fn access(rng: &mut Rng, flavour: Flavour, variables: u64) -> Op {
    let x = X + 8 * rng.below(variables);
    match rng.below(if flavour.atomics { 6 } else { 4 }) {
        0 | 1 => Op::Read(x),
        2 => Op::Write(x, rng.below(3)),
        3 => Op::Bump(x),
        4 => Op::Add(x),
        _ => Op::Swap(x, rng.below(2), 1 + rng.below(2)),
    }
}

fn some_ops(rng: &mut Rng, flavour: Flavour, variables: u64, ops: &mut Vec<Op>) {
    let lock = LOCK + 64 * rng.below(2);
    match rng.below(10) {
        0 | 1 if flavour.nested => {
            let other = LOCK + (LOCK + 64 - lock);
            ops.extend([Op::Lock(lock), Op::Lock(other), Op::Unlock(other), Op::Unlock(lock)]);
        }
        0 | 1 if flavour.locks => {
            let begin = match rng.below(4) {
                0 if flavour.try_locks => Op::TryLock(lock),
                1 | 2 if flavour.read_locks => Op::ReadLock(lock),
                _ => Op::Lock(lock),
            };
            ops.push(begin);
            for _ in 0..1 + rng.below(2) {
                ops.push(access(rng, flavour, variables));
            }
            ops.push(Op::Unlock(lock));
        }
        2 if flavour.conditions => {
            ops.extend([Op::Lock(LOCK), Op::Wait(CONDITION, LOCK), Op::Unlock(LOCK)]);
        }
        3 | 4 if flavour.conditions => {
            ops.push(if rng.below(3) == 0 { Op::Broadcast(CONDITION) } else { Op::Signal(CONDITION) });
        }
        5 if flavour.semaphores => ops.push(Op::Take(SEMAPHORE)),
        6 | 7 if flavour.semaphores => ops.push(Op::Post(SEMAPHORE)),
        _ => ops.push(access(rng, flavour, variables)),
    }
}

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

/// The trace of one random execution. It ends early if nobody can go on.
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
