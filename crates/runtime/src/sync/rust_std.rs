//! What Rust's standard library does in code that is not instrumented, as far as its stubs report it: where a function
//! begins that blocks or wakes, which is where another thread may come first, and what becomes of its word.

use std::ops::Range;

use threadbare_sched::Op;
use threadbare_trace::{EventKind, ThreadId};
use threadbare_wire::StdOp;

use super::word_locks;
use crate::access;
use crate::engine::{engine, watched};
use crate::fiber::{Fiber, Waitable};
use crate::guarding_locks;
use crate::heap;
use crate::interpose::controlled;
use crate::sys;

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
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn __threadbare_std_entry(
    _word: usize,
    _number: u32,
    _pc: u64,
    _lock: usize,
) -> u64 {
    unsafe extern "C-unwind" fn serve(word: usize, number: u32, pc: u64, lock: usize) -> u64 {
        if !controlled() {
            return 0;
        }
        engine().world.has_stubs.set(true);
        let op = op_of(number);
        if op == StdOp::EnterScope {
            // Also before the first thread, and where nothing is watched.
            engine().current().admits_to_scope.set(true);
            return 0;
        }
        let Some(fiber) = watched() else {
            // It may be over only once there are threads, and then they learn what it did.
            if op == StdOp::Observe {
                // SAFETY: the address is that of the library's word.
                let value = unsafe { access::load(word, WORD) };
                engine().current().looks.borrow_mut().push((word, value));
            }
            return 0;
        };
        // Nobody else runs while it spins, so all that it can do is to wait until the lock is free, and take it.
        let free = Free(word);
        let waits = op == StdOp::Lock && engine().brief.get();
        let wait: Option<*const dyn Waitable> = if waits { Some(&raw const free) } else { None };
        let changes = waits || op == StdOp::Notify;
        let kind = if changes { EventKind::AtomicUpdate } else { EventKind::AtomicRead };
        // SAFETY: the runtime is up; the addresses are the library's words.
        unsafe {
            fiber.count_operation();
            fiber.set_site(pc);
            let index = fiber.ops.get();
            if waits {
                fiber.found_taken.set(0);
            }
            guarding_locks::does_not_wait(fiber);
            if op == StdOp::Park {
                engine().point(Op { kind, object: 0, size: 0, site: pc, index, place: 0 }, None, None);
                does_something_unseen();
                return 0;
            }
            let word = if op == StdOp::LeaveScope { count_in(word) } else { word };
            access::touch_range(fiber, word, usize::from(WORD), kind.writes());
            let next = Op { kind, object: word as u64, size: u32::from(WORD), site: pc, index, place: 0 };
            engine().point(next, wait, None);
            does_something_unseen();
            if engine().brief.get() {
                fiber.takes_again.set(if op == StdOp::CondvarWait { lock } else { 0 });
                fiber.notifies.set(if op == StdOp::Notify { word } else { 0 });
            }
            let value = access::load(word, WORD);
            fiber.waits_on_condition.set(op == StdOp::CondvarWait);
            if op == StdOp::Observe {
                fiber.looks.borrow_mut().push((word, value));
            }
            match op {
                StdOp::Notify => engine().changed(),
                StdOp::CondvarWait => note_update(lock, access::load(lock, WORD), 0),
                StdOp::LeaveScope => {
                    fiber.left_scope.set(fiber.answers_to_scope.get());
                    note_update(word, value, value.wrapping_sub(1));
                }
                StdOp::BarrierWait => note_update(word, value, value),
                _ => fiber.saw(pc, word as u64, value),
            }
            value
        }
    }
    crate::arch::enter!(serve)
}

/// What the library does inside of these functions with other words than the one that is named is not recorded.
fn does_something_unseen() {
    let count = &engine().world.unseen_in_std;
    count.set(count.get().wrapping_add(1));
}

