//! The state of threads, and what their code does with memory that is their own.
//!
//! To know what a thread's steps depend on, values have to be followed through memory that no other thread touches,
//! too; and a thread that comes back to a state that it was in before, memory of its own included, continues as it did
//! then, as long as it sees the same. The state of the whole program is that of its threads, what is in the memory that they share, and
//! how things stand with the objects that they synchronize with.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;

use threadbare_trace::{Event, EventKind, kinds};
use threadbare_wire::{TouchRecord, flags};

use crate::address_hash::AddressHasher;
use crate::engine::{Engine, engine};
use crate::fiber::Fiber;
use crate::shadow::{self, Cell, FREED, GRAIN_BITS};
use crate::{arch, spin};

/// What is known while the plan asks for it.
#[derive(Default)]
pub struct StateHashes {
    wanted: bool,
    /// Decisions are given the state of the program.
    of_program: bool,
    /// Threads are taken to spin only when they come back to a state.
    exact_loops: bool,
    /// What threads do to memory of their own is reported.
    reports: bool,
    reported: HashSet<TouchRecord, BuildHasherDefault<AddressHasher>>,
    /// The places that threads share, by grain.
    shared: HashSet<usize, BuildHasherDefault<AddressHasher>>,
    /// How things stand with objects that are more than taken or free.
    objects: HashMap<usize, Object, BuildHasherDefault<AddressHasher>>,
}

/// What happened to an object, as far as it matters for what can happen next.
#[derive(Clone, Copy, Default)]
struct Object {
    history: u64,
    /// Threads that wait for it.
    waiting: u32,
}

impl StateHashes {
    /// Whether the plan asks for it.
    #[inline(always)]
    pub fn are_wanted(&self) -> bool {
        self.wanted
    }
}

/// Begins to look, if the plan asks for it.
pub fn begin(engine: &Engine) {
    let asked = engine.shared.control().plan.flags;
    let wanted = asked & (flags::THREAD_STATES | flags::PROGRAM_STATES | flags::EXACT_LOOPS) != 0;
    {
        let mut hashes = engine.world.state_hashes.borrow_mut();
        hashes.wanted = wanted;
        hashes.of_program = asked & flags::PROGRAM_STATES != 0;
        hashes.exact_loops = asked & (flags::PROGRAM_STATES | flags::EXACT_LOOPS) != 0;
        hashes.reports = asked & flags::THREAD_STATES != 0;
    }
    engine.world.regions.borrow_mut().begin(wanted);
    engine.threads.all().for_each(|fiber| look_at_own_memory(engine, fiber));
}

/// Whether executions that come to the same state are continued only once.
pub fn are_merged() -> bool {
    engine().world.state_hashes.borrow_mut().of_program
}

/// A place is shared by threads.
pub fn is_shared(addr: usize) {
    engine().world.state_hashes.borrow_mut().shared.insert(addr >> GRAIN_BITS);
}

/// The running thread has done something with an object.
pub fn synchronized(kind: EventKind, object: usize, value: u64) {
    use EventKind::*;
    let mut hashes = engine().world.state_hashes.borrow_mut();
    if !hashes.of_program {
        return;
    }
    let it = hashes.objects.entry(object).or_default();
    let thread = u64::from(engine().current_id().0);
    match kind {
        // Which locks are held is kept with the threads, and what is in memory is looked at.
        kinds!(lock | plain | atomic | heap | pause) | Fence | Frame | End => {}
        // How many tokens there are.
        SemWait | SemPost | SemFailed => it.history = mix(1, value),
        // The order in which threads wait, until none does.
        CondWait | FutexWait => {
            it.waiting += 1;
            it.history = mix(it.history, thread + 1);
        }
        CondWake | CondTimeout | FutexWoken | FutexTimeout => {
            it.waiting = it.waiting.saturating_sub(1);
            it.history = if it.waiting == 0 { 0 } else { mix(it.history, !thread) };
        }
        CondSignal | CondBroadcast | FutexWake if it.waiting == 0 => {}
        CondSignal | CondBroadcast | FutexWake => it.history = mix(it.history, kind as u64),
        kinds!(barrier | once | thread | object) | Io | Process | Signal => {
            it.history = mix(mix(it.history, thread << 8 | kind as u64), value);
        }
    }
}

/// One number for the state of the whole program, with these threads enabled. 0 if the plan does not ask for it.
pub fn of_program(engine: &Engine, enabled: u64) -> u64 {
    let hashes = engine.world.state_hashes.borrow_mut();
    if !hashes.of_program {
        return 0;
    }
    let threads =
        engine.threads.all().fold(mix(enabled, engine.world.clock.borrow_mut().now()), |sum, fiber| {
            // SAFETY: nobody changes it meanwhile.
            let next = unsafe { fiber.pending.peek() };
            let held = fiber.held.borrow_mut().iter().fold(0, |sum: u64, lock| sum ^ mix(2, *lock as u64));
            let stands = [
                fiber.done.get(),
                fiber.joined.get(),
                fiber.detached.get(),
                fiber.timed.get(),
                fiber.ready(),
            ];
            let stands = stands.iter().fold(0, |sum, so| sum << 1 | u64::from(*so));
            let words = [
                fiber.state_hash.get(),
                fiber.given.get(),
                next.kind as u64,
                next.object,
                next.site,
                held,
                stands,
            ];
            words.into_iter().fold(sum, mix)
        });
    let memory = hashes.shared.iter().fold(0, |sum: u64, grain| {
        let addr = grain << GRAIN_BITS;
        // SAFETY: threads have touched the place, and what is freed is not looked at.
        let word = unsafe {
            if *shadow::cell(addr) & FREED != 0 { u64::MAX } else { u64::from(*(addr as *const u32)) }
        };
        sum ^ mix(mix(3, addr as u64), word)
    });
    let objects = hashes.objects.iter().filter(|(_, it)| it.history != 0);
    let objects = objects.fold(0, |sum: u64, (addr, it)| sum ^ mix(mix(4, *addr as u64), it.history));
    mix(mix(threads, memory), objects)
}

