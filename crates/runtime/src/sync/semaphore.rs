//! Semaphores, unnamed and named.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint};

use libc::{mode_t, sem_t, timespec};
use threadbare_trace::EventKind;

use super::{Limit, between_processes, lifetime, note, or_errno, step, step_when};
use crate::cancel;
use crate::engine::engine;
use crate::fiber::{Breaks, Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::time;

/// A semaphore.
pub struct Semaphore {
    address: usize,
    value: Cell<u32>,
}

/// A named semaphore: the name and the memory that stands for it.
pub struct Named {
    name: Vec<u8>,
    place: Box<sem_t>,
    linked: bool,
}

impl Waitable for Semaphore {
    fn ready(&self, fiber: &Fiber) -> bool {
        self.value() > 0 || cancel::is_due(fiber)
    }

    fn what(&self) -> String {
        format!("semaphore <obj {:#x}>", self.address)
    }

    fn breaks(&self) -> Breaks {
        Breaks::UnlessRestarted
    }

    fn outside(&self) -> bool {
        self.is_shared() && between_processes::is_outside()
    }
}

impl Semaphore {
    /// Whether other processes use it, which the C library writes into it.
    fn is_shared(&self) -> bool {
        const PLACE: usize = 8;
        const SHARED: c_int = 128;
        // SAFETY: the program has a semaphore there.
        unsafe { between_processes::says_so(self.address, PLACE, SHARED) }
    }

    fn place(&self) -> *mut sem_t {
        self.address as *mut sem_t
    }

    fn value(&self) -> u32 {
        if self.is_shared() { real_value(self.place()) } else { self.value.get() }
    }

    /// Takes one, if there still is one.
    fn take(&self) -> bool {
        if self.is_shared() {
            // SAFETY: the program has a semaphore there.
            return unsafe {
                real!(sem_trywait as unsafe extern "C-unwind" fn(*mut sem_t) -> c_int)(self.place()) == 0
            };
        }
        let value = self.value.get();
        self.value.set(value.saturating_sub(1));
        value > 0
    }

    fn raise(&self) {
        if self.is_shared() {
            // SAFETY: the program has a semaphore there.
            unsafe { real!(sem_post as unsafe extern "C-unwind" fn(*mut sem_t) -> c_int)(self.place()) };
        } else {
            self.value.set(self.value.get() + 1);
        }
    }
}

/// The value that a semaphore has in its memory.
fn real_value(place: *mut sem_t) -> u32 {
    let mut value = 0;
    // SAFETY: the program passed a semaphore; the original reads its value.
    unsafe {
        real!(sem_getvalue as unsafe extern "C-unwind" fn(*mut sem_t, *mut c_int) -> c_int)(place, &mut value)
    };
    value.max(0) as u32
}

fn at(address: usize) -> &'static Semaphore {
    engine()
        .world
        .semaphores
        .at(address, || Semaphore { address, value: Cell::new(real_value(address as *mut sem_t)) })
}

fn set(address: usize, value: u32) {
    engine().world.semaphores.at(address, || Semaphore { address, value: Cell::new(value) }).value.set(value);
}

fn wait(address: usize, limit: Limit, pc: u64) -> c_int {
    let fiber = engine().current();
    let semaphore = at(address);
    let refused = if limit == Limit::Try {
        step(EventKind::SemWait, address, pc);
        !semaphore.take()
    } else {
        cancel::check(fiber);
        crate::signals::before_call(pc);
        loop {
            if step_when(EventKind::SemWait, address, pc, Some(semaphore), limit.until()) {
                break true;
            }
            // Another process may have come first.
            if fiber.broken_off.get() || semaphore.take() {
                break false;
            }
            cancel::check(fiber);
        }
    };
    if fiber.take_broken_off() {
        note(EventKind::SemFailed, address, 0);
        return or_errno(libc::EINTR);
    }
    if refused {
        limit.reached();
        fiber.waited_in_vain(limit);
        note(EventKind::SemFailed, address, 0);
        return or_errno(if limit == Limit::Try { libc::EAGAIN } else { libc::ETIMEDOUT });
    }
    note(EventKind::SemWait, address, u64::from(semaphore.value()));
    engine().changed();
    0
}

fn timed(address: usize, clock: c_int, until: *const timespec, pc: u64) -> c_int {
    match time::deadline_on(clock, until) {
        Ok(limit) => wait(address, limit, pc),
        Err(error) => or_errno(error),
    }
}

