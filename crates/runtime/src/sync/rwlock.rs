//! Read-write locks.
//!
//! Readers may enter whenever no writer is inside, and which of those who wait comes next is open: in the C library a lock that prefers readers, or
//! `PTHREAD_RWLOCK_PREFER_WRITER_NP`, which lets readers in as well, decides by who came first, and that nobody sees. With
//! `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP` a writer that waits keeps new readers out, those included that are inside already. There it is a
//! step to begin to wait. Traces do not show it, and whoever reasons about them has to doubt.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;

use libc::{pthread_rwlock_t, timespec};
use threadbare_trace::{EventKind, FailureKind, LockManner, ThreadId};

use super::{Limit, between_processes, lifetime, note, step, step_when};
use crate::engine::engine;
use crate::exclusive::Exclusive;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::shared_memory::fail;
use crate::thread_state_hash::{self, mix};
use crate::{dependences, time};

/// Where the C library has the kind of a lock (`__flags` of `struct __pthread_rwlock_arch_t`), which its initializers write.
const KIND: usize = 48;

/// `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`.
const WRITERS_FIRST: u32 = 2;

/// A read-write lock.
pub struct RwLock {
    address: usize,
    /// It says in its memory whom it prefers.
    holds_kind: Cell<bool>,
    writer: Cell<Option<ThreadId>>,
    readers: Exclusive<Vec<ThreadId>>,
    /// The writers that wait, if they keep readers out.
    waiting_writers: Exclusive<Vec<ThreadId>>,
}

/// What a thread waits for; lives on its stack.
struct Wait {
    lock: &'static RwLock,
    write: bool,
}

impl RwLock {
    fn new(address: usize) -> RwLock {
        RwLock {
            address,
            holds_kind: Cell::new(true),
            writer: Cell::new(None),
            readers: Exclusive::default(),
            waiting_writers: Exclusive::default(),
        }
    }

    /// Whether a writer that waits keeps readers out.
    fn lets_writers_first(&self) -> bool {
        // SAFETY: the program has a lock of the C library there.
        self.holds_kind.get() && unsafe { ((self.address + KIND) as *const u32).read() == WRITERS_FIRST }
    }

    /// A writer begins or ceases to wait.
    fn change_waiting(&self, change: impl FnOnce(&mut Vec<ThreadId>)) {
        let mut waiting = self.waiting_writers.borrow_mut();
        change(&mut waiting);
        let state = waiting.iter().fold(0u64, |sum, writer| sum.wrapping_add(mix(1, u64::from(writer.0))));
        thread_state_hash::is_in_state(self.address, state);
    }

    /// Whether this thread is inside to write.
    pub fn is_written_by(&self, thread: ThreadId) -> bool {
        self.writer.get() == Some(thread)
    }

    /// A thread that is inside: the writer, or the first reader.
    fn holder(&self) -> Option<ThreadId> {
        self.writer.get().or_else(|| self.readers.borrow_mut().first().copied())
    }

    /// Whether other processes use it, which the C library writes into it.
    fn is_shared(&self) -> bool {
        const PLACE: usize = 28;
        // SAFETY: the program has a lock of the C library there.
        self.holds_kind.get() && unsafe { between_processes::says_so(self.address, PLACE, 1) }
    }

    /// Whether those of other processes that are inside admit one more, if others use it.
    fn others_admit(&self, write: bool) -> bool {
        const WRITTEN: u32 = 2;
        const ONE_READER: u32 = 8;
        if !self.is_shared() {
            return true;
        }
        // SAFETY: as above; the lock begins with the word that says who is inside.
        let inside = unsafe { between_processes::word(self.address, 0) }.load(Ordering::SeqCst);
        inside & WRITTEN == 0 && (!write || inside < ONE_READER)
    }

    /// Enters or leaves it for other processes as well.
    fn tell_others(&self, change: Change) {
        if !self.is_shared() {
            return;
        }
        let place = self.address as *mut pthread_rwlock_t;
        // It was free a moment ago; another process that has come first gives it back.
        // SAFETY: as above.
        unsafe {
            match change {
                Change::Write => real!(pthread_rwlock_wrlock as LockFn)(place),
                Change::Read => real!(pthread_rwlock_rdlock as LockFn)(place),
                Change::Leave => real!(pthread_rwlock_unlock as LockFn)(place),
            }
        };
    }

