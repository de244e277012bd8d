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
use crate::shadow::{self, EXPOSED, GRAIN_BITS};

/// The locks of shared places, by grain.
#[derive(Default)]
pub struct Guards {
    by_grain: HashMap<usize, usize, BuildHasherDefault<AddressHasher>>,
}

impl Guards {
    /// An execution begins.
    pub fn forget(&mut self) {
        self.by_grain.clear();
    }
}

impl Engine {
    /// Whether all of a shared range is guarded by locks that the thread holds, as far as is known.
    pub fn is_guarded(&mut self, fiber: &Fiber, addr: usize, size: usize) -> bool {
        if self.live.len() == 1 {
            return true;
        }
        let (first, last) = (addr >> GRAIN_BITS, (addr + size.max(1) - 1) >> GRAIN_BITS);
        let mut guarded = true;
        for grain in first..=last {
            // SAFETY: the shadow is up.
            let cell = unsafe { *shadow::cell(grain << GRAIN_BITS) };
            if cell & EXPOSED != 0 {
                guarded = false;
                continue;
            }
            let lock = fiber.words.last().or(fiber.held.last()).copied();
            let guard = match lock {
                Some(lock) => *self.world.guards.by_grain.entry(grain).or_insert(lock),
                None => 0,
            };
            if guard == 0 || !(fiber.words.contains(&guard) || fiber.held.contains(&guard)) {
                access::expose(grain << GRAIN_BITS);
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
