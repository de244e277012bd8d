//! Mutexes (normal, recursive, error-checking, robust) and spin locks.

use std::ffi::c_int;

use libc::{pthread_mutex_t, pthread_mutexattr_t, timespec};
use threadbare_trace::{EventKind, FailureKind, ThreadId};

use super::{Limit, note, note_life, step, step_when};
use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::record::fail;
use crate::time;

unsafe extern "C" {
    fn pthread_mutexattr_gettype(attributes: *const pthread_mutexattr_t, kind: *mut c_int) -> c_int;
    fn pthread_mutexattr_getrobust(attributes: *const pthread_mutexattr_t, robust: *mut c_int) -> c_int;
}

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
            kind,
            robust: bits & ROBUST != 0,
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
            fiber.held.push(self.address);
        }
        self.owner = Some(fiber.id);
        self.depth += 1;
    }

    /// The owner gives one level back.
    pub fn give(&mut self, fiber: &mut Fiber) {
        self.depth -= 1;
        if self.depth == 0 {
            self.owner = None;
            fiber.held.retain(|held| *held != self.address);
            engine().changed();
        }
    }
}

impl Waitable for Mutex {
    fn ready(&self, fiber: &Fiber) -> bool {
        self.owner.is_none() || (self.owner == Some(fiber.id) && self.kind != Kind::Normal)
    }

    fn what(&self) -> String {
        format!("lock <obj {:#x}>", self.address)
    }

    fn holder(&self) -> Option<ThreadId> {
        self.owner
    }
}

/// The mutex at an address. One that was initialised statically tells its kind in its memory.
pub fn at(address: usize) -> &'static mut Mutex {
    const KIND_OFFSET: usize = 16;
    // SAFETY: the program passed a mutex; the kind's place is part of the public header.
    let place = engine().world.mutexes.entry(address).or_insert_with(|| {
        Box::new(Mutex::new(address, unsafe { *((address + KIND_OFFSET) as *const c_int) }))
    });
    let mutex: *mut Mutex = &mut **place;
    // SAFETY: boxed and never dropped.
    unsafe { &mut *mutex }
}

/// The spin lock at an address: a normal mutex of four bytes.
fn spin_at(address: usize) -> &'static mut Mutex {
    engine().world.mutexes.entry(address).or_insert_with(|| Box::new(Mutex::new(address, 0)));
    at(address)
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

/// Locks; returns an error number.
pub fn lock(mutex: &mut Mutex, limit: Limit, pc: u64) -> c_int {
    let object = mutex.address;
    let fiber = engine().current();
    let timed_out = if limit == Limit::Try {
        step(EventKind::Lock, object, pc);
        !mutex.is_free() && !(mutex.owner == Some(fiber.id) && mutex.kind == Kind::Recursive)
    } else {
        step_when(EventKind::Lock, object, pc, Some(mutex as *const Mutex), limit.timed())
    };
    if timed_out {
        limit.reached();
        note(EventKind::LockFailed, object, 0);
        fiber.made_no_progress();
        return if limit == Limit::Try { libc::EBUSY } else { libc::ETIMEDOUT };
    }
    if mutex.owner == Some(fiber.id) && mutex.kind == Kind::ErrorCheck {
        note(EventKind::LockFailed, object, 0);
        return libc::EDEADLK;
    }
    if mutex.beyond_repair {
        note(EventKind::LockFailed, object, 0);
        return libc::ENOTRECOVERABLE;
    }
    mutex.take(fiber);
    note(EventKind::Lock, object, u64::from(mutex.depth));
    if mutex.owner_died { libc::EOWNERDEAD } else { 0 }
}

/// Unlocks; returns an error number.
pub fn unlock(mutex: &mut Mutex, pc: u64) -> c_int {
    let fiber = engine().current();
    step(EventKind::Unlock, mutex.address, pc);
    if mutex.owner != Some(fiber.id) {
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

/// Destroys a mutex or spin lock; returns an error number.
pub fn destroy(address: usize, pc: u64) -> c_int {
    let fiber = engine().current();
    fiber.pending.site = pc;
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
    note_life(EventKind::Destroy, address, pc);
    set(address, Mutex::new(address, 0));
    0
}

/// Begins anew as a mutex without attributes.
pub fn init_plain(address: usize, recursive: bool, pc: u64) {
    set(address, Mutex::new(address, if recursive { libc::PTHREAD_MUTEX_RECURSIVE } else { 0 }));
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
    if mutex.owner != Some(fiber.id) {
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
        let (mut kind, mut robust) = (0, 0);
        if !attributes.is_null() {
            pthread_mutexattr_gettype(attributes, &mut kind);
            pthread_mutexattr_getrobust(attributes, &mut robust);
        }
        set(address, Mutex::new(address, kind | if robust != 0 { 16 } else { 0 }));
        note_life(EventKind::Init, address, pc);
        0
    }
    /// Destroys a mutex.
    fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> c_int {
        destroy(mutex as usize, site())
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
        destroy(lock as usize, site())
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
