//! Which locks each thread holds, and which locksets exclude two steps mutually.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use threadbare_trace::{Event, EventKind, ThreadId, kinds};

use crate::address_table::NumberMap;

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mode {
    /// With other readers.
    Shared,
    /// Alone.
    Exclusive,
}

impl Mode {
    /// Whether two threads cannot hold a lock in these modes at the same time.
    pub fn excludes(self, other: Mode) -> bool {
        self == Mode::Exclusive || other == Mode::Exclusive
    }
}

/// A lock that a thread holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeldLock {
    /// The lock's address.
    pub lock: u64,
    /// How it is held.
    pub mode: Mode,
    /// The event that acquired it. No two acquisitions share one, so it names the critical section.
    pub since: usize,
    /// The code that acquired it.
    pub pc: u64,
    /// The calls in progress then.
    pub context: u32,
    /// The kind of that event.
    pub kind: EventKind,
    /// How often it has been acquired, for recursive locks.
    depth: u32,
    /// The thread waited on a condition with it, in this critical section or the one that the wait ended.
    pub waited: bool,
}

/// The number of a set of locks in a [`LockSets`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LockSetId(u32);

impl LockSetId {
    /// The set without locks.
    pub const EMPTY: LockSetId = LockSetId(0);
}

/// A set of locks. The masks are exact for locks that have a bit; `all_have_bits` says whether
/// these are all.
#[derive(Clone, Default, Debug)]
pub struct LockSet {
    locks: Vec<(u64, Mode)>,
    any: u64,
    exclusive: u64,
    all_have_bits: bool,
}

impl LockSet {
    /// The locks, in order of address.
    pub fn locks(&self) -> &[(u64, Mode)] {
        &self.locks
    }

    /// Bits for locks held in whatever mode, and for those held alone.
    #[inline]
    pub fn masks(&self) -> (u64, u64) {
        (self.any, self.exclusive)
    }
}

/// What a step did to the locks of its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockChange {
    /// The thread took a lock that it did not hold.
    Taken(u64, Mode),
    /// The thread gave a lock up.
    Released(HeldLock),
}

#[derive(Default)]
struct Owner {
    held: Arc<Vec<HeldLock>>,
    id: LockSetId,
    /// The mutex of the condition wait in progress.
    waits_with: u64,
    /// The sets held before each of the last changes, with the event that ended them.
    past: VecDeque<(usize, LockSetId)>,
}

/// How many changes of a thread's locks are remembered.
const PAST: usize = 64;

impl Owner {
    fn remember(&mut self, index: usize) {
        if self.past.len() == PAST {
            self.past.pop_front();
        }
        self.past.push_back((index, self.id));
    }
}

/// How a set of locks becomes another one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    Take(u64, Mode),
    Give(u64),
}

/// The locks held by all threads, with every set that occurred under a number.
pub struct LockSets {
    owners: Vec<Owner>,
    sets: Vec<LockSet>,
    numbers: HashMap<Vec<(u64, Mode)>, LockSetId>,
    bits: NumberMap<u64, u32>,
    /// Where steps lead, so that each is worked out once.
    steps: NumberMap<(u32, Step), LockSetId>,
}

impl Default for LockSets {
    fn default() -> Self {
        LockSets {
            owners: Vec::new(),
            sets: vec![LockSet { all_have_bits: true, ..LockSet::default() }],
            numbers: [(Vec::new(), LockSetId::EMPTY)].into(),
            bits: NumberMap::default(),
            steps: NumberMap::default(),
        }
    }
}

impl LockSets {
    fn owner(&mut self, thread: ThreadId) -> &mut Owner {
        if self.owners.len() <= thread.index() {
            self.owners.resize_with(thread.index() + 1, Owner::default);
        }
        &mut self.owners[thread.index()]
    }

    /// The locks that a thread holds, in order of acquisition.
    pub fn held(&mut self, thread: ThreadId) -> &Arc<Vec<HeldLock>> {
        &self.owner(thread).held
    }

