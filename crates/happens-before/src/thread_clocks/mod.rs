//! What came before what, by the synchronization in a trace.
//!
//! Thread creation and join, barriers, condition variables, semaphores, once-routines, atomics and
//! futexes enforce an order. Locks do not: they exclude steps mutually but let them come in any order
//! (but see [`sections`]). So there are several readings of a trace, see [`Rules`].
//!
//! All atomics are taken as acquiring what they read and releasing what they write, as the program
//! was run. A store replaces what the location hands on, a read-modify-write adds to it.

mod atomics;
mod barrier;
mod condition;
mod descriptors;
mod fences;
mod libraries;
mod locks;
mod rules;
mod sections;

use std::sync::Arc;

use threadbare_trace::{Event, EventKind, ThreadId, kinds};

use self::atomics::{Atomic, Futex, Words};
use self::barrier::Barrier;
use self::condition::Condition;
use self::descriptors::{is_input, is_output};
use self::fences::Fences;
use self::libraries::Libraries;
use self::locks::Lock;
pub use self::rules::Rules;
use self::sections::Sections;
use crate::accessed_bytes::reused_range;
use crate::address_table::{AddressTable, NumberMap};
use crate::clocks::{Epoch, Stamp, VectorClock};

struct Thread {
    clock: Arc<VectorClock>,
    alive: bool,
    words: Words,
    fences: Fences,
}

/// The clocks of all threads, kept up to date step by step.
pub struct ThreadClocks {
    rules: Rules,
    threads: Vec<Option<Thread>>,
    /// What every living thread knew a while ago.
    floor: VectorClock,
    /// How many questions may be asked of it before it is brought up to date.
    patience: u32,
    atomics: AddressTable<Atomic>,
    barriers: AddressTable<Barrier>,
    conditions: AddressTable<Condition>,
    /// Semaphores and once-controls: what everybody who raised or ended them knew.
    gates: AddressTable<VectorClock>,
    /// Who runs a once-routine.
    runners: NumberMap<u64, ThreadId>,
    /// Some thread has released a word unseen, and has not run since.
    any_lost: bool,
    /// What those knew who wrote to descriptors.
    descriptors: VectorClock,
    /// What those knew who made fences in both directions.
    fences: VectorClock,
    libraries: Libraries,
    futexes: AddressTable<Futex>,
    locks: AddressTable<Lock>,
    sections: AddressTable<Sections>,
    /// What each thread knew when it last released each lock, where values are handed over.
    releases: NumberMap<(u64, u16), Arc<VectorClock>>,
    /// Whom signal handlers that run interrupt.
    interrupted: NumberMap<u16, ThreadId>,
    /// Handlers are not ordered with those whom they interrupt: they might have come elsewhere.
    concurrent_interrupts: bool,
}

fn new_thread(thread: ThreadId, mut clock: VectorClock) -> Thread {
    clock.set(thread, 1);
    Thread { clock: Arc::new(clock), alive: true, words: Words::default(), fences: Fences::default() }
}

fn is_known_to_all(threads: &[Option<Thread>], epoch: Epoch) -> bool {
    threads.iter().flatten().all(|thread| !thread.alive || thread.clock.covers(epoch))
}

impl ThreadClocks {
    /// Clocks that follow these rules.
    pub fn new(rules: Rules) -> ThreadClocks {
        ThreadClocks {
            rules,
            threads: Vec::new(),
            floor: VectorClock::default(),
            patience: 0,
            atomics: AddressTable::default(),
            barriers: AddressTable::default(),
            conditions: AddressTable::default(),
            gates: AddressTable::default(),
            runners: NumberMap::default(),
            any_lost: false,
            descriptors: VectorClock::default(),
            fences: VectorClock::default(),
            libraries: Libraries::default(),
            futexes: AddressTable::default(),
            locks: AddressTable::default(),
            sections: AddressTable::default(),
            releases: NumberMap::default(),
            interrupted: NumberMap::default(),
            concurrent_interrupts: false,
        }
    }

    /// The same, but a signal handler may come anywhere in the thread that it interrupts, as far as creation, masks
    /// and the like allow.
    pub fn with_concurrent_interrupts(self) -> ThreadClocks {
        ThreadClocks { concurrent_interrupts: true, ..self }
    }

