//! Events a second of the race detectors, on a made-up trace that never exists as a whole.

use std::time::{Duration, Instant};

use threadbare_detect::{
    Atomicity, Deadlock, Detector, HappensBefore, Hybrid, LockDiscipline, MultiVariable,
};
use threadbare_sched::Rng;
use threadbare_trace::{Event, EventKind, ThreadId};

use crate::figure::{Demand, Figure};

const EVENTS: usize = 10_000_000;
const CHUNK: usize = 1_000_000;
const THREADS: u16 = 8;
const LOCKS: u64 = 64;
/// Variables behind each lock, variables that all threads only read, and private ones of each thread.
const GUARDED: u64 = 64;
const CONSTANTS: u64 = 4096;
const PRIVATE: u64 = 1024;
const COUNTERS: usize = 16;

const LOCK_BASE: u64 = 0x10_0000;
const GUARDED_BASE: u64 = 0x100_0000;
const CONSTANT_BASE: u64 = 0x200_0000;
const PRIVATE_BASE: u64 = 0x300_0000;
const HEAP_BASE: u64 = 0x1000_0000;
const ATOMIC_BASE: u64 = 0x20_0000;
const BARRIER: u64 = 0x30_0000;

/// What a server with worker threads does: tables behind locks, shared constants, private work, atomic counters,
/// blocks that come and go, and a barrier now and then. Without a race.
struct Workload {
    rng: Rng,
    events: Vec<Event>,
    rounds: u64,
    blocks: u64,
    counters: [u64; COUNTERS],
}

impl Workload {
    fn new() -> Workload {
        let mut workload =
            Workload { rng: Rng::new(1), events: Vec::new(), rounds: 0, blocks: 0, counters: [0; COUNTERS] };
        for child in 1..THREADS {
            workload.push(0, EventKind::Create, 0, u64::from(child), 1);
        }
        workload
    }

    fn push(&mut self, thread: u16, kind: EventKind, addr: u64, value: u64, pc: u64) {
        let size = if kind.accesses_memory() && kind != EventKind::Free { 8 } else { 0 };
        let thread = ThreadId(thread);
        self.events.push(Event { pc, addr, value, thread, kind: kind as u8, size, ..Event::default() });
    }

    /// The next events of the trace; those before are gone.
    fn next_chunk(&mut self) -> &[Event] {
        if self.events.len() >= CHUNK {
            self.events.clear();
        }
        while self.events.len() < CHUNK {
            let thread = self.rng.below(u64::from(THREADS)) as u16;
            match self.rng.below(1000) {
                0..450 => self.critical_section(thread),
                450..600 => self.look_at_constants(thread),
                600..900 => self.work_alone(thread),
                900..950 => self.count(thread),
                950..999 => self.use_a_block(thread),
                _ => self.barrier(),
            }
        }
        &self.events
    }

    fn critical_section(&mut self, thread: u16) {
        let lock = self.rng.below(LOCKS);
        self.push(thread, EventKind::Lock, LOCK_BASE + 64 * lock, 1, 10);
        for _ in 0..3 {
            let variable = GUARDED_BASE + 8 * (lock * GUARDED + self.rng.below(GUARDED));
            let site = 20 + 2 * self.rng.below(4);
            self.push(thread, EventKind::Read, variable, 0, site);
            self.push(thread, EventKind::Write, variable, 1, site + 1);
        }
        self.push(thread, EventKind::Unlock, LOCK_BASE + 64 * lock, 0, 11);
    }

    fn look_at_constants(&mut self, thread: u16) {
        for site in 30..38 {
            let constant = CONSTANT_BASE + 8 * self.rng.below(CONSTANTS);
            self.push(thread, EventKind::Read, constant, 0, site);
        }
    }

    fn work_alone(&mut self, thread: u16) {
        for site in 40..44 {
            let variable = PRIVATE_BASE + 8 * (u64::from(thread) * PRIVATE + self.rng.below(PRIVATE));
            self.push(thread, EventKind::Read, variable, 0, site);
            self.push(thread, EventKind::Write, variable, 1, site + 10);
        }
    }

