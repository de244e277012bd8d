//! A tiny machine that runs made-up programs under a policy.
//!
//! It knows reads, writes, locks and thread creation, makes scheduling points where the runtime
//! would (synchronization, and memory known to be shared), and learns sharing as it goes. Tests
//! of policies and strategies run it instead of a process.

use std::collections::{BTreeMap, BTreeSet};

use threadbare_trace::{EventKind, ThreadId};

use crate::{AnyPolicy, Candidate, Choice, Op, Policy, SwitchPoint};

/// One step of a toy thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToyStep {
    /// Loads the location into the thread's register.
    Read(u64),
    /// Stores the register plus one.
    Write(u64),
    /// Takes a lock.
    Lock(u64),
    /// Releases a lock.
    Unlock(u64),
    /// Creates a thread; those that nobody creates exist from the start.
    Create(u16),
    /// Waits until a thread has made all its steps.
    Join(u16),
    /// Stores this value.
    Store(u64, u64),
    /// Goes on so many steps later if the register holds this value. No operation, as the next two.
    SkipIf(u64, usize),
    /// Goes back so many steps if the register holds this value.
    BackIf(u64, usize),
    /// The program fails.
    Fail,
}

/// A toy program: the steps of each thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Toy {
    /// The steps, by thread.
    pub threads: Vec<Vec<ToyStep>>,
}

impl Toy {
    /// The place of a step, counted from 0, in the code that all threads share.
    pub const fn place(step: usize) -> u64 {
        step as u64 + 1
    }

    /// The code address of a thread's step, counted from 0.
    pub const fn site(thread: usize, step: usize) -> u64 {
        (thread as u64 + 1) << 32 | (step as u64 + 1)
    }
}

/// One decision of a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The threads that were runnable, a bit each.
    pub enabled: u64,
    /// Who went.
    pub chosen: ThreadId,
    /// Who had run before.
    pub current: ThreadId,
    /// How many steps had been made.
    pub step: usize,
}

/// One run of a toy program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Walk {
    /// Who made each step.
    pub order: Vec<ThreadId>,
    /// The steps that were made, in order.
    pub ops: Vec<Op>,
    /// What each step read or left behind, and what was there before; for a thread's creation, its number.
    pub effects: Vec<(u64, u64)>,
    /// Whether each step was its thread's last.
    pub was_last: Vec<bool>,
    /// The thread that failed.
    pub failed: Option<ThreadId>,
    /// The decisions.
    pub decisions: Vec<Decision>,
    /// The switches.
    pub switches: Vec<SwitchPoint>,
    /// The final memory.
    pub memory: BTreeMap<u64, u64>,
    /// Locations found to be shared that were not known before.
    pub discovered: BTreeSet<u64>,
    /// Nobody was runnable, but not everybody was done.
    pub deadlock: bool,
}

impl Walk {
    /// The order as a text such as `0121`, for counting orders.
    pub fn word(&self) -> String {
        self.order.iter().map(|thread| char::from(b'0' + thread.0 as u8)).collect()
    }
}

struct Machine<'a> {
    toy: &'a Toy,
    next: Vec<usize>,
    /// Operations made, by thread.
    made: Vec<u32>,
    /// How often memory has changed.
    changes: u64,
    /// How often a thread went back without a change since then.
    spins: Vec<(u32, u64)>,
    alive: Vec<bool>,
    registers: Vec<u64>,
    held: BTreeSet<u64>,
    owners: BTreeMap<u64, usize>,
    shared: BTreeSet<u64>,
    walk: Walk,
}

impl Toy {
    /// Runs the program; `shared` are the locations known to be shared.
    pub fn run(&self, policy: &mut AnyPolicy, shared: &BTreeSet<u64>) -> Walk {
        let count = self.threads.len();
        let created = self.threads.iter().flatten();
        let created: BTreeSet<usize> = created
            .filter_map(|step| if let ToyStep::Create(t) = step { Some(*t as usize) } else { None })
            .collect();
        let mut machine = Machine {
            toy: self,
            next: vec![0; count],
            made: vec![0; count],
            changes: 0,
            spins: vec![(0, 0); count],
            alive: (0..count).map(|thread| !created.contains(&thread)).collect(),
            registers: vec![0; count],
            held: BTreeSet::new(),
            owners: BTreeMap::new(),
            shared: shared.clone(),
            walk: Walk::default(),
        };
        (0..count).for_each(|thread| machine.settle(thread));
        machine.go(policy);
        machine.walk
    }

    /// All locations in the program.
    pub fn locations(&self) -> BTreeSet<u64> {
        let steps = self.threads.iter().flatten();
        steps
            .filter_map(|step| match step {
                ToyStep::Read(x) | ToyStep::Write(x) | ToyStep::Store(x, _) => Some(*x),
                _ => None,
            })
            .collect()
    }
}

