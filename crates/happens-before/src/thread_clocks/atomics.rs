//! Atomics and futexes, also where some of their users were not compiled for us.
//!
//! A standard library comes ready-made: the slow paths of its locks, its condition variables and once-cells make
//! atomic steps that no trace shows. What can be inferred from what is shown is added here, so that correct programs
//! are not reported:
//!
//! * A value that nobody was seen to write was written by somebody who had used the location before.
//! * A word that an update took from zero is held like a lock until it is zero again. Whoever sleeps on another word
//!   gives it up meanwhile, as condition variables do, and has it again when awake; whoever failed to take it and
//!   slept has it then, also if another word was slept on, as writers do who wait for a read-write lock.
//! * If another thread takes a word that is still held, its holder has released it before; and so has a holder who
//!   wakes those who sleep on it. A release that was not seen is that of a condition variable, which takes the word
//!   again, just as unseen, before the thread runs on.
//! * Whoever wakes those who sleep on a word has changed it before, and so has one of its users when a sleep on it is
//!   refused.
//! * Whoever releases a block outside of all calls that are seen has looked at its reference count.

use std::sync::Arc;

use threadbare_trace::{Event, EventKind, ThreadId};

use super::ThreadClocks;
use crate::accessed_bytes::reused_range;
use crate::clocks::VectorClock;

/// How many words a thread is taken to hold.
const WORDS: usize = 16;

/// What an atomic location hands on.
#[derive(Default)]
pub struct Atomic {
    pub(super) clock: VectorClock,
    /// The value it was last seen to have.
    value: Option<u64>,
    /// Who has used it.
    users: Vec<ThreadId>,
}

impl Atomic {
    fn used_by(&mut self, thread: ThreadId) {
        if !self.users.contains(&thread) {
            self.users.push(thread);
        }
    }
}

/// Who sleeps on a word, and what those knew who woke them.
#[derive(Default)]
pub struct Futex {
    wakers: VectorClock,
    waiting: u32,
}

/// The lock-like words of a thread.
#[derive(Default)]
pub struct Words {
    /// Those that it was seen to take.
    seen: Vec<u64>,
    /// Those that it must have taken when it woke up.
    unseen: Vec<u64>,
    /// Those that it gave up to sleep.
    given_up: Vec<u64>,
    /// Those that it released unseen, and will have taken again when it runs on.
    lost: Vec<u64>,
    /// The one that it tries to take.
    wanted: u64,
}

impl Words {
    fn holds(&self, word: u64) -> bool {
        self.seen.contains(&word) || self.unseen.contains(&word)
    }

    fn acquire(&mut self, word: u64) {
        if !self.holds(word) {
            if self.seen.len() == WORDS {
                self.seen.remove(0);
            }
            self.seen.push(word);
        }
    }

    fn release(&mut self, word: u64) {
        self.seen.retain(|held| *held != word);
        self.unseen.retain(|held| *held != word);
    }

    fn sleep_on(&mut self, word: u64) {
        if self.holds(word) {
            self.wanted = word;
            self.release(word);
        }
        let lost = std::mem::take(&mut self.lost);
        self.given_up = [std::mem::take(&mut self.seen), std::mem::take(&mut self.unseen), lost].concat();
    }

    /// The word was released unseen.
    fn lose(&mut self, word: u64) {
        self.release(word);
        if self.lost.len() < WORDS && !self.lost.contains(&word) {
            self.lost.push(word);
        }
    }

    fn wake_up(&mut self) {
        self.unseen = std::mem::take(&mut self.given_up);
        if self.wanted != 0 {
            self.unseen.push(self.wanted);
        }
        self.unseen.truncate(WORDS);
    }
}

impl ThreadClocks {
    /// The reading part of an atomic step.
    pub(super) fn read_atomic(&mut self, event: &Event, kind: EventKind) {
        let thread = event.thread;
        let found = if kind == EventKind::AtomicUpdate { event.old } else { event.value };
        let place = self.atomics.entry(event.addr);
        let is_new = place.value.replace(found).is_some_and(|last| last != found);
        let takes = kind == EventKind::AtomicUpdate && found == 0 && event.value != 0;
        if is_new || takes {
            self.learn_from_users(thread, event.addr, |words| is_new || words.holds(event.addr));
        }
        if takes {
            self.release_unseen(thread, event.addr);
        }
        self.atomics.entry(event.addr).used_by(thread);
        if self.acquires(event) {
            self.learn_atomic(thread, event.addr);
        } else {
            self.see_unacquired(thread, event.addr);
        }
        let failed = kind == EventKind::AtomicFailed;
        self.thread(thread).words.wanted = if failed { event.addr } else { 0 };
    }

    /// The thread learns of others who have made steps on the location that were not seen.
    fn learn_from_users(&mut self, thread: ThreadId, addr: u64, did: impl Fn(&Words) -> bool) {
        for user in self.atomics.entry(addr).users.clone() {
            if user != thread && did(&self.thread(user).words) {
                // Others who see the same value later learn it from the location.
                let clock = Arc::clone(self.clock(user));
                self.atomics.entry(addr).clock.join(&clock);
                self.learn_from(thread, user);
            }
        }
    }

