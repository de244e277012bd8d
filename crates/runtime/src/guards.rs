//! Which lock guards which shared memory, where steps are only what can matter.
//!
//! A place that is never touched but by whoever holds a certain lock needs no scheduling point of its own: whatever
//! can happen shows at the lock. Which lock that is shows at the first access; the first one without it *exposes* the
//! place, in this execution and, by the place's name, in all later ones.
//!
//! A lock is any word that a thread has changed from zero and nobody has changed back since, for no two threads can have
//! done so at once; and the mutexes of the C library.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::access;
use crate::engine::Engine;
use crate::fiber::Fiber;
use crate::hash::AddressHasher;
use crate::shadow::{self, EXPOSED, FREED, GRAIN_BITS, SHARED, WRITTEN};

/// How much memory a guard is for: two grains, since most accesses are of eight bytes.
const UNIT_BITS: u32 = GRAIN_BITS + 1;

/// The locks of shared places, by unit.
#[derive(Default)]
pub struct Guards {
    by_unit: HashMap<usize, usize, BuildHasherDefault<AddressHasher>>,
}

impl Guards {
    /// An execution begins.
    pub fn forget(&mut self) {
        self.by_unit.clear();
    }
}

/// Whether the thread holds a lock.
fn holds(fiber: &Fiber, lock: usize) -> bool {
    fiber.words.contains(&lock) || fiber.held.contains(&lock)
}

impl Engine {
    /// Whether a small access is to shared memory that is known to be guarded by a lock which the thread holds. This is the
    /// short way; [`Engine::is_guarded`] knows all.
    #[inline(always)]
    pub fn is_plainly_guarded(&self, fiber: &Fiber, addr: usize, size: usize, write: bool) -> bool {
        if !self.brief || fiber.words.is_empty() || addr % 8 + size > 8 || fiber.ops == fiber.stop_at {
            return false;
        }
        let needed = if write { SHARED | WRITTEN } else { SHARED };
        let (first, last) = (addr >> GRAIN_BITS, (addr + size - 1) >> GRAIN_BITS);
        // SAFETY: the shadow is up.
        let fits = |grain: usize| unsafe { *shadow::cell(grain << GRAIN_BITS) } & (needed | EXPOSED | FREED) == needed;
        fits(first)
            && fits(last)
            && self
                .world
                .guards
                .by_unit
                .get(&(addr >> UNIT_BITS))
                .is_some_and(|lock| fiber.words.contains(lock))
    }

    /// Whether all of a shared range is guarded by locks that the thread holds, as far as is known.
    pub fn is_guarded(&mut self, fiber: &Fiber, addr: usize, size: usize) -> bool {
        if self.live.len() == 1 {
            return true;
        }
        let (first, last) = (addr >> UNIT_BITS, (addr + size.max(1) - 1) >> UNIT_BITS);
        let mut guarded = true;
        for unit in first..=last {
            let grains = [unit << UNIT_BITS, (unit << UNIT_BITS) + (1 << GRAIN_BITS)];
            // SAFETY: the shadow is up.
            if grains.iter().any(|grain| unsafe { *shadow::cell(*grain) } & EXPOSED != 0) {
                guarded = false;
                continue;
            }
            let lock = fiber.words.last().or(fiber.held.last()).copied();
            let guard = lock.map(|lock| *self.world.guards.by_unit.entry(unit).or_insert(lock));
            if !guard.is_some_and(|guard| holds(fiber, guard)) {
                grains.into_iter().for_each(access::expose);
                guarded = false;
            }
        }
        guarded
    }

    /// The running thread has changed a word by an atomic operation.
    #[inline(always)]
    pub fn word_changed(&mut self, word: usize, old: u64, value: u64) {
        if self.brief {
            self.follow_word(word, old, value);
        }
    }

    fn follow_word(&mut self, word: usize, old: u64, value: u64) {
        let words = &mut self.current().words;
        if let Some(place) = words.iter().position(|held| *held == word) {
            words.swap_remove(place);
        } else if value == 0 {
            for index in 0..self.live.len() {
                self.fibers[self.live[index].index()].words.retain(|held| *held != word);
            }
        }
        if old == 0 && value != 0 {
            self.current().words.push(word);
        }
    }
}
