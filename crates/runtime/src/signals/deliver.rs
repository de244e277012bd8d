//! Running a handler on the stack of the thread that it interrupts.

use std::ffi::{c_int, c_void};

use threadbare_sched::Policy as _;
use threadbare_trace::{EventKind, SignalMask, SwitchReason, ThreadId};

use super::disposition::Disposition;
use super::interrupt::{Details, Interrupt, forget_target, withdraw};
use super::{bit, kinds, mask, timers};
use crate::arch;
use crate::engine::{Engine, engine};
use crate::exclusive::nothing_is_borrowed;
use crate::fiber::{Breaks, Fiber};
use crate::sys;

/// If this is a signal that has not been delivered yet: whom its handler would interrupt now.
#[inline]
pub fn interrupted_by(engine: &Engine, id: ThreadId) -> Option<&'static Fiber> {
    // Most threads are threads proper, and are not to pay for the others.
    if engine.world.signals.pending.get() == 0 { None } else { whom_to_interrupt(engine, id) }
}

#[cold]
fn whom_to_interrupt(engine: &Engine, id: ThreadId) -> Option<&'static Fiber> {
    let interrupt = engine.fiber(id).interrupt.as_ref().filter(|interrupt| !interrupt.began.get())?;
    let host = interrupt.host_now()?;
    let innermost = engine.fiber(host).innermost_handler().unwrap_or(host);
    Some(engine.fiber(innermost))
}

/// Runs the handlers on the stack of `below`, where this is called, that are to be run before it continues: one after the other, however
/// many come before the policy lets it.
#[inline]
pub fn deliver_at(engine: &Engine, below: &Fiber) {
    if below.to_deliver.get().is_some() {
        deliver_all(engine, below);
    }
}

#[cold]
fn deliver_all(engine: &Engine, below: &Fiber) {
    if below.delivers.replace(true) {
        // Here the last one has just returned, and the loop goes on.
        return;
    }
    while let Some(handler) = below.to_deliver.take() {
        run_handler(engine, handler, below.id);
    }
    below.delivers.set(false);
}

