//! How long questions about orders take, by the length of the trace, and how much memory.

use std::sync::Arc;
use std::time::Instant;

use threadbare_order::{
    Answer, Budget, Forest, Goal, MemoryRange, Model, Panel, Path, Question, Solver, StepId,
};
use threadbare_sched::Rng;
use threadbare_trace::{Event, EventKind, ThreadId};

use crate::figure::{Demand, Figure};

/// Events of the traces.
const LENGTHS: [usize; 5] = [200, 1000, 2000, 5000, 20_000];
/// Questions about each.
const QUESTIONS: usize = 400;
const THREADS: u16 = 4;
const LOCKS: u64 = 4;
const GUARDED: u64 = 3;
const FLAGS: u64 = 3;
const COUNTERS: u64 = 2;

const LOCK_BASE: u64 = 0x10_000;
const GUARDED_BASE: u64 = 0x20_000;
const FLAG_BASE: u64 = 0x30_000;
const COUNTER_BASE: u64 = 0x40_000;

/// What threads are in the middle of.
#[derive(Clone, Copy)]
enum Doing {
    Nothing,
    Inside { lock: u64, steps: u64 },
}

/// An execution of threads that change values behind locks, look at flags and set them without a lock, and
/// count atomically.
struct Execution {
    rng: Rng,
    memory: std::collections::HashMap<u64, u64>,
    owners: Vec<Option<u16>>,
    doing: Vec<Doing>,
    ops: Vec<u32>,
    events: Vec<Event>,
}

impl Execution {
    fn of_length(length: usize) -> Vec<Event> {
        let mut execution = Execution {
            rng: Rng::new(length as u64),
            memory: std::collections::HashMap::new(),
            owners: vec![None; LOCKS as usize],
            doing: vec![Doing::Nothing; THREADS as usize],
            ops: vec![0; THREADS as usize],
            events: Vec::new(),
        };
        while execution.events.len() < length {
            let thread = execution.rng.below(u64::from(THREADS)) as u16;
            execution.step(thread);
        }
        execution.events
    }

    fn push(&mut self, thread: u16, kind: EventKind, addr: u64, value: u64, old: u64) {
        self.ops[thread as usize] += 1;
        let size = if kind.accesses_memory() { 8 } else { 0 };
        let (op, pc) = (self.ops[thread as usize], addr ^ kind as u64);
        self.events.push(Event {
            pc,
            addr,
            value,
            old,
            op,
            thread: ThreadId(thread),
            kind: kind as u8,
            size,
            ..Event::default()
        });
    }

    fn read(&mut self, thread: u16, addr: u64) -> u64 {
        let value = *self.memory.entry(addr).or_default();
        self.push(thread, EventKind::Read, addr, value, value);
        value
    }

    fn write(&mut self, thread: u16, kind: EventKind, addr: u64, value: u64) {
        let old = self.memory.insert(addr, value).unwrap_or(0);
        self.push(thread, kind, addr, value, old);
    }

    fn step(&mut self, thread: u16) {
        match self.doing[thread as usize] {
            Doing::Inside { lock, steps: 0 } => {
                self.owners[lock as usize] = None;
                self.doing[thread as usize] = Doing::Nothing;
                self.push(thread, EventKind::Unlock, LOCK_BASE + 64 * lock, 0, 0);
            }
            Doing::Inside { lock, steps } => {
                let addr = GUARDED_BASE + 8 * (lock * GUARDED + self.rng.below(GUARDED));
                if steps % 2 == 0 {
                    self.read(thread, addr);
                } else {
                    let value = self.memory.get(&addr).copied().unwrap_or(0);
                    self.write(thread, EventKind::Write, addr, value + 1);
                }
                self.doing[thread as usize] = Doing::Inside { lock, steps: steps - 1 };
            }
            Doing::Nothing => self.begin(thread),
        }
    }

    fn begin(&mut self, thread: u16) {
        let flag = FLAG_BASE + 8 * self.rng.below(FLAGS);
        match self.rng.below(10) {
            0..4 => {
                let lock = self.rng.below(LOCKS);
                if self.owners[lock as usize].is_none() {
                    self.owners[lock as usize] = Some(thread);
                    self.doing[thread as usize] = Doing::Inside { lock, steps: 4 };
                    self.push(thread, EventKind::Lock, LOCK_BASE + 64 * lock, 1, 0);
                }
            }
            4..7 => drop(self.read(thread, flag)),
            7..9 => {
                let value = self.rng.below(4);
                self.write(thread, EventKind::Write, flag, value);
            }
            _ => {
                let addr = COUNTER_BASE + 8 * self.rng.below(COUNTERS);
                let value = self.memory.get(&addr).copied().unwrap_or(0);
                self.write(thread, EventKind::AtomicUpdate, addr, value + 1);
            }
        }
    }
}

