//! Timers that send signals.
//!
//! Nothing says how fast a program runs, so the signal of a timer may come at any point from the moment it is armed; it
//! waits like one that a thread has sent. The other way round time does say something: a thread that sleeps
//! beyond the timer's time, or looks at a clock that is beyond it, has had the signal if it lets it through. Of two
//! timers the one that is due earlier rings first.
//!
//! A timer with an interval would ring without end. So after the first time it rings again only if a thread
//! proper has made a step since, and after [`EAGER`] times only if virtual time has come so far, or if no other thread is
//! runnable: then time passes. A timer whose signal nobody handles or blocks would end the program: such are meant
//! for programs that hang, and never ring.

mod calls;

use std::cell::Cell;
use std::ffi::c_int;

use threadbare_trace::{EventKind, ThreadId};

use super::deliver::lie_behind;
use super::disposition::Disposition;
use super::interrupt::{self, Details, Interrupt, Sender, pending};
use super::{bit, interrupt::withdraw};
use crate::engine::{Engine, engine};
use crate::exclusive::Exclusive;
use crate::fiber::{Breaks, Fiber, Waitable};
use crate::sync::step_when;

/// How often a timer rings wherever the policy likes, before it keeps to virtual time.
const EAGER: u32 = 3;

/// All timers, by number. The first ones are those of `setitimer`, in the order of its constants.
#[derive(Default)]
pub struct Timers {
    list: Exclusive<Vec<&'static Timer>>,
}

/// A timer.
struct Timer {
    signal: c_int,
    target: Option<ThreadId>,
    code: c_int,
    value: u64,
    interval: Cell<u64>,
    /// When it rings next, if it is armed.
    expiry: Cell<Option<u64>>,
    /// Its signal that waits.
    interrupt: Cell<Option<ThreadId>>,
    rang: Cell<u32>,
    /// Handlers that have run for it.
    handlers: Exclusive<Vec<ThreadId>>,
    /// Steps of threads proper when it last rang.
    since: Cell<u64>,
    /// Time has passed for it.
    ripe: Cell<bool>,
    deleted: Cell<bool>,
}

impl Timer {
    fn new(signal: c_int, target: Option<ThreadId>, code: c_int, value: u64) -> Timer {
        Timer {
            signal,
            target,
            code,
            value,
            interval: Cell::new(0),
            expiry: Cell::new(None),
            interrupt: Cell::new(None),
            rang: Cell::new(0),
            handlers: Exclusive::default(),
            since: Cell::new(0),
            ripe: Cell::new(false),
            deleted: Cell::new(false),
        }
    }
}

/// How many timers there are.
fn count() -> usize {
    engine().world.signals.timers.list.borrow_mut().len()
}

/// Adds a timer, which lives as long as the process.
fn add(timer: Timer) {
    engine().world.signals.timers.list.borrow_mut().push(Box::leak(Box::new(timer)));
}

/// The timer with this number.
fn numbered(number: usize) -> Option<&'static Timer> {
    engine().world.signals.timers.list.borrow_mut().get(number).copied()
}

fn of(interrupt: &Interrupt) -> Option<&'static Timer> {
    match interrupt.sender {
        Sender::Timer(number) => numbered(number),
        Sender::Thread(_) => None,
    }
}

fn expiry_of(interrupt: &Interrupt) -> Option<u64> {
    of(interrupt)?.expiry.get()
}

/// Whether the time for a signal can have come.
pub fn may_ring(interrupt: &Interrupt) -> bool {
    let Some(timer) = of(interrupt) else { return true };
    let world = &engine().world;
    let is_due = timer.expiry.get().is_some_and(|expiry| expiry <= world.clock.borrow_mut().now());
    timer.rang.get() == 0
        || timer.ripe.get()
        || (world.signals.program_steps.get() > timer.since.get() && (timer.rang.get() < EAGER || is_due))
}

/// Whether both are timers and the second one, which may come now, is due earlier.
pub fn is_later(interrupt: &Interrupt, other: &Interrupt) -> bool {
    match (expiry_of(interrupt), expiry_of(other)) {
        (Some(mine), Some(earlier)) => earlier < mine && other.host_now().is_some(),
        _ => false,
    }
}

/// A timer's signal has come. The next one is on its way, if there is one.
pub fn rang(sender: Sender) {
    let Sender::Timer(number) = sender else { return };
    let Some(timer) = numbered(number) else { return };
    let world = &engine().world;
    if let Some(expiry) = timer.expiry.take() {
        world.clock.borrow_mut().reach(expiry);
        timer.expiry.set((timer.interval.get() > 0).then(|| expiry.saturating_add(timer.interval.get())));
    }
    timer.handlers.borrow_mut().extend(timer.interrupt.take());
    timer.rang.set(timer.rang.get() + 1);
    timer.since.set(world.signals.program_steps.get());
    timer.ripe.set(false);
    post(number);
}

