//! A signal on its way: the thread that its handler will be.

use std::cell::Cell;
use std::ffi::c_int;

use threadbare_sched::Op;
use threadbare_trace::{EventKind, ThreadId, signal_name};

use super::disposition::Disposition;
use super::{bit, kinds, timers};
use crate::engine::engine;
use crate::fiber::{Fiber, Waitable};
use crate::shared_memory::cut;

/// Who sent a signal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// A thread.
    Thread(ThreadId),
    /// A timer, by its number.
    Timer(usize),
}

/// What a handler is given, laid out as the C library has it.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub struct Details(pub [u32; 32]);

impl Details {
    /// A signal with its code and, where it has one, its value.
    pub fn new(signal: c_int, code: c_int, value: u64) -> Details {
        let mut words = [0; 32];
        words[0] = signal as u32;
        words[2] = code as u32;
        if code != libc::SI_TIMER {
            words[4] = crate::process_identity::process() as u32;
            // SAFETY: always succeeds.
            words[5] = unsafe { libc::getuid() };
        }
        (words[6], words[7]) = (value as u32, (value >> 32) as u32);
        Details(words)
    }
}

/// A signal that was sent, and its handler once it runs.
pub struct Interrupt {
    id: ThreadId,
    /// The signal.
    pub signal: c_int,
    /// The thread it was sent to; none if any thread may take it.
    pub target: Option<ThreadId>,
    /// Who sent it.
    pub sender: Sender,
    /// What the handler is given.
    pub details: Details,
    /// The handler runs, or has run.
    pub began: Cell<bool>,
    /// The thread whose stack it runs on, or itself until then.
    pub host: Cell<ThreadId>,
    /// Who is interrupted: that thread, or another handler on its stack.
    pub below: Cell<ThreadId>,
    /// What that thread had blocked.
    pub mask_before: Cell<u64>,
    /// Calls that were interrupted are restarted.
    pub restarts: Cell<bool>,
    /// Where its frames begin.
    pub base: Cell<usize>,
}

impl Interrupt {
    /// Whether a thread may be interrupted by it now.
    fn may_interrupt(&self, thread: &Fiber) -> bool {
        !thread.done.get()
            && thread.interrupt.is_none()
            && thread.blocked_signals.get() & bit(self.signal) == 0
    }

    /// The thread that it would interrupt now. If several may be, then who runs; else main comes first.
    pub fn host_now(&self) -> Option<ThreadId> {
        let engine = engine();
        let allowed = |id: ThreadId| self.may_interrupt(engine.fiber(id));
        match self.target {
            Some(target) => allowed(target).then_some(target),
            None => {
                let running = engine.host_id();
                std::iter::once(running)
                    .chain(engine.threads.live().map(|fiber| fiber.id))
                    .find(|id| allowed(*id))
            }
        }
    }

    /// Whether another one has to be delivered first: an earlier one of the same sender to the same target, and one
    /// of the same signal. Those of timers are sent when the timer rings, and that is now or later.
    fn comes_after(&self, other: &Interrupt) -> bool {
        let same_way =
            self.target == other.target && (self.sender == other.sender || self.signal == other.signal);
        let by_threads = self.is_by_thread() && other.is_by_thread();
        by_threads && same_way && other.id < self.id && other.host_now().is_some()
    }

    fn is_by_thread(&self) -> bool {
        matches!(self.sender, Sender::Thread(_))
    }

    fn is_next(&self) -> bool {
        !pending().any(|other| self.comes_after(other) || timers::is_later(self, other))
    }
}

impl Waitable for Interrupt {
    fn ready(&self, _fiber: &Fiber) -> bool {
        self.host_now().is_some() && timers::may_ring(self) && self.is_next()
    }

    fn what(&self) -> String {
        match self.target {
            Some(target) => format!("{target} to let {} through", signal_name(self.signal)),
            None => format!("a thread that lets {} through", signal_name(self.signal)),
        }
    }
}

/// The signals that wait to be delivered, in the order in which they were sent.
pub fn pending() -> impl Iterator<Item = &'static Interrupt> {
    let engine = engine();
    let any = engine.world.signals.pending.get() != 0;
    let threads = any.then(|| engine.threads.live()).into_iter().flatten();
    threads.filter_map(|fiber| fiber.interrupt.as_deref().filter(|interrupt| !interrupt.began.get()))
}

