//! When synchronization objects begin and cease to be.

use threadbare_trace::EventKind;

use super::{note, step};
use crate::access;
use crate::engine::engine;

/// The running thread is about to initialise an object. That is a step if others have been seen to use what it initialises.
pub fn before_init(object: usize, pc: u64) {
    if access::is_exposed(object) {
        step(EventKind::Init, object, pc);
        return;
    }
    let engine = engine();
    engine.recorder.complete_write();
    let fiber = engine.current();
    fiber.count_operation();
    fiber.set_site(pc);
}

/// It has initialised it.
pub fn note_init(object: usize) {
    let engine = engine();
    note(EventKind::Init, object, 0);
    if engine.running.get() {
        engine.world.initialised.borrow_mut().insert(object, engine.current_id());
    }
}

/// The running thread uses an object, which has to be there.
pub fn see_use(object: usize) {
    let engine = engine();
    access::must_be_allocated(object);
    let is_of_another = {
        let mut initialised = engine.world.initialised.borrow_mut();
        let is_of_another = initialised.get(&object).is_some_and(|thread| *thread != engine.current_id());
        if is_of_another {
            initialised.remove(&object);
        }
        is_of_another
    };
    if is_of_another {
        expose(object);
    }
}

/// It matters when the object is initialised or released, and not only to those who wait for it.
pub fn expose(object: usize) {
    if !access::is_exposed(object) {
        access::expose(object);
    }
}

/// The memory in this range is about to be given back, with the objects in it.
pub fn end_with_memory(range: std::ops::Range<usize>) {
    if crate::thread_state_hash::are_merged() {
        engine().world.mutexes.within(range).into_iter().for_each(expose);
    }
}
