//! Which lock guards which shared memory, where steps are only what can matter.
//!
//! A place that is never touched but by a thread that holds a certain lock needs no scheduling point of its own: whatever
//! can happen shows at the lock. Which lock that is shows at the first access; the first one without it *exposes* the
//! place, in this execution and, by the place's name, in all later ones.
//!
//! Giving such a lock back needs none either, unless somebody looks at it who would not wait for it (a try-lock). That
//! shows only where it can be found held, so now and then all of this is a step ([`GuardingLocks::gives_back_at_once`]).
//!
//! A lock is any word that a thread has changed from zero and none has changed back since, for no two threads can have
//! done so at once; and the mutexes of the C library.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;

use crate::access;
use crate::address_hash::AddressHasher;
use crate::engine::Engine;
use crate::engine::engine;
use crate::exclusive::Exclusive;
use crate::fiber::Fiber;
use crate::shadow::{self, EXPOSED, FREED, GRAIN_BITS, SHARED, WRITTEN};

/// How much memory a guard is for: two grains, since most accesses are of eight bytes.
const UNIT_BITS: u32 = GRAIN_BITS + 1;

/// How many units are found without a search.
const NEAR: usize = 64;

/// The lock of each unit.
struct Guards {
    by_unit: HashMap<usize, usize, BuildHasherDefault<AddressHasher>>,
    /// Those last asked for, each with its unit.
    near: [(usize, usize); NEAR],
    /// The grains that atomic operations access: no lock guards what they do.
    atomic: HashSet<usize, BuildHasherDefault<AddressHasher>>,
}

impl Default for Guards {
    fn default() -> Guards {
        Guards { by_unit: HashMap::default(), near: [(0, 0); NEAR], atomic: HashSet::default() }
    }
}

impl Guards {
    fn forget(&mut self) {
        self.by_unit.clear();
        self.atomic.clear();
        self.near = [(0, 0); NEAR];
    }

    /// The lock that guards a unit, if one is known.
    #[inline(always)]
    fn of(&mut self, unit: usize) -> Option<usize> {
        let near = &mut self.near[unit % NEAR];
        if near.0 != unit {
            *near = (unit, *self.by_unit.get(&unit)?);
        }
        Some(near.1)
    }
}

/// Whether who holds a lock holds it alone. Of those that readers share it is not looked how they are held.
fn excludes_others(lock: &usize) -> bool {
    engine().world.rwlocks.get(*lock).is_none()
}

/// Whether the thread holds a lock.
fn holds(fiber: &Fiber, lock: usize) -> bool {
    fiber.held_words.borrow_mut().contains(&lock) || fiber.held.borrow_mut().contains(&lock)
}

/// The locks that guard shared places.
#[derive(Default)]
pub struct GuardingLocks {
    guards: Exclusive<Guards>,
    /// Giving back a lock is no step in this execution.
    pub gives_back_at_once: Cell<bool>,
}

impl GuardingLocks {
    /// An execution begins.
    pub fn forget(&self) {
        self.guards.borrow_mut().forget();
    }

    /// Whether a small access is to shared memory that is known to be guarded by a lock which the thread holds. This is the
    /// short way; [`GuardingLocks::is_guarded`] knows all.
    #[inline(always)]
    pub fn is_plainly_guarded(&self, fiber: &Fiber, addr: usize, size: usize, write: bool) -> bool {
        if fiber.held_words.borrow_mut().is_empty() || addr % 8 + size > 8 || fiber.is_stop_due() {
            return false;
        }
        let needed = if write { SHARED | WRITTEN } else { SHARED };
        let (first, last) = (addr >> GRAIN_BITS, (addr + size - 1) >> GRAIN_BITS);
        // SAFETY: the shadow is up.
        let fits = |grain: usize| unsafe { *shadow::cell(grain << GRAIN_BITS) } & (needed | EXPOSED | FREED) == needed;
        fits(first)
            && fits(last)
            && self
                .guards
                .borrow_mut()
                .of(addr >> UNIT_BITS)
                .is_some_and(|lock| fiber.held_words.borrow_mut().contains(&lock))
    }

