//! What Rust's standard library does in code that is not instrumented, as far as its stubs tell: where a function
//! begins that blocks or wakes, which is where another thread may come first, and what becomes of its word.

use std::sync::atomic::Ordering;

use threadbare_sched::Op;
use threadbare_trace::{EventKind, ThreadId};

use super::word_locks;
use crate::access;
use crate::engine::{WATCHED, engine};
use crate::fiber::{Fiber, Waitable};
use crate::heap;
use crate::interpose::controlled;

// The numbers that the stubs know.
/// The function looks at its word, and may change it.
const LOOKS: u32 = 0;
/// The function changes its word, which orders nothing.
const CHANGES: u32 = 1;
/// It takes its word as a lock.
const LOCKS: u32 = 2;
/// It gives back a lock, sleeps, and takes it again.
const WAITS: u32 = 3;
/// It takes its word as a lock that others may take as well.
const SHARES: u32 = 4;

/// It takes one from its word, before it may wake whoever waits for it to be zero. The last one who holds what a thread of a scope gave does so: that
/// thread at its end, or whoever drops its handle later.
const RELEASES: u32 = 5;
/// It goes on when all others have come as well.
const MEETS: u32 = 6;
/// It sleeps until it finds a token in a word that nobody tells us.
const PARKS: u32 = 7;
/// It makes room in a scope for the thread that is created next.
const ADMITS: u32 = 8;

/// What a word holds that has a token for its thread.
pub const TOKEN: u64 = 1;
/// How many words are looked at for tokens.
const MOST_TOKENS: usize = 64;

const WORD: u8 = size_of::<u32>() as u8;

/// Called before such a function: with what its first argument points to, what it does, who called it, and its
/// second argument. Gives what the word holds.
///
/// # Safety
/// The addresses must be those of the library's words.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __threadbare_std_entry(
    _word: usize,
    _deed: u32,
    _pc: u64,
    _lock: usize,
) -> u64 {
    unsafe extern "C-unwind" fn serve(word: usize, deed: u32, pc: u64, lock: usize) -> u64 {
        if !controlled() {
            return 0;
        }
        engine().world.has_stubs = true;
        if deed == ADMITS {
            // Also before the first thread, and where nothing is watched.
            engine().current().admits_to_scope = true;
            return 0;
        }
        let fiber = WATCHED.load(Ordering::Relaxed);
        if fiber.is_null() {
            return 0;
        }
        // Nobody else runs while it spins, so all that it can do is to wait until the lock is free, and take it.
        let free = Free(word);
        let waits = deed == LOCKS && engine().brief;
        let wait: Option<*const dyn Waitable> = if waits { Some(&raw const free) } else { None };
        let changes = waits || deed == CHANGES;
        let kind = if changes { EventKind::AtomicUpdate } else { EventKind::AtomicRead };
        // SAFETY: a watched fiber is the running one; the addresses are the library's words.
        unsafe {
            (*fiber).ops += 1;
            (*fiber).pending.site = pc;
            let index = (*fiber).ops;
            if waits {
                (*fiber).found_taken = 0;
            }
            engine().does_not_wait(&mut *fiber);
            if deed == PARKS {
                engine().point(Op { kind, object: 0, size: 0, site: pc, index, place: 0 }, None, false);
                return 0;
            }
            let word = if deed == RELEASES { count_in(word) } else { word };
            access::touch_range(&*fiber, word, usize::from(WORD), kind.writes());
            let op = Op { kind, object: word as u64, size: u32::from(WORD), site: pc, index, place: 0 };
            engine().point(op, wait, false);
            if engine().brief {
                (*fiber).takes_again = if deed == WAITS { lock } else { 0 };
                (*fiber).notifies = if deed == CHANGES { word } else { 0 };
            }
            let value = access::load(word, WORD);
            (*fiber).waits_on_condition = deed == WAITS;
            if deed == LOOKS {
                (*fiber).looks.push((word, value));
            }
            match deed {
                CHANGES => engine().changed(),
                WAITS => note_update(lock, access::load(lock, WORD), 0),
                RELEASES => {
                    (*fiber).left_scope = (*fiber).answers_to_scope;
                    note_update(word, value, value.wrapping_sub(1));
                }
                MEETS => note_update(word, value, value),
                _ => (*fiber).saw(pc, word as u64, value),
            }
            value
        }
    }
    crate::arch::enter!(serve)
}

/// The word of a lock that has to be free; lives on the waiting thread's stack.
pub struct Free(pub usize);

impl Waitable for Free {
    fn ready(&self, _fiber: &Fiber) -> bool {
        // SAFETY: the lock is being asked for, so it is there.
        unsafe { access::load(self.0, WORD) == 0 }
    }

    fn what(&self) -> String {
        format!("lock <obj {:#x}>", self.0)
    }

    fn holder(&self) -> Option<ThreadId> {
        word_locks::holder(self.0).map(|taken| taken.by)
    }

