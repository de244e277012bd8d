//! Repeating a closure of the program inside one copy of the process.
//!
//! The snapshot stands before the closure, so an ordinary execution, in a copy of its own, calls it once and goes on.
//! A copy that repeats calls it again and again, each time under another policy, and never goes on. A repetition that
//! fails ends the copy, and its switches are enough to make the same execution from the snapshot.
//!
//! That holds only as long as every call begins as the first one did. So the copy ends, and says why, when the closure
//! leaves threads behind, or other values in memory that it did not allocate itself ([`Writes`]).

mod writes;

use std::ffi::{c_int, c_void};

use threadbare_sched::{AnyPolicy, ClosureStrategy, Drawn, Op, Policy as _, Rng};
use threadbare_trace::{EventKind, ThreadId};
use threadbare_wire::{Leak, Status};

use crate::engine::{Engine, engine};
use crate::entropy::Entropy;
use crate::fiber::{Fiber, Waitable};
use crate::shared_memory::{lost_control, refuse_plan};
use crate::spin::Spinning;
use crate::time::Clock;
use crate::{interpose, server, sys, threads};

pub use writes::Writes;

/// What is called; it returns 0, or anything else if it panicked.
type Closure = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;

/// The process is not under control: nothing was called.
const UNCONTROLLED: c_int = -1;

/// What a panic of the main thread makes of the process.
const PANICKED: c_int = 101;

/// Steps that threads may make after the closure's end: those of scoped threads have announced their end by then,
/// but not made it.
const LAST_STEPS: u64 = 2_000;

/// What the program wishes for; see [`threadbare_wire::Repetition`].
#[repr(C)]
pub struct Wishes {
    executions: u64,
    seed: u64,
    has_seed: u32,
    strategy: u32,
}

/// Calls a closure under control: once, or in a copy that repeats it, as often as the driver says. Returns what the
/// closure returned, or -1 if the process is not under control and nothing was called.
///
/// # Safety
/// The closure must take `data`, as often as it is called; `wishes` must be readable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn threadbare_repeat(
    closure: Closure,
    data: *mut c_void,
    wishes: *const Wishes,
) -> c_int {
    if !interpose::controlled() {
        return UNCONTROLLED;
    }
    if !engine().running {
        // SAFETY: as the caller vouches.
        let wishes = unsafe { &*wishes };
        let number = wishes.strategy;
        if number != 0 && ClosureStrategy::from_number(number).is_none() {
            lost_control(&format!(
                "the test asks for strategy number {number}, which this version of threadbare does not have"
            ));
        }
        let told = &mut engine().shared.control().repetition;
        told.offered = 1;
        told.wished_executions = wishes.executions;
        (told.wished_seed, told.has_seed) = (wishes.seed, wishes.has_seed);
        told.wished_strategy = wishes.strategy;
        if server::snapshot() {
            // SAFETY: as the caller vouches.
            unsafe { repeat(closure, data) };
        }
    } else if engine().shared.control().repetition.offered == 1 {
        engine().shared.warn(
            "only the first closure of a test is repeated in one process; what comes after it has fewer executions",
        );
    }
    // SAFETY: as the caller vouches.
    let result = unsafe { closure(data) };
    if result == 0 {
        let_others_end();
    }
    result
}

/// Whether locks may be found held in this repetition by those who do not wait for them, wherever they are.
fn shows_locks(index: u64, probes: bool) -> bool {
    // Those of the mixture's opening, whose preemptions meet locks that are held; and some later on.
    const FIRST: u64 = 5;
    const EVERY: u64 = 4;
    index <= FIRST || index.is_multiple_of(EVERY) || probes
}

/// How things stood at the snapshot.
struct Start {
    ops: u32,
    clock: Clock,
    entropy: Entropy,
}

