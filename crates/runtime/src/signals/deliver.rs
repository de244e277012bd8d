//! Running a handler on the stack of the thread that it interrupts.

use std::ffi::{c_int, c_void};

use threadbare_sched::{Op, Policy as _};
use threadbare_trace::{EventKind, SignalMask, SwitchReason, ThreadId};

use super::disposition::Disposition;
use super::interrupt::{Details, Interrupt, forget_target, withdraw};
use super::{bit, kinds, mask, timers};
use crate::arch;
use crate::engine::{Engine, engine};
use crate::fiber::{Breaks, Fiber};
use crate::sys;

impl Engine {
    /// The thread proper that runs, be it in a handler.
    pub fn host(&mut self) -> &'static mut Fiber {
        let id = self.host_id();
        self.fiber(id)
    }

    /// Its number.
    pub fn host_id(&self) -> ThreadId {
        // SAFETY: the running fiber.
        unsafe { (*self.current).owner() }
    }

    /// If this is a signal that has not been delivered yet: whom its handler would interrupt now.
    #[inline]
    pub(crate) fn interrupted_by(&mut self, id: ThreadId) -> Option<*mut Fiber> {
        // Most threads are threads proper, and are not to pay for the others.
        if self.world.signals.pending == 0 { None } else { self.whom_to_interrupt(id) }
    }

    #[cold]
    fn whom_to_interrupt(&mut self, id: ThreadId) -> Option<*mut Fiber> {
        let interrupt = self.fibers[id.index()].interrupt.as_ref().filter(|interrupt| !interrupt.began)?;
        let host = interrupt.host_now()?;
        let innermost = self.fibers[host.index()].handlers.last().copied().unwrap_or(host);
        Some(&raw mut *self.fibers[innermost.index()])
    }

    /// Runs the handler of a signal on the stack of `below`, where this is called, and lets the policy decide
    /// who goes on then. Returns when that is `below`.
    #[cold]
    pub(crate) fn run_handler(&mut self, id: ThreadId, below: ThreadId) {
        let interrupted = self.fiber(below);
        let host = self.fiber(interrupted.owner());
        let fiber = self.fiber(id);
        let Some(interrupt) = fiber.interrupt.as_deref_mut() else { return };
        let (signal, sender, details) = (interrupt.signal, interrupt.sender, interrupt.details);
        let disposition = Disposition::of(signal);
        interrupt.began = true;
        interrupt.host = host.id;
        interrupt.below = below;
        interrupt.mask_before = host.blocked_signals;
        interrupt.restarts = disposition.has(libc::SA_RESTART);
        self.world.signals.pending -= 1;
        fiber.wait = None;
        fiber.thread_pointer = host.thread_pointer;
        interrupted.interrupted_by = Some(id);
        interrupted.was_blocked = interrupted.is_blocked();
        host.handlers.push(id);
        self.become_current(id);
        self.count_step();
        self.note(EventKind::Start, 0, 0, 0, disposition.handler as u64);
        self.note(EventKind::Signal, 0, 0, signal as u64, u64::from(below.0) + 1);
        timers::rang(sender);
        if disposition.is_handled() {
            if self.world.signals.registered & bit(signal) != 0 {
                self.note(EventKind::OnceSeen, SignalMask::handler(signal) as usize, 0, 0, 0);
            }
            if disposition.has(libc::SA_RESETHAND) {
                // SAFETY: as the flag asks for.
                unsafe { libc::signal(signal, libc::SIG_DFL) };
            }
            let again = disposition.has(libc::SA_NODEFER);
            mask::enter_handler(host, fiber, signal, disposition.mask, again);
            let stack = host.alternate_stack.filter(|_| disposition.has(libc::SA_ONSTACK));
            let errno = errno();
            call(&disposition, signal, details, fiber, host, stack);
            self.note_errno(errno);
        } else if disposition.handler != libc::SIG_IGN && !kinds::is_ignored_by_default(signal) {
            act_as_the_kernel_would(signal);
        }
        self.end_handler(id);
    }

    /// Most that changes `errno` is in the C library, where nothing is announced.
    fn note_errno(&mut self, before: c_int) {
        let now = errno();
        if now != before {
            // SAFETY: every thread has one.
            let place = unsafe { libc::__errno_location() } as usize;
            self.complete_write();
            let fiber = self.current();
            // SAFETY: the runtime is initialised.
            if unsafe { crate::access::touch_range(fiber, place, size_of::<c_int>(), true) } {
                self.note(EventKind::Write, place, 4, now as u32 as u64, before as u32 as u64);
            }
        }
    }

    fn count_step(&mut self) {
        self.shared.control().steps += 1;
        let fiber = self.current();
        self.policy.executed(fiber.id, &fiber.pending);
    }

    /// The innermost handler of its thread is left, by return or by a jump.
    pub(crate) fn end_handler(&mut self, id: ThreadId) {
        let fiber = self.fiber(id);
        let Some(interrupt) = fiber.interrupt.as_deref() else { return };
        let (host, below) = (self.fiber(interrupt.host), self.fiber(interrupt.below));
        let (signal, mask_before, restarts) = (interrupt.signal, interrupt.mask_before, interrupt.restarts);
        self.complete_write();
        mask::leave_handler(host, fiber, mask_before);
        fiber.pending.site = 0;
        self.note(EventKind::Exit, 0, 0, 0, 0);
        fiber.done = true;
        host.handlers.retain(|other| *other != id);
        self.live.retain(|other| *other != id);
        fiber.give_frames(&mut self.world.signals.frames);
        below.interrupted_by = None;
        below.past_handlers.push((id, signal));
        below.handled_signals += 1;
        below.break_off(restarts);
        self.progress += 1;
        fiber.pending =
            Op { kind: EventKind::Exit, object: 0, size: 0, site: 0, index: fiber.ops + 1, place: 0 };
        let next = self.decide();
        self.hand_over(fiber, below, next, SwitchReason::Ended);
    }
}

