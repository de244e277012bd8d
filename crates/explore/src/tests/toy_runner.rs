//! A stand-in for servers: runs toy programs, and misbehaves on request.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use threadbare_sched::toy::{Toy, ToyStep as Step, Walk};
use threadbare_sched::{AnyPolicy, Parameters, Policy as _, Prefix};
use threadbare_target::{Execution, Manner, Pause, Snapshot, Stop};
use threadbare_trace::{Event, EventKind, Failure, FailureKind, Outcome, ThreadId};
use threadbare_wire::{DecisionRecord, LearnedRecord, OfferRecord, SwitchRecord};

use crate::error::ExploreError;
use crate::runner::{Launch, Runner, Trouble};
use crate::search::Steer;
use crate::strategy::Plan;

/// An execution that a lab made: the choices it was given, and which thread made each step.
#[derive(Clone, Debug)]
pub struct LabExecution {
    pub prefix: Vec<ThreadId>,
    /// The switches it was given.
    pub turns: Vec<(ThreadId, u32, ThreadId)>,
    pub word: String,
    /// By thread: what its steps did and saw.
    pub local: Vec<Vec<(u64, u64)>>,
    /// By thread: it made all its steps.
    pub ended: Vec<bool>,
    pub deadlock: bool,
    pub failed: Option<ThreadId>,
}

impl LabExecution {
    fn new(
        prefix: Vec<ThreadId>,
        turns: Vec<(ThreadId, u32, ThreadId)>,
        walk: &Walk,
        threads: usize,
    ) -> LabExecution {
        let (mut local, mut ended) = (vec![Vec::new(); threads], vec![false; threads]);
        for (step, thread) in walk.order.iter().enumerate() {
            local[thread.index()].push((walk.ops[step].site, walk.effects[step].0));
            ended[thread.index()] |= walk.was_last[step];
        }
        let (word, deadlock, failed) = (walk.word(), walk.deadlock, walk.failed);
        LabExecution { prefix, turns, word, local, ended, deadlock, failed }
    }
}

/// How a lab behaves.
#[derive(Clone, Default)]
pub struct Manners {
    /// Every so many executions, a runner is lost.
    pub dies_every: Option<usize>,
    /// Executions take a varying time, as on a busy machine.
    pub jitter: bool,
    /// Every so many executions, one cannot be kept under control.
    pub uncontrolled_every: Option<usize>,
    /// The program fails before it starts a second thread.
    pub crashes: bool,
    /// All memory is known to be shared from the beginning.
    pub all_shared: bool,
    /// After so many executions, someone presses Ctrl-C.
    pub stops_after: Option<usize>,
    /// No copy can be made in the middle of an execution.
    pub refuses_copies: bool,
    /// Every so many executions, one is given up at the step limit.
    pub given_up_every: Option<usize>,
}

/// A toy program and what happened to it.
pub struct Bench {
    pub toy: Toy,
    /// The value that location 8 must have in the end.
    expected: Option<u64>,
    pub manners: Manners,
    pub stop: AtomicBool,
    pub launches: AtomicUsize,
    pub runs: AtomicUsize,
    pub seen: Mutex<Vec<LabExecution>>,
    /// The most copies that were stopped at decisions at once.
    pub most_snapshots: AtomicUsize,
}

/// Starts runners of one toy program.
#[derive(Clone)]
pub struct Lab(pub Arc<Bench>);

impl Lab {
    pub fn new(toy: Toy, expected: Option<u64>, manners: Manners) -> Lab {
        Lab(Arc::new(Bench {
            toy,
            expected,
            manners,
            stop: AtomicBool::new(false),
            launches: AtomicUsize::new(0),
            runs: AtomicUsize::new(0),
            seen: Mutex::new(Vec::new()),
            most_snapshots: AtomicUsize::new(0),
        }))
    }

    /// Threads that each increment location 8 a number of times, without a lock.
    pub fn lost_update(threads: usize, times: usize) -> Lab {
        Lab::ill_mannered(threads, times, Manners::default())
    }

