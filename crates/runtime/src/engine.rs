//! The one state of the runtime, and the loop at its heart: a thread announces its next visible
//! operation, the policy picks who goes on, the chosen thread makes its operation.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use threadbare_sched::{AnyPolicy, Candidate, Choice, Op, Policy, Rng};
use threadbare_trace::{Event, EventKind, FailureKind, ThreadId};
use threadbare_wire::{DecisionRecord, SwitchRecord, flags};

use crate::fiber::{Fiber, Waitable};
use crate::record::{self, Shared};
use crate::{context, deadlock, outside, signals, sys, threads};

/// Fruitless steps of all threads together after which nobody can be expected to get on.
const LIVELOCK: u64 = 20_000;

/// Steps in a row after which a thread lets others go first, whatever the policy prefers: a loop
/// that always changes something may still wait for another thread.
const LONG_TURN: u64 = 10_000;

/// Private accesses in a row after which a thread lets others go first: it may wait, in a loop, for
/// a place that has not been seen to be shared because nobody else ever got so far.
const QUIET: u32 = 1 << 18;

/// Times in a row that a thread may do so before the policy hears of it.
const QUIET_TURNS: u32 = 4;

/// Why control went from one thread to another; the numbers are part of the shared memory.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// The policy preferred another thread.
    Chosen = 0,
    /// The thread cannot go on.
    Blocked = 1,
    /// The thread has ended.
    Ended = 2,
    /// The thread was spinning.
    GaveWay = 3,
    /// A new thread is run up to its first visible operation.
    Starting = 4,
    /// Back to the creator from there.
    Started = 5,
}

/// A write whose new value is known only once the program has made it.
#[derive(Clone, Copy)]
struct UnfinishedWrite {
    event: *mut Event,
    addr: usize,
    size: u8,
    old: u64,
}

/// The state of the runtime.
pub struct Engine {
    /// The memory shared with the driver.
    pub shared: Shared,
    /// Every thread there ever was, by number.
    #[allow(clippy::vec_box, reason = "a running thread must not move when another is added")]
    pub fibers: Vec<Box<Fiber>>,
    current: *mut Fiber,
    policy: AnyPolicy,
    live: Vec<ThreadId>,
    candidates: Vec<Candidate<'static>>,
    unfinished: Option<UnfinishedWrite>,
    /// Counts steps that changed something another thread may wait for.
    pub progress: u64,
    fruitless_rounds: u64,
    /// The steps made when the running thread was switched to, or last gave way.
    turn_began: u64,
    /// Executions begin at the snapshot; before it there is one thread and nothing to decide.
    pub running: bool,
    /// Every thread is an operating-system thread.
    pub os_threads: bool,
    /// Condition waits may wake by themselves.
    pub spurious: bool,
    /// Decides where private accesses become scheduling points, in a probing execution.
    probe: Option<Rng>,
    /// All state of the other modules.
    pub world: crate::world::World,
}

struct Place(UnsafeCell<MaybeUninit<Engine>>);

// SAFETY: one thread at a time runs runtime code.
unsafe impl Sync for Place {}

static ENGINE: Place = Place(UnsafeCell::new(MaybeUninit::uninit()));

/// The running fiber while memory accesses are watched, else null. The first thing that the
/// access hooks look at.
pub static WATCHED: AtomicPtr<Fiber> = AtomicPtr::new(ptr::null_mut());

/// The running fiber while the process is under control, else null.
pub static RUNNING: AtomicPtr<Fiber> = AtomicPtr::new(ptr::null_mut());

/// The state of the runtime. Never keep the reference across a switch of fibers.
#[inline(always)]
pub fn engine() -> &'static mut Engine {
    // SAFETY: initialised before control is taken; one thread at a time runs runtime code.
    unsafe { (*ENGINE.0.get()).assume_init_mut() }
}

