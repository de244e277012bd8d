//! Measures calls: which functions run in which thread, under which locks, and between which of the steps that order threads.
//!
//! Calls that are alike in all of this are written down once. A small table per thread remembers the latest ones, so that a function called a
//! million times costs a few instructions each time.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicBool, Ordering};

use threadbare_trace::{EventKind, ThreadId};
use threadbare_wire::{CallRecord, LockSetRecord};

use crate::address_hash::AddressHasher;
use crate::engine::{Engine, RUNNING, engine};
use crate::fiber::Fiber;
use crate::shared_memory::lost_control;

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

/// The fiber, or nothing if its accesses to memory are not looked at.
pub fn unless_unwatched(fiber: *mut Fiber) -> *mut Fiber {
    if UNWATCHED.load(Ordering::Relaxed) { std::ptr::null_mut() } else { fiber }
}

/// Whether calls are measured.
#[inline(always)]
pub fn are_measured() -> bool {
    MEASURING.load(Ordering::Relaxed)
}

/// The running thread entered the function that `site` lies in.
pub fn entered(site: u64, sp: usize) {
    let Some((engine, thread)) = running() else { return };
    while mine(engine, thread).open.last().is_some_and(|call| call.sp <= sp) {
        close(engine, thread);
    }
    let mine = mine(engine, thread);
    let (at_entry, entered, changes) = (mine.set, mine.time, mine.changes);
    mine.open.push(Call { site, sp, at_entry, entered, changes });
}

/// The running thread is about to leave a function.
pub fn left() {
    let Some((engine, thread)) = running() else { return };
    close(engine, thread);
}

/// All calls in progress end here: the thread, or the whole program, does.
pub fn end(thread: Option<ThreadId>) {
    if !are_measured() {
        return;
    }
    let engine = engine();
    for number in 0..engine.world.calls.threads.len() {
        let id = ThreadId(number as u16);
        while thread.is_none_or(|only| only == id) && !mine(engine, id).open.is_empty() {
            close(engine, id);
        }
    }
}

/// Takes note of a step; says whether it orders threads.
pub fn observe(engine: &mut Engine, thread: ThreadId, kind: EventKind, object: usize, value: u64) -> bool {
    use EventKind::*;
    match kind {
        Lock | ReadLock => take(engine, thread, object as u64, kind == ReadLock),
        Unlock => release(engine, thread, object as u64),
        CondWait => release(engine, thread, value),
        CondWake | CondTimeout => take(engine, thread, value, false),
        _ if kind.orders_threads() && engine.running => {
            mine(engine, thread).time += 1;
            return true;
        }
        _ => {}
    }
    false
}

fn running() -> Option<(&'static mut Engine, ThreadId)> {
    let fiber: *mut Fiber = RUNNING.load(Ordering::Relaxed);
    // SAFETY: the running fiber lives as long as the process.
    (!fiber.is_null()).then(|| (engine(), unsafe { (*fiber).id }))
}

fn mine(engine: &mut Engine, thread: ThreadId) -> &mut ThreadCalls {
    let threads = &mut engine.world.calls.threads;
    while threads.len() <= thread.index() {
        threads.push(Box::default());
    }
    &mut threads[thread.index()]
}

/// The innermost call of a thread ends.
fn close(engine: &mut Engine, thread: ThreadId) {
    let mine = mine(engine, thread);
    let Some(call) = mine.open.pop() else { return };
    let (left, set) = (mine.time, mine.set);
    let changed = mine.changes != call.changes;
    let throughout = if changed { held_since(engine, thread, call.changes) } else { set };
    let Call { site, at_entry, entered, .. } = call;
    let record = CallRecord { site, at_entry, throughout, entered, left, thread, spare: [0; 3] };
    let place = (site >> 2 ^ u64::from(at_entry) << 3 ^ u64::from(entered)) as usize % REMEMBERED;
    let remembered = &mut self::mine(engine, thread).remembered[place];
    if *remembered == record {
        return;
    }
    *remembered = record;
    if engine.world.calls.written.insert(record) && !engine.shared.call(record) {
        lost_control("the program makes more kinds of calls than can be measured");
    }
}

/// The set of the locks that a thread has held since its locks had changed so often.
fn held_since(engine: &mut Engine, thread: ThreadId, changes: u32) -> u32 {
    let holds: Vec<Hold> =
        mine(engine, thread).holds.iter().copied().filter(|hold| hold.since <= changes).collect();
    set_of(engine, &holds)
}

fn set_of(engine: &mut Engine, holds: &[Hold]) -> u32 {
    holds.iter().fold(0, |others, hold| with(engine, others, hold))
}

/// The number of the set of other locks and this one.
fn with(engine: &mut Engine, others: u32, hold: &Hold) -> u32 {
    let key = (others, hold.lock << 1 | u64::from(hold.shared));
    if let Some(known) = engine.world.calls.sets.get(&key) {
        return *known;
    }
    let record = LockSetRecord { lock: hold.lock, others, shared: u32::from(hold.shared) };
    let Some(number) = engine.shared.lock_set(record) else {
        lost_control("the program holds more sets of locks than can be measured");
    };
    engine.world.calls.sets.insert(key, number);
    number
}

fn take(engine: &mut Engine, thread: ThreadId, lock: u64, shared: bool) {
    let mine = mine(engine, thread);
    mine.changes += 1;
    let (others, hold) = (mine.set, Hold { lock, shared, since: mine.changes });
    mine.holds.push(hold);
    let set = with(engine, others, &hold);
    self::mine(engine, thread).set = set;
}

fn release(engine: &mut Engine, thread: ThreadId, lock: u64) {
    let mine = mine(engine, thread);
    mine.changes += 1;
    let Some(place) = mine.holds.iter().rposition(|hold| hold.lock == lock) else { return };
    mine.holds.remove(place);
    let holds = mine.holds.clone();
    let set = set_of(engine, &holds);
    self::mine(engine, thread).set = set;
}