    pub fn ill_mannered(threads: usize, times: usize, manners: Manners) -> Lab {
        let increments = [Step::Read(8), Step::Write(8)].repeat(times);
        Lab::new(Toy { threads: vec![increments; threads] }, Some((threads * times) as u64), manners)
    }

    /// One increment each, under a lock.
    pub fn locked_update(threads: usize, manners: Manners) -> Lab {
        let increment = vec![Step::Lock(1000), Step::Read(8), Step::Write(8), Step::Unlock(1000)];
        Lab::new(Toy { threads: vec![increment; threads] }, Some(threads as u64), manners)
    }

    pub fn seen(&self) -> Vec<LabExecution> {
        self.0.seen.lock().unwrap().clone()
    }
}

/// One execution for each interleaving of a toy program, if there are not more than this many.
pub fn all_executions(toy: &Toy, most: usize) -> Option<Vec<Execution>> {
    let lab = Lab::new(toy.clone(), None, Manners { all_shared: true, ..Manners::default() });
    let mut runner = lab.launch().ok()?;
    let mut all = Vec::new();
    let mut open: Vec<Vec<ThreadId>> = vec![Vec::new()];
    while let Some(prefix) = open.pop() {
        let plan = Plan::new(Prefix { choices: prefix.clone() }, 1, "all");
        let run = runner.run(&plan).ok()?;
        let chosen: Vec<ThreadId> = run.decisions.iter().map(|decision| decision.chosen).collect();
        for (at, decision) in run.decisions.iter().enumerate().skip(prefix.len()) {
            let others = (0..64).filter(|t| decision.enabled >> t & 1 == 1).map(ThreadId);
            open.extend(others.filter(|it| *it != decision.chosen).map(|it| [&chosen[..at], &[it]].concat()));
        }
        all.push(run);
        if all.len() > most {
            return None;
        }
    }
    Some(all)
}

/// Runs the toy program with the memory that is known to be shared.
pub struct ToyRunner {
    bench: Arc<Bench>,
    known: BTreeSet<u64>,
    lost: bool,
    /// The copies that are stopped at decisions: how they came there, and after how many steps.
    stopped: BTreeMap<Snapshot, (Vec<ThreadId>, usize)>,
    next: u32,
}

impl Launch for Lab {
    type Runner = ToyRunner;

    fn launch(&self) -> Result<ToyRunner, Trouble> {
        self.0.launches.fetch_add(1, Ordering::Relaxed);
        if self.0.manners.crashes {
            let outcome = failed(FailureKind::Segfault, "null pointer");
            return Err(Trouble::Crashed(Box::new(execution(&self.0.toy, Walk::default(), outcome))));
        }
        let known = if self.0.manners.all_shared { self.0.toy.locations() } else { BTreeSet::new() };
        Ok(ToyRunner { bench: Arc::clone(&self.0), known, lost: false, stopped: BTreeMap::new(), next: 0 })
    }
}

impl ToyRunner {
    fn walk(&self, plan: &Plan) -> (Walk, AnyPolicy) {
        let mut policy = plan.policy.clone().start();
        (self.bench.toy.run(&mut policy, &self.known), policy)
    }

    fn judge(&self, walk: &Walk) -> Outcome {
        let value = walk.memory.get(&8).copied();
        if let Some(thread) = walk.failed {
            failed_in(thread, FailureKind::Assertion, &format!("{thread} fails"))
        } else if walk.deadlock {
            failed(FailureKind::Deadlock, "no thread is runnable")
        } else if self.bench.expected.is_some_and(|expected| value != Some(expected)) {
            failed(FailureKind::Assertion, &format!("the value is {value:?}"))
        } else {
            Outcome::Passed
        }
    }
}

