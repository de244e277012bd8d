//! Measures calls: which functions run in which thread, under which locks, and between which of the steps that order threads.
//!
//! Calls that are alike in all of this are written down once. A small table per thread remembers the latest ones, so that a function called a
//! million times costs a few instructions each time.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicBool, Ordering};

use threadbare_trace::{EventKind, ThreadId, kinds};
use threadbare_wire::{CallRecord, LockSetRecord};

use crate::address_hash::AddressHasher;
use crate::engine::{Engine, engine, running};
use crate::shared_memory::{Shared, lost_control};

/// Whether calls are measured. Asked at every entrance and exit of a function.
static MEASURING: AtomicBool = AtomicBool::new(false);

/// Whether memory is not watched: measuring is to be cheap.
static UNWATCHED: AtomicBool = AtomicBool::new(false);

/// How many kinds of calls each thread remembers.
const REMEMBERED: usize = 256;

/// A call in progress.
#[derive(Clone, Copy)]
struct Call {
    site: u64,
    sp: usize,
    at_entry: u32,
    entered: u32,
    /// How often the thread's locks had changed.
    changes: u32,
}

/// A lock that a thread holds.
#[derive(Clone, Copy)]
struct Hold {
    lock: u64,
    shared: bool,
    /// How often the thread's locks had changed when it was taken.
    since: u32,
}

/// What is measured of one thread.
pub struct ThreadCalls {
    open: Vec<Call>,
    holds: Vec<Hold>,
    /// The number of the set of all locks held.
    set: u32,
    /// How often the locks changed.
    changes: u32,
    /// How many steps that order threads it has made.
    time: u32,
    remembered: [CallRecord; REMEMBERED],
}

impl Default for ThreadCalls {
    fn default() -> ThreadCalls {
        ThreadCalls {
            open: Vec::with_capacity(64),
            holds: Vec::new(),
            set: 0,
            changes: 0,
            time: 0,
            remembered: [CallRecord::default(); REMEMBERED],
        }
    }
}

/// What is measured of all threads together.
#[derive(Default)]
pub struct Calls {
    /// By the thread's number.
    #[allow(clippy::vec_box, reason = "most of it is a table that need not be moved")]
    threads: Vec<Box<ThreadCalls>>,
    written: HashSet<CallRecord>,
    sets: HashMap<(u32, u64), u32, BuildHasherDefault<AddressHasher>>,
}

/// Measures from now on; memory is watched besides or not.
pub fn begin(watched: bool) {
    MEASURING.store(true, Ordering::Relaxed);
    UNWATCHED.store(!watched, Ordering::Relaxed);
}

/// Whether accesses to memory are not looked at.
pub fn leaves_memory_unwatched() -> bool {
    UNWATCHED.load(Ordering::Relaxed)
}

/// Whether calls are measured.
#[inline(always)]
pub fn are_measured() -> bool {
    MEASURING.load(Ordering::Relaxed)
}

/// The running thread entered the function that `site` lies in.
pub fn entered(site: u64, sp: usize) {
    if let Some(fiber) = running() {
        engine().world.calls.borrow_mut().enter(&engine().shared, fiber.id, site, sp);
    }
}

/// The running thread is about to leave a function.
pub fn left() {
    if let Some(fiber) = running() {
        engine().world.calls.borrow_mut().close(&engine().shared, fiber.id);
    }
}

/// All calls in progress end here: the thread, or the whole program, does.
pub fn end(thread: Option<ThreadId>) {
    if are_measured() {
        engine().world.calls.borrow_mut().end(&engine().shared, thread);
    }
}

/// Takes note of a step; says whether it orders threads.
pub fn observe(engine: &Engine, thread: ThreadId, kind: EventKind, object: usize, value: u64) -> bool {
    use EventKind::*;
    let (mut calls, shared) = (engine.world.calls.borrow_mut(), &engine.shared);
    match kind {
        Lock | ReadLock => calls.take(shared, thread, object as u64, kind == ReadLock),
        Unlock => calls.release(shared, thread, object as u64),
        CondWait => calls.release(shared, thread, value),
        CondWake | CondTimeout => calls.take(shared, thread, value, false),
        // None of these changes who holds which lock.
        LockFailed | CondSignal | CondBroadcast | Fence | Signal | Frame => {}
        kinds!(plain | atomic | barrier | semaphore | once | futex) => {}
        kinds!(thread | heap | object | pause | outside) => {}
    }
    let counts = kind.orders_threads() && engine.running.get();
    if counts {
        calls.of(thread).time += 1;
    }
    counts
}

