//! The thread functions of pthreads.

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;

use libc::{pthread_attr_t, pthread_t, timespec};
use threadbare_trace::{Event, EventKind, FailureKind, ThreadId};
use threadbare_wire::flags;

use crate::dependences::Called;
use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, real, site};
use crate::shared_memory::fail;
use crate::sync::{Limit, note, step, step_aside, step_when};
use crate::threads::{self, Routine};
use crate::{cancel, server, time};

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attributes: *const pthread_attr_t, state: *mut c_int) -> c_int;
    fn pthread_getattr_default_np(attributes: *mut pthread_attr_t) -> c_int;
}

/// Attributes that the program has set for all threads that are created without any.
struct DefaultAttributes(MaybeUninit<pthread_attr_t>);

impl DefaultAttributes {
    /// None where it has set none.
    fn get() -> Option<DefaultAttributes> {
        let mut attributes = MaybeUninit::uninit();
        let is_set = engine().world.default_attributes.get();
        // SAFETY: the C library fills them in unless it says otherwise.
        let is_filled = is_set && unsafe { pthread_getattr_default_np(attributes.as_mut_ptr()) } == 0;
        // Not `then_some`: what is not filled in must not be destroyed.
        is_filled.then(|| DefaultAttributes(attributes))
    }
}

impl Drop for DefaultAttributes {
    fn drop(&mut self) {
        // SAFETY: they were filled in.
        unsafe { libc::pthread_attr_destroy(self.0.as_mut_ptr()) };
    }
}

/// The latest thread with this identity. Identities are used again after a join.
pub fn find(thread: pthread_t) -> Option<&'static Fiber> {
    engine().threads.all().rev().find(|fiber| fiber.interrupt.is_none() && fiber.pthread.get() == thread)
}

/// Creates a thread; returns an error number. `given` stands for what the program gives to it in the record.
///
/// # Safety
/// As `pthread_create`.
pub unsafe fn create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
    given: usize,
    pc: u64,
) -> c_int {
    if !engine().running.get() {
        if crate::process_identity::is_copy() {
            // A process that the program has made itself belongs to no execution: it goes its own way.
            engine().begin_by_itself();
        } else if is_refused() {
            return libc::EAGAIN;
        } else {
            server::snapshot();
        }
    }
    step_aside(EventKind::Create, pc);
    let defaults = if attributes.is_null() { DefaultAttributes::get() } else { None };
    let attributes = defaults.as_ref().map_or(attributes, |defaults| defaults.0.as_ptr());
    let mut detached = 0;
    if !attributes.is_null() {
        // SAFETY: the program passed initialised attributes.
        unsafe { pthread_attr_getdetachstate(attributes, &mut detached) };
    }
    match threads::create(attributes, routine, argument, detached == libc::PTHREAD_CREATE_DETACHED) {
        Ok(id) => {
            // SAFETY: the program passed a place for the identity.
            unsafe { *thread = engine().fiber(id).pthread.get() };
            note_handover(EventKind::Create, id, |event| event.addr = given as u64);
            engine().changed();
            threads::start(id);
            0
        }
        Err(error) => {
            if error == libc::EAGAIN {
                crate::dependences::note_refused_thread(pc);
            }
            error
        }
    }
}

/// Notes a step about a thread, with what is handed over. That may be a pointer, but nothing is accessed, and nothing needs a name.
fn note_handover(kind: EventKind, id: ThreadId, hand_over: impl FnOnce(&mut Event)) {
    if let Some(event) = note(kind, 0, u64::from(id.0)) {
        // SAFETY: the record was made just now, and nobody else looks at it meanwhile.
        hand_over(unsafe { &mut *event });
    }
}

/// Whether the thread that is asked for is the one that the driver wants refused.
fn is_refused() -> bool {
    let engine = engine();
    let wanted = engine.shared.control().plan.flags & flags::RUST_TEST != 0;
    wanted && !engine.world.refused_first.replace(true)
}

/// What a joining thread waits for; lives on its stack.
struct End(ThreadId);

impl Waitable for End {
    fn ready(&self, fiber: &Fiber) -> bool {
        engine().fiber(self.0).done.get() || cancel::is_due(fiber)
    }

    fn what(&self) -> String {
        format!("{} to end", self.0)
    }

    fn holder(&self) -> Option<ThreadId> {
        Some(self.0)
    }
}

fn misuse(pc: u64, text: std::fmt::Arguments<'_>) -> ! {
    engine().current().set_site(pc);
    fail(FailureKind::Misuse, text)
}

/// Waits for a thread's end; returns an error number.
///
/// # Safety
/// `value` must be null or a place for the result.
pub unsafe fn join(thread: pthread_t, value: *mut *mut c_void, limit: Limit, pc: u64) -> c_int {
    let fiber = engine().current();
    let Some(target) = find(thread) else {
        misuse(pc, format_args!("{} joins a thread that does not exist", fiber.id));
    };
    if target.id == fiber.id {
        return libc::EDEADLK;
    }
    if target.joined.get() {
        misuse(pc, format_args!("{} joins {}, which has been joined before", fiber.id, target.id));
    }
    if target.detached.get() {
        misuse(pc, format_args!("{} joins {}, which is detached", fiber.id, target.id));
    }
    cancel::check(fiber);
    let end = End(target.id);
    let refused = if limit == Limit::Try {
        step(EventKind::Join, 0, pc);
        !target.done.get()
    } else if target.done.get() {
        step_aside(EventKind::Join, pc);
        false
    } else {
        step_when(EventKind::Join, 0, pc, Some(&raw const end), limit.until())
    };
    if !refused && !target.done.get() {
        cancel::check(fiber);
    }
    if refused {
        limit.reached();
        fiber.waited_in_vain(limit);
        note(EventKind::JoinFailed, 0, u64::from(target.id.0));
        return if limit == Limit::Try { libc::EBUSY } else { libc::ETIMEDOUT };
    }
    if target.joined.get() {
        misuse(pc, format_args!("{} joins {}, which another thread has joined", fiber.id, target.id));
    }
    target.joined.set(true);
    if !value.is_null() {
        // SAFETY: as the caller vouches.
        unsafe { *value = target.result.get() };
    }
    let size = if value.is_null() { 0 } else { size_of::<*mut c_void>() as u8 };
    note_handover(EventKind::Join, target.id, |event| event.size = size);
    engine().changed();
    threads::release(target);
    0
}