/// What a stub's number stands for; the stubs and this library may be of different versions.
fn op_of(number: u32) -> StdOp {
    StdOp::from_number(number).unwrap_or_else(|unknown| sys::die(&unknown.to_string()))
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
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn __threadbare_std_leave(_word: usize, _before: u64, _pc: u64, _number: u32) {
    unsafe extern "C-unwind" fn serve(word: usize, before: u64, pc: u64, number: u32) {
        if !controlled() {
            return;
        }
        let op = op_of(number);
        let Some(fiber) = watched() else {
            if op == StdOp::Observe {
                looked_last(word);
            }
            return;
        };
        engine().recorder.complete_write();
        does_something_unseen();
        if op == StdOp::Park {
            fiber.set_site(pc);
            take_tokens();
            return;
        }
        // SAFETY: the address is the word's.
        let value = unsafe {
            fiber.count_operation();
            fiber.set_site(pc);
            fiber.takes_again.set(0);
            fiber.waits_on_condition.set(false);
            access::load(word, WORD)
        };
        let before = if op == StdOp::Observe { looked_last(word).unwrap_or(before) } else { before };
        match op {
            StdOp::Lock | StdOp::CondvarWait => note_update(word, 0, value),
            StdOp::LockShared => note_update(word, value.saturating_sub(1), value),
            _ if value != before => note_update(word, before, value),
            _ => drop(engine().recorder.note(EventKind::AtomicRead, word, WORD, value, value)),
        }
    }
    crate::arch::enter!(serve)
}

/// What a word is known to hold since the innermost function that looks at it began, which is over. Functions that a
/// panic has ended are forgotten with it.
fn looked_last(word: usize) -> Option<u64> {
    let looks = &mut engine().current().looks.borrow_mut();
    let place = looks.iter().rposition(|(known, _)| *known == word)?;
    let value = looks[place].1;
    looks.truncate(place);
    Some(value)
}

/// The running thread is about to wake others. If it is in a function that has changed its word by then, they may see that
/// before the function is over.
pub fn about_to_wake(pc: u64) {
    let fiber = engine().current();
    let Some((word, before)) = fiber.looks.borrow_mut().pop() else { return };
    // SAFETY: the word of a function in progress.
    let value = unsafe { access::load(word, WORD) };
    fiber.looks.borrow_mut().push((word, value));
    if value != before {
        fiber.set_site(pc);
        note_update(word, before, value);
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
    engine().recorder.note(EventKind::AtomicUpdate, word, WORD, value, old);
    engine().changed();
    guarding_locks::word_changed(engine(), word, old, value);
    if old == 0 && value != 0 {
        engine().took_word(word);
    }
}

/// A word was seen to be given what may be a token: the part of the library that gives tokens is compiled with its
/// callers, the part that takes them is not. No thread's token is on a stack.
pub fn gave_token(word: usize) {
    let world = &engine().world;
    let mut tokens = world.tokens.borrow_mut();
    if !world.stacks.borrow_mut().contains(&word) && !tokens.contains(&word) {
        if tokens.len() == MOST_TOKENS {
            tokens.remove(0);
        }
        tokens.push(word);
    }
}

/// The running thread has taken a token: that whose word has none any more. Nobody else has run since.
fn take_tokens() {
    let mut tokens = engine().world.tokens.take();
    tokens.retain(|word| {
        // SAFETY: the word was the program's own, and has not been freed since.
        let value = unsafe { access::load(*word, WORD) };
        if value == 0 {
            engine().current().token.set(*word);
            engine().current().count_operation();
            note_update(*word, TOKEN, value);
        }
        value != 0
    });
    engine().world.tokens.set(tokens);
}

/// The running thread is about to end, and gives back its handle on itself in code that is not reported. The token is
/// in the block that is counted, and the count is in front.
pub fn gives_back_itself(fiber: &Fiber) {
    if fiber.token.get() == 0 {
        return;
    }
    // Counted whether it is recorded or not: schedules name operations by their numbers.
    fiber.count_operation();
    if let Some(block) = heap::live_block_at(fiber.token.get()).filter(|_| engine().recorder.is_on.get()) {
        // SAFETY: the block is live, and begins with its count.
        let left = unsafe { access::load(block.start, size_of::<u64>() as u8) };
        engine().recorder.note(EventKind::AtomicUpdate, block.start, size_of::<u64>() as u8, left, left + 1);
    }
}

/// Whether the running thread, which is about to free this block, has given back the last handle on a thread in code that is not
/// reported: the library drops one for each thread that waited for a message. A handle that the program's own code gives
/// back is seen by its count, or by the count of weak handles behind it.
pub fn gave_back_unseen(fiber: &Fiber, block: &Range<usize>) -> bool {
    let counts = [block.start, block.start + size_of::<usize>()];
    let is_handle = |thread: &Fiber| block.contains(&thread.token.get());
    !counts.contains(&fiber.last_zeroed.get()) && engine().threads.all().any(is_handle)
}
