//! Mutexes (normal, recursive, error-checking, robust) and spin locks.

use std::ffi::c_int;

use libc::{pthread_mutex_t, pthread_mutexattr_t, timespec};
use threadbare_trace::{EventKind, FailureKind, ThreadId};

use super::{Limit, note, note_life, step, step_when};
use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::shared_memory::fail;
use crate::time;

/// The kind that a destroyed mutex has in its memory.
const DESTROYED: c_int = -1;

/// What a mutex does when its owner locks it again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Normal,
    Recursive,
    ErrorCheck,
}

/// A mutex or spin lock.
pub struct Mutex {
    /// Where it is in the program.
    pub address: usize,
    /// The kind as the C library writes it into the mutex.
    bits: c_int,
    kind: Kind,
    robust: bool,
    /// The thread that holds it.
    pub owner: Option<ThreadId>,
    depth: u32,
    owner_died: bool,
    beyond_repair: bool,
}

impl Mutex {
    fn new(address: usize, bits: c_int) -> Mutex {
        const ROBUST: c_int = 16;
        let kind = match bits & 3 {
            libc::PTHREAD_MUTEX_RECURSIVE => Kind::Recursive,
            libc::PTHREAD_MUTEX_ERRORCHECK => Kind::ErrorCheck,
            _ => Kind::Normal,
        };
        Mutex {
            address,
            bits,
            kind,
            robust: bits != DESTROYED && bits & ROBUST != 0,
            owner: None,
            depth: 0,
            owner_died: false,
            beyond_repair: false,
        }
    }

    /// Whether nobody holds it.
    pub fn is_free(&self) -> bool {
        self.owner.is_none()
    }

    /// The thread takes the free mutex (or one level more of it).
    pub fn take(&mut self, fiber: &mut Fiber) {
        if self.owner.is_none() {
            engine().fiber(fiber.owner()).held.push(self.address);
        }
        self.owner = Some(fiber.owner());
        self.depth += 1;
    }

    /// The owner gives one level back.
    pub fn give(&mut self, fiber: &mut Fiber) {
        self.depth -= 1;
        if self.depth == 0 {
            self.owner = None;
            engine().fiber(fiber.owner()).held.retain(|held| *held != self.address);
            engine().released();
        }
    }
}

impl Waitable for Mutex {
    fn ready(&self, fiber: &Fiber) -> bool {
        self.owner.is_none() || (self.owner == Some(fiber.owner()) && self.kind != Kind::Normal)
    }

    fn what(&self) -> String {
        format!("lock <obj {:#x}>", self.address)
    }

    fn holder(&self) -> Option<ThreadId> {
        self.owner
    }
}

/// Where a mutex holds its kind, as the public header has it.
fn kind_of(address: usize) -> *mut c_int {
    const KIND_OFFSET: usize = 16;
    (address + KIND_OFFSET) as *mut c_int
}

/// The mutex at an address. One that was initialised statically tells its kind in its memory.
pub fn at(address: usize) -> &'static mut Mutex {
    // SAFETY: the program passed a mutex.
    let bits = unsafe { *kind_of(address) };
    let mutex = known_at(address, bits);
    // Memory that was given back and taken again may be a mutex of another kind by now.
    if mutex.bits != bits && mutex.is_free() {
        *mutex = Mutex::new(address, bits);
    }
    mutex
}

/// The spin lock at an address: a normal mutex of four bytes.
fn spin_at(address: usize) -> &'static mut Mutex {
    known_at(address, 0)
}

/// The lock of a stdio stream.
pub fn of_stream(address: usize) -> &'static mut Mutex {
    known_at(address, libc::PTHREAD_MUTEX_RECURSIVE)
}

fn known_at(address: usize, bits: c_int) -> &'static mut Mutex {
    let place = engine().world.mutexes.entry(address).or_insert_with(|| Box::new(Mutex::new(address, bits)));
    let mutex: *mut Mutex = &mut **place;
    // SAFETY: boxed and never dropped.
    unsafe { &mut *mutex }
}

fn set(address: usize, mutex: Mutex) {
    // Keep the box where it is: a thread that waits for a re-initialised mutex points to it.
    match engine().world.mutexes.get_mut(&address) {
        Some(place) => **place = mutex,
        None => {
            engine().world.mutexes.insert(address, Box::new(mutex));
        }
    }
}

/// A destroyed mutex must not be used before it is initialised again. Returns its address.
fn must_live(mutex: &Mutex, doing: &str, pc: u64) -> usize {
    if mutex.bits == DESTROYED {
        let fiber = engine().current();
        fiber.pending.site = pc;
        fail(
            FailureKind::Misuse,
            format_args!("{} {doing} <obj {:#x}> after it was destroyed", fiber.id, mutex.address),
        );
    }
    mutex.address
}

