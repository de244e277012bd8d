//! What Rust's standard library does in code that is not instrumented, as far as its stubs tell: where a function
//! begins that blocks or wakes, which is where another thread may come first, and which locks it takes and gives
//! back.

use std::sync::atomic::Ordering;

use threadbare_sched::Op;
use threadbare_trace::EventKind;

use crate::access;
use crate::engine::{WATCHED, engine};
use crate::interpose::{controlled, note_caller_and_jump};

/// The number that stands for a function which changes the word that it is called with.
const CHANGES: u32 = 1;
/// The one for a function which gives back a lock before it sleeps.
const WAITS: u32 = 3;

const WORD: usize = size_of::<u32>();

/// Called before such a function: with what its first argument points to, what it does, who called it, and its
/// second argument. What it does to its own word is no event: it orders nothing by itself.
///
/// # Safety
/// The addresses must be those of the library's words.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __threadbare_std_entry(_word: usize, _deed: u32, _pc: u64, _lock: usize) {
    unsafe extern "C-unwind" fn serve(word: usize, deed: u32, pc: u64, lock: usize) {
        let fiber = WATCHED.load(Ordering::Relaxed);
        if fiber.is_null() || !controlled() {
            return;
        }
        let kind = if deed == CHANGES { EventKind::AtomicUpdate } else { EventKind::AtomicRead };
        // SAFETY: a watched fiber is the running one; the addresses are the library's words.
        unsafe {
            (*fiber).ops += 1;
            (*fiber).pending.site = pc;
            access::touch_range(&*fiber, word, WORD, kind.writes());
            let op = Op { kind, object: word as u64, size: WORD as u32, site: pc, index: (*fiber).ops };
            engine().point(op, None, false);
            match deed {
                CHANGES => engine().changed(),
                WAITS => note_lock(lock, access::load(lock, WORD as u8), 0),
                _ => (*fiber).saw(pc, word as u64, access::load(word, WORD as u8)),
            }
        }
    }
    note_caller_and_jump!(serve)
}

/// Called after a function has taken a lock.
///
/// # Safety
/// The address must be that of the lock's word.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __threadbare_std_locked(_lock: usize, _pc: u64) {
    unsafe extern "C-unwind" fn serve(lock: usize, pc: u64) {
        let fiber = WATCHED.load(Ordering::Relaxed);
        if fiber.is_null() || !controlled() {
            return;
        }
        engine().complete_write();
        // SAFETY: a watched fiber is the running one; the address is the lock's.
        unsafe {
            (*fiber).ops += 1;
            (*fiber).pending.site = pc;
            note_lock(lock, 0, access::load(lock, WORD as u8));
        }
    }
    note_caller_and_jump!(serve)
}

/// Notes how the running thread changes a lock, unseen by anybody else until its next operation.
fn note_lock(lock: usize, old: u64, value: u64) {
    engine().note(EventKind::AtomicUpdate, lock, WORD as u8, value, old);
    engine().changed();
}