impl Steer for ToyRunner {
    fn run(&mut self, plan: &Plan) -> Result<Execution, ExploreError> {
        let bench = &self.bench;
        let run = bench.runs.fetch_add(1, Ordering::Relaxed) + 1;
        assert!(!self.lost, "a lost runner was asked again");
        if bench.manners.dies_every.is_some_and(|every| run.is_multiple_of(every)) {
            self.lost = true;
            return Err(ExploreError::Uncontrolled("the runner was lost".into()));
        }
        if bench.manners.jitter {
            std::thread::sleep(Duration::from_micros((run as u64 * 7919) % 300));
        }
        if bench.manners.stops_after.is_some_and(|after| run >= after) {
            bench.stop.store(true, Ordering::Relaxed);
        }
        let prefix = match &plan.policy.parameters {
            Parameters::Prefix(prefix) => prefix.choices.clone(),
            _ => Vec::new(),
        };
        let turns: Vec<_> = match &plan.policy.parameters {
            Parameters::Replay(replay) => replay.switches.iter().map(|it| (it.from, it.op, it.to)).collect(),
            _ => Vec::new(),
        };
        let (walk, policy) = self.walk(plan);
        let seen = LabExecution::new(prefix, turns, &walk, bench.toy.threads.len());
        bench.seen.lock().unwrap().push(seen);
        let outcome = if bench.manners.uncontrolled_every.is_some_and(|every| run.is_multiple_of(every)) {
            Outcome::Uncontrolled("a primitive is not supported".into())
        } else if bench.manners.given_up_every.is_some_and(|every| run.is_multiple_of(every)) {
            Outcome::Cut("the step limit was reached".into())
        } else {
            self.judge(&walk)
        };
        let ends = ends(&walk);
        let mut run =
            Execution { policy_counters: policy.counters(), ..execution(&bench.toy, walk, outcome) };
        for (step, end) in ends.into_iter().rev() {
            run.events.insert(step + 1, end);
        }
        self.stopped.clear();
        Ok(run)
    }

    fn steer(&mut self, _seed: u64, choices: &[ThreadId]) -> Result<Stop, ExploreError> {
        self.stopped.clear();
        Ok(self.go(choices.to_vec(), 0))
    }

    fn go_on(&mut self, snapshot: Snapshot, choices: &[ThreadId]) -> Result<Stop, ExploreError> {
        let (path, step) = self.stopped.remove(&snapshot).expect("a snapshot that is there");
        Ok(self.go([&path, choices].concat(), step))
    }

    fn split(&mut self, snapshot: Snapshot, choices: &[ThreadId]) -> Result<Stop, ExploreError> {
        if self.bench.manners.refuses_copies {
            return Ok(Stop::Refused("it has files open".into()));
        }
        let (path, step) = self.stopped[&snapshot].clone();
        Ok(self.go([&path, choices].concat(), step))
    }

    fn discard(&mut self, snapshot: Snapshot) {
        assert!(self.stopped.remove(&snapshot).is_some(), "a snapshot that is there");
    }
}

impl ToyRunner {
    /// Follows a path and stops at the decision after it; events count from step `from` on.
    fn go(&mut self, path: Vec<ThreadId>, from: usize) -> Stop {
        let plan = Plan::new(Prefix { choices: path.clone() }, 1, "steered");
        let (walk, _) = self.walk(&plan);
        let Some(decision) = walk.decisions.get(path.len()).copied() else {
            let outcome = self.judge(&walk);
            let seen = LabExecution::new(path, Vec::new(), &walk, self.bench.toy.threads.len());
            self.bench.seen.lock().unwrap().push(seen);
            let mut run = execution(&self.bench.toy, walk, outcome);
            run.events.drain(..from);
            return Stop::Ended(Box::new(run));
        };
        let snapshot = Snapshot(self.next);
        self.next += 1;
        self.stopped.insert(snapshot, (path, decision.step));
        let most = &self.bench.most_snapshots;
        most.fetch_max(self.stopped.len(), Ordering::Relaxed);
        let made =
            |thread: usize| walk.order[..decision.step].iter().filter(|it| it.index() == thread).count();
        let offer = |thread: usize| {
            let (kind, object, size) = match self.bench.toy.threads[thread][made(thread)] {
                Step::Read(x) => (EventKind::Read, x, 1),
                Step::Write(x) => (EventKind::Write, x, 1),
                Step::Lock(l) => (EventKind::Lock, l, 0),
                Step::Unlock(l) => (EventKind::Unlock, l, 0),
                Step::Create(_) => (EventKind::Create, 0, 0),
                other => panic!("{other:?} is not for searches"),
            };
            let (site, thread) = (made(thread) as u64 + 1, ThreadId(thread as u16));
            OfferRecord { site, object, size, thread, kind: kind as u8, spare: 0 }
        };
        let offers = (0..64).filter(|thread| decision.enabled >> thread & 1 == 1).map(offer).collect();
        let discovered = walk.discovered.iter().map(|&place| LearnedRecord { site: 0, place }).collect();
        let run = execution(&self.bench.toy, walk, Outcome::Passed);
        Stop::Paused(Pause {
            snapshot,
            offers,
            events: run.events[from..decision.step].to_vec(),
            discovered,
            steps: decision.step as u64,
            threads: run.threads,
        })
    }
}

