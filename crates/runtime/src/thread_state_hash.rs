//! The state of threads, and what their code does with memory that is their own.
//!
//! To know what a thread's steps depend on, values have to be followed through memory that no other thread touches,
//! too; and a thread that comes back to a state that it was in before, memory of its own included, continues as it did
//! then, as long as it sees the same. The state of the whole program is that of its threads, what is in the memory that they share, and
//! how things stand with the objects that they synchronize with.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;

use threadbare_trace::{Event, EventKind, kinds};
use threadbare_wire::{DeadRegistersRecord, TouchRecord, flags};

use crate::address_hash::AddressHasher;
use crate::engine::{Engine, engine};
use crate::fiber::Fiber;
use crate::shadow::{self, Cell, FREED, GRAIN_BITS};
use crate::{arch, spin, sys, uninstrument};

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
    /// Places that threads of other executions shared, and where there was no memory when this one began.
    absent: HashSet<usize, BuildHasherDefault<AddressHasher>>,
    /// How things stand with objects that are more than taken or free: what happened to them, and what they are now.
    objects: HashMap<usize, (u64, u64), BuildHasherDefault<AddressHasher>>,
    /// The registers that are dead while a call is in progress, by where the call returns to in the executable's file.
    dead_registers: &'static [DeadRegistersRecord],
    /// Where the executable is.
    bias: usize,
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
        if hashes.of_program {
            hashes.dead_registers = engine.shared.dead_registers();
            hashes.bias = uninstrument::bias();
        }
    }
    engine.threads.all().for_each(|fiber| look_at_own_memory(engine, fiber));
}

/// Whether executions that come to the same state are continued only once.
#[inline(always)]
pub fn are_merged() -> bool {
    engine().world.state_hashes.borrow_mut().of_program
}

/// These pages come, go, or may be accessed in another way: whether what threads share there can be looked at has to be seen each time.
pub fn pages_change(pages: std::ops::Range<usize>) {
    see_before_release(engine());
    let gone = |grain: &usize| pages.contains(&(grain << GRAIN_BITS));
    let mut hashes = engine().world.state_hashes.borrow_mut();
    let gone: Vec<usize> = hashes.shared.iter().copied().filter(gone).collect();
    for grain in gone {
        hashes.shared.remove(&grain);
        hashes.absent.insert(grain);
    }
}

/// A place is shared by threads.
pub fn is_shared(addr: usize) {
    engine().world.state_hashes.borrow_mut().shared.insert(addr >> GRAIN_BITS);
}

/// A place was shared by threads in other executions. In this one there need not be memory yet.
pub fn was_shared(addr: usize) {
    if sys::is_readable(addr) {
        is_shared(addr);
    } else {
        engine().world.state_hashes.borrow_mut().absent.insert(addr >> GRAIN_BITS);
    }
}

/// The running thread has done something with an object.
pub fn synchronized(kind: EventKind, object: usize, value: u64) {
    use EventKind::*;
    let mut hashes = engine().world.state_hashes.borrow_mut();
    if !hashes.of_program {
        return;
    }
    let history = &mut hashes.objects.entry(object).or_default().0;
    let thread = u64::from(engine().current_id().0);
    match kind {
        // Which locks are held is kept with the threads, and what is in memory is looked at.
        kinds!(lock | plain | atomic | heap | pause) | Fence | Frame | End | LibraryCall => {}
        // How many tokens there are.
        SemWait | SemPost | SemFailed => *history = mix(1, value),
        // Those say themselves who waits for them; see `is_in_state`.
        CondWait | CondWake | CondTimeout | CondSignal | CondBroadcast => {}
        FutexWait | FutexWoken | FutexTimeout | FutexWake => {}
        kinds!(barrier | once | thread | object) | Io | Process | Signal => {
            *history = mix(mix(*history, thread << 8 | kind as u64), value);
        }
    }
}

/// All that decides what can happen next to an object has come to be this, whatever happened before.
pub fn is_in_state(object: usize, state: u64) {
    let mut hashes = engine().world.state_hashes.borrow_mut();
    if hashes.of_program {
        hashes.objects.entry(object).or_default().1 = state;
    }
}

