//! Random programs.

use threadbare_sched::Rng;

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

impl Flavour {
    /// Threads that are created and joined, with locks in locks and condition variables.
    pub const NESTED_CREATION: Flavour = Flavour {
        atomics: true,
        locks: true,
        try_locks: false,
        read_locks: false,
        nested: true,
        conditions: true,
        semaphores: false,
        barriers: false,
        creation: true,
        frees: false,
    };
}

pub const X: u64 = 0x1000;
const LOCK: u64 = 0x2000;
const CONDITION: u64 = 0x3000;
const SEMAPHORE: u64 = 0x4000;
const BARRIER: u64 = 0x5000;

pub struct Program {
    pub threads: Vec<Vec<Op>>,
    pub tokens: u64,
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
