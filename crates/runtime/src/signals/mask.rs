//! Which signals a thread lets through.
//!
//! A mask mutually excludes a handler and its thread, and nothing else does. So the trace records it as a lock, one for each
//! thread and signal that the program has a handler for: who blocks the signal takes it, and so does a handler as
//! long as it runs. A handler that may interrupt itself takes it as a reader.

use std::ffi::c_int;

use libc::sigset_t;
use threadbare_library::HiddenObject;
use threadbare_trace::{EventKind, SignalMask};

use super::disposition::{Disposition, handled};
use super::interrupt::pending_for;
use super::{bit, kinds, signals_in};
use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::interpose::{interpose, site};
use crate::sync::{or_errno, step_when};
use crate::{hidden_objects, sys};

/// Signals that the kernel sends a thread for what it just did. It knows nothing of the program's
/// own threads, so for these its mask follows the program's.
const BY_KERNEL: u64 = (1 << (libc::SIGPIPE - 1)) | (1 << (libc::SIGXFSZ - 1));

/// Sets the mask that the kernel goes by.
pub fn set_kernel_mask(how: c_int, signals: u64) {
    // SAFETY: a set of eight bytes.
    unsafe {
        sys::call(libc::SYS_rt_sigprocmask, [how as usize, &raw const signals as usize, 0, 8, 0, 0]);
    }
}

/// The signals in a set.
///
/// # Safety
/// The set must be readable.
pub unsafe fn bits(set: *const sigset_t) -> u64 {
    // SAFETY: the first word holds the kernel's 64 signals.
    unsafe { *set.cast::<u64>() }
}

/// Records that the running flow of control takes or gives back what keeps handlers of these signals away.
fn record(kind: EventKind, host: &Fiber, signals: u64) {
    for signal in signals_in(signals) {
        let object = SignalMask { thread: host.id, signal }.object();
        engine().recorder.note(kind, object as usize, 0, u64::from(kind != EventKind::Unlock), 0);
    }
}

/// The running thread's mask becomes another one.
pub fn set(mask: u64, pc: u64) {
    let engine = engine();
    let (host, flow) = (engine.host(), engine.current());
    let mask = mask & !kinds::UNSTOPPABLE;
    let before = host.blocked_signals.replace(mask);
    if engine.running.get() && before != mask {
        let given = flow.mask_locks.get() & !mask;
        let taken = handled(mask & !before);
        flow.mask_locks.set(flow.mask_locks.get() & !given | taken);
        engine.recorder.complete_write();
        flow.set_site(pc);
        record(EventKind::Unlock, host, given);
        record(EventKind::Lock, host, taken);
    }
    set_kernel_mask(libc::SIG_BLOCK, mask & BY_KERNEL);
    set_kernel_mask(libc::SIG_UNBLOCK, !mask & BY_KERNEL);
}

/// A thread begins with this mask, or is seen for the first time.
pub fn begin(fiber: &Fiber) {
    if fiber.blocked_signals.get() != 0 {
        fiber.mask_locks.set(handled(fiber.blocked_signals.get()));
        record(EventKind::Lock, fiber, fiber.mask_locks.get());
    }
}

/// The program has said anew what is to be done on a signal.
pub fn handler_changed(signal: c_int, pc: u64) {
    let engine = engine();
    let (host, flow) = (engine.host(), engine.current());
    let new = host.blocked_signals.get() & !flow.mask_locks.get() & bit(signal);
    if engine.running.get() && new != 0 && Disposition::of(signal).is_handled() {
        flow.mask_locks.set(flow.mask_locks.get() | new);
        engine.recorder.complete_write();
        record(EventKind::Lock, host, new);
    }
    if engine.running.get() && Disposition::of(signal).is_handled() {
        engine.recorder.complete_write();
        flow.set_site(pc);
        engine.world.signals.registered.set(engine.world.signals.registered.get() | bit(signal));
        engine.recorder.note(EventKind::OnceEnd, SignalMask::handler(signal) as usize, 0, 0, 0);
    }
    if engine.running.get() && Disposition::of(signal).is_ignored(signal) && super::interrupt::discard(signal)
    {
        crate::dependences::note_unrecorded(EventKind::Signal, pc);
    }
    super::deliver::lie_behind(|_, other| other == signal);
    super::timers::handler_changed(signal);
}