    /// Takes a step into account; says what it changed. Steps that do not lock change nothing.
    #[inline]
    pub fn observe(&mut self, index: usize, event: &Event, kind: EventKind) -> Option<LockChange> {
        use EventKind::*;
        match kind {
            Lock => self.acquire(index, event, event.addr, kind, Mode::Exclusive, false),
            ReadLock => self.acquire(index, event, event.addr, kind, Mode::Shared, false),
            Unlock => self.release(index, event.thread, event.addr),
            CondWait => {
                self.owner(event.thread).waits_with = event.value;
                self.release(index, event.thread, event.value)
            }
            CondWake | CondTimeout => {
                let waits_with = std::mem::take(&mut self.owner(event.thread).waits_with);
                let mutex = if event.value != 0 { event.value } else { waits_with };
                if mutex == 0 {
                    return None;
                }
                self.acquire(index, event, mutex, kind, Mode::Exclusive, true)
            }
            Exit => {
                *self.owner(event.thread) = Owner::default();
                None
            }
            LockFailed | CondSignal | CondBroadcast => None,
            Create | Start | Join | Detach | JoinFailed | Cancel | Fence | Signal | Frame => None,
            kinds!(plain | atomic | barrier | semaphore | once | futex) => None,
            kinds!(heap | object | pause | outside) => None,
        }
    }

    fn acquire(
        &mut self,
        index: usize,
        event: &Event,
        lock: u64,
        kind: EventKind,
        mode: Mode,
        waited: bool,
    ) -> Option<LockChange> {
        let owner = self.owner(event.thread);
        if owner.held.iter().any(|held| held.lock == lock) {
            let mut held = Arc::make_mut(&mut owner.held).iter_mut();
            if let Some(known) = held.find(|held| held.lock == lock) {
                known.depth += 1;
                known.waited |= waited;
            }
            return None;
        }
        owner.remember(index);
        let before = owner.id;
        let (pc, context) = (event.pc, event.context);
        Arc::make_mut(&mut owner.held).push(HeldLock {
            lock,
            mode,
            since: index,
            pc,
            context,
            kind,
            depth: 1,
            waited,
        });
        let id = self.after(before, Step::Take(lock, mode));
        self.owner(event.thread).id = id;
        Some(LockChange::Taken(lock, mode))
    }

    fn release(&mut self, index: usize, thread: ThreadId, lock: u64) -> Option<LockChange> {
        let owner = self.owner(thread);
        let place = owner.held.iter().position(|held| held.lock == lock)?;
        if owner.held[place].depth > 1 {
            Arc::make_mut(&mut owner.held)[place].depth -= 1;
            return None;
        }
        owner.remember(index);
        let before = owner.id;
        let released = Arc::make_mut(&mut owner.held).remove(place);
        let id = self.after(before, Step::Give(lock));
        self.owner(thread).id = id;
        Some(LockChange::Released(released))
    }

    /// The set that a step leads to.
    fn after(&mut self, before: LockSetId, step: Step) -> LockSetId {
        if let Some(id) = self.steps.get(&(before.0, step)) {
            return *id;
        }
        let mut locks = self.set(before).locks.clone();
        match step {
            Step::Take(lock, mode) => locks.push((lock, mode)),
            Step::Give(lock) => locks.retain(|(held, _)| *held != lock),
        }
        let id = self.number(locks);
        self.steps.insert((before.0, step), id);
        id
    }

