//! Timers that send signals.
//!
//! Nothing says how fast a program runs, so the signal of a timer may come at any point from the moment it is armed; it
//! waits like one that a thread has sent. The other way round time does say something: a thread that sleeps
//! beyond the timer's time, or looks at a clock that is beyond it, has had the signal if it lets it through. Of two
//! timers the one that is due earlier rings first.
//!
//! A timer with an interval would ring without end. So after the first time it rings again only if a thread
//! proper has made a step since, and after [`EAGER`] times only if virtual time has come so far, or if nobody else can
//! get on: then time passes. A timer whose signal nobody handles or blocks would end the program: such are meant
//! for programs that hang, and never ring.

mod calls;

use std::ffi::c_int;

use threadbare_trace::{EventKind, ThreadId};

use super::deliver::lie_behind;
use super::disposition::Disposition;
use super::interrupt::{self, Details, Interrupt, Sender, pending};
use super::{bit, interrupt::withdraw};
use crate::engine::{Engine, engine};
use crate::fiber::{Breaks, Fiber, Waitable};
use crate::sync::step_when;

/// How often a timer rings wherever the policy likes, before it keeps to virtual time.
const EAGER: u32 = 3;

/// All timers, by number. The first ones are those of `setitimer`, in the order of its constants.
#[derive(Default)]
pub struct Timers {
    list: Vec<Timer>,
}

/// A timer.
#[derive(Clone)]
struct Timer {
    signal: c_int,
    target: Option<ThreadId>,
    code: c_int,
    value: u64,
    interval: u64,
    /// When it rings next, if it is armed.
    expiry: Option<u64>,
    /// Its signal that waits.
    interrupt: Option<ThreadId>,
    rang: u32,
    /// Handlers that have run for it.
    handlers: Vec<ThreadId>,
    /// Steps of threads proper when it last rang.
    since: u64,
    /// Time has passed for it.
    ripe: bool,
    deleted: bool,
}

impl Timer {
    fn new(signal: c_int, target: Option<ThreadId>, code: c_int, value: u64) -> Timer {
        Timer {
            signal,
            target,
            code,
            value,
            interval: 0,
            expiry: None,
            interrupt: None,
            rang: 0,
            handlers: Vec::new(),
            since: 0,
            ripe: false,
            deleted: false,
        }
    }
}

fn timers() -> &'static mut Vec<Timer> {
    &mut engine().world.signals.timers.list
}

fn of(interrupt: &Interrupt) -> Option<&'static mut Timer> {
    match interrupt.sender {
        Sender::Timer(number) => timers().get_mut(number),
        Sender::Thread(_) => None,
    }
}

fn expiry_of(interrupt: &Interrupt) -> Option<u64> {
    of(interrupt)?.expiry
}

/// Whether the time for a signal can have come.
pub fn may_ring(interrupt: &Interrupt) -> bool {
    let Some(timer) = of(interrupt) else { return true };
    let world = &engine().world;
    let is_due = timer.expiry.is_some_and(|expiry| expiry <= world.clock.now());
    timer.rang == 0
        || timer.ripe
        || (world.signals.program_steps > timer.since && (timer.rang < EAGER || is_due))
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
    let Some(timer) = timers().get_mut(number) else { return };
    let world = &mut engine().world;
    if let Some(expiry) = timer.expiry.take() {
        world.clock.reach(expiry);
        timer.expiry = (timer.interval > 0).then(|| expiry.saturating_add(timer.interval));
    }
    timer.handlers.extend(timer.interrupt.take());
    timer.rang += 1;
    timer.since = world.signals.program_steps;
    timer.ripe = false;
    post(number);
}

/// Whether the program does something about a signal; by default it would end.
fn is_wanted(signal: c_int) -> bool {
    let engine = engine();
    let is_blocked = |id: &ThreadId| engine.fibers[id.index()].blocked_signals & bit(signal) != 0;
    Disposition::of(signal).is_handled() || engine.live.iter().any(is_blocked)
}

/// Sends the signal of an armed timer on its way.
fn post(number: usize) {
    let timer = &timers()[number];
    if timer.expiry.is_none() || timer.interrupt.is_some() || !engine().running || !is_wanted(timer.signal) {
        return;
    }
    let details = Details::new(timer.signal, timer.code, timer.value);
    timers()[number].interrupt =
        interrupt::create(timer.signal, timer.target, Sender::Timer(number), details);
}

/// The program handles another signal now: timers that were armed before may matter.
pub fn handler_changed(signal: c_int) {
    for number in 0..timers().len() {
        if timers()[number].signal == signal {
            post(number);
        }
    }
}

/// Executions begin: timers that were armed before may ring.
pub fn begin() {
    (0..timers().len()).for_each(post);
}

/// Arms a timer, or disarms it (`None`). Says what was left of its time, and its interval.
fn set(number: usize, length: Option<u64>, interval: u64, pc: u64) -> (u64, u64) {
    let signal = timers()[number].signal;
    if length.is_some() && !engine().running && is_wanted(signal) {
        // From here on a signal may come at any point, so executions begin here.
        crate::server::snapshot();
    }
    crate::sync::step(EventKind::Signal, 0, pc);
    let engine = engine();
    let now = engine.world.clock.now();
    let timer = &mut timers()[number];
    let left = timer.expiry.map_or(0, |expiry| expiry.saturating_sub(now).max(1));
    let before = (left, if left > 0 { timer.interval } else { 0 });
    timer.expiry = length.map(|length| now.saturating_add(length));
    (timer.interval, timer.rang, timer.ripe) = (interval, 0, false);
    if let Some(id) = timer.interrupt.take() {
        withdraw(id);
    }
    let rang = timer.handlers.clone();
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

/// Nobody can get on: time passes until the next timer rings. Says whether there is one.
pub fn let_time_pass(engine: &mut Engine) -> bool {
    if engine.world.signals.pending == 0 {
        return false;
    }
    let unripe = pending().filter(|interrupt| !may_ring(interrupt));
    let next =
        unripe.filter_map(|interrupt| Some((expiry_of(interrupt)?, interrupt))).min_by_key(|(at, _)| *at);
    let Some((expiry, interrupt)) = next else { return false };
    engine.world.clock.reach(expiry);
    if let Some(timer) = of(interrupt) {
        timer.ripe = true;
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
                && host.blocked_signals & bit(interrupt.signal) == 0
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
            step_when(EventKind::Signal, 0, pc, Some(std::ptr::from_ref(self)), false);
        }
    }
}

impl Waitable for Before {
    fn ready(&self, fiber: &Fiber) -> bool {
        let blocked = engine().fiber(fiber.owner()).blocked_signals;
        self.0.iter().all(|id| {
            let other = engine().fiber(*id);
            other
                .interrupt
                .as_ref()
                .is_none_or(|interrupt| other.done || interrupt.began || blocked & bit(interrupt.signal) != 0)
        })
    }

    fn what(&self) -> String {
        "its sleep to end".to_string()
    }

    fn breaks(&self) -> Breaks {
        Breaks::AnyTime
    }
}