/// One number for the state of the whole program, with these threads enabled. 0 if the plan does not ask for it.
pub fn of_program(engine: &Engine, enabled: u64) -> u64 {
    let hashes = engine.world.state_hashes.borrow_mut();
    if !hashes.of_program {
        return 0;
    }
    let threads = engine.threads.all().fold(
        mix(mix(enabled, engine.world.signals.pending.get() as u64), engine.world.clock.borrow_mut().now()),
        |sum, fiber| {
            if fiber.done.get() {
                // Of a thread that has ended only its result is left, until somebody has joined it.
                let stands = u64::from(fiber.joined.get()) << 1 | u64::from(fiber.detached.get());
                let result = if stands == 0 { fiber.result.get() as u64 } else { 0 };
                return [5, result, stands].into_iter().fold(sum, mix);
            }
            // SAFETY: nobody changes it meanwhile.
            let next = unsafe { fiber.pending.peek() };
            let held = held(engine, fiber);
            let stands = [
                fiber.joined.get(),
                fiber.detached.get(),
                fiber.until.get().is_some(),
                fiber.ready(),
                fiber.cancel.requested.get(),
                fiber.cancel.enabled.get(),
                fiber.cancel.asynchronous.get(),
                fiber.interrupted_by.get().is_some(),
                fiber.broken_off.get(),
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
                // What a thread has come to with its last step is seen when it is joined.
                fiber.result.get() as u64,
                fiber.handled_signals.get(),
                fiber.blocked_signals.get(),
            ];
            words.into_iter().fold(sum, mix)
        },
    );
    let is_there =
        |grain: &&usize| !hashes.shared.contains(*grain) && sys::is_readable(**grain << GRAIN_BITS);
    let come = hashes.absent.iter().filter(is_there);
    let memory = hashes.shared.iter().chain(come).fold(0, |sum: u64, grain| {
        let addr = grain << GRAIN_BITS;
        // SAFETY: there is memory, and what is freed is not looked at.
        let word = unsafe {
            if *shadow::cell(addr) & FREED != 0 { u64::MAX } else { u64::from(*(addr as *const u32)) }
        };
        sum ^ mix(mix(3, addr as u64), word)
    });
    let objects = hashes.objects.iter().filter(|(_, it)| **it != (0, 0));
    let objects = objects
        .fold(0, |sum: u64, (addr, (history, state))| sum ^ mix(mix(mix(4, *addr as u64), *history), *state));
    mix(mix(threads, memory), objects)
}

/// One number for the locks that a thread holds, how often each, and whether as a writer.
fn held(engine: &Engine, fiber: &Fiber) -> u64 {
    let locks = &engine.world;
    fiber.held.borrow_mut().iter().fold(0, |sum: u64, lock| {
        let levels = locks.mutexes.get(*lock).map_or(0, |mutex| u64::from(mutex.levels()));
        let writes = locks.rwlocks.get(*lock).is_some_and(|it| it.is_written_by(fiber.owner()));
        sum.wrapping_add(mix(mix(2, *lock as u64), levels << 1 | u64::from(writes)))
    })
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

/// The running thread gives an operation this, besides what it gave it before.
#[cold]
pub fn gives<T: Copy>(argument: &T) {
    // SAFETY: an argument of a C function has no padding.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const *argument).cast::<u8>(), size_of::<T>()) };
    let fiber = engine().current();
    fiber.given.set(bytes.iter().fold(fiber.given.get(), |sum, byte| mix(sum, u64::from(*byte))));
}

/// What identifies a call of the library by the running thread, made with this besides its arguments, where executions that come to the same
/// state are continued once: what the call leaves in hidden places follows from it. Elsewhere what the thread has seen identifies it.
pub fn of_call(fiber: &Fiber, given: impl FnOnce() -> u64) -> u64 {
    if are_merged() { mix(mix(of(fiber), fiber.given.get()), given()) } else { 0 }
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

/// Adds a word to a hash.
pub fn mix(sum: u64, word: u64) -> u64 {
    let product = (sum.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // Such numbers are added up: without this, two words that change places could leave the sum as it was.
    product ^ product >> 32
}

/// One number for what is in some memory.
pub fn content(addr: usize, len: usize) -> u64 {
    // SAFETY: the program is about to write there, or has just done so.
    let bytes = unsafe { std::slice::from_raw_parts(addr as *const u8, len) };
    bytes.iter().fold(addr as u64, |sum, byte| mix(sum, u64::from(*byte)))
}

/// One number for the state of the running thread: the registers that it continues with, its stack, and what it has
/// written to memory of its own elsewhere.
pub fn of(fiber: &Fiber) -> u64 {
    settle(fiber);
    let sp = arch::entry_stack_pointer();
    // SAFETY: the program has called the runtime, and this is where it goes on.
    let dead = dead_registers(unsafe { *(sp as *const usize) });
    // SAFETY: every thread has an errno.
    let errno = unsafe { *libc::__errno_location() } as u64;
    // Nobody knows how far a stack reaches that the program has made itself: then no state is like another one.
    let is_usual = fiber.stack_range().contains(&sp);
    let stack = if is_usual { spin::frames(fiber, sp) } else { engine().shared.control().steps };
    let modes = mix(mix(stack, arch::floating_point_modes()), errno);
    let modes = engine().world.keys.borrow_mut().values().fold(modes, |sum, value| mix(sum, value as u64));
    let whole = arch::live_registers(dead).iter().fold(modes, |sum, word| mix(sum, *word as u64));
    mix(whole, fiber.own_content.get())
}

/// The registers that hold nothing which is still needed when a call of the program returns to this address; a bit each.
fn dead_registers(after: usize) -> u64 {
    let hashes = engine().world.state_hashes.borrow_mut();
    let after = after.wrapping_sub(hashes.bias) as u64;
    let found = hashes.dead_registers.binary_search_by_key(&after, |record| record.after);
    found.map_or(0, |place| hashes.dead_registers[place].registers)
}

/// As much of it as an event has room for.
pub fn in_event(hash: u64) -> u32 {
    (((hash >> 32) ^ hash) as u32 >> Event::STATE_HASH) << Event::STATE_HASH
}