/// Whether it is certain that a thread goes round in a loop.
pub fn is_in_loop(fiber: &Fiber) -> bool {
    engine().world.state_hashes.borrow_mut().exact_loops
        && fiber.spin_mark.get().0 == mix(fiber.state_hash.get(), fiber.site())
}

/// Whether a thread that keeps reading what it has read goes round in a loop. If its state is known, it does only when it comes back to one
/// that it was in; otherwise it is taken to. (Brent's way of finding a cycle: the state that it is compared with is replaced after
/// twice as many rounds each time.)
pub fn may_spin(fiber: &Fiber) -> bool {
    if !engine().world.state_hashes.borrow_mut().exact_loops {
        return true;
    }
    let state = mix(fiber.state_hash.get(), fiber.site());
    let (marked, rounds, limit) = fiber.spin_mark.get();
    if marked == state {
        return true;
    }
    let (rounds, is_over) = (rounds + 1, rounds >= limit);
    fiber.spin_mark.set(if is_over { (state, 0, 2 * limit + 1) } else { (marked, rounds, limit) });
    false
}

/// Has every access of a thread come to the runtime, private ones too.
pub fn look_at_own_memory(engine: &Engine, fiber: &Fiber) {
    if engine.world.state_hashes.borrow_mut().wanted {
        fiber.owns_nothing();
    }
}

/// The running thread's code touches memory of its own.
#[cold]
pub fn touch(engine: &Engine, addr: usize, len: usize, writes: bool, pc: u64) {
    let fiber = engine.current();
    settle(fiber);
    if writes && !fiber.stack_range().contains(&addr) {
        // What is there goes, and what comes is seen when the thread is back.
        fiber.own_content.set(fiber.own_content.get() ^ (content(addr, len)));
        fiber.own_write.set(Some((addr, len)));
    }
    let (addr, len, thread) = (addr as u64, len as u32, fiber.id);
    let touch = TouchRecord { pc, addr, len, thread, writes: u8::from(writes), spare: 0 };
    let is_new = {
        let mut hashes = engine.world.state_hashes.borrow_mut();
        hashes.reports && engine.running.get() && hashes.reported.insert(touch)
    };
    if is_new {
        engine.shared.touch(touch);
    }
}

/// The running thread calls a function of the library and gives it this, which need not be anywhere else.
#[inline(always)]
pub fn called(arguments: &[usize]) {
    let engine = engine();
    if engine.world.state_hashes.borrow_mut().of_program {
        let given = arguments.iter().fold(0, |sum, word| mix(sum, *word as u64));
        engine.current().given.set(given);
    }
}

/// A function of the library changes memory of the running thread's own, and nobody knows how much of it. What it leaves there follows from the state
/// that the thread is in and from what it has given.
pub fn changes_unseen(fiber: &Fiber) {
    fiber.own_content.set(mix(mix(fiber.own_content.get(), of(fiber)), fiber.given.get()));
}

/// Memory is about to be given back: the last chance to see what the running thread has written there.
pub fn see_before_release(engine: &Engine) {
    if engine.world.state_hashes.borrow_mut().wanted && engine.running.get() {
        settle(engine.current());
    }
}

impl Fiber {
    /// Has every access come to the runtime: what is compared with cells is what no cell holds.
    fn owns_nothing(&self) {
        const NOBODYS: Cell = shadow::WRITTEN | shadow::MANY | shadow::SHARED | shadow::FREED;
        let one = u32::from(NOBODYS);
        self.owns.set(one);
        self.owns_written.set(one);
        self.owns_both.set(one | one << 16);
        self.owns_both_written.set(one | one << 16);
    }
}

/// Takes note of what the thread has written since it was here last.
fn settle(fiber: &Fiber) {
    if let Some((addr, len)) = fiber.own_write.take() {
        fiber.own_content.set(fiber.own_content.get() ^ (content(addr, len)));
    }
}

fn mix(sum: u64, word: u64) -> u64 {
    (sum.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// One number for what is in some memory.
fn content(addr: usize, len: usize) -> u64 {
    // SAFETY: the program is about to write there, or has just done so.
    let bytes = unsafe { std::slice::from_raw_parts(addr as *const u8, len) };
    bytes.iter().fold(addr as u64, |sum, byte| mix(sum, u64::from(*byte)))
}

/// One number for the state of the running thread: the registers that it continues with, its stack, and what it has
/// written to memory of its own elsewhere.
pub fn of(fiber: &Fiber) -> u64 {
    settle(fiber);
    let registers = arch::registers();
    let whole = registers.iter().fold(spin::stack(fiber, registers[0]), |sum, word| mix(sum, *word as u64));
    mix(whole, fiber.own_content.get())
}

/// As much of it as an event has room for.
pub fn in_event(hash: u64) -> u32 {
    (((hash >> 32) ^ hash) as u32 >> Event::STATE_HASH) << Event::STATE_HASH
}