    #[inline]
    fn thread(&mut self, thread: ThreadId) -> &mut Thread {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, || None);
        }
        self.threads[thread.index()].get_or_insert_with(|| new_thread(thread, VectorClock::default()))
    }

    /// What a thread knows.
    #[inline]
    pub fn clock(&mut self, thread: ThreadId) -> &Arc<VectorClock> {
        &self.thread(thread).clock
    }

    /// The current moment of a thread.
    #[inline]
    pub fn epoch(&mut self, thread: ThreadId) -> Epoch {
        Epoch { thread, time: self.clock(thread).get(thread) }
    }

    /// The current moment of a thread and what it knows.
    #[inline]
    pub fn stamp(&mut self, thread: ThreadId) -> Stamp {
        let clock = Arc::clone(self.clock(thread));
        Stamp { epoch: Epoch { thread, time: clock.get(thread) }, clock }
    }

    /// Whether every thread that may still make a step knows the moment, so that all those steps come
    /// after it. Threads yet to be created know what their creators know.
    pub fn is_known_to_all(&self, epoch: Epoch) -> bool {
        is_known_to_all(&self.threads, epoch)
    }

    /// Moments that every thread knows which may still make a step. There may be more of them
    /// ([`ThreadClocks::is_known_to_all`]): this is cheap, and up to date now and then.
    #[inline]
    pub fn floor(&mut self) -> &VectorClock {
        const PATIENCE: u32 = 1024;
        match self.patience.checked_sub(1) {
            Some(left) => self.patience = left,
            None => {
                self.patience = PATIENCE;
                let mut alive = self.threads.iter().flatten().filter(|thread| thread.alive);
                self.floor = alive.next().map_or_else(VectorClock::default, |first| (*first.clock).clone());
                alive.for_each(|thread| self.floor.meet(&thread.clock));
            }
        }
        &self.floor
    }

    fn learn(&mut self, thread: ThreadId, clock: &VectorClock) {
        let mine = &mut self.thread(thread).clock;
        if !mine.covers_all(clock) {
            Arc::make_mut(mine).join(clock);
        }
    }

    /// What others can learn of the thread from now on is a new moment.
    fn tick(&mut self, thread: ThreadId) {
        let clock = Arc::make_mut(&mut self.thread(thread).clock);
        clock.set(thread, clock.get(thread).saturating_add(1));
    }

    /// A thread learns what another one has done so far, though it did nothing by which others learn of it.
    fn learn_from(&mut self, thread: ThreadId, other: ThreadId) {
        if other != thread {
            let clock = Arc::clone(self.clock(other));
            self.learn(thread, &clock);
            // What the other one does from now on is not known here.
            self.tick(other);
        }
    }

    /// The part of a step that comes before its access to memory: it learns.
    #[inline]
    pub fn before(&mut self, event: &Event, kind: EventKind) {
        use EventKind::*;
        if !self.rules.count(kind) {
            return;
        }
        let is_in_futex = kind == FutexWait || kind == FutexWake;
        if self.any_lost && !kind.only_names() && !is_in_futex {
            self.run_on(event);
        }
        if self.libraries.are_entered() {
            self.return_from_library(event, kind);
        }
        // Most steps are plain accesses, and are not to pay for the others.
        if !matches!(kind, kinds!(plain)) {
            self.synchronize(event, kind);
        }
    }

    fn synchronize(&mut self, event: &Event, kind: EventKind) {
        use EventKind::*;
        let thread = event.thread;
        match kind {
            AtomicRead | AtomicFailed | AtomicUpdate => self.read_atomic(event, kind),
            Fence => self.acquire_by_fence(event),
            Lock | ReadLock => self.acquire(thread, event.addr, kind == Lock),
            Join => {
                let joined = ThreadId(event.value as u16);
                let clock = Arc::clone(self.clock(joined));
                self.learn(thread, &clock);
                self.thread(joined).alive = false;
            }
            BarrierLeave => {
                let clock = self.barriers.entry(event.addr).leave(event.value);
                self.learn(thread, &clock);
            }
            CondWake | CondTimeout => {
                if let Some(clock) = self.conditions.entry(event.addr).leave(thread) {
                    self.learn(thread, &clock);
                }
                self.acquire(thread, event.value, true);
            }
            SemWait | OnceSeen | OnceBegin => {
                if kind == OnceBegin
                    && let Some(before) = self.runners.insert(event.addr, thread)
                {
                    // It threw, or was cancelled: the routine is run again.
                    self.learn_from(thread, before);
                }
                if let Some(clock) = self.gates.get(event.addr) {
                    let clock = clock.clone();
                    self.learn(thread, &clock);
                }
            }
            Signal => self.begin_handler(event),
            Io if is_input(event) => {
                let clock = self.descriptors.clone();
                self.learn(thread, &clock);
            }
            FutexWait if event.value == 1 => self.end_futex_wait(event, kind),
            FutexWoken | FutexTimeout => self.end_futex_wait(event, kind),
            Free if event.context == 0 => self.free_unseen(event),
            // These learn nothing from others, or nothing before their access.
            AtomicWrite | Unlock | LockFailed | CondWait | CondSignal | CondBroadcast | BarrierArrive => {}
            SemPost | SemFailed | OnceEnd | FutexWait | FutexWake => {}
            Create | Start | Exit | Detach | JoinFailed | Cancel => {}
            LibraryCall if self.rules.count_libraries() => self.call_library(event),
            Io | Process | End | LibraryCall | Frame | kinds!(plain | heap | object | pause) => {}
        }
    }

    /// The part of a step that comes after its access to memory: others may learn of it.
    #[inline]
    pub fn after(&mut self, event: &Event, kind: EventKind) {
        use EventKind::*;
        let thread = event.thread;
        if self.libraries.are_entered() && self.rules.count(kind) {
            self.step_under_library(thread);
        }
        match kind {
            Read | Write | ReadRange | WriteRange => {}
            _ if !self.rules.count(kind) => {}
            AtomicWrite | AtomicUpdate => self.write_atomic(event, kind),
            Fence => self.release_by_fence(event),
            Unlock => self.release(thread, event.addr),
            Create => {
                let child = ThreadId(event.value as u16);
                let clock = VectorClock::clone(self.clock(thread));
                self.thread(child);
                self.threads[child.index()] = Some(new_thread(child, clock));
                self.tick(thread);
            }
            Exit => {
                self.end_handler(thread);
                self.thread(thread).alive = false;
                self.thread(thread).words = Words::default();
            }
            BarrierArrive => {
                let clock = Arc::clone(self.clock(thread));
                self.barriers.entry(event.addr).arrive(&clock);
                self.tick(thread);
            }
            CondWait => {
                self.conditions.entry(event.addr).wait(thread);
                self.release(thread, event.value);
            }
            CondSignal | CondBroadcast => {
                let clock = Arc::clone(self.clock(thread));
                let count = if kind == CondSignal { 1 } else { usize::MAX };
                self.conditions.entry(event.addr).signal(count, &clock);
                self.tick(thread);
            }
            SemPost | OnceEnd => {
                if kind == OnceEnd {
                    self.runners.remove(&event.addr);
                }
                let clock = Arc::clone(self.clock(thread));
                self.gates.entry(event.addr).join(&clock);
                self.tick(thread);
            }
            Io if is_output(event) => {
                let clock = Arc::clone(self.clock(thread));
                self.descriptors.join(&clock);
                self.tick(thread);
            }
            FutexWait if event.value == 0 => self.begin_futex_wait(event),
            FutexWake => self.wake_futex(event),
            Init | Destroy => self.forget(event.addr, event.addr),
            Alloc | Free | Start | Frame => {
                if let Some((first, last)) = reused_range(event, kind) {
                    self.forget(first, last);
                }
            }
            // Nobody learns from these.
            AtomicRead | AtomicFailed | Lock | ReadLock | LockFailed | CondWake | CondTimeout => {}
            BarrierLeave | SemWait | SemFailed | OnceBegin | OnceSeen => {}
            FutexWait | FutexWoken | FutexTimeout | Join | Detach | JoinFailed | Cancel => {}
            Signal | Io | Process | End | LibraryCall | kinds!(pause) => {}
        }
    }

    /// A handler comes after what the thread has done that it interrupts, unless the two are examined as concurrent.
    fn begin_handler(&mut self, event: &Event) {
        if let Some(interrupted) = event.interrupts()
            && !self.concurrent_interrupts
        {
            self.learn_from(event.thread, interrupted);
            self.interrupted.insert(event.thread.0, interrupted);
        }
    }

    fn end_handler(&mut self, handler: ThreadId) {
        if let Some(interrupted) = self.interrupted.remove(&handler.0) {
            self.learn_from(interrupted, handler);
        }
    }

    fn forget(&mut self, first: u64, last: u64) {
        self.atomics.forget(first, last);
        self.barriers.forget(first, last);
        self.conditions.forget(first, last);
        self.gates.forget(first, last);
        if !self.runners.is_empty() {
            self.runners.retain(|once, _| !(first..=last).contains(once));
        }
        self.futexes.forget(first, last);
        self.locks.forget(first, last);
        if self.sections.live() == 0 {
            return;
        }
        let gone = self.sections.addresses(first, last);
        if !gone.is_empty() && !self.releases.is_empty() {
            self.releases.retain(|(lock, _), _| gone.binary_search(lock).is_err());
        }
        gone.into_iter().for_each(|lock| drop(self.sections.remove(lock)));
    }
}