/// Whether the program does something about a signal; by default it would end.
fn is_wanted(signal: c_int) -> bool {
    let is_blocked = |fiber: &Fiber| fiber.blocked_outside_handlers() & bit(signal) != 0;
    Disposition::of(signal).is_handled() || engine().threads.live().any(is_blocked)
}

/// Sends the signal of an armed timer on its way.
fn post(number: usize) {
    let Some(timer) = numbered(number) else { return };
    if timer.expiry.get().is_none()
        || timer.interrupt.get().is_some()
        || !engine().running.get()
        || !is_wanted(timer.signal)
    {
        return;
    }
    let details = Details::new(timer.signal, timer.code, timer.value);
    timer.interrupt.set(interrupt::create(timer.signal, timer.target, Sender::Timer(number), details));
}

/// The program handles another signal now: timers that were armed before may matter.
pub fn handler_changed(signal: c_int) {
    (0..count())
        .filter(|number| numbered(*number).is_some_and(|timer| timer.signal == signal))
        .for_each(post);
}

/// Executions begin: timers that were armed before may ring.
pub fn begin() {
    (0..count()).for_each(post);
}

/// Arms a timer, or disarms it (`None`). Says what was left of its time, and its interval.
fn set(number: usize, length: Option<u64>, interval: u64, pc: u64) -> (u64, u64) {
    let Some(timer) = numbered(number) else { return (0, 0) };
    let signal = timer.signal;
    if length.is_some() && !engine().running.get() && is_wanted(signal) {
        // From here on a signal may come at any point, so executions begin here.
        crate::server::snapshot();
    }
    crate::sync::step(EventKind::Signal, 0, pc);
    let engine = engine();
    let now = engine.world.clock.borrow_mut().now();
    let left = timer.expiry.get().map_or(0, |expiry| expiry.saturating_sub(now).max(1));
    let before = (left, if left > 0 { timer.interval.get() } else { 0 });
    timer.expiry.set(length.map(|length| now.saturating_add(length)));
    timer.interval.set(interval);
    timer.rang.set(0);
    timer.ripe.set(false);
    if let Some(id) = timer.interrupt.take() {
        withdraw(id);
    }
    let rang = timer.handlers.borrow_mut().clone();
    lie_behind(|id, _| rang.contains(&id));
    if length.is_some() {
        post(number);
        if !is_wanted(signal) {
            engine
                .shared
                .warn("a timer was set whose signal the program neither handles nor blocks: it never rings");
        }
        // It may ring at once.
        super::before_call(pc);
    }
    before
}

/// When the next timer rings of those that wait for time to pass.
pub fn next_expiry() -> Option<u64> {
    pending().filter(|interrupt| !may_ring(interrupt)).filter_map(expiry_of).min()
}

/// Nobody can get on: time passes until the next timer rings. Says whether there is one before a time.
pub fn let_time_pass(engine: &Engine, before: u64) -> bool {
    if engine.world.signals.pending.get() == 0 {
        return false;
    }
    let unripe = pending().filter(|interrupt| !may_ring(interrupt));
    let next =
        unripe.filter_map(|interrupt| Some((expiry_of(interrupt)?, interrupt))).min_by_key(|(at, _)| *at);
    let Some((expiry, interrupt)) = next.filter(|(expiry, _)| *expiry < before) else { return false };
    engine.world.clock.borrow_mut().reach(expiry);
    if let Some(timer) = of(interrupt) {
        timer.ripe.set(true);
    }
    true
}

/// Signals of timers without which a thread does not get beyond some time; lives on its stack.
pub struct Before(Vec<ThreadId>);

impl Before {
    /// Those that the running thread lets through and that are due before a time.
    pub fn time(until: u64) -> Before {
        let host = engine().host();
        let due = pending().filter(|interrupt| {
            expiry_of(interrupt).is_some_and(|expiry| expiry < until)
                && host.blocked_signals.get() & bit(interrupt.signal) == 0
                && interrupt.target.is_none_or(|target| target == host.id)
        });
        Before(due.map(Interrupt::id).collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lets them come.
    pub fn let_come(&self, pc: u64) {
        if !self.is_empty() {
            step_when(EventKind::Signal, 0, pc, Some(std::ptr::from_ref(self)), None);
        }
    }
}

impl Waitable for Before {
    fn ready(&self, fiber: &Fiber) -> bool {
        let blocked = engine().fiber(fiber.owner()).blocked_signals.get();
        self.0.iter().all(|id| {
            let other = engine().fiber(*id);
            other.interrupt.as_ref().is_none_or(|interrupt| {
                other.done.get() || interrupt.began.get() || blocked & bit(interrupt.signal) != 0
            })
        })
    }

    fn what(&self) -> String {
        "its sleep to end".to_string()
    }

    fn breaks(&self) -> Breaks {
        Breaks::AnyTime
    }
}