impl Calls {
    /// What is measured of one thread.
    fn of(&mut self, thread: ThreadId) -> &mut ThreadCalls {
        while self.threads.len() <= thread.index() {
            self.threads.push(Box::default());
        }
        &mut self.threads[thread.index()]
    }

    fn enter(&mut self, shared: &Shared, thread: ThreadId, site: u64, sp: usize) {
        while self.of(thread).open.last().is_some_and(|call| call.sp <= sp) {
            self.close(shared, thread);
        }
        let mine = self.of(thread);
        let (at_entry, entered, changes) = (mine.set, mine.time, mine.changes);
        mine.open.push(Call { site, sp, at_entry, entered, changes });
    }

    fn end(&mut self, shared: &Shared, thread: Option<ThreadId>) {
        for number in 0..self.threads.len() {
            let id = ThreadId(number as u16);
            while thread.is_none_or(|only| only == id) && !self.of(id).open.is_empty() {
                self.close(shared, id);
            }
        }
    }

    /// The innermost call of a thread ends.
    fn close(&mut self, shared: &Shared, thread: ThreadId) {
        let mine = self.of(thread);
        let Some(call) = mine.open.pop() else { return };
        let (left, set) = (mine.time, mine.set);
        let changed = mine.changes != call.changes;
        let throughout = if changed { self.held_since(shared, thread, call.changes) } else { set };
        let Call { site, at_entry, entered, .. } = call;
        let record = CallRecord { site, at_entry, throughout, entered, left, thread, spare: [0; 3] };
        let place = (site >> 2 ^ u64::from(at_entry) << 3 ^ u64::from(entered)) as usize % REMEMBERED;
        let remembered = &mut self.of(thread).remembered[place];
        if *remembered == record {
            return;
        }
        *remembered = record;
        if self.written.insert(record) && !shared.call(record) {
            lost_control("the program makes more kinds of calls than can be measured");
        }
    }

    /// The set of the locks that a thread has held since its locks had changed so often.
    fn held_since(&mut self, shared: &Shared, thread: ThreadId, changes: u32) -> u32 {
        let holds = self.of(thread).holds.iter().copied().filter(|hold| hold.since <= changes);
        let holds: Vec<Hold> = holds.collect();
        self.set_of(shared, &holds)
    }

    fn set_of(&mut self, shared: &Shared, holds: &[Hold]) -> u32 {
        holds.iter().fold(0, |others, hold| self.with(shared, others, hold))
    }

    /// The number of the set of other locks and this one.
    fn with(&mut self, shared: &Shared, others: u32, hold: &Hold) -> u32 {
        let key = (others, hold.lock << 1 | u64::from(hold.shared));
        if let Some(known) = self.sets.get(&key) {
            return *known;
        }
        let record = LockSetRecord { lock: hold.lock, others, shared: u32::from(hold.shared) };
        let Some(number) = shared.lock_set(record) else {
            lost_control("the program holds more sets of locks than can be measured");
        };
        self.sets.insert(key, number);
        number
    }

    fn take(&mut self, shared: &Shared, thread: ThreadId, lock: u64, is_shared: bool) {
        let mine = self.of(thread);
        mine.changes += 1;
        let (others, hold) = (mine.set, Hold { lock, shared: is_shared, since: mine.changes });
        mine.holds.push(hold);
        let set = self.with(shared, others, &hold);
        self.of(thread).set = set;
    }

    fn release(&mut self, shared: &Shared, thread: ThreadId, lock: u64) {
        let mine = self.of(thread);
        mine.changes += 1;
        let Some(place) = mine.holds.iter().rposition(|hold| hold.lock == lock) else { return };
        mine.holds.remove(place);
        let holds = mine.holds.clone();
        let set = self.set_of(shared, &holds);
        self.of(thread).set = set;
    }
}
