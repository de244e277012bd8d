//! The state of threads, and what their code does with memory that is their own.
//!
//! To know what a thread's steps depend on, values have to be followed through memory that no other thread touches,
//! too; and a thread that comes back to a state that it was in before, memory of its own included, continues as it did
//! then, as long as it sees the same.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use threadbare_trace::Event;
use threadbare_wire::{TouchRecord, flags};

use crate::address_hash::AddressHasher;
use crate::engine::Engine;
use crate::fiber::Fiber;
use crate::shadow::{self, Cell};
use crate::{arch, spin};

/// What is known while the plan asks for it.
#[derive(Default)]
pub struct StateHashes {
    wanted: bool,
    reported: HashSet<TouchRecord, BuildHasherDefault<AddressHasher>>,
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
    engine.world.state_hashes.borrow_mut().wanted =
        engine.shared.control().plan.flags & flags::THREAD_STATES != 0;
    engine.world.regions.borrow_mut().begin(engine.world.state_hashes.borrow_mut().wanted);
    engine.threads.all().for_each(|fiber| look_at_own_memory(engine, fiber));
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
    if engine.running.get() && engine.world.state_hashes.borrow_mut().reported.insert(touch) {
        engine.shared.touch(touch);
    }
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
pub fn of(fiber: &Fiber) -> u32 {
    settle(fiber);
    let registers = arch::registers();
    let whole = registers.iter().fold(spin::stack(fiber, registers[0]), |sum, word| mix(sum, *word as u64));
    let whole = mix(whole, fiber.own_content.get());
    ((whole >> 32) ^ whole) as u32 >> Event::STATE_HASH
}
