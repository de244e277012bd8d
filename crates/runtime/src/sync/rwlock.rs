//! Read-write locks.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use libc::{pthread_rwlock_t, timespec};
use threadbare_trace::{EventKind, FailureKind, LockManner, ThreadId};

use super::{Limit, lifetime, note, step, step_when};
use crate::engine::engine;
use crate::exclusive::Exclusive;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::shared_memory::fail;
use crate::time;

/// A read-write lock. Readers may enter whenever no writer is inside.
pub struct RwLock {
    address: usize,
    writer: Cell<Option<ThreadId>>,
    readers: Exclusive<Vec<ThreadId>>,
}

/// What a thread waits for; lives on its stack.
struct Wait {
    lock: &'static RwLock,
    write: bool,
}

impl RwLock {
    fn new(address: usize) -> RwLock {
        RwLock { address, writer: Cell::new(None), readers: Exclusive::default() }
    }

    /// Whether this thread is inside to write.
    pub fn is_written_by(&self, thread: ThreadId) -> bool {
        self.writer.get() == Some(thread)
    }

    /// A thread that is inside: the writer, or the first reader.
    fn holder(&self) -> Option<ThreadId> {
        self.writer.get().or_else(|| self.readers.borrow_mut().first().copied())
    }

    fn admits(&self, write: bool) -> bool {
        self.writer.get().is_none() && (!write || self.readers.borrow_mut().is_empty())
    }
}

impl Waitable for Wait {
    fn ready(&self, _fiber: &Fiber) -> bool {
        self.lock.admits(self.write)
    }

    fn what(&self) -> String {
        format!("{} lock <obj {:#x}>", if self.write { "write" } else { "read" }, self.lock.address)
    }

    fn holder(&self) -> Option<ThreadId> {
        self.lock.holder()
    }
}

fn at(address: usize) -> &'static RwLock {
    engine().world.rwlocks.at(address, || RwLock::new(address))
}

fn acquire(address: usize, write: bool, limit: Limit, pc: u64) -> c_int {
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

fn release(address: usize, pc: u64) -> c_int {
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
    engine().fiber(fiber.owner()).no_longer_holds(address);
    note(EventKind::Unlock, address, 0);
    engine().released();
    0
}

fn destroy(address: usize, pc: u64) -> c_int {
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

fn timed(address: usize, write: bool, clock: c_int, until: *const timespec, pc: u64) -> c_int {
    match time::deadline_on(clock, until) {
        Ok(limit) => acquire(address, write, limit, pc),
        Err(error) => error,
    }
}

interpose! {
    /// Initialises a read-write lock.
    fn pthread_rwlock_init(lock: *mut pthread_rwlock_t, attributes: *const c_void) -> c_int {
        lifetime::before_init(lock as usize, site());
        at(lock as usize).writer.set(None);
        at(lock as usize).readers.set(Vec::new());
        lifetime::note_init(lock as usize);
        real!(pthread_rwlock_init as unsafe extern "C-unwind" fn(*mut pthread_rwlock_t, *const c_void) -> c_int)(lock, attributes)
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
