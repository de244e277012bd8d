//! Where threads stand, and what their code does with memory that is their own.
//!
//! Whoever wants to know what a thread's steps depend on has to follow values through memory that no other thread
//! touches, too; and a thread that comes back to where it stood, with nothing of its own changed, goes on as it did
//! then, as long as it sees the same.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use threadbare_trace::ThreadId;
use threadbare_wire::{TouchRecord, flags};

use crate::engine::Engine;
use crate::fiber::Fiber;
use crate::hash::AddressHasher;
use crate::{interpose, spin};

/// What is known while the plan asks for it.
#[derive(Default)]
pub struct Stands {
    wanted: bool,
    told: HashSet<TouchRecord, BuildHasherDefault<AddressHasher>>,
}

impl Stands {
    /// Whether the plan asks for it.
    #[inline(always)]
    pub fn are_wanted(&self) -> bool {
        self.wanted
    }
}

impl Engine {
    /// Begins to look, if the plan asks for it.
    pub fn begin_stands(&mut self) {
        self.world.stands.wanted = self.shared.control().plan.flags & flags::STANDS != 0;
        for index in 0..self.fibers.len() {
            self.look_at_own_memory(ThreadId(index as u16));
        }
    }

    /// Has every access of a thread come to the runtime, private ones too.
    pub fn look_at_own_memory(&mut self, id: ThreadId) {
        if self.world.stands.wanted {
            self.fiber(id).owns_nothing();
        }
    }

    /// The running thread's code touches memory of its own.
    #[cold]
    pub fn touch(&mut self, addr: usize, len: usize, writes: bool, pc: u64) {
        let fiber = self.current();
        if writes && !fiber.stack_range().contains(&addr) {
            fiber.own_writes += 1;
        }
        let (addr, len, thread) = (addr as u64, len as u32, fiber.id);
        let touch = TouchRecord { pc, addr, len, thread, writes: u8::from(writes), spare: 0 };
        if self.running && self.world.stands.told.insert(touch) {
            self.shared.touch(touch);
        }
    }
}

/// One number for where the running thread stands: the registers that it goes on with, its stack, and how often it has
/// written to memory of its own elsewhere.
pub fn of(fiber: &Fiber) -> u32 {
    let registers = interpose::registers();
    let mix = |sum: u64, word: u64| (sum.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let whole = registers.iter().fold(spin::stack(fiber, registers[0]), |sum, word| mix(sum, *word as u64));
    let whole = mix(whole, fiber.own_writes);
    ((whole >> 32) ^ whole) as u32
}