impl Fiber {
    /// The thread proper whose stack it runs on.
    #[inline]
    pub fn owner(&self) -> ThreadId {
        self.interrupt.as_ref().map_or(self.id, |interrupt| interrupt.host)
    }

    /// Whether it is in a call that makes it wait, so that a handler breaks the call off.
    fn is_blocked(&self) -> bool {
        // SAFETY: what a thread waits for outlives the wait.
        self.wait.is_some_and(|wait| unsafe { (*wait).breaks() == Breaks::AnyTime || !(*wait).ready(self) })
    }

    /// A handler has run: the call that it interrupted may end early.
    fn break_off(&mut self, restarts: bool) {
        // SAFETY: as above.
        let breaks = self.wait.map_or(Breaks::Never, |wait| unsafe { (*wait).breaks() });
        self.broken_off |= self.was_blocked
            && match breaks {
                Breaks::Never => false,
                Breaks::UnlessRestarted => !restarts,
                Breaks::Always | Breaks::AnyTime => true,
            };
    }

    /// Whether a handler ended the wait that was just left.
    pub fn take_broken_off(&mut self) -> bool {
        std::mem::take(&mut self.broken_off)
    }
}

/// A thread proper has ended, and with it what was on its way to it.
pub fn thread_ended(id: ThreadId) {
    if engine().world.signals.pending > 0 {
        forget_target(id);
    }
}

/// From here on no handler of these comes any more in the running thread: what they did lies behind it.
pub fn lie_behind(is_meant: impl Fn(ThreadId, c_int) -> bool) {
    let engine = engine();
    let fiber = engine.current();
    for (id, signal) in std::mem::take(&mut fiber.past_handlers) {
        if is_meant(id, signal) {
            engine.note(EventKind::Join, 0, 0, u64::from(id.0), signal as u64);
        } else {
            fiber.past_handlers.push((id, signal));
        }
    }
}

/// Whether a thread proper is left.
pub fn any_thread_left() -> bool {
    let engine = engine();
    engine.live.iter().any(|id| engine.fibers[id.index()].interrupt.is_none())
}

/// The thread is about to leave all its handlers: it ends.
pub fn leave_all() {
    let engine = engine();
    let host = engine.host();
    host.wait = None;
    while let Some(&innermost) = host.handlers.last() {
        leave(innermost);
    }
}

/// Leaves the innermost handler by a jump, whose target is in what was interrupted.
pub fn leave(innermost: ThreadId) {
    let engine = engine();
    let below = engine.fiber(innermost).interrupt.as_ref().map(|interrupt| interrupt.below);
    if let Some(below) = below {
        // What it was about to do, or waited for, is left with it.
        let below = engine.fiber(below);
        below.wait = None;
        below.timed = false;
    }
    engine.end_handler(innermost);
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
    fiber: &mut Fiber,
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
    // A handler that interrupts another one on the alternate stack goes on there.
    let alternate = alternate.filter(|(low, high)| !(*low..*high).contains(&here));
    let (low, high) = alternate.unwrap_or((host.stack.0, here));
    fiber.own_stack = (low, high);
    if let Some(interrupt) = fiber.interrupt.as_deref_mut() {
        interrupt.base = here;
    }
    let argument = (&raw mut call).cast::<c_void>();
    match alternate {
        // SAFETY: the program gave the stack; the call lives on this one.
        Some((_, high)) => unsafe { arch::call_on_stack(high & !15, argument, make_call) },
        None => make_call(argument),
    }
}

extern "C-unwind" fn make_call(call: *mut c_void) {
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
        let (pending, blocked) = (fiber.pending, fiber.blocked_signals);
        fiber.blocked_signals |= disposition.mask;
        if !disposition.has(libc::SA_NODEFER) {
            fiber.blocked_signals |= bit(signal);
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
        (fiber.pending, fiber.blocked_signals) = (pending, blocked);
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

/// A waiting thread takes a signal for itself.
pub fn take(interrupt: &'static Interrupt) {
    let engine = engine();
    let (id, signal) = (interrupt.id(), interrupt.signal);
    withdraw(id);
    let taken = engine.fiber(id);
    let waiting = std::mem::replace(&mut engine.current, taken);
    engine.note(EventKind::Exit, 0, 0, 0, 0);
    engine.current = waiting;
    timers::rang(interrupt.sender);
    engine.note(EventKind::Join, 0, 0, u64::from(id.0), signal as u64);
}