/// A handler begins.
pub fn enter_handler(host: &Fiber, handler: &Fiber, signal: c_int, blocks: u64, again: bool) {
    let own = bit(signal);
    let before = host.blocked_signals.get();
    host.blocked_signals.set(host.blocked_signals.get() | (blocks & !kinds::UNSTOPPABLE));
    if !again {
        host.blocked_signals.set(host.blocked_signals.get() | own);
    }
    let others = handled(host.blocked_signals.get() & !before & !own);
    record(if again { EventKind::ReadLock } else { EventKind::Lock }, host, own);
    record(EventKind::Lock, host, others);
    handler.mask_locks.set(own | others);
}

/// A handler ends.
pub fn leave_handler(host: &Fiber, handler: &Fiber, mask: u64) {
    record(EventKind::Unlock, host, handler.mask_locks.take());
    host.blocked_signals.set(mask);
}

/// Signals of which one has to be delivered before a call returns; lives on the stack.
struct Delivered {
    handled: u64,
}

impl Waitable for Delivered {
    fn ready(&self, fiber: &Fiber) -> bool {
        fiber.handled_signals.get() != self.handled || is_none_due(fiber)
    }

    fn what(&self) -> String {
        "a signal to be delivered".to_string()
    }
}

fn is_none_due(fiber: &Fiber) -> bool {
    let host = engine().fiber(fiber.owner());
    pending_for(host, !host.blocked_signals.get()).is_none()
}

/// If a signal waits that the thread lets through, one has to be delivered before it continues.
pub fn let_through(pc: u64) {
    let fiber = engine().current();
    if engine().running.get() && !is_none_due(fiber) {
        let delivered = Delivered { handled: fiber.handled_signals.get() };
        step_when(EventKind::Signal, 0, pc, Some(&raw const delivered), None);
    }
}

unsafe fn change(how: c_int, set: *const sigset_t, old: *mut sigset_t, pc: u64) -> c_int {
    let blocked = engine().host().blocked_signals.get();
    // SAFETY: the program's own sets.
    unsafe {
        // Before the old mask is written: both may be the same set.
        let asked = (!set.is_null()).then(|| bits(set));
        if !old.is_null() {
            libc::sigemptyset(old);
            *old.cast::<u64>() = blocked;
        }
        let Some(asked) = asked else { return 0 };
        let mask = match how {
            libc::SIG_BLOCK => blocked | asked,
            libc::SIG_UNBLOCK => blocked & !asked,
            libc::SIG_SETMASK => asked,
            _ => return libc::EINVAL,
        };
        // What is sent before it is blocked is delivered before, be it to a handler, to the whole process, or to nobody.
        if engine().running.get() && mask & !blocked & !kinds::UNSTOPPABLE != 0 {
            hidden_objects::look_at(HiddenObject::Calls, pc);
        }
        self::set(mask, pc);
    }
    super::send::deliver_before_the_start();
    let_through(pc);
    0
}

/// Makes a call with another mask, if one is given.
///
/// # Safety
/// The mask must be null or readable.
pub unsafe fn during<T>(mask: *const sigset_t, pc: u64, call: impl FnOnce() -> T) -> T {
    if mask.is_null() {
        return call();
    }
    let before = engine().host().blocked_signals.get();
    // SAFETY: as the caller vouches.
    set(unsafe { bits(mask) }, pc);
    let result = call();
    set(before, pc);
    result
}

interpose! {
    /// Changes the signals the thread blocks.
    fn pthread_sigmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
        let pc = site();
        change(how, set, old, pc)
    }
    /// Changes the signals the thread blocks.
    fn sigprocmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
        let pc = site();
        or_errno(change(how, set, old, pc))
    }
    /// The blocked signals that wait for the thread.
    fn sigpending(set: *mut sigset_t) -> c_int {
        libc::sigemptyset(set);
        let host = engine().host();
        *set.cast::<u64>() = super::send::waiting_for(host) & host.blocked_signals.get();
        0
    }
}
