//! Mutexes (normal, recursive, error-checking, robust) and spin locks.

use std::cell::Cell;
use std::ffi::c_int;

use libc::{pthread_mutex_t, pthread_mutexattr_t, timespec};
use threadbare_trace::{EventKind, FailureKind, LockManner, ThreadId};

use super::{Limit, between_processes, lifetime, note, step, step_aside, step_when};
use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::shared_memory::fail;
use crate::{access, time};

/// The kind that a destroyed mutex has in its memory.
const DESTROYED: c_int = -1;

/// A mutex that other processes use says so in its kind. So do all robust ones.
const SHARED_BETWEEN_PROCESSES: c_int = 128;
/// Those of which the system knows who holds them: robust ones, and such that hand on priorities.
const OWNED_IN_THE_KERNEL: c_int = 16 | 32 | 64;

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
    bits: Cell<c_int>,
    /// The thread that holds it.
    pub owner: Cell<Option<ThreadId>>,
    depth: Cell<u32>,
    /// Its owner has ended with it, and nobody has made it consistent since.
    pub owner_died: Cell<bool>,
    beyond_repair: Cell<bool>,
}

impl Mutex {
    fn new(address: usize, bits: c_int) -> Mutex {
        Mutex {
            address,
            bits: Cell::new(bits),
            owner: Cell::new(None),
            depth: Cell::new(0),
            owner_died: Cell::new(false),
            beyond_repair: Cell::new(false),
        }
    }

    /// Becomes a free mutex of this kind, whatever it was.
    fn begin_anew(&self, bits: c_int) {
        self.bits.set(bits);
        self.owner.set(None);
        self.depth.set(0);
        self.owner_died.set(false);
        self.beyond_repair.set(false);
    }

    fn kind(&self) -> Kind {
        match self.bits.get() & 3 {
            libc::PTHREAD_MUTEX_RECURSIVE => Kind::Recursive,
            libc::PTHREAD_MUTEX_ERRORCHECK => Kind::ErrorCheck,
            _ => Kind::Normal,
        }
    }

    fn is_robust(&self) -> bool {
        const ROBUST: c_int = 16;
        self.bits.get() != DESTROYED && self.bits.get() & ROBUST != 0
    }

    /// Whether other processes use it, which the C library writes into it. A program with others does not come to fork.
    fn is_shared(&self) -> bool {
        let (bits, kinds) = (self.bits.get(), SHARED_BETWEEN_PROCESSES | OWNED_IN_THE_KERNEL);
        bits != DESTROYED && bits & kinds == SHARED_BETWEEN_PROCESSES
    }

    /// Whether no other process holds it, if others use it.
    fn is_left_by_others(&self) -> bool {
        // SAFETY: the program has a mutex there, which begins with the word of its lock.
        !self.is_shared() || unsafe { between_processes::says_so(self.address, 0, 0) }
    }

    /// Whether it refuses what only its owner may do. With others that is undefined.
    fn tells_its_owner(&self) -> bool {
        self.kind() != Kind::Normal || self.is_robust()
    }

    /// How often its owner has taken it, and not given it back.
    pub fn levels(&self) -> u32 {
        self.depth.get()
    }

    /// Whether its owner has died comes to be known by who takes it next, and whether it can be taken at all.
    fn tell_state(&self) {
        let state = u64::from(self.owner_died.get()) | u64::from(self.beyond_repair.get()) << 1;
        crate::thread_state_hash::is_in_state(self.address, state);
    }

    /// Whether nobody holds it.
    pub fn is_free(&self) -> bool {
        self.owner.get().is_none() && self.is_left_by_others()
    }

    /// The thread takes the free mutex (or one level more of it).
    pub fn take(&self, fiber: &Fiber) {
        if self.owner.get().is_none() {
            engine().fiber(fiber.owner()).held.borrow_mut().push(self.address);
        }
        if self.is_shared() && self.depth.get() == 0 {
            // It was free a moment ago; another process that has come first gives it back.
            // SAFETY: the program has a mutex there.
            unsafe { real!(pthread_mutex_lock as LockFn)(self.address as *mut pthread_mutex_t) };
        }
        self.owner.set(Some(fiber.owner()));
        self.depth.set(self.depth.get() + 1);
    }

