//! Read-write locks.

use std::ffi::{c_int, c_void};

use libc::{pthread_rwlock_t, timespec};
use threadbare_trace::{EventKind, FailureKind, ThreadId};

use super::{Limit, note, note_life, step, step_when};
use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::shared_memory::fail;
use crate::time;

/// A read-write lock. Readers may enter whenever no writer is inside.
#[derive(Default)]
pub struct RwLock {
    address: usize,
    writer: Option<ThreadId>,
    readers: Vec<ThreadId>,
}

/// What a thread waits for; lives on its stack.
struct Wait {
    lock: *const RwLock,
    write: bool,
}

impl RwLock {
    fn admits(&self, write: bool) -> bool {
        self.writer.is_none() && (!write || self.readers.is_empty())
    }
}

impl Waitable for Wait {
    fn ready(&self, _fiber: &Fiber) -> bool {
        // SAFETY: table entries are never dropped.
        unsafe { (*self.lock).admits(self.write) }
    }

    fn what(&self) -> String {
        // SAFETY: as above.
        let address = unsafe { (*self.lock).address };
        format!("{} lock <obj {address:#x}>", if self.write { "write" } else { "read" })
    }

    fn holder(&self) -> Option<ThreadId> {
        // SAFETY: as above.
        let lock = unsafe { &*self.lock };
        lock.writer.or_else(|| lock.readers.first().copied())
    }
}

fn at(address: usize) -> &'static mut RwLock {
    let place = engine()
        .world
        .rwlocks
        .entry(address)
        .or_insert_with(|| Box::new(RwLock { address, ..RwLock::default() }));
    let lock: *mut RwLock = &mut **place;
    // SAFETY: boxed and never dropped.
    unsafe { &mut *lock }
}

fn acquire(address: usize, write: bool, limit: Limit, pc: u64) -> c_int {
    let fiber = engine().current();
    let lock = at(address);
    let kind = if write { EventKind::Lock } else { EventKind::ReadLock };
    if lock.writer == Some(fiber.owner()) && limit != Limit::Try {
        step(kind, address, pc);
        note(EventKind::LockFailed, address, 0);
        return libc::EDEADLK;
    }
    let refused = if limit == Limit::Try {
        step(kind, address, pc);
        !lock.admits(write)
    } else {
        let waiting = Wait { lock, write };
        step_when(kind, address, pc, Some(&raw const waiting), limit.timed())
    };
    if refused {
        limit.reached();
        fiber.made_no_progress();
        note(EventKind::LockFailed, address, 0);
        return if limit == Limit::Try { libc::EBUSY } else { libc::ETIMEDOUT };
    }
    if write {
        lock.writer = Some(fiber.owner());
    } else {
        lock.readers.push(fiber.owner());
    }
    engine().fiber(fiber.owner()).held.push(address);
    engine().took_lock();
    let would_not_wait = u64::from(limit != Limit::Forever);
    engine().note(kind, address, 0, 1, would_not_wait);
    0
}

fn release(address: usize, pc: u64) -> c_int {
    step(EventKind::Unlock, address, pc);
    let fiber = engine().current();
    let lock = at(address);
    if lock.writer == Some(fiber.owner()) {
        lock.writer = None;
    } else if let Some(index) = lock.readers.iter().position(|reader| *reader == fiber.owner()) {
        lock.readers.remove(index);
    } else {
        fail(FailureKind::Misuse, format_args!("{} unlocks <obj {address:#x}> without holding it", fiber.id));
    }
    let held = &mut engine().fiber(fiber.owner()).held;
    if let Some(index) = held.iter().rposition(|held| *held == address) {
        held.remove(index);
    }
    note(EventKind::Unlock, address, 0);
    engine().released();
    0
}

fn destroy(address: usize, pc: u64) -> c_int {
    step(EventKind::Destroy, address, pc);
    let fiber = engine().current();
    let lock = at(address);
    if let Some(owner) = lock.writer.or_else(|| lock.readers.first().copied()) {
        fail(
            FailureKind::Misuse,
            format_args!("{} destroys <obj {address:#x}> while {owner} holds it", fiber.id),
        );
    }
    note(EventKind::Destroy, address, 0);
    0
}

fn timed(address: usize, write: bool, until: *const timespec, pc: u64) -> c_int {
    match time::deadline(until) {
        Ok(limit) => acquire(address, write, limit, pc),
        Err(error) => error,
    }
}

interpose! {
    /// Initialises a read-write lock.
    fn pthread_rwlock_init(lock: *mut pthread_rwlock_t, attributes: *const c_void) -> c_int {
        let pc = site();
        *at(lock as usize) = RwLock { address: lock as usize, ..RwLock::default() };
        note_life(EventKind::Init, lock as usize, pc);
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
        timed(lock as usize, false, until, pc)
    }
    /// Locks for writing before a time.
    fn pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int {
        let pc = site();
        timed(lock as usize, true, until, pc)
    }
    /// Locks for reading before a time on a clock.
    fn pthread_rwlock_clockrdlock(lock: *mut pthread_rwlock_t, clock: c_int, until: *const timespec) -> c_int {
        let pc = site();
        timed(lock as usize, false, until, pc)
    }
    /// Locks for writing before a time on a clock.
    fn pthread_rwlock_clockwrlock(lock: *mut pthread_rwlock_t, clock: c_int, until: *const timespec) -> c_int {
        let pc = site();
        timed(lock as usize, true, until, pc)
    }
    /// Unlocks.
    fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int {
        let pc = site();
        release(lock as usize, pc)
    }
}