    /// Another thread has taken a word, so those who held it have released it.
    fn release_unseen(&mut self, taker: ThreadId, word: u64) {
        let ThreadClocks { atomics, threads, any_lost, .. } = self;
        for user in atomics.entry(word).users.iter().filter(|user| **user != taker) {
            if let Some(Some(user)) = threads.get_mut(user.index())
                && user.words.holds(word)
            {
                user.words.lose(word);
                *any_lost = true;
            }
        }
    }

    /// A thread runs on and holds the words again that it released unseen. It looks for itself at the one
    /// that the event is about.
    #[inline]
    pub(super) fn run_on(&mut self, event: &Event) {
        let thread = self.threads.get(event.thread.index()).and_then(Option::as_ref);
        if thread.is_some_and(|thread| !thread.words.lost.is_empty()) {
            self.take_again(event);
        }
    }

    #[cold]
    fn take_again(&mut self, event: &Event) {
        let words = &mut self.thread(event.thread).words;
        let lost = std::mem::take(&mut words.lost);
        let again: Vec<u64> = lost.into_iter().filter(|word| *word != event.addr).collect();
        words.unseen.extend(&again);
        for word in again {
            self.learn_atomic(event.thread, word);
            self.learn_from_users(event.thread, word, |words| words.holds(word));
        }
        self.any_lost = self.threads.iter().flatten().any(|thread| !thread.words.lost.is_empty());
    }

    /// The writing part of an atomic step.
    pub(super) fn write_atomic(&mut self, event: &Event, kind: EventKind) {
        let thread = event.thread;
        let released = match self.releases(event) {
            true => Some(Arc::clone(self.clock(thread))),
            false => self.released_by_fence(thread),
        };
        let place = self.atomics.entry(event.addr);
        place.value = Some(event.value);
        place.used_by(thread);
        match released {
            Some(clock) if kind == EventKind::AtomicWrite => place.clock.copy_from(&clock),
            Some(clock) => place.clock.join(&clock),
            // An update continues the release sequence there; a store begins a new one.
            None if kind == EventKind::AtomicWrite => place.clock = VectorClock::default(),
            None => {}
        }
        if event.value == 0 {
            for user in place.users.clone() {
                self.thread(user).words.seen.retain(|word| *word != event.addr);
            }
            self.thread(thread).words.release(event.addr);
        } else if kind == EventKind::AtomicUpdate && event.old == 0 {
            self.thread(thread).words.acquire(event.addr);
        }
        self.tick(thread);
    }

    fn learn_atomic(&mut self, thread: ThreadId, addr: u64) {
        self.thread(thread);
        if let (Some(place), Some(Some(mine))) =
            (self.atomics.get(addr), self.threads.get_mut(thread.index()))
            && !mine.clock.covers_all(&place.clock)
        {
            Arc::make_mut(&mut mine.clock).join(&place.clock);
        }
    }

    /// A block is released by code that was not compiled for us, which has looked at its reference count.
    pub(super) fn free_unseen(&mut self, event: &Event) {
        if let Some((first, last)) = reused_range(event, EventKind::Free)
            && self.atomics.live() > 0
        {
            for addr in self.atomics.addresses(first, last) {
                self.learn_atomic(event.thread, addr);
            }
        }
    }

    /// A thread goes to sleep.
    pub(super) fn begin_futex_wait(&mut self, event: &Event) {
        let thread = self.thread(event.thread);
        thread.words.sleep_on(event.addr);
        let (clock, words) = (Arc::clone(&thread.clock), thread.words.given_up.clone());
        for word in words {
            self.atomics.entry(word).clock.join(&clock);
        }
        self.futexes.entry(event.addr).waiting += 1;
        self.tick(event.thread);
    }

    /// A thread wakes others, or would if there were any.
    pub(super) fn wake_futex(&mut self, event: &Event) {
        let clock = Arc::clone(self.clock(event.thread));
        if event.value > 0 {
            self.futexes.entry(event.addr).wakers.join(&clock);
        }
        self.atomics.entry(event.addr).clock.join(&clock);
        let words = &mut self.thread(event.thread).words;
        if words.holds(event.addr) {
            words.lose(event.addr);
            self.any_lost = true;
        }
        self.tick(event.thread);
    }

    /// A sleep ended, or was refused because the word had changed. The thread looks at the word again before it
    /// goes on, and takes again what it gave up to sleep.
    pub(super) fn end_futex_wait(&mut self, event: &Event, kind: EventKind) {
        let thread = event.thread;
        if kind == EventKind::FutexWait {
            // Somebody changed the word between two looks at it.
            self.learn_from_users(thread, event.addr, |_| true);
            self.thread(thread).words.sleep_on(event.addr);
        } else if let Some(futex) = self.futexes.get(event.addr) {
            let wakers = futex.wakers.clone();
            futex.waiting = futex.waiting.saturating_sub(1);
            if futex.waiting == 0 {
                self.futexes.remove(event.addr);
            }
            if kind == EventKind::FutexWoken {
                self.learn(thread, &wakers);
            }
        }
        self.learn_atomic(thread, event.addr);
        let words = &mut self.thread(thread).words;
        words.wake_up();
        for word in words.unseen.clone() {
            self.learn_atomic(thread, word);
            self.learn_from_users(thread, word, |words| words.holds(word));
        }
    }
}