/// Sets up the state around the main thread.
pub fn init(shared: Shared, main: Box<Fiber>) {
    let engine = Engine {
        shared,
        fibers: vec![main],
        current: ptr::null_mut(),
        policy: AnyPolicy::default(),
        live: vec![ThreadId::MAIN],
        candidates: Vec::with_capacity(64),
        unfinished: None,
        progress: 0,
        fruitless_rounds: 0,
        turn_began: 0,
        running: false,
        os_threads: false,
        spurious: false,
        probe: None,
        world: crate::world::World::default(),
    };
    // SAFETY: called once, before anybody asks for the state.
    unsafe { (*ENGINE.0.get()).write(engine) };
    let engine = self::engine();
    engine.current = &mut *engine.fibers[0];
    RUNNING.store(engine.current, Ordering::Relaxed);
}

impl Engine {
    /// The running thread.
    #[inline(always)]
    pub fn current(&mut self) -> &'static mut Fiber {
        // SAFETY: fibers are boxed and never dropped.
        unsafe { &mut *self.current }
    }

    /// The number of the running thread.
    pub fn current_id(&self) -> ThreadId {
        // SAFETY: as in `current`.
        unsafe { (*self.current).id }
    }

    /// The running thread's calls, innermost first, beginning with the site of its operation.
    pub fn call_stack(&mut self) -> impl Iterator<Item = u64> + use<> {
        let fiber = self.current();
        std::iter::once(fiber.pending.site).filter(|pc| *pc != 0).chain(fiber.call_stack())
    }

    /// The calls in progress in a thread, as a number in the table of contexts.
    pub fn context_of(&mut self, id: ThreadId) -> u32 {
        self.fiber(id).context(&mut self.world.contexts, &self.shared)
    }

    /// The threads that have not ended.
    pub fn live(&self) -> &[ThreadId] {
        &self.live
    }

    /// The thread with this number.
    pub fn fiber(&mut self, id: ThreadId) -> &'static mut Fiber {
        let fiber: *mut Fiber = &mut *self.fibers[id.index()];
        // SAFETY: fibers are boxed and never dropped.
        unsafe { &mut *fiber }
    }

    /// Begins an execution under the plan in shared memory.
    pub fn begin(&mut self) {
        let control = self.shared.control();
        self.policy = threads::build_policy(&self.shared);
        self.os_threads = control.plan.flags & flags::OS_THREADS != 0;
        self.spurious = control.plan.flags & flags::SPURIOUS != 0;
        self.running = true;
        self.probe = (control.plan.flags & flags::PROBE != 0).then(|| Rng::new(control.plan.policy.seed));
        self.update_stop();
        WATCHED.store(self.current, Ordering::Relaxed);
    }

    /// Adds a thread.
    pub fn add(&mut self, fiber: Box<Fiber>) -> ThreadId {
        let id = fiber.id;
        let stacks = &mut self.world.stacks;
        *stacks = stacks.start.min(fiber.stack.0)..stacks.end.max(fiber.stack.1);
        self.fibers.push(fiber);
        self.live.push(id);
        let parent = self.current_id();
        self.policy.created(id, parent);
        let control = self.shared.control();
        control.threads = self.fibers.len() as u32;
        control.peak_threads = control.peak_threads.max(self.live.len() as u32);
        id
    }

    /// Announces the running thread's next operation and returns when it may be made.
    ///
    /// Its number has to be counted by the caller beforehand. Returns whether a timed wait ended
    /// by time.
    #[inline(always)]
    pub fn point(&mut self, op: Op, wait: Option<*const dyn Waitable>, timed: bool) -> bool {
        // Written in place, field by field: a copy of what was just written would stall.
        self.current().pending = op;
        self.await_turn(wait, timed)
    }

    fn await_turn(&mut self, wait: Option<*const dyn Waitable>, timed: bool) -> bool {
        let fiber = self.current();
        fiber.wait = wait;
        fiber.timed = timed;
        self.complete_write();
        if self.running {
            self.reschedule();
        } else if !fiber.ready() {
            deadlock::report();
        }
        // The thread may have moved on to another place in time, but it is the same thread.
        let timed_out = fiber.timed_out();
        fiber.wait = None;
        let control = self.shared.control();
        control.steps += 1;
        if control.steps > control.plan.max_steps && self.running {
            self.report_hang(control.plan.max_steps);
        }
        if self.running {
            self.policy.executed(fiber.id, &fiber.pending);
            fiber.quiet_turns = 0;
            if !self.policy.is_replay() {
                self.update_stop();
            }
            if fiber.cancel.asynchronous {
                crate::cancel::check(fiber);
            }
        }
        timed_out
    }

    /// Lets the policy decide; returns when the running thread may make its operation.
    fn reschedule(&mut self) {
        let fiber = self.current();
        if let Some(creator) = fiber.starting.take() {
            self.go(creator, Reason::Started);
        } else {
            if fiber.fruitless == 0 {
                self.fruitless_rounds = 0;
            }
            let steps = self.shared.control().steps;
            if fiber.fruitless >= self.policy.patience() || steps - self.turn_began >= LONG_TURN {
                self.turn_began = steps;
                fiber.gave_way_at = Some(self.progress);
                self.policy.gave_way(fiber.id);
            }
            self.decide_and_go();
        }
        // A signal may have been the reason for being chosen: what was waited for is still due.
        while signals::is_due(fiber) {
            signals::deliver(fiber);
            if !fiber.ready() {
                self.decide_and_go();
            }
        }
    }

    fn decide_and_go(&mut self) {
        let fiber = self.current();
        if self.live.len() == 1 && fiber.ready() && !self.policy.is_replay() {
            fiber.gave_way_at = None;
            return self.count_fruitless(fiber.fruitless);
        }
        let next = self.decide();
        if next != fiber.id {
            let reason = if !fiber.ready() {
                Reason::Blocked
            } else if fiber.gave_way_at.is_some() {
                Reason::GaveWay
            } else {
                Reason::Chosen
            };
            self.go(next, reason);
        }
    }

    /// Picks the next thread among those that can go on.
    fn decide(&mut self) -> ThreadId {
        let fiber = self.current();
        loop {
            self.candidates.clear();
            let mut giving_way = false;
            for index in 0..self.live.len() {
                let id = self.live[index];
                let other = &mut *self.fibers[id.index()];
                if !other.ready() && !signals::is_due(other) {
                    continue;
                }
                match other.gave_way_at {
                    Some(mark) if mark == self.progress => giving_way = true,
                    _ => {
                        other.gave_way_at = None;
                        // SAFETY: fibers are boxed and never dropped; nothing runs while the
                        // policy looks at their operations.
                        let op = unsafe { &*(&raw const other.pending) };
                        self.candidates.push(Candidate { thread: id, op });
                    }
                }
            }
            if !self.candidates.is_empty() {
                break;
            }
            if giving_way {
                for id in &self.live {
                    self.fibers[id.index()].gave_way_at = None;
                }
                self.count_fruitless(1);
                continue;
            }
            if !outside::wait_for_any(self) {
                deadlock::report();
            }
        }
        if self.policy.is_replay() {
            self.policy.at(fiber.id, fiber.pending.index);
            // Whatever the replay decides, the place where it wants to stop next has changed.
            let chosen = self.policy.choose(&Choice {
                candidates: &self.candidates,
                current: fiber.id,
                step: self.shared.control().steps,
            });
            self.update_stop();
            return chosen;
        } else if self.candidates.len() == 1 {
            return self.candidates[0].thread;
        }
        let step = self.shared.control().steps;
        let choice = Choice { candidates: &self.candidates, current: fiber.id, step };
        let chosen = self.policy.choose(&choice);
        let enabled = self
            .candidates
            .iter()
            .fold(0, |mask, candidate| mask | 1u64.checked_shl(u32::from(candidate.thread.0)).unwrap_or(0));
        self.shared.decision(DecisionRecord { enabled, chosen, current: fiber.id, step: step as u32 });
        chosen
    }

    fn count_fruitless(&mut self, rounds: u32) {
        if rounds == 0 {
            self.fruitless_rounds = 0;
            return;
        }
        self.fruitless_rounds += 1;
    }

    /// The step limit was reached. Only now is it said whether everybody spins: a long
    /// computation on private memory that looks at some shared value looks the same until it ends.
    fn report_hang(&self, limit: u64) -> ! {
        if self.fruitless_rounds > LIVELOCK {
            record::fail(
                FailureKind::Hang,
                format_args!(
                    "livelock: every thread that can go on only spins, re-reading values that nobody changes\n{}",
                    deadlock::describe_threads()
                ),
            );
        }
        record::fail(
            FailureKind::Hang,
            format_args!(
                "the step limit of {limit} was reached without an end; if the program is just long, raise --max-steps"
            ),
        );
    }

    /// Hands control to another thread and returns when it is handed back.
    pub fn go(&mut self, next: ThreadId, reason: Reason) {
        let from = self.current();
        let to = self.fiber(next);
        let site = if reason == Reason::Ended { 0 } else { from.pending.site };
        self.shared.switch(SwitchRecord {
            pc: site,
            op: from.pending.index,
            from: from.id,
            to: next,
            addr: from.pending.object,
            kind: from.pending.kind as u8,
            reason: reason as u8,
            spare: 0,
            context: from.context(&mut self.world.contexts, &self.shared),
        });
        self.turn_began = self.shared.control().steps;
        self.current = to;
        WATCHED.store(to, Ordering::Relaxed);
        RUNNING.store(to, Ordering::Relaxed);
        self.update_stop();
        if self.os_threads {
            // SAFETY: the words live in boxed fibers.
            unsafe { threads::pass_baton(from, to, reason == Reason::Ended) };
        } else {
            // SAFETY: `to` was saved by an earlier switch or prepared as a new stack.
            unsafe { context::switch(&mut from.sp, to.sp, to.fs) };
        }
    }

    /// The running thread has ended: others go on, for good.
    pub fn leave_for_good(&mut self) -> ! {
        let fiber = self.current();
        self.complete_write();
        fiber.done = true;
        self.progress += 1;
        self.live.retain(|id| *id != fiber.id);
        fiber.pending = Op { kind: EventKind::Exit, object: 0, size: 0, site: 0, index: fiber.ops + 1 };
        let next = match fiber.starting.take() {
            Some(creator) => creator,
            None if self.live.is_empty() => crate::process::end_of_last_thread(),
            None => self.decide(),
        };
        self.go(next, Reason::Ended);
        sys::die("a thread that had ended was run again")
    }

    /// In a replay, decides at the point after a thread's creation; otherwise runs the new thread
    /// up to its first visible operation, so that policies always know what comes next.
    pub fn run_new_thread(&mut self, new: ThreadId) {
        let fiber = self.current();
        fiber.ops += 1;
        fiber.pending =
            Op { kind: EventKind::Create, index: fiber.ops, object: 0, size: 0, site: fiber.pending.site };
        if self.policy.is_replay() {
            let next = self.decide();
            if next != fiber.id {
                self.go(next, Reason::Chosen);
            }
            return;
        }
        self.fiber(new).starting = Some(fiber.id);
        self.go(new, Reason::Starting);
    }

    /// Says at which operation the running thread has to come here although it may be private:
    /// where a replay wants to decide, or where a probe is due.
    fn update_stop(&mut self) {
        const DENSE_STEPS: u64 = 256;
        let fiber = self.current();
        fiber.stop_at = match &mut self.probe {
            Some(rng) => {
                let gap = 1 + rng.below(1 + self.shared.control().steps / DENSE_STEPS);
                fiber.ops.saturating_add(gap as u32)
            }
            None if self.policy.is_replay() => self.policy.stop_at(fiber.id),
            None => fiber.ops.saturating_add(QUIET),
        };
    }

    /// Whether the running thread stops at a private access only because it made so many of them.
    pub fn is_quiet(&self) -> bool {
        self.probe.is_none() && !self.policy.is_replay()
    }

    /// Lets others go before a private access; says whether one did. This is no step: a program
    /// that makes no other is still seen to stand still.
    pub fn let_others_go(&mut self, op: Op) -> bool {
        let fiber = self.current();
        fiber.pending = op;
        self.complete_write();
        fiber.quiet_turns += 1;
        fiber.gave_way_at = Some(self.progress);
        if fiber.quiet_turns >= QUIET_TURNS {
            self.policy.gave_way(fiber.id);
        }
        let switches = self.shared.control().switches;
        self.reschedule();
        self.update_stop();
        switches != self.shared.control().switches
    }

    /// What a replay could not follow: the number of the switch, and why.
    pub fn divergence(&self) -> Option<(u64, String)> {
        self.policy.divergence()
    }

    /// Notes a finished step of the running thread.
    pub fn note(
        &mut self,
        kind: EventKind,
        addr: usize,
        size: u8,
        value: u64,
        old: u64,
    ) -> Option<*mut Event> {
        // Before the first thread there is nothing to order, and the trace begins with it.
        if !self.running {
            return None;
        }
        self.tell_place(addr);
        if size == 8 {
            // The value may point to a block; then people want to know to which.
            self.tell_place(value as usize);
        }
        let fiber = self.current();
        self.shared.event(Event {
            pc: fiber.pending.site,
            addr: addr as u64,
            value,
            old,
            op: fiber.ops,
            thread: fiber.id,
            kind: kind as u8,
            size,
            context: fiber.context(&mut self.world.contexts, &self.shared),
            spare: 0,
        })
    }

    /// Makes sure that the trace names the memory around an address, if it is in a heap block or
    /// among the variables of a call in progress.
    #[inline(always)]
    pub fn tell_place(&mut self, addr: usize) {
        if let Some(allocation) = self.world.heap.untold(addr) {
            self.shared.event(allocation);
        } else if self.world.stacks.contains(&addr) {
            self.tell_frame(addr);
        }
    }

    #[inline(never)]
    fn tell_frame(&mut self, addr: usize) {
        let holds = |fiber: &Fiber| (fiber.stack.0..fiber.stack.1).contains(&addr);
        let owner = self.live.iter().copied().find(|id| holds(&self.fibers[id.index()]));
        let Some(thread) = owner else { return };
        if let Some((variables, pc)) = self.fiber(thread).untold_call(addr) {
            self.shared.event(Event {
                pc,
                addr: variables.end as u64,
                value: variables.start as u64,
                thread,
                kind: EventKind::Frame as u8,
                ..Event::default()
            });
        }
    }

    /// A plain write is about to be made by the program; its value is read at the next entry.
    pub fn begin_write(&mut self, addr: usize, size: u8, old: u64) {
        let event = self.note(EventKind::Write, addr, size, old, old).unwrap_or(ptr::null_mut());
        self.unfinished = Some(UnfinishedWrite { event, addr, size, old });
    }

    /// Fills in the value of the last plain write.
    #[inline(always)]
    pub fn complete_write(&mut self) {
        if let Some(write) = self.unfinished.take() {
            // SAFETY: the program has just written there; only its own thread has run since.
            let value = unsafe { crate::access::load(write.addr, write.size) };
            if !write.event.is_null() {
                // SAFETY: the event is in shared memory.
                unsafe { (*write.event).value = value };
                if write.size == 8 {
                    self.tell_place(value as usize);
                }
            }
            if value != write.old {
                self.changed();
            }
        }
    }

    /// The last plain write did not happen: the program crashed on it.
    pub fn forget_write(&mut self) {
        self.unfinished = None;
    }

    /// In a process that the program forked: only the calling thread is left.
    pub fn leave_shared_memory(&mut self) {
        self.shared.detach();
        let current = self.current_id();
        self.live.retain(|id| *id == current);
    }

    /// The running thread gave back what others may try to take. By itself that brings the thread no
    /// further: it may take, look and give back for ever.
    pub fn released(&mut self) {
        self.progress += 1;
        self.fruitless_rounds = 0;
    }

    /// The running thread changed something that others may wait for.
    #[inline(always)]
    pub fn changed(&mut self) {
        self.progress += 1;
        self.fruitless_rounds = 0;
        self.current().changed_something();
    }
}