fn open(name: &CStr, flags: c_int, value: c_uint) -> *mut sem_t {
    between_processes::note_unseen("named semaphores that are");
    let mut named = engine().world.named.borrow_mut();
    let known = named.iter_mut().find(|other| other.linked && other.name == name.to_bytes());
    let exclusive = flags & (libc::O_CREAT | libc::O_EXCL) == libc::O_CREAT | libc::O_EXCL;
    let error = match known {
        Some(_) if exclusive => libc::EEXIST,
        Some(other) => return &mut *other.place,
        None if flags & libc::O_CREAT == 0 => libc::ENOENT,
        None => {
            // SAFETY: a semaphore of zero bytes is a valid one at zero.
            let place = Box::new(unsafe { std::mem::zeroed::<sem_t>() });
            named.push(Named { name: name.to_bytes().to_vec(), place, linked: true });
            let place: *mut sem_t = named.last_mut().map_or(std::ptr::null_mut(), |last| &mut *last.place);
            set(place as usize, value);
            return place;
        }
    };
    or_errno(error);
    libc::SEM_FAILED
}

interpose! {
    /// Initialises a semaphore.
    fn sem_init(semaphore: *mut sem_t, shared: c_int, value: c_uint) -> c_int {
        lifetime::before_init(semaphore as usize, site());
        let result = real!(sem_init as unsafe extern "C-unwind" fn(*mut sem_t, c_int, c_uint) -> c_int)(semaphore, shared, value);
        if result == 0 {
            if shared != 0 {
                between_processes::note();
            }
            set(semaphore as usize, value);
            lifetime::note_init(semaphore as usize);
        }
        result
    }
    /// Destroys a semaphore.
    fn sem_destroy(semaphore: *mut sem_t) -> c_int {
        step(EventKind::Destroy, semaphore as usize, site());
        note(EventKind::Destroy, semaphore as usize, 0);
        0
    }
    /// Waits for a semaphore.
    fn sem_wait(semaphore: *mut sem_t) -> c_int {
        let pc = site();
        wait(semaphore as usize, Limit::Forever, pc)
    }
    /// Takes a semaphore if it is up.
    fn sem_trywait(semaphore: *mut sem_t) -> c_int {
        let pc = site();
        wait(semaphore as usize, Limit::Try, pc)
    }
    /// Waits for a semaphore until a time.
    fn sem_timedwait(semaphore: *mut sem_t, until: *const timespec) -> c_int {
        let pc = site();
        timed(semaphore as usize, libc::CLOCK_REALTIME, until, pc)
    }
    /// Waits for a semaphore until a time on a clock.
    fn sem_clockwait(semaphore: *mut sem_t, clock: c_int, until: *const timespec) -> c_int {
        let pc = site();
        timed(semaphore as usize, clock, until, pc)
    }
    /// Raises a semaphore.
    fn sem_post(semaphore: *mut sem_t) -> c_int {
        let pc = site();
        step(EventKind::SemPost, semaphore as usize, pc);
        let place = at(semaphore as usize);
        if place.value() == i32::MAX as u32 {
            return or_errno(libc::EOVERFLOW);
        }
        place.raise();
        note(EventKind::SemPost, semaphore as usize, u64::from(place.value()));
        engine().changed();
        0
    }
    /// Reads a semaphore.
    fn sem_getvalue(semaphore: *mut sem_t, value: *mut c_int) -> c_int {
        let pc = site();
        step(EventKind::AtomicRead, semaphore as usize, pc);
        *value = at(semaphore as usize).value() as c_int;
        0
    }
    /// Opens a named semaphore.
    fn sem_open(name: *const c_char, flags: c_int, mode: mode_t, value: c_uint) -> *mut sem_t {
        open(CStr::from_ptr(name), flags, value)
    }
    /// Closes a named semaphore.
    fn sem_close(semaphore: *mut sem_t) -> c_int { 0 }
    /// Removes a semaphore's name.
    fn sem_unlink(name: *const c_char) -> c_int {
        let name = CStr::from_ptr(name).to_bytes();
        match engine().world.named.borrow_mut().iter_mut().find(|other| other.linked && other.name == name) {
            Some(other) => {
                other.linked = false;
                0
            }
            None => or_errno(libc::ENOENT),
        }
    }
}
