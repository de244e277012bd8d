//! What a closure that is repeated writes to memory that outlives it.
//!
//! The first time that code of the program writes to a place since it was allocated, the place's shadow cell says so
//! and what it held is kept here. At the end of a repetition the memory that the closure allocated itself, the stacks
//! of its threads and its own part of the main thread's stack are left out; all else has to hold what it held.

use std::ops::Range;

use crate::engine::Engine;
use crate::heap;
use crate::shadow::{self, FREED, WRITTEN};

/// A place, one grain of memory, and what it held before.
type Held = (usize, u32);

/// Writes so far.
#[derive(Default)]
pub struct Writes {
    /// The repetition that is under way, counted from 1; 0 if there is none.
    repetition: u64,
    /// The closure's own part of the main thread's stack lies below.
    own_stack: usize,
    /// Since the repetition began.
    new: Vec<Held>,
    /// Before, where it outlives the closure.
    lasting: Vec<Held>,
}

impl Writes {
    /// The repetition that is under way; 0 if there is none.
    pub fn repetition(&self) -> u64 {
        self.repetition
    }

    /// A repetition has ended: a place outside of the closure that it has changed, if there is one. The memory of
    /// its threads is in `stacks`.
    pub fn changed(&mut self, stacks: impl Iterator<Item = Range<usize>> + Clone) -> Option<usize> {
        const MAIN_STACK: usize = 1 << 23;
        let own = self.own_stack.saturating_sub(MAIN_STACK)..self.own_stack;
        let new = std::mem::take(&mut self.new);
        for &(place, held) in &new {
            // SAFETY: the shadow is up.
            let freed = unsafe { *shadow::cell(place) } & FREED != 0;
            let is_own = freed
                || own.contains(&place)
                || stacks.clone().any(|stack| stack.contains(&place))
                || heap::live_block_at(place).is_some_and(|block| block.born == self.repetition);
            if !is_own {
                self.lasting.push((place, held));
            }
        }
        // Its memory is used again.
        self.new = new;
        self.new.clear();
        self.repetition += 1;
        // SAFETY: the program wrote there, and has not given it back.
        let differs =
            |&(place, held): &Held| unsafe { *shadow::cell(place) & FREED == 0 && content(place) != held };
        self.lasting.iter().copied().find(differs).map(|(place, _)| place)
    }
}

/// # Safety
/// The grain must be readable.
unsafe fn content(place: usize) -> u32 {
    // SAFETY: as the caller vouches.
    unsafe { (place as *const u32).read() }
}

/// A closure is about to be repeated, called from here. Whatever was written before counts as not written yet.
pub fn watch(engine: &Engine) {
    const VARIABLES: usize = 1 << 14;
    let own_stack = crate::arch::registers()[0];
    engine.world.writes.set(Writes { repetition: 1, own_stack, ..Writes::default() });
    let main = engine.current();
    let (callers, variables) =
        (own_stack..main.stack.get().1, main.thread_pointer.get() - VARIABLES..main.thread_pointer.get());
    let data = engine.world.libraries().data().iter().cloned();
    for range in engine.world.heap.borrow_mut().live_blocks().chain(data).chain([callers, variables]) {
        // SAFETY: the shadow is up.
        unsafe { shadow::clear(range, WRITTEN) };
    }
}

/// Code of the program is about to write to a grain for the first time.
#[inline(always)]
pub fn about_to_write(engine: &Engine, place: usize) {
    if !engine.recorder.is_on.get() {
        // SAFETY: the program is about to access it; whole grains are mapped together.
        let held = unsafe { content(place) };
        engine.world.writes.borrow_mut().new.push((place, held));
    }
}