/// Locks; returns an error number.
///
/// The mutex comes as a plain pointer: other threads change it while this one waits, which no
/// reference would allow for.
pub fn lock(mutex: *mut Mutex, limit: Limit, pc: u64) -> c_int {
    // SAFETY: table entries are never dropped; the reference ends before anybody else runs.
    let object = unsafe { must_live(&*mutex, "locks", pc) };
    let fiber = engine().current();
    let ended_by_time = if limit == Limit::Try {
        step(EventKind::Lock, object, pc);
        false
    } else {
        step_when(EventKind::Lock, object, pc, Some(mutex.cast_const()), limit.timed())
    };
    // SAFETY: as above; from here on nobody else runs.
    let mutex = unsafe { &mut *mutex };
    let refused = limit == Limit::Try
        && mutex.owner.is_some_and(|owner| owner != fiber.owner() || mutex.kind != Kind::Recursive);
    let timed_out = ended_by_time || refused;
    if timed_out {
        limit.reached();
        note(EventKind::LockFailed, object, 0);
        fiber.made_no_progress();
        return if limit == Limit::Try { libc::EBUSY } else { libc::ETIMEDOUT };
    }
    if mutex.owner == Some(fiber.owner()) && mutex.kind == Kind::ErrorCheck {
        note(EventKind::LockFailed, object, 0);
        return libc::EDEADLK;
    }
    if mutex.beyond_repair {
        note(EventKind::LockFailed, object, 0);
        return libc::ENOTRECOVERABLE;
    }
    mutex.take(fiber);
    engine().took_lock();
    let would_not_wait = u64::from(limit != Limit::Forever);
    engine().note(EventKind::Lock, object, 0, u64::from(mutex.depth), would_not_wait);
    if mutex.owner_died { libc::EOWNERDEAD } else { 0 }
}

/// Unlocks; returns an error number.
pub fn unlock(mutex: *mut Mutex, pc: u64) -> c_int {
    let fiber = engine().current();
    // SAFETY: as in `lock`.
    let object = unsafe { must_live(&*mutex, "unlocks", pc) };
    step(EventKind::Unlock, object, pc);
    // SAFETY: as in `lock`.
    let mutex = unsafe { &mut *mutex };
    if mutex.owner != Some(fiber.owner()) {
        if mutex.kind == Kind::Normal && !mutex.robust {
            let holder = match mutex.owner {
                Some(owner) => format!("it is held by {owner}"),
                None => "nobody holds it".to_string(),
            };
            fail(
                FailureKind::Misuse,
                format_args!("{} unlocks <obj {:#x}> without holding it: {holder}", fiber.id, mutex.address),
            );
        }
        return libc::EPERM;
    }
    if mutex.depth == 1 && mutex.owner_died {
        mutex.owner_died = false;
        mutex.beyond_repair = true;
    }
    note(EventKind::Unlock, mutex.address, u64::from(mutex.depth - 1));
    mutex.give(fiber);
    0
}

/// Destroys a mutex.
///
/// # Safety
/// The address must be that of a mutex.
pub unsafe fn destroy(address: usize, pc: u64) {
    must_live(at(address), "destroys", pc);
    end_life(address, pc);
    // SAFETY: as the caller vouches.
    unsafe { *kind_of(address) = DESTROYED };
    set(address, Mutex::new(address, DESTROYED));
}

/// Whoever still holds or wants a mutex or spin lock must not see it destroyed.
fn end_life(address: usize, pc: u64) {
    let fiber = engine().current();
    step(EventKind::Destroy, address, pc);
    if let Some(mutex) = engine().world.mutexes.get(&address) {
        if let Some(owner) = mutex.owner {
            fail(
                FailureKind::Misuse,
                format_args!("{} destroys <obj {address:#x}> while {owner} holds it", fiber.id),
            );
        }
        let waiting = engine().live().to_vec().into_iter().find(|id| {
            let other = engine().fiber(*id);
            *id != fiber.id && other.wait.is_some() && other.pending.object == address as u64
        });
        if let Some(other) = waiting {
            fail(
                FailureKind::Misuse,
                format_args!("{} destroys <obj {address:#x}> while {other} waits for it", fiber.id),
            );
        }
    }
    note(EventKind::Destroy, address, 0);
}