    fn admits(&self, write: bool) -> bool {
        let in_the_way = if write { &self.readers } else { &self.waiting_writers };
        self.writer.get().is_none() && in_the_way.borrow_mut().is_empty() && self.others_admit(write)
    }
}

type LockFn = unsafe extern "C-unwind" fn(*mut pthread_rwlock_t) -> c_int;

/// What becomes of a lock.
#[derive(Clone, Copy)]
enum Change {
    Write,
    Read,
    Leave,
}

impl Waitable for Wait {
    fn ready(&self, _fiber: &Fiber) -> bool {
        self.lock.admits(self.write)
    }

    fn outside(&self) -> bool {
        self.lock.is_shared() && between_processes::is_outside()
    }

    fn what(&self) -> String {
        format!("{} lock <obj {:#x}>", if self.write { "write" } else { "read" }, self.lock.address)
    }

    fn holder(&self) -> Option<ThreadId> {
        let is_behind = self.is_behind_a_writer();
        if is_behind { self.lock.waiting_writers.borrow_mut().first().copied() } else { self.lock.holder() }
    }

    fn kept_waiting(&self) -> &'static str {
        if self.is_behind_a_writer() { "behind the waiting writer" } else { "held by" }
    }
}

impl Wait {
    /// Whether nothing but a writer that waits keeps a reader out.
    fn is_behind_a_writer(&self) -> bool {
        !self.write && self.lock.writer.get().is_none()
    }
}

fn at(address: usize) -> &'static RwLock {
    engine().world.rwlocks.at(address, || RwLock::new(address))
}

/// The lock at this address is another library's, and holds no kind. Returns the address.
pub fn plain(address: usize) -> usize {
    at(address).holds_kind.set(false);
    address
}

/// Begins anew.
pub fn init(address: usize, pc: u64) {
    lifetime::before_init(address, pc);
    at(address).writer.set(None);
    at(address).readers.set(Vec::new());
    at(address).waiting_writers.set(Vec::new());
    lifetime::note_init(address);
}

/// Locks; returns an error number.
pub fn acquire(address: usize, write: bool, limit: Limit, pc: u64) -> c_int {
    let fiber = engine().current();
    let lock = at(address);
    let kind = if write { EventKind::Lock } else { EventKind::ReadLock };
    if lock.writer.get() == Some(fiber.owner()) && limit != Limit::Try {
        step(kind, address, pc);
        note(EventKind::LockFailed, address, 0);
        return libc::EDEADLK;
    }
    let refused = if limit == Limit::Try {
        step(kind, address, pc);
        !lock.admits(write)
    } else if write && lock.lets_writers_first() {
        wait_first(lock, limit, pc)
    } else {
        let waiting = Wait { lock, write };
        step_when(kind, address, pc, Some(&raw const waiting), limit.until())
    };
    if refused {
        limit.reached();
        fiber.waited_in_vain(limit);
        note(EventKind::LockFailed, address, 0);
        return if limit == Limit::Try { libc::EBUSY } else { libc::ETIMEDOUT };
    }
    lock.tell_others(if write { Change::Write } else { Change::Read });
    if write {
        lock.writer.set(Some(fiber.owner()));
    } else {
        lock.readers.borrow_mut().push(fiber.owner());
    }
    engine().fiber(fiber.owner()).held.borrow_mut().push(address);
    engine().took_lock();
    let manner = LockManner { would_not_wait: limit != Limit::Forever, ..LockManner::default() };
    engine().recorder.note(kind, address, 0, 1, manner.to_number());
    0
}

/// Executions begin with this lock held by a thread, if it is one.
pub fn note_held(address: usize, fiber: &Fiber) {
    if let Some(lock) = engine().world.rwlocks.get(address) {
        let reads = lock.readers.borrow_mut().contains(&fiber.id);
        if lock.writer.get() == Some(fiber.id) {
            note(EventKind::Lock, address, 1);
        } else if reads {
            note(EventKind::ReadLock, address, 1);
        }
    }
}

/// Waits as a writer that keeps readers out; says whether time ended the wait.
fn wait_first(lock: &'static RwLock, limit: Limit, pc: u64) -> bool {
    step(EventKind::Lock, lock.address, pc);
    dependences::note_unrecorded(EventKind::Lock, pc);
    if lock.admits(true) {
        return false;
    }
    let id = engine().current_id();
    lock.change_waiting(|waiting| waiting.push(id));
    engine().changed();
    let waiting = Wait { lock, write: true };
    let refused = step_when(EventKind::Lock, lock.address, pc, Some(&raw const waiting), limit.until());
    lock.change_waiting(|waiting| waiting.retain(|writer| *writer != id));
    if refused {
        engine().changed();
    }
    refused
}