/// Runs the handler of a signal on the stack of `below`, where this is called, and lets the policy decide
/// which thread runs then. Returns when that is `below`, maybe for the next handler.
fn run_handler(engine: &Engine, id: ThreadId, below: ThreadId) {
    let interrupted = engine.fiber(below);
    let host = engine.fiber(interrupted.owner());
    let fiber = engine.fiber(id);
    let Some(interrupt) = fiber.interrupt.as_deref() else { return };
    let (signal, sender, details) = (interrupt.signal, interrupt.sender, interrupt.details);
    let disposition = Disposition::of(signal);
    interrupt.began.set(true);
    interrupt.host.set(host.id);
    interrupt.below.set(below);
    interrupt.mask_before.set(host.blocked_signals.get());
    interrupt.restarts.set(disposition.has(libc::SA_RESTART));
    engine.world.signals.pending.set(engine.world.signals.pending.get() - 1);
    fiber.wait.set(None);
    fiber.thread_pointer.set(host.thread_pointer.get());
    interrupted.interrupted_by.set(Some(id));
    interrupted.was_blocked.set(interrupted.is_blocked());
    host.handlers.borrow_mut().push(id);
    engine.become_current(fiber);
    count_step(engine);
    engine.recorder.note(EventKind::Start, 0, 0, 0, disposition.handler as u64);
    engine.recorder.note(EventKind::Signal, 0, 0, signal as u64, u64::from(below.0) + 1);
    timers::rang(sender);
    if disposition.is_handled() {
        if engine.world.signals.registered.get() & bit(signal) != 0 {
            engine.recorder.note(EventKind::OnceSeen, SignalMask::handler(signal) as usize, 0, 0, 0);
        }
        if disposition.has(libc::SA_RESETHAND) {
            // SAFETY: as the flag asks for.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        let again = disposition.has(libc::SA_NODEFER);
        mask::enter_handler(host, fiber, signal, disposition.mask, again);
        let stack = host.alternate_stack.get().filter(|_| disposition.has(libc::SA_ONSTACK));
        let errno = errno();
        call(&disposition, signal, details, fiber, host, stack);
        note_errno(engine, errno);
    } else if disposition.handler != libc::SIG_IGN && !kinds::is_ignored_by_default(signal) {
        act_as_the_kernel_would(signal);
    }
    end_handler(engine, id);
}

/// Most that changes `errno` is in the C library, where nothing is announced.
fn note_errno(engine: &Engine, before: c_int) {
    let now = errno();
    if now != before {
        // SAFETY: every thread has one.
        let place = unsafe { libc::__errno_location() } as usize;
        engine.recorder.complete_write();
        let fiber = engine.current();
        // SAFETY: the runtime is initialised.
        if unsafe { crate::access::touch_range(fiber, place, size_of::<c_int>(), true) } {
            engine.recorder.note(EventKind::Write, place, 4, now as u32 as u64, before as u32 as u64);
        }
    }
}

fn count_step(engine: &Engine) {
    engine.shared.control().steps += 1;
    let fiber = engine.current();
    engine.policy.borrow_mut().executed(fiber.id, &fiber.pending.borrow_mut());
}

/// The innermost handler of its thread is left, by return or by a jump.
fn end_handler(engine: &Engine, id: ThreadId) {
    let fiber = engine.fiber(id);
    let Some(interrupt) = fiber.interrupt.as_deref() else { return };
    let (host, below) = (engine.fiber(interrupt.host.get()), engine.fiber(interrupt.below.get()));
    let (signal, mask_before, restarts) =
        (interrupt.signal, interrupt.mask_before.get(), interrupt.restarts.get());
    engine.recorder.complete_write();
    mask::leave_handler(host, fiber, mask_before);
    fiber.set_site(0);
    engine.recorder.note(EventKind::Exit, 0, 0, 0, 0);
    fiber.done.set(true);
    host.handlers.borrow_mut().retain(|other| *other != id);
    engine.threads.end(id);
    fiber.give_frames(&mut engine.world.signals.frames.borrow_mut());
    below.interrupted_by.set(None);
    below.past_handlers.borrow_mut().push((id, signal));
    below.handled_signals.set(below.handled_signals.get() + 1);
    below.break_off(restarts);
    engine.count_progress();
    fiber.comes_to_its_end();
    let next = engine.decide();
    engine.hand_over(fiber, below, next, SwitchReason::Ended);
}

impl Fiber {
    /// The thread proper whose stack it runs on.
    #[inline]
    pub fn owner(&self) -> ThreadId {
        self.interrupt.as_ref().map_or(self.id, |interrupt| interrupt.host.get())
    }

    /// The handler that runs on its stack, if one does, and has not been interrupted by another one.
    pub fn innermost_handler(&self) -> Option<ThreadId> {
        self.handlers.borrow_mut().last().copied()
    }

    /// The signals that it blocks once the handlers on its stack have returned.
    pub fn blocked_outside_handlers(&self) -> u64 {
        let outermost = self.handlers.borrow_mut().first().copied();
        let interrupt = outermost.and_then(|id| engine().fiber(id).interrupt.as_deref());
        interrupt.map_or(self.blocked_signals.get(), |interrupt| interrupt.mask_before.get())
    }

    /// Whether it is in a call that makes it wait, so that a handler breaks the call off.
    fn is_blocked(&self) -> bool {
        self.waits_for().is_some_and(|wait| wait.breaks() == Breaks::AnyTime || !wait.ready(self))
    }

    /// A handler has run: the call that it interrupted may end early.
    fn break_off(&self, restarts: bool) {
        let breaks = match self.waits_for().map_or(Breaks::Never, |wait| wait.breaks()) {
            Breaks::Never => false,
            Breaks::UnlessRestarted => !restarts,
            Breaks::Always | Breaks::AnyTime => true,
        };
        self.broken_off.set(self.broken_off.get() || (self.was_blocked.get() && breaks));
    }

    /// Whether a handler ended the wait that was just left.
    pub fn take_broken_off(&self) -> bool {
        self.broken_off.take()
    }
}

/// A thread proper has ended, and with it what was on its way to it.
pub fn thread_ended(id: ThreadId) {
    if engine().world.signals.pending.get() > 0 {
        forget_target(id);
    }
}

/// From here on no handler of these comes any more in the running thread: what they did lies behind it.
pub fn lie_behind(is_meant: impl Fn(ThreadId, c_int) -> bool) {
    let engine = engine();
    let fiber = engine.current();
    for (id, signal) in fiber.past_handlers.take() {
        if is_meant(id, signal) {
            engine.recorder.note(EventKind::Join, 0, 0, u64::from(id.0), signal as u64);
        } else {
            fiber.past_handlers.borrow_mut().push((id, signal));
        }
    }
}

/// Whether no other thread proper is left.
pub fn is_last_thread(id: ThreadId) -> bool {
    !engine().threads.live().any(|fiber| fiber.interrupt.is_none() && fiber.id != id)
}

/// The thread is about to leave all its handlers: it ends.
pub fn leave_all() {
    let engine = engine();
    let host = engine.host();
    host.wait.set(None);
    while let Some(innermost) = host.innermost_handler() {
        leave(innermost);
    }
}

/// Leaves the innermost handler by a jump, whose target is in what was interrupted.
pub fn leave(innermost: ThreadId) {
    let engine = engine();
    let below = engine.fiber(innermost).interrupt.as_ref().map(|interrupt| interrupt.below.get());
    if let Some(below) = below {
        // What it was about to do, or waited for, is left with it.
        let below = engine.fiber(below);
        below.wait.set(None);
        below.until.set(None);
    }
    end_handler(engine, innermost);
    if let Some(below) = below {
        let below = engine.fiber(below);
        below.delivers.set(false);
        deliver_at(engine, below);
    }
}

fn errno() -> c_int {
    // SAFETY: every thread has one.
    unsafe { *libc::__errno_location() }
}

/// What a handler is called with.
struct Call {
    handler: usize,
    signal: c_int,
    with_details: bool,
    details: Details,
    context: libc::ucontext_t,
}

fn call(
    disposition: &Disposition,
    signal: c_int,
    details: Details,
    fiber: &Fiber,
    host: &Fiber,
    alternate: Option<(usize, usize)>,
) {
    let mut call = Call {
        handler: disposition.handler,
        signal,
        with_details: disposition.has(libc::SA_SIGINFO),
        details,
        // SAFETY: plain numbers and pointers.
        context: unsafe { std::mem::zeroed() },
    };
    let here = &raw const call as usize;
    // A handler that interrupts another one on the alternate stack continues there.
    let alternate = alternate.filter(|(low, high)| !(*low..*high).contains(&here));
    let (low, high) = alternate.unwrap_or((host.stack.get().0, here));
    fiber.own_stack.set((low, high));
    if let Some(interrupt) = fiber.interrupt.as_deref() {
        interrupt.base.set(here);
    }
    let argument = (&raw mut call).cast::<c_void>();
    match alternate {
        // SAFETY: the program gave the stack; the call lives on this one.
        Some((_, high)) => unsafe { arch::call_on_stack(high & !15, argument, make_call) },
        None => make_call(argument),
    }
}

extern "C-unwind" fn make_call(call: *mut c_void) {
    nothing_is_borrowed();
    // SAFETY: the caller keeps the record; the program registered the handler in the form that its flags say.
    unsafe {
        let call = &mut *call.cast::<Call>();
        if call.with_details {
            let handler: unsafe extern "C-unwind" fn(c_int, *mut Details, *mut c_void) =
                std::mem::transmute(call.handler);
            handler(call.signal, &mut call.details, (&raw mut call.context).cast());
        } else {
            let handler: unsafe extern "C-unwind" fn(c_int) = std::mem::transmute(call.handler);
            handler(call.signal);
        }
    }
}

/// Before the first thread there is nothing to decide: the handler is a call like any other.
pub fn call_at_once(signal: c_int, details: Details) {
    let disposition = Disposition::of(signal);
    let fiber = engine().current();
    if disposition.is_handled() {
        let (pending, blocked) = (*fiber.pending.borrow_mut(), fiber.blocked_signals.get());
        fiber.blocked_signals.set(fiber.blocked_signals.get() | disposition.mask);
        if !disposition.has(libc::SA_NODEFER) {
            fiber.blocked_signals.set(fiber.blocked_signals.get() | bit(signal));
        }
        if disposition.has(libc::SA_RESETHAND) {
            // SAFETY: as the flag asks for.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        // SAFETY: plain numbers and pointers.
        let context = unsafe { std::mem::zeroed() };
        let with_details = disposition.has(libc::SA_SIGINFO);
        let mut call = Call { handler: disposition.handler, signal, with_details, details, context };
        make_call((&raw mut call).cast());
        fiber.pending.set(pending);
        fiber.blocked_signals.set(blocked);
    } else if !disposition.is_ignored(signal) {
        act_as_the_kernel_would(signal);
    }
}

/// What happens by default.
pub fn act_as_the_kernel_would(signal: c_int) {
    if kinds::stops(signal) {
        crate::shared_memory::unsupported("a signal that stops the process");
    }
    mask::set_kernel_mask(libc::SIG_UNBLOCK, bit(signal));
    // SAFETY: sends this process a signal for which it has no handler.
    unsafe {
        let process = sys::call(libc::SYS_getpid, [0; 6]);
        sys::call(libc::SYS_kill, [process as usize, signal as usize, 0, 0, 0, 0]);
    }
}

/// The process dies by a signal, whatever the program wanted done on it, and leaves no copy of its memory.
pub fn die_by(signal: c_int) -> ! {
    // SAFETY: a plain system call.
    unsafe { sys::call(libc::SYS_prctl, [libc::PR_SET_DUMPABLE as usize, 0, 0, 0, 0, 0]) };
    Disposition::default().install(signal);
    act_as_the_kernel_would(signal);
    sys::exit(128 + signal)
}

/// A waiting thread takes a signal for itself.
pub fn take(interrupt: &'static Interrupt) {
    let engine = engine();
    let (id, signal) = (interrupt.id(), interrupt.signal);
    withdraw(id);
    let taken = engine.fiber(id);
    let waiting = engine.current();
    engine.set_current(taken);
    engine.recorder.note(EventKind::Exit, 0, 0, 0, 0);
    engine.set_current(waiting);
    timers::rang(interrupt.sender);
    engine.recorder.note(EventKind::Join, 0, 0, u64::from(id.0), signal as u64);
}