    /// The owner gives one level back.
    pub fn give(&self, fiber: &Fiber) {
        self.depth.set(self.depth.get() - 1);
        if self.depth.get() == 0 {
            self.owner.set(None);
            if self.is_shared() {
                // SAFETY: as in `take`.
                unsafe { real!(pthread_mutex_unlock as LockFn)(self.address as *mut pthread_mutex_t) };
            }
            engine().fiber(fiber.owner()).held.borrow_mut().retain(|held| *held != self.address);
            engine().released();
        }
    }
}

impl Waitable for Mutex {
    fn ready(&self, fiber: &Fiber) -> bool {
        self.is_free() || (self.owner.get() == Some(fiber.owner()) && self.kind() != Kind::Normal)
    }

    fn what(&self) -> String {
        format!("lock <obj {:#x}>", self.address)
    }

    fn holder(&self) -> Option<ThreadId> {
        self.owner.get()
    }

    fn outside(&self) -> bool {
        self.owner.get().is_none() && self.is_shared() && between_processes::is_outside()
    }
}

type LockFn = unsafe extern "C-unwind" fn(*mut pthread_mutex_t) -> c_int;

/// Where a mutex holds its kind, as the public header has it.
fn kind_of(address: usize) -> *mut c_int {
    const KIND_OFFSET: usize = 16;
    (address + KIND_OFFSET) as *mut c_int
}

/// The mutex at an address. One that was initialised statically has its kind in its memory.
pub fn at(address: usize) -> &'static Mutex {
    // SAFETY: the program passed a mutex.
    let bits = unsafe { *kind_of(address) };
    let mutex = known_at(address, bits);
    // Memory that was given back and taken again may be a mutex of another kind by now.
    if mutex.bits.get() != bits && mutex.is_free() {
        mutex.begin_anew(bits);
    }
    mutex
}

/// The normal mutex at an address that holds no kind: a spin lock, or a lock of another library.
pub fn plain_at(address: usize) -> &'static Mutex {
    known_at(address, 0)
}

/// The same, if its owner may take it again, as the lock of a stdio stream.
pub fn recursive_at(address: usize) -> &'static Mutex {
    known_at(address, libc::PTHREAD_MUTEX_RECURSIVE)
}

/// Whether a thread holds it that is not the running one.
pub fn is_held_by_another(mutex: &Mutex) -> bool {
    mutex.owner.get().is_some_and(|owner| owner != engine().current().owner())
}

fn known_at(address: usize, bits: c_int) -> &'static Mutex {
    engine().world.mutexes.at(address, || Mutex::new(address, bits))
}

/// The mutex or spin lock at an address begins anew. A thread that is blocked on it stays blocked on the new one.
fn set(address: usize, bits: c_int) {
    known_at(address, bits).begin_anew(bits);
}

/// A destroyed mutex must not be used before it is initialised again. Returns its address.
fn must_live(mutex: &Mutex, doing: &str, pc: u64) -> usize {
    if mutex.bits.get() == DESTROYED {
        let fiber = engine().current();
        fiber.set_site(pc);
        fail(
            FailureKind::Misuse,
            format_args!("{} {doing} <obj {:#x}> after it was destroyed", fiber.id, mutex.address),
        );
    }
    mutex.address
}

/// Locks; returns an error number.
pub fn lock(mutex: &'static Mutex, limit: Limit, pc: u64) -> c_int {
    let object = must_live(mutex, "locks", pc);
    let fiber = engine().current();
    if limit != Limit::Forever && crate::thread_state_hash::are_merged() {
        lifetime::expose(object);
    }
    let ended_by_time = if limit == Limit::Try {
        step(EventKind::Lock, object, pc);
        false
    } else {
        step_when(EventKind::Lock, object, pc, Some(mutex), limit.until())
    };
    let refused = limit == Limit::Try
        && match mutex.owner.get() {
            Some(owner) => owner != fiber.owner() || mutex.kind() != Kind::Recursive,
            None => !mutex.is_left_by_others(),
        };
    let timed_out = ended_by_time || refused;
    if timed_out {
        limit.reached();
        note(EventKind::LockFailed, object, 0);
        fiber.waited_in_vain(limit);
        return if limit == Limit::Try { libc::EBUSY } else { libc::ETIMEDOUT };
    }
    if mutex.owner.get() == Some(fiber.owner()) && mutex.kind() == Kind::ErrorCheck {
        note(EventKind::LockFailed, object, 0);
        return libc::EDEADLK;
    }
    if mutex.beyond_repair.get() {
        note(EventKind::LockFailed, object, 0);
        return libc::ENOTRECOVERABLE;
    }
    mutex.take(fiber);
    engine().took_lock();
    let manner = LockManner {
        would_not_wait: limit != Limit::Forever,
        is_robust: mutex.is_robust(),
        owner_died: mutex.owner_died.get(),
    };
    engine().recorder.note(EventKind::Lock, object, 0, u64::from(mutex.depth.get()), manner.to_number());
    if mutex.owner_died.get() { libc::EOWNERDEAD } else { 0 }
}