impl Runner for ToyRunner {
    fn learn(&mut self, shared: &[LearnedRecord]) {
        self.known.extend(shared.iter().map(|record| record.place));
    }

    fn set_pool(&mut self, _threads: u32) {}

    fn set_step_limit(&mut self, _steps: u64) {}
}

/// A failure that shows only when all is over: no thread's doing.
fn failed(kind: FailureKind, message: &str) -> Outcome {
    failed_in(ThreadId(999), kind, message)
}

fn failed_in(thread: ThreadId, kind: FailureKind, message: &str) -> Outcome {
    Outcome::Failed(Failure { kind, message: message.into(), thread, stack: vec![7] })
}

/// The ends of threads, each after the step that it belongs to.
fn ends(walk: &Walk) -> Vec<(usize, Event)> {
    let end = |step: usize| {
        let (thread, op) = (walk.order[step], walk.ops[step].index);
        (step, Event { thread, op, kind: EventKind::Exit as u8, ..Event::default() })
    };
    (0..walk.order.len()).filter(|step| walk.was_last[*step]).map(end).collect()
}

fn execution(toy: &Toy, walk: Walk, outcome: Outcome) -> Execution {
    let event = |step: usize| {
        let (op, (value, old)) = (&walk.ops[step], walk.effects[step]);
        Event {
            pc: op.place,
            addr: op.object,
            value,
            old,
            op: op.index,
            thread: walk.order[step],
            kind: op.kind as u8,
            size: op.size as u8,
            ..Event::default()
        }
    };
    // Each path leads to a state of its own.
    let mut path = DefaultHasher::new();
    let decision = |decision: &threadbare_sched::toy::Decision| {
        let state = path.finish();
        decision.chosen.hash(&mut path);
        let (enabled, chosen, current) = (decision.enabled, decision.chosen, decision.current);
        DecisionRecord { enabled, chosen, current, state, ..DecisionRecord::default() }
    };
    let switch = |turn: &threadbare_sched::SwitchPoint| SwitchRecord {
        op: turn.op,
        from: turn.from,
        to: turn.to,
        ..SwitchRecord::default()
    };
    Execution {
        outcome,
        events: (0..walk.ops.len()).map(event).collect(),
        switches: walk.switches.iter().map(switch).collect(),
        contexts: Vec::new(),
        modules: Default::default(),
        decisions: walk.decisions.iter().map(decision).collect(),
        calls: Vec::new(),
        lock_sets: Vec::new(),
        steps: walk.order.len() as u64,
        threads: toy.threads.len() as u32,
        peak_threads: toy.threads.len() as u32,
        discovered: walk.discovered.iter().map(|&place| LearnedRecord { site: 0, place }).collect(),
        touches: None,
        warnings: Vec::new(),
        output: Vec::new(),
        stalled: false,
        manner: Manner::default(),
        unheard_panics: Vec::new(),
        delay: None,
        divergence: None,
        policy_counters: Default::default(),
        own_code: Arc::default(),
        depended_on: Vec::new(),
        ended_by: None,
        leaves_code_unexplored: false,
    }
}