impl Machine<'_> {
    /// How often a thread spins before it waits for a change.
    const PATIENCE: u32 = 16;

    fn go(&mut self, policy: &mut AnyPolicy) {
        let mut current = ThreadId::MAIN;
        while self.walk.failed.is_none() {
            let ready = self.ready();
            let candidates: Vec<Candidate<'_>> =
                ready.iter().map(|(thread, op)| Candidate { thread: *thread, op }).collect();
            if candidates.is_empty() {
                self.walk.deadlock = (0..self.next.len()).any(|t| self.step(t).is_some());
                return;
            }
            let thread = self.pick(policy, current, &candidates);
            let op = self.op(thread.index());
            if thread != current {
                let op = self.made[current.index()] + 1;
                self.walk.switches.push(SwitchPoint { from: current, op, to: thread });
            }
            if self.is_visible(&op) {
                policy.executed(thread, &op);
            }
            self.make(thread, policy);
            if op.kind == EventKind::Lock {
                policy.acquired(thread, &op);
            }
            self.walk.order.push(thread);
            self.walk.ops.push(op);
            current = thread;
        }
    }

    fn pick(&mut self, policy: &mut AnyPolicy, current: ThreadId, candidates: &[Candidate<'_>]) -> ThreadId {
        let index = self.made[current.index()] + 1;
        let running = candidates.iter().find(|candidate| candidate.thread == current);
        let must_stop = policy.stop_before(current) == Some(index);
        if running.is_some_and(|candidate| !must_stop && !self.is_visible(candidate.op)) {
            return current;
        }
        policy.reached(current, index);
        if candidates.len() == 1 && !policy.forces_switches() {
            return candidates[0].thread;
        }
        let step = self.walk.order.len() as u64;
        let chosen = policy.choose(&Choice { candidates, current, step });
        let bit = |thread: ThreadId| 1u64.checked_shl(u32::from(thread.0)).unwrap_or(0);
        let enabled = candidates.iter().fold(0, |mask, candidate| mask | bit(candidate.thread));
        self.walk.decisions.push(Decision { enabled, chosen, current, step: step as usize });
        chosen
    }

    fn step(&self, thread: usize) -> Option<ToyStep> {
        self.toy.threads[thread].get(self.next[thread]).copied()
    }

    fn op(&self, thread: usize) -> Op {
        let (kind, object, size) = match self.toy.threads[thread][self.next[thread]] {
            ToyStep::Read(x) => (EventKind::Read, x, 1),
            ToyStep::Write(x) => (EventKind::Write, x, 1),
            ToyStep::Lock(l) => (EventKind::Lock, l, 0),
            ToyStep::Unlock(l) => (EventKind::Unlock, l, 0),
            ToyStep::Create(_) => (EventKind::Create, 0, 0),
            ToyStep::Join(_) => (EventKind::Join, 0, 0),
            ToyStep::Store(x, _) => (EventKind::Write, x, 1),
            ToyStep::SkipIf(..) | ToyStep::BackIf(..) | ToyStep::Fail => (EventKind::Yield, 0, 0),
        };
        let site = Toy::site(thread, self.next[thread]);
        Op { kind, object, size, site, index: self.made[thread] + 1, place: Toy::place(self.next[thread]) }
    }

    fn is_visible(&self, op: &Op) -> bool {
        !op.kind.accesses_memory() || self.shared.contains(&op.object)
    }

    /// The runnable threads, with their next operations.
    fn ready(&self) -> Vec<(ThreadId, Op)> {
        let can_go = |thread: &usize| match self.step(*thread) {
            None => false,
            Some(_) if self.spins[*thread].0 >= Self::PATIENCE && self.spins[*thread].1 == self.changes => {
                false
            }
            Some(ToyStep::Lock(lock)) => self.alive[*thread] && !self.held.contains(&lock),
            Some(ToyStep::Join(other)) => self.alive[*thread] && self.step(other as usize).is_none(),
            Some(_) => self.alive[*thread],
        };
        let threads = (0..self.next.len()).filter(can_go);
        threads.map(|t| (ThreadId(t as u16), self.op(t))).collect()
    }

    fn make(&mut self, thread: ThreadId, policy: &mut AnyPolicy) {
        let t = thread.index();
        let step = self.toy.threads[t][self.next[t]];
        self.next[t] += 1;
        self.made[t] += 1;
        let mut effect = (0, 0);
        match step {
            ToyStep::Read(x) => {
                self.registers[t] = *self.walk.memory.entry(x).or_default();
                effect = (self.registers[t], self.registers[t]);
            }
            ToyStep::Write(x) => effect = self.store(x, self.registers[t] + 1),
            ToyStep::Store(x, value) => effect = self.store(x, value),
            ToyStep::Lock(lock) => {
                self.held.insert(lock);
            }
            ToyStep::Unlock(lock) => {
                self.held.remove(&lock);
            }
            ToyStep::Create(child) => {
                self.alive[child as usize] = true;
                policy.created(ThreadId(child), thread);
                effect.0 = u64::from(child);
            }
            ToyStep::Join(other) => effect.0 = u64::from(other),
            ToyStep::SkipIf(..) | ToyStep::BackIf(..) | ToyStep::Fail => {}
        }
        self.settle(t);
        self.walk.effects.push(effect);
        self.walk.was_last.push(self.step(t).is_none());
        if let ToyStep::Read(x) | ToyStep::Write(x) | ToyStep::Store(x, _) = step
            && *self.owners.entry(x).or_insert(t) != t
            && self.shared.insert(x)
        {
            self.walk.discovered.insert(x);
        }
    }

    fn store(&mut self, x: u64, value: u64) -> (u64, u64) {
        let old = self.walk.memory.insert(x, value).unwrap_or(0);
        self.changes += u64::from(old != value);
        (value, old)
    }

    /// Lets a thread go past everything that is no operation.
    fn settle(&mut self, thread: usize) {
        while let Some(step) = self.step(thread) {
            let place = &mut self.next[thread];
            match step {
                ToyStep::SkipIf(value, count) if self.registers[thread] == value => *place += count + 1,
                ToyStep::BackIf(value, count) if self.registers[thread] == value => {
                    *place = place.saturating_sub(count);
                    let (spins, since) = &mut self.spins[thread];
                    *spins = if *since == self.changes { *spins + 1 } else { 1 };
                    *since = self.changes;
                }
                ToyStep::SkipIf(..) | ToyStep::BackIf(..) => *place += 1,
                ToyStep::Fail => {
                    self.walk.failed = Some(ThreadId(thread as u16));
                    return;
                }
                _ => return,
            }
        }
    }
}
