//! State that the library or the system keeps, as words of memory: a call that looks at it reads the word, and one that changes it replaces
//! the value, so that the order of such calls is explored, recorded and solved for like that of other accesses.
//!
//! The value stands for all that was done to the state so far: who changed it, in which order. Two orders of changes never count as the
//! same, even if they lead to the same state.

use std::ops::Range;

use threadbare_library::{Function, HiddenObject};
use threadbare_sched::Op;
use threadbare_trace::{Event, EventKind};

use crate::engine::{Engine, engine, watched};
use crate::fiber::Fiber;
use crate::thread_state_hash::{self, mix};
use crate::{access, dependences, sys};

/// What is there before anybody has changed anything. Words that are 0 are taken for locks that are free.
const UNTOUCHED: u64 = 1;

/// Makes the words.
pub fn init() {
    let page = memory();
    if !sys::map_there(page.start, page.len()) {
        sys::die("the program has something at the address where the state of the library is noted");
    }
    for word in page.step_by(size_of::<u64>()) {
        // SAFETY: the page has just been mapped for this.
        unsafe { (word as *mut u64).write(UNTOUCHED) };
    }
}

/// Where the words are.
pub fn memory() -> Range<usize> {
    HiddenObject::PAGE.start as usize..HiddenObject::PAGE.end as usize
}

/// The running thread is about to do something that depends on an object.
pub fn look_at(object: HiddenObject, site: u64) {
    access_word(object.address(), None, site);
}

/// The running thread is about to use a stream.
pub fn use_stream(stream: usize, site: u64) {
    access_word(HiddenObject::of_stream(stream as u64), Some(0), site);
}

/// The running thread is about to do what a function does to hidden objects; `given` is what it does it with. Says whether it will find something else
/// there than without control.
pub fn touch(row: &Function, given: u64, site: u64) -> bool {
    let mut finds_others = false;
    for object in row.looks_at.iter().filter(|object| !row.changes.has(*object)) {
        access_word(object.address(), None, site);
        // SAFETY: the word is there as long as the process.
        finds_others |=
            object.is_left_as_it_was() && unsafe { *(object.address() as *const u64) } != UNTOUCHED;
    }
    for object in row.changes.iter() {
        access_word(object.address(), Some(given), site);
    }
    finds_others
}

/// Accesses a word, as a step if threads share it. With `given` it is changed.
fn access_word(word: u64, given: Option<u64>, site: u64) {
    let engine = engine();
    let Some(fiber) = watched().filter(|_| engine.running.get()) else { return replace(word, given) };
    // Where closures are repeated, small differences cost much, and nothing is claimed. What libraries do once only must not count there.
    if dependences::are_repeated() {
        return replace(word, given);
    }
    let addr = word as usize;
    fiber.count_operation();
    fiber.set_site(site);
    // SAFETY: the runtime is up, and the word is there.
    let shared = unsafe { access::touch_word(fiber, addr, size_of::<u64>(), given.is_some()) };
    if !shared && engine.world.state_hashes.borrow_mut().are_wanted() {
        thread_state_hash::touch(engine, addr, size_of::<u64>(), given.is_some(), site);
    }
    if !shared && !fiber.is_stop_due() {
        return replace(word, given);
    }
    let kind = if given.is_some() { EventKind::AtomicUpdate } else { EventKind::AtomicRead };
    let size = size_of::<u64>() as u32;
    let op = Op { kind, object: addr as u64, size, site, index: fiber.ops.get(), place: 0 };
    if !shared && engine.is_in_private_stretch() {
        engine.yield_to_others(op);
        return replace(word, given);
    }
    engine.point(op, None, None);
    if !shared {
        fiber.was_a_look();
    }
    record(engine, fiber, kind, word, given);
}

/// Makes the access of a step, and writes it down. It orders nothing else: the library does not promise that.
fn record(engine: &Engine, fiber: &Fiber, kind: EventKind, word: u64, given: Option<u64>) {
    // SAFETY: the word is there as long as the process.
    let old = unsafe { *(word as *const u64) };
    replace(word, given);
    // SAFETY: as above.
    let value = unsafe { *(word as *const u64) };
    fiber.weakness.set(Event::ACQUIRES_NOT | Event::RELEASES_NOT);
    engine.recorder.note(kind, word as usize, size_of::<u64>() as u8, value, old);
    fiber.weakness.set(0);
    if given.is_some() {
        engine.changed();
    } else {
        fiber.saw(fiber.site(), word, value);
    }
}

/// Changes the word, if the running thread is to change it.
fn replace(word: u64, given: Option<u64>) {
    let Some(given) = given else { return };
    let thread = u64::from(engine().current_id().0);
    // SAFETY: the word is there as long as the process.
    unsafe {
        let word = word as *mut u64;
        *word = mix(mix(*word, thread), given).max(UNTOUCHED + 1);
    }
}