/// Unlocks; returns an error number.
pub fn unlock(mutex: &'static Mutex, pc: u64) -> c_int {
    let fiber = engine().current();
    let object = must_live(mutex, "unlocks", pc);
    if crate::thread_state_hash::are_merged() && !access::is_exposed(mutex.address) {
        // Who could notice when would not wait for it, and nobody has been seen who does not.
        step_aside(EventKind::Unlock, pc);
        lifetime::see_use(object);
    } else {
        step(EventKind::Unlock, object, pc);
    }
    if mutex.owner.get() != Some(fiber.owner()) {
        if !mutex.tells_its_owner() {
            let holder = match mutex.owner.get() {
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
    if mutex.depth.get() == 1 && mutex.owner_died.get() {
        mutex.owner_died.set(false);
        mutex.beyond_repair.set(true);
        mutex.tell_state();
    }
    note(EventKind::Unlock, mutex.address, u64::from(mutex.depth.get() - 1));
    mutex.give(fiber);
    0
}

/// Destroys a mutex. C11 has nothing against its being held then, POSIX has.
///
/// # Safety
/// The address must be that of a mutex.
pub unsafe fn destroy(address: usize, may_be_held: bool, pc: u64) {
    must_live(at(address), "destroys", pc);
    end_life(address, may_be_held, pc);
    // SAFETY: as the caller vouches.
    unsafe { *kind_of(address) = DESTROYED };
    set(address, DESTROYED);
}

/// A mutex that holds no kind begins.
pub fn begin_plain(address: usize, pc: u64) {
    lifetime::before_init(address, pc);
    must_be_free(address);
    set(address, 0);
    lifetime::note_init(address);
}

/// The same, if its owner may take it again.
pub fn begin_recursive(address: usize, pc: u64) {
    lifetime::before_init(address, pc);
    must_be_free(address);
    set(address, libc::PTHREAD_MUTEX_RECURSIVE);
    lifetime::note_init(address);
}

/// A mutex or spin lock must not be destroyed while a thread holds it or waits for it.
pub fn end_life(address: usize, may_be_held: bool, pc: u64) {
    let fiber = engine().current();
    if crate::thread_state_hash::are_merged() {
        lifetime::expose(address);
    }
    step(EventKind::Destroy, address, pc);
    if let Some(mutex) = engine().world.mutexes.get(address) {
        if let Some(owner) = mutex.owner.get().filter(|_| !may_be_held) {
            fail(
                FailureKind::Misuse,
                format_args!("{} destroys <obj {address:#x}> while {owner} holds it", fiber.id),
            );
        }
        let waits = |other: &Fiber| {
            other.id != fiber.id
                && other.wait.get().is_some()
                && other.pending.borrow_mut().object == address as u64
        };
        let waiting = engine().threads.live().find(|other| waits(other));
        if let Some(other) = waiting.map(|other| other.id) {
            fail(
                FailureKind::Misuse,
                format_args!("{} destroys <obj {address:#x}> while {other} waits for it", fiber.id),
            );
        }
    }
    note(EventKind::Destroy, address, 0);
}

/// A mutex or spin lock must not be initialised while a thread holds it.
fn must_be_free(address: usize) {
    if let Some(known) = engine().world.mutexes.get(address)
        && let Some(owner) = known.owner.get()
    {
        fail(
            FailureKind::Misuse,
            format_args!(
                "{} initialises <obj {address:#x}> again while {owner} holds it",
                engine().current_id()
            ),
        );
    }
}

/// Begins anew as a mutex without attributes.
///
/// # Safety
/// The address must be that of a mutex.
pub unsafe fn init_plain(address: usize, recursive: bool, pc: u64) {
    let bits = if recursive { libc::PTHREAD_MUTEX_RECURSIVE } else { 0 };
    lifetime::before_init(address, pc);
    must_be_free(address);
    // SAFETY: as the caller vouches.
    unsafe { *kind_of(address) = bits };
    set(address, bits);
    lifetime::note_init(address);
}

/// This process is a copy: what is held of that which processes share, the original holds.
pub fn leave_to_the_original() {
    let mutexes = &engine().world.mutexes;
    for mutex in mutexes.within(0..usize::MAX).into_iter().filter_map(|address| mutexes.get(address)) {
        if mutex.is_shared() {
            mutex.owner.set(None);
            mutex.depth.set(0);
            engine().host().held.borrow_mut().retain(|held| *held != mutex.address);
        }
    }
}

/// Executions begin with this mutex held by a thread, if it is one.
pub fn note_held(address: usize, fiber: &Fiber) {
    let known = engine().world.mutexes.get(address);
    if let Some(mutex) = known.filter(|mutex| mutex.owner.get() == Some(fiber.id)) {
        for level in 1..=mutex.levels() {
            note(EventKind::Lock, address, u64::from(level));
        }
    }
}

/// A thread ended: robust mutexes it held report that to the next owner.
pub fn owner_died(fiber: &Fiber) {
    for address in fiber.held.take() {
        if let Some(mutex) = engine().world.mutexes.get(address)
            && mutex.is_robust()
        {
            mutex.owner.set(None);
            mutex.depth.set(0);
            mutex.owner_died.set(true);
            mutex.tell_state();
        }
    }
}

/// The mutex must be held by the running thread for what it is about to do. One that knows its owner answers with an error number.
pub fn must_hold(mutex: &Mutex, doing: &str) -> Result<(), c_int> {
    let fiber = engine().current();
    if mutex.owner.get() == Some(fiber.owner()) {
        return Ok(());
    }
    if mutex.tells_its_owner() {
        return Err(libc::EPERM);
    }
    fail(FailureKind::Misuse, format_args!("{} {doing} without holding <obj {:#x}>", fiber.id, mutex.address))
}

interpose! {
    /// Initialises a mutex.
    fn pthread_mutex_init(mutex: *mut pthread_mutex_t, attributes: *const pthread_mutexattr_t) -> c_int {
        let address = mutex as usize;
        lifetime::before_init(address, site());
        must_be_free(address);
        let error = real!(pthread_mutex_init
            as unsafe extern "C-unwind" fn(*mut pthread_mutex_t, *const pthread_mutexattr_t) -> c_int)(mutex, attributes);
        if error != 0 {
            return error;
        }
        let mut shared = 0;
        if !attributes.is_null() && libc::pthread_mutexattr_getpshared(attributes, &mut shared) == 0 && shared != 0 {
            match *kind_of(address) & OWNED_IN_THE_KERNEL {
                0 => between_processes::note(),
                _ => between_processes::note_unseen("robust mutexes or such with priorities that are"),
            }
        }
        set(address, *kind_of(address));
        lifetime::note_init(address);
        0
    }
    /// Destroys a mutex.
    fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> c_int {
        destroy(mutex as usize, false, site());
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
        match time::deadline_on(clock, until) {
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
        if !mutex.is_robust() || !mutex.owner_died.get() {
            return libc::EINVAL;
        }
        mutex.owner_died.set(false);
        mutex.tell_state();
        0
    }
    /// Initialises a spin lock.
    fn pthread_spin_init(lock: *mut c_int, shared: c_int) -> c_int {
        *lock = 0;
        if shared != libc::PTHREAD_PROCESS_PRIVATE {
            between_processes::note_unseen("spin locks that are");
        }
        begin_plain(lock as usize, site());
        0
    }
    /// Destroys a spin lock.
    fn pthread_spin_destroy(lock: *mut c_int) -> c_int {
        end_life(lock as usize, false, site());
        0
    }
    /// Takes a spin lock.
    fn pthread_spin_lock(spin: *mut c_int) -> c_int {
        let pc = site();
        lock(plain_at(spin as usize), Limit::Forever, pc)
    }
    /// Takes a spin lock if it is free.
    fn pthread_spin_trylock(spin: *mut c_int) -> c_int {
        let pc = site();
        lock(plain_at(spin as usize), Limit::Try, pc)
    }
    /// Releases a spin lock.
    fn pthread_spin_unlock(spin: *mut c_int) -> c_int {
        let pc = site();
        unlock(plain_at(spin as usize), pc)
    }
}