/// Until when a join waits: without a time, for ever.
fn limit_of_join(
    until: *const timespec,
    limit: impl FnOnce(*const timespec) -> Result<Limit, c_int>,
) -> Result<Limit, c_int> {
    if until.is_null() { Ok(Limit::Forever) } else { limit(until) }
}

/// Lets a thread go; returns an error number.
pub fn detach(thread: pthread_t, called: &Called, pc: u64) -> c_int {
    step(EventKind::Detach, 0, pc);
    // Whoever asks from here on finds it detached.
    crate::dependences::hidden_objects(called, &[thread as usize]);
    let fiber = engine().current();
    let Some(target) = find(thread) else { return libc::ESRCH };
    if target.joined.get() {
        misuse(pc, format_args!("{} detaches {}, which has been joined before", fiber.id, target.id));
    }
    if target.detached.get() {
        return libc::EINVAL;
    }
    target.detached.set(true);
    note(EventKind::Detach, 0, u64::from(target.id.0));
    if target.done.get() {
        threads::release(target);
    }
    0
}

interpose! {
    /// Creates a thread.
    fn pthread_create(thread: *mut pthread_t, attributes: *const pthread_attr_t, routine: Routine, argument: *mut c_void) -> c_int {
        let pc = site();
        create(thread, attributes, routine, argument, argument as usize, pc)
    }
    /// Waits for a thread's end.
    fn pthread_join(thread: pthread_t, value: *mut *mut c_void) -> c_int {
        let pc = site();
        join(thread, value, Limit::Forever, pc)
    }
    /// Joins a thread if it has ended.
    fn pthread_tryjoin_np(thread: pthread_t, value: *mut *mut c_void) -> c_int {
        let pc = site();
        join(thread, value, Limit::Try, pc)
    }
    /// Waits for a thread's end until a time.
    fn pthread_timedjoin_np(thread: pthread_t, value: *mut *mut c_void, until: *const timespec) -> c_int {
        let pc = site();
        match limit_of_join(until, time::deadline) {
            Ok(limit) => join(thread, value, limit, pc),
            Err(error) => error,
        }
    }
    /// Waits for a thread's end until a time on a clock.
    fn pthread_clockjoin_np(thread: pthread_t, value: *mut *mut c_void, clock: c_int, until: *const timespec) -> c_int {
        let pc = site();
        match limit_of_join(until, |until| time::deadline_on(clock, until)) {
            Ok(limit) => join(thread, value, limit, pc),
            Err(error) => error,
        }
    }
    /// Lets a thread go.
    fn pthread_detach(thread: pthread_t) -> c_int {
        let pc = site();
        detach(thread, &CALLED, pc)
    }
    /// Yields.
    fn sched_yield() -> c_int {
        time::give_way(site());
        0
    }
    /// Yields.
    fn pthread_yield() -> c_int {
        time::give_way(site());
        0
    }
    /// Names a thread; the kernel thread behind it is nobody's business.
    fn pthread_setname_np(thread: pthread_t, name: *const c_char) -> c_int { 0 }
    /// Reads a thread's processors: whatever the scheduling thread may use.
    fn pthread_getaffinity_np(thread: pthread_t, size: usize, set: *mut libc::cpu_set_t) -> c_int {
        if libc::sched_getaffinity(0, size, set) == 0 { 0 } else { libc::EINVAL }
    }
    /// Pins a thread: of no effect where one thread runs at a time.
    fn pthread_setaffinity_np(thread: pthread_t, size: usize, set: *const libc::cpu_set_t) -> c_int {
        crate::processors::refused(set.cast(), size)
    }
    /// Reads how a thread is, which its kernel thread does not know.
    fn pthread_getattr_np(thread: pthread_t, attributes: *mut pthread_attr_t) -> c_int {
        let error = real!(pthread_getattr_np as unsafe extern "C-unwind" fn(pthread_t, *mut pthread_attr_t) -> c_int)(thread, attributes);
        if error == 0
            && let Some(fiber) = find(thread)
        {
            let detached = if fiber.detached.get() { libc::PTHREAD_CREATE_DETACHED } else { libc::PTHREAD_CREATE_JOINABLE };
            libc::pthread_attr_setdetachstate(attributes, detached);
            crate::processors::write_to(attributes);
        }
        error
    }
    /// Says how threads shall be that are created without attributes.
    fn pthread_setattr_default_np(attributes: *const pthread_attr_t) -> c_int {
        let error = real!(pthread_setattr_default_np as unsafe extern "C-unwind" fn(*const pthread_attr_t) -> c_int)(attributes);
        if error == 0 {
            engine().world.default_attributes.set(true);
        }
        error
    }
    /// Sets a thread's policy and priority: of no effect here.
    fn pthread_setschedparam(thread: pthread_t, policy: c_int, parameters: *const libc::sched_param) -> c_int { 0 }
    /// Sets a thread's priority: of no effect here.
    fn pthread_setschedprio(thread: pthread_t, priority: c_int) -> c_int { 0 }
}