    fn count(&mut self, thread: u16) {
        let counter = self.rng.below(COUNTERS as u64) as usize;
        let old = self.counters[counter];
        self.counters[counter] += 1;
        self.push(thread, EventKind::AtomicUpdate, ATOMIC_BASE + 64 * counter as u64, old + 1, 60);
        if let Some(event) = self.events.last_mut() {
            event.old = old;
        }
    }

    fn use_a_block(&mut self, thread: u16) {
        // The next block is where an old one was.
        self.blocks += 1;
        let block = HEAP_BASE + 64 * (self.blocks % 1024);
        self.push(thread, EventKind::Alloc, block, 64, 70);
        for offset in 0..4 {
            self.push(thread, EventKind::Write, block + 8 * offset, 1, 71 + offset);
            self.push(thread, EventKind::Read, block + 8 * offset, 1, 75 + offset);
        }
        self.push(thread, EventKind::Free, block, 64, 79);
    }

    fn barrier(&mut self) {
        self.rounds += 1;
        for thread in 0..THREADS {
            self.push(thread, EventKind::BarrierArrive, BARRIER, 0, 80);
        }
        for thread in 0..THREADS {
            self.push(thread, EventKind::BarrierLeave, BARRIER, self.rounds, 81);
        }
    }
}

/// How long this thread has been running on a core. What others take of a shared machine is not in it; where the
/// system does not report it, all time counts.
fn running_time(begin: Instant) -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = stat.and_then(|stat| stat.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| begin.elapsed(), Duration::from_nanos)
}

/// Shows the trace to a detector; returns the events a second.
fn rate(detector: &mut dyn Detector, events: usize) -> f64 {
    let mut workload = Workload::new();
    let mut time = Duration::ZERO;
    let mut seen = 0;
    let start = Instant::now();
    while seen < events {
        let chunk = workload.next_chunk();
        let begin = running_time(start);
        for event in chunk {
            detector.observe(seen, event);
            seen += 1;
        }
        time += running_time(start).saturating_sub(begin);
    }
    seen as f64 / time.as_secs_f64()
}

/// Everything, in the order it is printed.
pub fn measure() -> Vec<Figure> {
    let demand = Demand::AtLeast(3e6);
    let unit = "events/s";
    let mut figures = Vec::new();
    let mut hybrid = Box::<Hybrid>::default();
    let speed = rate(hybrid.as_mut(), EVENTS);
    figures.push(Figure::with("hybrid races, 8 threads, 10 million events, one core", speed, unit, demand));
    figures.push(Figure::plain(
        "  words of memory remembered at most",
        hybrid.peak_locations() as f64,
        "words",
    ));
    figures.push(Figure::with(
        "  races found in a trace without",
        hybrid.findings().len() as f64,
        "races",
        Demand::Below(1.0),
    ));
    let mut happens_before = Box::<HappensBefore>::default();
    let speed = rate(happens_before.as_mut(), EVENTS);
    figures.push(Figure::with("happens-before races, the same trace", speed, unit, demand));
    figures.push(Figure::plain(
        "  words of memory remembered at most",
        happens_before.peak_locations() as f64,
        "words",
    ));
    figures.push(Figure::with(
        "  races found in a trace without",
        happens_before.findings().len() as f64,
        "races",
        Demand::Below(1.0),
    ));
    let others: [(&str, Box<dyn Detector>); 4] = [
        ("lock discipline, its first million", Box::<LockDiscipline>::default()),
        ("atomicity, its first million", Box::<Atomicity>::default()),
        ("atomicity of two variables, its first million", Box::<MultiVariable>::default()),
        ("deadlocks, its first million", Box::<Deadlock>::default()),
    ];
    for (what, mut detector) in others {
        figures.push(Figure::plain(what, rate(detector.as_mut(), EVENTS / 10), unit));
    }
    figures
}