/// Begins anew as a mutex without attributes.
///
/// # Safety
/// The address must be that of a mutex.
pub unsafe fn init_plain(address: usize, recursive: bool, pc: u64) {
    let bits = if recursive { libc::PTHREAD_MUTEX_RECURSIVE } else { 0 };
    // SAFETY: as the caller vouches.
    unsafe { *kind_of(address) = bits };
    set(address, Mutex::new(address, bits));
    note_life(EventKind::Init, address, pc);
}

/// A thread ended: robust mutexes it held tell the next owner.
pub fn owner_died(fiber: &mut Fiber) {
    for address in std::mem::take(&mut fiber.held) {
        if let Some(mutex) = engine().world.mutexes.get_mut(&address)
            && mutex.robust
        {
            mutex.owner = None;
            mutex.depth = 0;
            mutex.owner_died = true;
        }
    }
}

/// The mutex must be held by the running thread for what it is about to do.
pub fn must_hold(mutex: &Mutex, doing: &str) {
    let fiber = engine().current();
    if mutex.owner != Some(fiber.owner()) {
        fail(
            FailureKind::Misuse,
            format_args!("{} {doing} without holding <obj {:#x}>", fiber.id, mutex.address),
        );
    }
}

interpose! {
    /// Initialises a mutex.
    fn pthread_mutex_init(mutex: *mut pthread_mutex_t, attributes: *const pthread_mutexattr_t) -> c_int {
        let pc = site();
        let error = real!(pthread_mutex_init
            as unsafe extern "C-unwind" fn(*mut pthread_mutex_t, *const pthread_mutexattr_t) -> c_int)(mutex, attributes);
        if error != 0 {
            return error;
        }
        let address = mutex as usize;
        if let Some(known) = engine().world.mutexes.get(&address) && let Some(owner) = known.owner {
            let fiber = engine().current();
            fiber.pending.site = pc;
            fail(
                FailureKind::Misuse,
                format_args!("{} initialises <obj {address:#x}> again while {owner} holds it", fiber.id),
            );
        }
        const SHARED_BETWEEN_PROCESSES: c_int = 128;
        engine().world.process_shared |= *kind_of(address) & SHARED_BETWEEN_PROCESSES != 0;
        set(address, Mutex::new(address, *kind_of(address)));
        note_life(EventKind::Init, address, pc);
        0
    }
    /// Destroys a mutex.
    fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> c_int {
        destroy(mutex as usize, site());
        0
    }
    /// Locks a mutex.
    fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int {
        let pc = site();
        lock(at(mutex as usize), Limit::Forever, pc)
    }
    /// Locks a mutex if it is free.
    fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int {
        let pc = site();
        lock(at(mutex as usize), Limit::Try, pc)
    }
    /// Locks a mutex before a time.
    fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec) -> c_int {
        let pc = site();
        match time::deadline(until) {
            Ok(limit) => lock(at(mutex as usize), limit, pc),
            Err(error) => error,
        }
    }
    /// Locks a mutex before a time on a clock.
    fn pthread_mutex_clocklock(mutex: *mut pthread_mutex_t, clock: c_int, until: *const timespec) -> c_int {
        let pc = site();
        match time::deadline(until) {
            Ok(limit) => lock(at(mutex as usize), limit, pc),
            Err(error) => error,
        }
    }
    /// Unlocks a mutex.
    fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int {
        let pc = site();
        unlock(at(mutex as usize), pc)
    }
    /// Declares the state behind a robust mutex repaired.
    fn pthread_mutex_consistent(mutex: *mut pthread_mutex_t) -> c_int {
        let mutex = at(mutex as usize);
        if !mutex.robust || !mutex.owner_died {
            return libc::EINVAL;
        }
        mutex.owner_died = false;
        0
    }
    /// Initialises a spin lock.
    fn pthread_spin_init(lock: *mut c_int, shared: c_int) -> c_int {
        let pc = site();
        *lock = 0;
        set(lock as usize, Mutex::new(lock as usize, 0));
        note_life(EventKind::Init, lock as usize, pc);
        0
    }
    /// Destroys a spin lock.
    fn pthread_spin_destroy(lock: *mut c_int) -> c_int {
        end_life(lock as usize, site());
        0
    }
    /// Takes a spin lock.
    fn pthread_spin_lock(spin: *mut c_int) -> c_int {
        let pc = site();
        lock(spin_at(spin as usize), Limit::Forever, pc)
    }
    /// Takes a spin lock if it is free.
    fn pthread_spin_trylock(spin: *mut c_int) -> c_int {
        let pc = site();
        lock(spin_at(spin as usize), Limit::Try, pc)
    }
    /// Releases a spin lock.
    fn pthread_spin_unlock(spin: *mut c_int) -> c_int {
        let pc = site();
        unlock(spin_at(spin as usize), pc)
    }
}