/// Unlocks; returns an error number.
pub fn release(address: usize, pc: u64) -> c_int {
    step(EventKind::Unlock, address, pc);
    let fiber = engine().current();
    let lock = at(address);
    let reads = || lock.readers.borrow_mut().iter().position(|reader| *reader == fiber.owner());
    if lock.writer.get() == Some(fiber.owner()) {
        lock.writer.set(None);
    } else if let Some(index) = reads() {
        lock.readers.borrow_mut().remove(index);
    } else {
        fail(FailureKind::Misuse, format_args!("{} unlocks <obj {address:#x}> without holding it", fiber.id));
    }
    lock.tell_others(Change::Leave);
    engine().fiber(fiber.owner()).no_longer_holds(address);
    note(EventKind::Unlock, address, 0);
    engine().released();
    0
}

/// Destroys a lock.
pub fn destroy(address: usize, pc: u64) -> c_int {
    step(EventKind::Destroy, address, pc);
    let fiber = engine().current();
    if let Some(owner) = at(address).holder() {
        fail(
            FailureKind::Misuse,
            format_args!("{} destroys <obj {address:#x}> while {owner} holds it", fiber.id),
        );
    }
    note(EventKind::Destroy, address, 0);
    0
}

/// This process is a copy: who is inside of what processes share is so in the original.
pub fn leave_to_the_original() {
    let locks = &engine().world.rwlocks;
    for lock in locks.within(0..usize::MAX).into_iter().filter_map(|address| locks.get(address)) {
        if lock.is_shared() {
            lock.writer.set(None);
            lock.readers.set(Vec::new());
            lock.waiting_writers.set(Vec::new());
            engine().host().no_longer_holds(lock.address);
        }
    }
}

fn timed(address: usize, write: bool, clock: c_int, until: *const timespec, pc: u64) -> c_int {
    match time::deadline_on(clock, until) {
        Ok(limit) => acquire(address, write, limit, pc),
        Err(error) => error,
    }
}

interpose! {
    /// Initialises a read-write lock.
    fn pthread_rwlock_init(lock: *mut pthread_rwlock_t, attributes: *const c_void) -> c_int {
        init(lock as usize, site());
        let error = real!(pthread_rwlock_init as unsafe extern "C-unwind" fn(*mut pthread_rwlock_t, *const c_void) -> c_int)(lock, attributes);
        if error == 0 && at(lock as usize).is_shared() {
            between_processes::note();
        }
        error
    }
    /// Destroys a read-write lock.
    fn pthread_rwlock_destroy(lock: *mut pthread_rwlock_t) -> c_int { destroy(lock as usize, site()) }
    /// Locks for reading.
    fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) -> c_int {
        let pc = site();
        acquire(lock as usize, false, Limit::Forever, pc)
    }
    /// Locks for writing.
    fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) -> c_int {
        let pc = site();
        acquire(lock as usize, true, Limit::Forever, pc)
    }
    /// Locks for reading if that is possible at once.
    fn pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t) -> c_int {
        let pc = site();
        acquire(lock as usize, false, Limit::Try, pc)
    }
    /// Locks for writing if that is possible at once.
    fn pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t) -> c_int {
        let pc = site();
        acquire(lock as usize, true, Limit::Try, pc)
    }
    /// Locks for reading before a time.
    fn pthread_rwlock_timedrdlock(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int {
        let pc = site();
        timed(lock as usize, false, libc::CLOCK_REALTIME, until, pc)
    }
    /// Locks for writing before a time.
    fn pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int {
        let pc = site();
        timed(lock as usize, true, libc::CLOCK_REALTIME, until, pc)
    }
    /// Locks for reading before a time on a clock.
    fn pthread_rwlock_clockrdlock(lock: *mut pthread_rwlock_t, clock: c_int, until: *const timespec) -> c_int {
        let pc = site();
        timed(lock as usize, false, clock, until, pc)
    }
    /// Locks for writing before a time on a clock.
    fn pthread_rwlock_clockwrlock(lock: *mut pthread_rwlock_t, clock: c_int, until: *const timespec) -> c_int {
        let pc = site();
        timed(lock as usize, true, clock, until, pc)
    }
    /// Unlocks.
    fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int {
        let pc = site();
        release(lock as usize, pc)
    }
}