    fn word(&self) -> Option<usize> {
        Some(self.0)
    }
}

/// Called after such a function: with its word (or the lock that it took again), what the word held before, who
/// called, and what the function does.
///
/// # Safety
/// The address must be that of the word.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __threadbare_std_leave(_word: usize, _before: u64, _pc: u64, _deed: u32) {
    unsafe extern "C-unwind" fn serve(word: usize, before: u64, pc: u64, deed: u32) {
        let fiber = WATCHED.load(Ordering::Relaxed);
        if fiber.is_null() || !controlled() {
            return;
        }
        engine().complete_write();
        if deed == PARKS {
            // SAFETY: a watched fiber is the running one.
            unsafe { (*fiber).pending.site = pc };
            take_tokens();
            return;
        }
        // SAFETY: a watched fiber is the running one; the address is the word's.
        let value = unsafe {
            (*fiber).ops += 1;
            (*fiber).pending.site = pc;
            (*fiber).takes_again = 0;
            (*fiber).waits_on_condition = false;
            access::load(word, WORD)
        };
        let before = if deed == LOOKS { looked_last(word).unwrap_or(before) } else { before };
        match deed {
            LOCKS | WAITS => note_update(word, 0, value),
            SHARES => note_update(word, value.saturating_sub(1), value),
            _ if value != before => note_update(word, before, value),
            _ => drop(engine().note(EventKind::AtomicRead, word, WORD, value, value)),
        }
    }
    crate::arch::enter!(serve)
}

/// What a word is known to hold since the innermost function that looks at it began, which is over. Functions that a
/// panic has ended are forgotten with it.
fn looked_last(word: usize) -> Option<u64> {
    let looks = &mut engine().current().looks;
    let place = looks.iter().rposition(|(known, _)| *known == word)?;
    let value = looks[place].1;
    looks.truncate(place);
    Some(value)
}

/// The running thread is about to wake others. If it is in a function that has changed its word by then, they may see that
/// before the function is over.
pub fn about_to_wake(pc: u64) {
    let fiber = engine().current();
    let Some((word, known)) = fiber.looks.last_mut() else { return };
    // SAFETY: the word of a function in progress.
    let value = unsafe { access::load(*word, WORD) };
    let before = std::mem::replace(known, value);
    if value != before {
        fiber.pending.site = pc;
        note_update(*word, before, value);
    }
}

/// Where a scope counts its threads. The library lays a structure out as it likes: of its first two words, the count is
/// the one that is no pointer.
unsafe fn count_in(scope: usize) -> usize {
    const MOST_THREADS: u64 = 1 << 20;
    // SAFETY: the address is that of a structure of at least two words.
    let first = unsafe { access::load(scope, size_of::<u64>() as u8) };
    if first > MOST_THREADS { scope + size_of::<u64>() } else { scope }
}

/// Notes how the running thread changes a word, unseen by anybody else until its next operation.
fn note_update(word: usize, old: u64, value: u64) {
    engine().note(EventKind::AtomicUpdate, word, WORD, value, old);
    engine().changed();
    engine().word_changed(word, old, value);
    if old == 0 && value != 0 {
        engine().took_word(word);
    }
}

/// A word was seen to be given what may be a token: the part of the library that gives tokens is compiled with its
/// callers, the part that takes them is not. No thread's token is on a stack.
pub fn gave_token(word: usize) {
    let world = &mut engine().world;
    if !world.stacks.contains(&word) && !world.tokens.contains(&word) {
        if world.tokens.len() == MOST_TOKENS {
            world.tokens.remove(0);
        }
        world.tokens.push(word);
    }
}

/// The running thread has taken a token: that whose word has none any more. Nobody else has run since.
fn take_tokens() {
    let mut tokens = std::mem::take(&mut engine().world.tokens);
    tokens.retain(|word| {
        // SAFETY: the word was the program's own, and has not been freed since.
        let value = unsafe { access::load(*word, WORD) };
        if value == 0 {
            engine().current().token = *word;
            engine().current().ops += 1;
            note_update(*word, TOKEN, value);
        }
        value != 0
    });
    engine().world.tokens = tokens;
}

/// The running thread is about to end, and gives back its handle on itself in code that nobody tells us of. The token is
/// in the block that is counted, and the count is in front.
pub fn gives_back_itself(fiber: &mut Fiber) {
    if fiber.token == 0 {
        return;
    }
    // Counted whether it is told or not: schedules name operations by their numbers.
    fiber.ops += 1;
    if let Some(block) = heap::live_block_at(fiber.token).filter(|_| engine().records) {
        // SAFETY: the block is live, and begins with its count.
        let left = unsafe { access::load(block.start, size_of::<u64>() as u8) };
        engine().note(EventKind::AtomicUpdate, block.start, size_of::<u64>() as u8, left, left + 1);
    }
}