unsafe fn repeat(closure: Closure, data: *mut c_void) -> ! {
    let engine = engine();
    let control = engine.shared.control();
    let asked = control.repetition;
    let Some(strategy) = ClosureStrategy::from_number(asked.strategy) else {
        refuse_plan(format_args!("there is no strategy with number {} for closures", asked.strategy))
    };
    let mut portfolio = strategy.portfolio(asked.seed);
    let ops = engine.current().ops;
    let start = Start { ops, clock: engine.world.clock, entropy: engine.world.entropy.clone() };
    engine.records = false;
    engine.watch_writes();
    for index in asked.first..asked.first.saturating_add(asked.count) {
        control.repetition.begun += 1;
        let Drawn { policy, probes } = portfolio.draw(index, &control.repetition.counts);
        let seed = policy.seed;
        engine.begin_repetition(&start, policy.start());
        engine.world.guards.gives_back_at_once = !shows_locks(index, probes);
        engine.probe = probes.then(|| Rng::new(seed));
        engine.update_stop();
        // SAFETY: as the caller vouches.
        let panicked = unsafe { closure(data) } != 0;
        if !panicked {
            let_others_end();
        }
        if panicked || crate::process::has_unheard_panic() {
            crate::shared_memory::note_policy();
            control.status = Status::Ended as u32;
            sys::exit(PANICKED);
        }
        let made = &mut control.repetition;
        made.passed += 1;
        made.passed_steps += control.steps;
        if made.counts.may_learn_from(index, control.steps) {
            made.counts.take_in(engine.fibers.iter().map(|fiber| (fiber.id, fiber.creator, fiber.steps)));
        }
        if let Some(journal) = engine.policy.journal() {
            portfolio.learn(journal);
        }
        let (leak, place) = engine.leak();
        if leak != Leak::Nothing {
            (made.leak, made.leak_at) = (leak as u32, place as u64);
            break;
        }
        if made.passed_steps >= asked.enough_steps {
            break;
        }
    }
    control.status = Status::Ended as u32;
    sys::exit(0)
}

impl Engine {
    /// Forgets the last repetition, apart from what it taught.
    fn begin_repetition(&mut self, start: &Start, policy: AnyPolicy) {
        for index in 1..self.fibers.len() {
            threads::release(&mut self.fibers[index]);
        }
        self.fibers.truncate(1);
        self.live.truncate(1);
        self.fiber(ThreadId::MAIN).begin_anew(start.ops);
        self.progress = 0;
        self.fruitless_rounds = 0;
        self.turn_began = 0;
        self.spinning = Spinning::default();
        self.world.guards.forget();
        self.world.clock = start.clock;
        self.world.entropy = start.entropy.clone();
        self.world.signals.program_steps = 0;
        self.policy = policy;
        let control = self.shared.control();
        control.steps = 0;
        control.switches = 0;
        control.threads = 1;
    }

    /// What the closure has left behind, and where.
    fn leak(&mut self) -> (Leak, usize) {
        self.complete_write();
        if self.live.len() > 1 {
            return (Leak::Threads, 0);
        }
        let stacks = self.world.slots.iter().map(|slot| slot.stack_range());
        match self.world.writes.changed(stacks) {
            Some(place) => (Leak::Memory, place),
            None => (Leak::Nothing, 0),
        }
    }
}

/// Nobody else can go on; lives on the main thread's stack.
struct OthersRest {
    until: u64,
}

impl Waitable for OthersRest {
    fn ready(&self, waiting: &Fiber) -> bool {
        let engine = engine();
        let goes_on = |index: usize| {
            engine.live[index] != waiting.id && engine.fibers[engine.live[index].index()].ready()
        };
        engine.shared.control().steps >= self.until || !(0..engine.live.len()).any(goes_on)
    }

    fn what(&self) -> String {
        "the other threads to end".to_string()
    }
}

/// The closure has returned: threads that are still there go on until they have ended or have to wait.
fn let_others_end() {
    let engine = engine();
    engine.complete_write();
    if engine.live.len() > 1 {
        let rest = OthersRest { until: engine.shared.control().steps + LAST_STEPS };
        let fiber = engine.current();
        fiber.ops += 1;
        let op = Op { kind: EventKind::Yield, object: 0, size: 0, site: 0, index: fiber.ops, place: 0 };
        engine.point(op, Some(&raw const rest), false);
    }
}
