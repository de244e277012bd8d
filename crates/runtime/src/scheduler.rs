//! The loop at the heart: a thread announces its next visible operation, the policy picks who goes
//! on, the chosen thread makes its operation.

mod private_stretch;

pub use private_stretch::PrivateStretch;

use std::sync::atomic::Ordering;

use threadbare_sched::{Candidate, Choice, Op, Policy};
use threadbare_trace::{EventKind, FailureKind, SwitchReason, ThreadId};
use threadbare_wire::{DecisionRecord, SwitchRecord, own_place};

use crate::engine::{Engine, RUNNING, WATCHED};
use crate::fiber::Fiber;
use crate::fiber::Waitable;
use crate::{arch, deadlock, external_waits, shared_memory, signals, sys, threads};

/// Fruitless steps of all threads together after which nobody can be expected to get on.
const LIVELOCK: u64 = 20_000;

/// Steps in a row after which a thread lets others go first, whatever the policy prefers: a loop
/// that always changes something may still wait for another thread.
const LONG_TURN: u64 = 10_000;

impl Engine {
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
        let registers = self.world.state_hashes.are_wanted().then(crate::arch::registers);
        if registers.is_some() {
            fiber.state_hash = crate::thread_state_hash::of(fiber);
        }
        if self.running {
            if !self.looks_on() {
                self.reschedule();
            }
        } else if !fiber.ready() {
            deadlock::report();
        }
        if let Some(registers) = registers {
            // A call that has more than one step goes on where it was made, whoever came in between.
            crate::arch::set_registers(registers);
        }
        // The thread may have moved on to another place in time, but it is the same thread.
        let timed_out = fiber.timed_out();
        fiber.wait = None;
        let control = self.shared.control();
        control.steps += 1;
        if control.steps > control.plan.max_steps && self.running {
            self.report_hang(control.plan.max_steps);
        }
        fiber.steps += 1;
        if self.running {
            self.world.signals.program_steps += u64::from(fiber.interrupt.is_none());
            self.policy.executed(fiber.id, &fiber.pending);
            fiber.private_stretch.end();
            self.update_stop();
            if fiber.cancel.asynchronous {
                crate::cancel::check(fiber);
            }
        }
        timed_out
    }

    /// Where in the program's own code the running thread asks for a lock, if the policy wants to know.
    pub fn lock_place(&mut self, pc: u64) -> u64 {
        if !self.policy.needs_lock_places() {
            return 0;
        }
        own_place(self.shared.own_code(), std::iter::once(pc).chain(self.current().call_stack()))
    }

    /// The running thread has taken the lock that it asked for.
    pub fn took_lock(&mut self) {
        if self.running {
            let fiber = self.current();
            self.policy.acquired(fiber.id, &fiber.pending);
        }
    }

    /// The running thread has taken a lock that is nothing but a word, where nobody was asked.
    pub fn took_word(&mut self, word: usize) {
        if self.running && self.policy.needs_lock_places() {
            let fiber = self.current();
            let place = self.lock_place(fiber.pending.site);
            self.policy.acquired(fiber.id, &Op { object: word as u64, place, ..fiber.pending });
        }
    }

    /// Lets the policy decide; returns when the running thread may make its operation.
    fn reschedule(&mut self) {
        let fiber = self.current();
        if let Some(handler) = fiber.to_deliver.take() {
            // In a replay a new thread may be interrupted before it has begun.
            self.run_handler(handler, fiber.id);
        } else if let Some(creator) = fiber.starting.take() {
            self.go(creator, SwitchReason::Started);
        } else {
            if fiber.fruitless == 0 && fiber.private_stretch.turns == 0 {
                self.fruitless_rounds = 0;
            }
            let steps = self.shared.control().steps;
            if fiber.fruitless >= self.policy.spin_limit() || steps - self.turn_began >= LONG_TURN {
                self.turn_began = steps;
                fiber.gave_way_at = Some(self.progress);
                self.world.checkpoints.leave_no_more();
                self.policy.yielded(fiber.id);
            }
            self.decide_and_go();
        }
    }

    fn decide_and_go(&mut self) {
        let fiber = self.current();
        if self.live.len() == 1 && fiber.ready() && !self.policy.forces_switches() {
            fiber.gave_way_at = None;
            if fiber.fruitless > 0 || fiber.private_stretch.turns > 0 {
                self.count_fruitless(fiber.rounds());
            }
            return;
        }
        let next = self.decide();
        if next != fiber.id {
            let reason = if !fiber.ready() {
                SwitchReason::Blocked
            } else if fiber.gave_way_at.is_some() {
                SwitchReason::GaveWay
            } else {
                SwitchReason::Chosen
            };
            self.go(next, reason);
        }
    }

    /// Picks the next thread among those that can go on.
    pub(crate) fn decide(&mut self) -> ThreadId {
        let fiber = self.current();
        loop {
            self.candidates.clear();
            let mut giving_way = false;
            for index in 0..self.live.len() {
                let id = self.live[index];
                let other = &mut *self.fibers[id.index()];
                if !other.ready() {
                    continue;
                }
                match other.gave_way_at {
                    Some(mark) if mark == self.progress => giving_way = true,
                    _ => {
                        other.gave_way_at = None;
                        let pending: *const Op = &other.pending;
                        // SAFETY: fibers are boxed and never dropped; nothing runs while the
                        // policy looks at their operations.
                        let op = unsafe { &*pending };
                        self.candidates.push(Candidate { thread: id, op });
                    }
                }
            }
            if !self.candidates.is_empty() {
                break;
            }
            if signals::timers::let_time_pass(self) {
                continue;
            }
            if giving_way {
                for id in &self.live {
                    self.fibers[id.index()].gave_way_at = None;
                }
                if let Some(looked_at) = self.count_fruitless(fiber.rounds()) {
                    return looked_at;
                }
                continue;
            }
            if !external_waits::wait_for_any(self) {
                deadlock::report();
            }
        }
        crate::checkpoints::leave_one_if_due(self);
        if self.policy.forces_switches() {
            self.policy.reached(fiber.id, fiber.pending.index);
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
        if self.steered && self.policy.awaits_choices() {
            crate::steered::await_order(self);
        }
        let choice = Choice { candidates: &self.candidates, current: fiber.id, step };
        let chosen = self.policy.choose(&choice);
        if self.shared.wants_decisions() {
            let bit =
                |candidate: &Candidate<'_>| 1u64.checked_shl(u32::from(candidate.thread.0)).unwrap_or(0);
            let enabled = self.candidates.iter().fold(0, |mask, candidate| mask | bit(candidate));
            self.shared.decision(DecisionRecord { enabled, chosen, current: fiber.id, step: step as u32 });
        }
        chosen
    }

    /// The step limit was reached. Only now is it said whether everybody spins: a long
    /// computation on private memory that looks at some shared value looks the same until it ends.
    fn report_hang(&self, limit: u64) -> ! {
        if self.fruitless_rounds > LIVELOCK {
            shared_memory::fail(
                FailureKind::Hang,
                format_args!(
                    "livelock: every thread that can go on only spins, re-reading values that nobody changes\n{}",
                    deadlock::describe_threads(|_| None)
                ),
            );
        }
        shared_memory::fail(
            FailureKind::Hang,
            format_args!(
                "the step limit of {limit} was reached without an end; if the program is just long, raise --max-steps\n{}",
                deadlock::describe_threads(|_| None)
            ),
        );
    }

    /// Hands control to another thread and returns when it is handed back.
    pub fn go(&mut self, next: ThreadId, reason: SwitchReason) {
        let from = self.current();
        self.hand_over(from, from, next, reason);
    }

    /// The same where a handler may just have ended, `from`, on the stack of `here`.
    pub(crate) fn hand_over(
        &mut self,
        from: *mut Fiber,
        here: *mut Fiber,
        next: ThreadId,
        reason: SwitchReason,
    ) {
        let interrupted = self.interrupted_by(next);
        // SAFETY: fibers are boxed and never dropped.
        let (from, here) = unsafe { (&mut *from, &mut *here) };
        let site = if reason == SwitchReason::Ended { 0 } else { from.pending.site };
        self.shared.switch(SwitchRecord {
            pc: site,
            op: from.pending.index,
            from: from.id,
            to: next,
            addr: from.pending.object,
            kind: from.pending.kind as u8,
            reason: reason as u8,
            spare: 0,
            context: if self.records { from.context(&mut self.world.contexts, &self.shared) } else { 0 },
        });
        self.turn_began = self.shared.control().steps;
        // A handler begins where the thread stands that it interrupts.
        let to: &mut Fiber = match interrupted {
            // SAFETY: as above.
            Some(interrupted) => unsafe { &mut *interrupted },
            None => self.fiber(next),
        };
        if interrupted.is_some() {
            to.to_deliver = Some(next);
        }
        self.become_current(to.id);
        if to.id != here.id {
            if self.os_threads {
                let has_ended = reason == SwitchReason::Ended && here.id == from.id;
                // SAFETY: the words live in boxed fibers.
                unsafe { threads::pass_baton(here, to, has_ended) };
            } else {
                // SAFETY: `to` was saved by an earlier switch or prepared as a new stack.
                unsafe { arch::switch(&mut here.sp, to.sp, to.thread_pointer) };
            }
        }
        if let Some(handler) = here.to_deliver.take() {
            self.run_handler(handler, here.id);
        }
    }

    /// From now on this thread runs.
    #[inline]
    pub(crate) fn become_current(&mut self, id: ThreadId) {
        let fiber = self.fiber(id);
        self.current = fiber;
        WATCHED.store(crate::call_profile::unless_unwatched(fiber), Ordering::Relaxed);
        RUNNING.store(fiber, Ordering::Relaxed);
        self.update_stop();
    }

    /// The running thread has ended: others go on, for good.
    pub fn leave_for_good(&mut self) -> ! {
        let fiber = self.current();
        self.complete_write();
        self.does_not_wait(fiber);
        crate::call_profile::end(Some(fiber.id));
        fiber.done = true;
        self.progress += 1;
        self.live.retain(|id| *id != fiber.id);
        signals::deliver::thread_ended(fiber.id);
        fiber.pending =
            Op { kind: EventKind::Exit, object: 0, size: 0, site: 0, index: fiber.ops + 1, place: 0 };
        let next = match fiber.starting.take() {
            Some(creator) => creator,
            None if !signals::deliver::any_thread_left() => crate::process::end_of_last_thread(),
            None => self.decide(),
        };
        self.go(next, SwitchReason::Ended);
        sys::die("a thread that had ended was run again")
    }

    /// In a replay, decides at the point after a thread's creation; otherwise runs the new thread
    /// up to its first visible operation, so that policies always know what comes next.
    pub fn run_new_thread(&mut self, new: ThreadId) {
        let fiber = self.current();
        fiber.ops += 1;
        fiber.pending = Op {
            kind: EventKind::Create,
            index: fiber.ops,
            object: 0,
            size: 0,
            site: fiber.pending.site,
            place: 0,
        };
        if self.policy.forces_switches() {
            let next = self.decide();
            if next != fiber.id {
                self.go(next, SwitchReason::Chosen);
            }
            return;
        }
        self.fiber(new).starting = Some(fiber.id);
        self.go(new, SwitchReason::Starting);
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
