//! Repeating a closure of the program inside one copy of the process.
//!
//! The snapshot is taken before the closure, so an ordinary execution, in a copy of its own, calls it once and continues.
//! A copy that repeats calls it again and again, each time under another policy, and never continues. A repetition that
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
use crate::exclusive::nothing_is_borrowed;
use crate::fiber::{Fiber, Waitable};
use crate::shared_memory::{lost_control, refuse_plan};
use crate::time::Clock;
use crate::{interpose, server, sys, threads};

pub use writes::{Writes, about_to_write};

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
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn threadbare_repeat(
    closure: Closure,
    data: *mut c_void,
    wishes: *const Wishes,
) -> c_int {
    if !interpose::controlled() {
        return UNCONTROLLED;
    }
    if !engine().running.get() {
        // SAFETY: as the caller vouches.
        let wishes = unsafe { &*wishes };
        let number = wishes.strategy;
        if number != 0 && ClosureStrategy::from_number(number).is_none() {
            lost_control(&format!(
                "the test asks for strategy number {number}, which this version of threadbare does not have"
            ));
        }
        let repetition = &mut engine().shared.control().repetition;
        repetition.offered = 1;
        repetition.wished_executions = wishes.executions;
        (repetition.wished_seed, repetition.has_seed) = (wishes.seed, wishes.has_seed);
        repetition.wished_strategy = wishes.strategy;
        if server::snapshot() {
            // SAFETY: as the caller vouches.
            unsafe { repeat(closure, data) };
        }
    } else if engine().shared.control().repetition.offered == 1 {
        engine().shared.warn(
            "only the first closure of a test is repeated in one process; what comes after it has fewer executions",
        );
    }
    nothing_is_borrowed();
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

/// The state at the snapshot.
struct Start {
    ops: u32,
    clock: Clock,
    entropy: Entropy,
}

unsafe fn repeat(closure: Closure, data: *mut c_void) -> ! {
    let engine = engine();
    let mut control = engine.shared.control();
    let asked = control.repetition;
    let Some(strategy) = ClosureStrategy::from_number(asked.strategy) else {
        refuse_plan(format_args!("there is no strategy with number {} for closures", asked.strategy))
    };
    let mut portfolio = strategy.portfolio(asked.seed);
    let ops = engine.current().ops.get();
    let start = Start {
        ops,
        clock: *engine.world.clock.borrow_mut(),
        entropy: engine.world.entropy.borrow_mut().clone(),
    };
    engine.recorder.is_on.set(false);
    writes::watch(engine);
    for index in asked.first..asked.first.saturating_add(asked.count) {
        control.repetition.begun += 1;
        let Drawn { policy, probes } = portfolio.draw(index, &control.repetition.counts);
        let seed = policy.seed;
        begin_repetition(engine, &start, policy.start());
        engine.world.guarding_locks.gives_back_at_once.set(!shows_locks(index, probes));
        engine.probe.set(probes.then(|| Rng::new(seed)));
        engine.update_stop();
        nothing_is_borrowed();
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
        let steps = control.steps;
        let made = &mut control.repetition;
        made.passed += 1;
        made.passed_steps += steps;
        if made.counts.may_learn_from(index, steps) {
            made.counts
                .take_in(engine.threads.all().map(|fiber| (fiber.id, fiber.creator, fiber.steps.get())));
        }
        if let Some(journal) = engine.policy.borrow_mut().journal() {
            portfolio.learn(journal);
        }
        let (leak, place) = leak(engine);
        if leak != Leak::Nothing {
            control.repetition.leak = leak as u32;
            control.repetition.leak_at = place as u64;
            break;
        }
        if control.repetition.passed_steps >= asked.enough_steps {
            break;
        }
    }
    control.status = Status::Ended as u32;
    sys::exit(0)
}

/// Forgets the last repetition, apart from what it taught.
fn begin_repetition(engine: &Engine, start: &Start, policy: AnyPolicy) {
    engine.threads.all().skip(1).for_each(threads::release);
    // SAFETY: the main thread runs between two calls of the closure, and all others have ended.
    unsafe { engine.threads.drop_others() };
    engine.fiber(ThreadId::MAIN).begin_anew(start.ops);
    engine.progress.set(0);
    engine.spin_detector.forget();
    engine.world.guarding_locks.forget();
    engine.world.clock.set(start.clock);
    engine.world.entropy.set(start.entropy.clone());
    engine.world.signals.program_steps.set(0);
    engine.policy.set(policy);
    let mut control = engine.shared.control();
    control.steps = 0;
    control.switches = 0;
    control.threads = 1;
    engine.begin_fairly();
}

/// What the closure has left behind, and where.
fn leak(engine: &Engine) -> (Leak, usize) {
    engine.recorder.complete_write();
    if engine.threads.live_count() > 1 {
        return (Leak::Threads, 0);
    }
    if engine.shared.control().file_changes != engine.world.outward.borrow_mut().file_changes() {
        return (Leak::Files, 0);
    }
    let slots = engine.world.slots.borrow_mut();
    let place = engine.world.writes.borrow_mut().changed(slots.iter().map(|slot| slot.stack_range()));
    match place {
        Some(place) => (Leak::Memory, place),
        None => (Leak::Nothing, 0),
    }
}

/// Nobody else is runnable; lives on the main thread's stack.
struct OthersRest {
    until: u64,
}

impl Waitable for OthersRest {
    fn ready(&self, waiting: &Fiber) -> bool {
        let engine = engine();
        let is_runnable =
            |other: &Fiber| other.id != waiting.id && (other.ready() || other.deadline().is_some());
        engine.shared.control().steps >= self.until || !engine.threads.live().any(is_runnable)
    }

    fn what(&self) -> String {
        "the other threads to end".to_string()
    }
}

/// The closure has returned: threads that are still there run until they have ended or have to wait.
fn let_others_end() {
    let engine = engine();
    engine.recorder.complete_write();
    if engine.threads.live_count() > 1 {
        let rest = OthersRest { until: engine.shared.control().steps + LAST_STEPS };
        let fiber = engine.current();
        fiber.count_operation();
        let op = Op { kind: EventKind::Yield, object: 0, size: 0, site: 0, index: fiber.ops.get(), place: 0 };
        engine.point(op, Some(&raw const rest), None);
    }
}