    /// Whether all of a shared range is guarded by locks that the thread holds, as far as is known.
    pub fn is_guarded(&self, fiber: &Fiber, addr: usize, size: usize) -> bool {
        let (first, last) = (addr >> UNIT_BITS, (addr + size.max(1) - 1) >> UNIT_BITS);
        let mut guarded = true;
        for unit in first..=last {
            let grains = [unit << UNIT_BITS, (unit << UNIT_BITS) + (1 << GRAIN_BITS)];
            // SAFETY: the shadow is up.
            if grains.iter().any(|grain| unsafe { *shadow::cell(*grain) } & EXPOSED != 0) {
                guarded = false;
                continue;
            }
            let word = fiber.held_words.borrow_mut().last().copied();
            let lock = word.or_else(|| fiber.held.borrow_mut().iter().rev().copied().find(excludes_others));
            let guard = lock.map(|lock| *self.guards.borrow_mut().by_unit.entry(unit).or_insert(lock));
            let own =
                grains[0].max(addr) >> GRAIN_BITS..=(addr + size.max(1) - 1).min(grains[1]) >> GRAIN_BITS;
            let is_atomic = own.into_iter().any(|grain| self.guards.borrow_mut().atomic.contains(&grain));
            if is_atomic || !guard.is_some_and(|guard| holds(fiber, guard)) {
                grains.into_iter().for_each(access::expose);
                guarded = false;
            }
        }
        guarded
    }

    /// An atomic operation accesses a shared place. It waits for no lock, unless the place is the lock.
    pub fn accessed_atomically(&self, fiber: &Fiber, addr: usize, size: usize) {
        let is_met = {
            let mut guards = self.guards.borrow_mut();
            guards.atomic.extend(addr >> GRAIN_BITS..=(addr + size - 1) >> GRAIN_BITS);
            let guard = guards.by_unit.get(&(addr >> UNIT_BITS)).copied();
            guard.is_none_or(|guard| guard == addr || holds(fiber, guard))
        };
        if !is_met && !access::is_exposed(addr) {
            access::expose(addr);
        }
    }

    /// Whether the thread gives back a lock at which others look only to take it.
    #[inline(always)]
    pub fn gives_back_unseen(&self, fiber: &Fiber, word: usize) -> bool {
        self.gives_back_at_once.get()
            && !fiber.is_stop_due()
            && fiber.held_words.borrow_mut().contains(&word)
            // SAFETY: the shadow is up.
            && unsafe { *shadow::cell(word) } & EXPOSED == 0
    }
}

/// The running thread has looked at a word and not changed it.
#[inline(always)]
pub fn looked_at_word(engine: &Engine, word: usize, to_take_it: bool) {
    if !engine.brief.get() {
        return;
    }
    if to_take_it {
        engine.current().found_taken.set(word);
    } else if engine.threads.live().any(|other| other.held_words.borrow_mut().contains(&word)) {
        expose_word(word);
    }
}

/// The running thread does something else than to wait for a lock that it has found taken.
#[inline(always)]
pub fn does_not_wait(fiber: &Fiber) {
    if fiber.found_taken.get() != 0 {
        expose_word(fiber.found_taken.take());
    }
}

#[cold]
fn expose_word(word: usize) {
    // SAFETY: the shadow is up.
    if unsafe { *shadow::cell(word) } & EXPOSED == 0 {
        access::expose(word);
    }
}

/// The running thread has changed a word by an atomic operation.
#[inline(always)]
pub fn word_changed(engine: &Engine, word: usize, old: u64, value: u64) {
    if engine.brief.get() {
        follow_word(engine, word, old, value);
    }
}

fn follow_word(engine: &Engine, word: usize, old: u64, value: u64) {
    let was_its_own = {
        let mut words = engine.current().held_words.borrow_mut();
        let place = words.iter().position(|held| *held == word);
        place.map(|place| words.swap_remove(place)).is_some()
    };
    if !was_its_own && value == 0 {
        let was_held = engine.threads.all().any(|other| other.held_words.borrow_mut().contains(&word));
        if was_held
            && engine.world.guarding_locks.guards.borrow_mut().by_unit.values().any(|lock| *lock == word)
        {
            engine.world.irregular.set(true);
        }
        engine.threads.live().for_each(|other| other.held_words.borrow_mut().retain(|held| *held != word));
    }
    if old == 0 && value != 0 {
        engine.current().held_words.borrow_mut().push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_is_found_again_near_or_far_and_forgotten_with_the_execution() {
        let mut guards = Guards::default();
        assert_eq!(guards.of(5), None);
        guards.by_unit.insert(5, 0x100);
        guards.by_unit.insert(5 + NEAR, 0x200);
        assert_eq!([5, 5 + NEAR, 5].map(|unit| guards.of(unit)), [Some(0x100), Some(0x200), Some(0x100)]);
        guards.forget();
        assert_eq!(guards.of(5), None);
    }
}