/// A question about a trace: a read that sees another value, or a pattern of two or three accesses.
fn question(events: &[Event], path: &Path, rng: &mut Rng) -> Option<Goal> {
    let step = |event: usize| path.step_of(event);
    let some = |rng: &mut Rng| rng.below(events.len() as u64) as usize;
    let first = some(rng);
    let event = &events[first];
    if !event.kind().is_some_and(EventKind::accesses_memory) {
        return None;
    }
    let near = |rng: &mut Rng| {
        // Partners of patterns are near each other more often than not.
        let reach = if rng.below(2) == 0 { 60 } else { events.len() as u64 };
        let from = (first as u64).saturating_sub(reach);
        let other = (from + rng.below(2 * reach)) as usize;
        (other < events.len() && events[other].addr == event.addr).then_some(other)
    };
    let mut other = None;
    for _ in 0..2000 {
        other = near(rng).filter(|other| events[*other].thread != event.thread);
        if other.is_some() {
            break;
        }
    }
    let other = other?;
    let writes = |event: &Event| event.kind().is_some_and(EventKind::writes);
    if event.kind() == Some(EventKind::Read) && writes(&events[other]) && rng.below(2) == 0 {
        let value = events[other].value;
        if value == event.value {
            return None;
        }
        return Some(Goal::sees(step(first)?, MemoryRange { addr: event.addr, len: 8 }, value));
    }
    let mut steps: Vec<StepId> = vec![step(first)?, step(other)?];
    if rng.below(2) == 0 {
        let later = events[first + 1..].iter().position(|e| e.thread == event.thread && e.addr == event.addr);
        steps.push(step(first + 1 + later?)?);
    }
    Some(Goal::pattern(&steps))
}

/// The most memory that this process has used, in MiB.
fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) / 1024.0
}

/// How many questions are asked at once when they are answered side by side.
const AT_ONCE: usize = 32;

/// How often each way of asking is timed. Others that use the machine only ever make it slower, so the best
/// try counts; and the ways take turns, so that none has the quiet moments for itself.
const TRIES: usize = 5;

/// Seconds that all questions take.
struct Times {
    one_solver: f64,
    one_thread: f64,
    all_threads: f64,
}

fn seconds(does: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    does();
    begin.elapsed().as_secs_f64()
}

/// Asks all questions in turn: of one solver, and of several by one thread and by this many.
fn ways_to_ask(forest: &Forest, path: &Path, goals: &[Goal], cores: usize) -> Times {
    let model = Arc::new(Model::of(forest, path));
    let question = |goal: &Goal| Question { about: 0, goal: goal.clone() };
    let questions: Vec<Question> = goals.iter().map(question).collect();
    let side_by_side = |jobs: usize| {
        let mut panel = Panel::new(Budget::default(), jobs);
        panel.model(0, || Model::clone(&model));
        seconds(|| {
            for together in questions.chunks(AT_ONCE) {
                panel.ask(together, &|_| Model::clone(&model));
            }
        })
    };
    let mut best = Times { one_solver: f64::MAX, one_thread: f64::MAX, all_threads: f64::MAX };
    for _ in 0..TRIES {
        let mut solver = Solver::new(Arc::clone(&model));
        let alone = seconds(|| goals.iter().for_each(|goal| drop(solver.solve(goal))));
        best.one_solver = best.one_solver.min(alone);
        best.one_thread = best.one_thread.min(side_by_side(1));
        best.all_threads = best.all_threads.min(side_by_side(cores));
    }
    best
}

/// Everything, in the order it is printed.
pub fn measure() -> Vec<Figure> {
    let mut figures = Vec::new();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for length in LENGTHS {
        let events = Execution::of_length(length);
        let begin = Instant::now();
        let mut forest = Forest::new();
        let path = forest.add(&events);
        let mut solver = Solver::new(Model::of(&forest, &path));
        let reading = begin.elapsed();
        let mut rng = Rng::new(7);
        let (mut times, mut possible, mut unknown) = (Vec::new(), 0, 0);
        let mut goals = Vec::new();
        while times.len() < QUESTIONS {
            let Some(goal) = question(&events, &path, &mut rng) else { continue };
            let begin = Instant::now();
            let answer = solver.solve(&goal);
            times.push(begin.elapsed().as_secs_f64() * 1000.0);
            possible += usize::from(matches!(answer, Answer::Schedule(_)));
            unknown += usize::from(answer == Answer::Unknown);
            goals.push(goal);
        }
        times.sort_by(f64::total_cmp);
        let median = times[QUESTIONS / 2];
        let what = format!("question about {length} events, median");
        figures.push(match length {
            1000 => Figure::with(what, median, "ms", Demand::Below(5.0)),
            _ => Figure::plain(what, median, "ms"),
        });
        figures.push(Figure::plain("  95th percentile", times[QUESTIONS * 95 / 100], "ms"));
        figures.push(Figure::plain("  longest", times[QUESTIONS - 1], "ms"));
        figures.push(Figure::plain("  reading the trace", reading.as_secs_f64() * 1000.0, "ms"));
        figures.push(Figure::plain("  possible", possible as f64, "questions"));
        let unanswered = unknown as f64 * 100.0 / QUESTIONS as f64;
        figures.push(Figure::plain("  not answered within the budget", unanswered, "%"));
        let rounds = solver.effort().rounds as f64 / QUESTIONS as f64;
        figures.push(Figure::plain("  orders tried out for one question", rounds, "orders"));
        let Times { one_solver, one_thread, all_threads } = ways_to_ask(&forest, &path, &goals, cores);
        figures.push(Figure::plain("  all questions, one solver", one_solver, "s"));
        figures.push(Figure::plain("  several solvers, one thread", one_thread, "s"));
        figures.push(Figure::plain(format!("  several solvers, {cores} threads"), all_threads, "s"));
        figures.push(Figure::plain("  speed-up by threads", one_thread / all_threads, "times"));
        figures.push(Figure::with("  peak memory so far", peak_memory(), "MiB", Demand::Below(2048.0)));
    }
    figures
}