/// A signal that waits for this thread, among these; a lower number comes first.
pub fn pending_for(thread: &Fiber, among: u64) -> Option<&'static Interrupt> {
    pending()
        .filter(|interrupt| among & bit(interrupt.signal) != 0 && timers::may_ring(interrupt))
        .filter(|interrupt| interrupt.target.is_none_or(|target| target == thread.owner()))
        .min_by_key(|interrupt| interrupt.signal)
}

/// Makes the thread of a signal that was sent, unless the signal changes nothing. The running thread is its creator.
pub fn create(signal: c_int, target: Option<ThreadId>, sender: Sender, details: Details) -> Option<ThreadId> {
    let engine = engine();
    let disposition = Disposition::of(signal);
    let blocked_by = |id: ThreadId| engine.fiber(id).blocked_signals.get() & bit(signal) != 0;
    let is_blocked = match target {
        Some(target) => blocked_by(target),
        None => engine.threads.live().all(|fiber| blocked_by(fiber.id)),
    };
    if disposition.is_ignored(signal) && !is_blocked {
        return None;
    }
    let waits_already =
        |other: &Interrupt| other.is_by_thread() && (other.signal, other.target) == (signal, target);
    let by_thread = matches!(sender, Sender::Thread(_));
    if by_thread && kinds::coalesces(signal) && pending().any(waits_already) {
        return None;
    }
    let Ok(number) = u16::try_from(engine.threads.count()) else {
        cut(format_args!("it has made {} threads and signals, and more cannot be told apart", 1 << 16));
    };
    let id = ThreadId(number);
    let frames = engine.world.signals.frames.borrow_mut().pop().unwrap_or_else(Fiber::new_frames);
    let mut fiber = Fiber::new(id, frames);
    let interrupt = Box::new(Interrupt {
        id,
        signal,
        target,
        sender,
        details,
        began: Cell::new(false),
        host: Cell::new(id),
        below: Cell::new(id),
        mask_before: Cell::new(0),
        restarts: Cell::new(false),
        base: Cell::new(0),
    });
    fiber.wait.set(Some(&raw const *interrupt));
    fiber.interrupt = Some(interrupt);
    fiber.ops.set(1);
    let site = if disposition.is_handled() { disposition.handler as u64 + 1 } else { 0 };
    fiber.pending.set(Op { kind: EventKind::Signal, object: 0, size: 0, site, index: 1, place: 0 });
    engine.add(fiber);
    engine.world.signals.pending.set(engine.world.signals.pending.get() + 1);
    engine.recorder.note(EventKind::Create, 0, 0, u64::from(id.0), signal as u64);
    engine.changed();
    Some(id)
}

/// A signal will not be delivered: somebody took it otherwise, or it was called back.
pub fn withdraw(id: ThreadId) {
    let engine = engine();
    engine.fiber(id).done.set(true);
    engine.fiber(id).wait.set(None);
    engine.threads.end(id);
    engine.world.signals.pending.set(engine.world.signals.pending.get() - 1);
    engine.progress.set(engine.progress.get() + 1);
}

/// A thread has ended: what was sent to it is lost.
pub fn forget_target(thread: ThreadId) {
    let lost: Vec<ThreadId> = pending()
        .filter(|interrupt| interrupt.target == Some(thread))
        .map(|interrupt| interrupt.id)
        .collect();
    lost.into_iter().for_each(withdraw);
}

/// The program is about to have this done on a signal. If that throws away signals that wait, whoever may take one of them may do so before.
pub fn before_disposition(signal: c_int, handler: usize, pc: u64) {
    let new = Disposition::by(handler);
    if engine().running.get() && new.is_ignored(signal) && waiting(signal).next().is_some() {
        crate::sync::step(EventKind::Signal, 0, pc);
    }
}

/// The program has come to ignore a signal: the system throws away those that wait, blocked or not. Says whether there were any.
pub fn discard(signal: c_int) -> bool {
    let ignored: Vec<ThreadId> = waiting(signal).map(|interrupt| interrupt.id).collect();
    let is_any = !ignored.is_empty();
    ignored.into_iter().for_each(withdraw);
    is_any
}

/// Those of a signal that threads have sent and nobody has taken.
fn waiting(signal: c_int) -> impl Iterator<Item = &'static Interrupt> {
    pending().filter(move |interrupt| interrupt.signal == signal && interrupt.is_by_thread())
}

impl Interrupt {
    /// The number of its thread.
    pub fn id(&self) -> ThreadId {
        self.id
    }
}