    /// The sets of locks that a thread has held at one time or another since an event, the current one
    /// included. If that is too long ago, the locks that it has held all the time stand for them.
    pub fn since(&mut self, thread: ThreadId, event: usize, held_then: &[HeldLock]) -> Vec<LockSetId> {
        let owner = self.owner(thread);
        let truncated = owner.past.len() == PAST && owner.past[0].0 > event;
        let now = Arc::clone(&owner.held);
        if truncated {
            return vec![self.kept(held_then, &now)];
        }
        let after = owner.past.partition_point(|(ended, _)| *ended <= event);
        let mut ids: Vec<LockSetId> = owner.past.range(after..).map(|(_, id)| *id).collect();
        ids.push(owner.id);
        // Whoever can come while nothing is held needs no other gap.
        if ids.contains(&LockSetId::EMPTY) {
            return vec![LockSetId::EMPTY];
        }
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The set of locks that a thread holds.
    #[inline]
    pub fn current(&mut self, thread: ThreadId) -> LockSetId {
        self.owner(thread).id
    }

    /// The number of a set.
    pub fn number(&mut self, mut locks: Vec<(u64, Mode)>) -> LockSetId {
        locks.sort_unstable();
        if let Some(id) = self.numbers.get(&locks) {
            return *id;
        }
        let mut set = LockSet { all_have_bits: true, ..LockSet::default() };
        for (lock, mode) in &locks {
            let next = self.bits.len() as u32;
            let bit = *self.bits.entry(*lock).or_insert(next);
            if bit >= u64::BITS {
                set.all_have_bits = false;
                continue;
            }
            set.any |= 1 << bit;
            if *mode == Mode::Exclusive {
                set.exclusive |= 1 << bit;
            }
        }
        set.locks.clone_from(&locks);
        let id = LockSetId(self.sets.len() as u32);
        self.sets.push(set);
        self.numbers.insert(locks, id);
        id
    }

    /// A set by its number.
    #[inline]
    pub fn set(&self, id: LockSetId) -> &LockSet {
        &self.sets[id.0 as usize]
    }

    /// Whether two threads cannot hold these sets at the same time: they share a lock that one of
    /// them holds alone.
    #[inline]
    pub fn exclude(&self, a: LockSetId, b: LockSetId) -> bool {
        let (a, b) = (self.set(a), self.set(b));
        if a.any & b.exclusive | a.exclusive & b.any != 0 {
            return true;
        }
        if a.all_have_bits || b.all_have_bits {
            return false;
        }
        a.locks.iter().any(|(lock, mode)| b.locks.iter().any(|(other, m)| lock == other && mode.excludes(*m)))
    }

    /// The locks for which [`LockSets::exclude`] holds.
    pub fn common(&self, a: LockSetId, b: LockSetId) -> Vec<u64> {
        let (a, b) = (self.set(a), self.set(b));
        let shared = a.locks.iter().filter(|(lock, mode)| {
            b.locks.iter().any(|(other, other_mode)| lock == other && mode.excludes(*other_mode))
        });
        shared.map(|(lock, _)| *lock).collect()
    }

    /// The locks of the first set that the thread has not given up since then.
    pub fn kept(&mut self, before: &[HeldLock], now: &[HeldLock]) -> LockSetId {
        let kept =
            before.iter().filter(|old| now.iter().any(|new| new.lock == old.lock && new.since == old.since));
        let kept = kept.map(|held| (held.lock, held.mode)).collect();
        self.number(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u16, addr: u64, value: u64) -> Event {
        Event { thread: ThreadId(thread), addr, value, ..Event::default() }
    }

    fn locks(sets: &mut LockSets, thread: u16) -> Vec<u64> {
        sets.held(ThreadId(thread)).iter().map(|held| held.lock).collect()
    }

    #[test]
    fn recursive_locks_are_held_until_the_last_release() {
        let mut sets = LockSets::default();
        for (index, kind) in [EventKind::Lock, EventKind::Lock, EventKind::Unlock].into_iter().enumerate() {
            sets.observe(index, &event(1, 0xa, 0), kind);
        }
        assert_eq!(locks(&mut sets, 1), [0xa]);
        let change = sets.observe(3, &event(1, 0xa, 0), EventKind::Unlock);
        assert!(matches!(change, Some(LockChange::Released(HeldLock { lock: 0xa, since: 0, .. }))));
        assert!(locks(&mut sets, 1).is_empty());
    }

    #[test]
    fn a_condition_wait_gives_the_mutex_up_and_takes_it_again() {
        for named in [0, 0xa] {
            let mut sets = LockSets::default();
            sets.observe(0, &event(1, 0xb, 0), EventKind::Lock);
            sets.observe(1, &event(1, 0xa, 0), EventKind::Lock);
            sets.observe(2, &event(1, 0xc, 0xa), EventKind::CondWait);
            assert_eq!(locks(&mut sets, 1), [0xb]);
            sets.observe(3, &event(1, 0xc, named), EventKind::CondWake);
            assert_eq!(locks(&mut sets, 1), [0xb, 0xa]);
        }
    }

    #[test]
    fn readers_do_not_exclude_each_other() {
        let mut sets = LockSets::default();
        sets.observe(0, &event(0, 0xa, 0), EventKind::ReadLock);
        sets.observe(1, &event(1, 0xa, 0), EventKind::ReadLock);
        let (a, b) = (sets.current(ThreadId(0)), sets.current(ThreadId(1)));
        assert!(!sets.exclude(a, b));
        sets.observe(2, &event(1, 0xa, 0), EventKind::Unlock);
        sets.observe(3, &event(1, 0xa, 0), EventKind::Lock);
        let b = sets.current(ThreadId(1));
        assert!(sets.exclude(a, b));
    }

    #[test]
    fn more_locks_than_bits_still_exclude() {
        let mut sets = LockSets::default();
        for lock in 1..=80 {
            sets.number(vec![(lock, Mode::Exclusive)]);
        }
        let a = sets.number(vec![(5, Mode::Exclusive), (79, Mode::Exclusive)]);
        let b = sets.number(vec![(6, Mode::Exclusive), (79, Mode::Shared)]);
        let c = sets.number(vec![(6, Mode::Exclusive), (80, Mode::Exclusive)]);
        assert!(sets.exclude(a, b) && !sets.exclude(a, c) && sets.exclude(b, c));
        assert_eq!(sets.common(a, b), [79]);
    }
}
