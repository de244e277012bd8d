//! The loop at the heart: a thread announces its next visible operation, the policy picks who goes
//! on, the chosen thread makes its operation.

mod fairness;
mod private_stretch;

pub use fairness::{Turn, Waiting};
pub use private_stretch::PrivateStretch;

use threadbare_sched::{Candidate, Choice, Op, Policy};
use threadbare_trace::{EventKind, SwitchReason, ThreadId, kinds};
use threadbare_wire::{DecisionRecord, own_place};

use crate::engine::{self, Engine};
use crate::exclusive::nothing_is_borrowed;
use crate::fiber::{Fiber, Waitable};
use crate::program::timer_descriptors;
use crate::spin::ThreadState;
use crate::{arch, deadlock, external_waits, guarding_locks, shared_memory, signals, sys, threads};

/// Times that all runnable threads have read the same again before time passes although they are runnable: they wait for one that
/// sleeps. Each time is a step of each of them, and a search through shared memory that takes longer and sees nothing new is hard to
/// think of.
const SPINS_WHILE_OTHERS_SLEEP: u64 = 4_096;

/// Steps without any time having passed, after which it passes although threads are runnable, and not only seem to wait.
const STEPS_WHILE_OTHERS_SLEEP: u64 = 100_000;

/// How often it is looked then whether somebody is due.
const STEPS_BETWEEN_LOOKS: u64 = 1_000;

/// How fast time passes then at first: 10 µs for a step, so that waits that give up after some seconds do not end while others are at work.
const TIME_BETWEEN_LOOKS: u64 = STEPS_BETWEEN_LOOKS * 10_000;

/// After so many steps more it passes twice as fast: ten seconds take a quarter of a million steps, and an hour less than a million.
const STEPS_UNTIL_TWICE_AS_FAST: u64 = 1 << 16;

impl Engine {
    /// Announces the running thread's next operation and returns when it may be made.
    ///
    /// Its number has to be counted by the caller beforehand. Returns whether a timed wait ended
    /// by time.
    #[inline(always)]
    pub fn point(&self, op: Op, wait: Option<*const dyn Waitable>, until: Option<u64>) -> bool {
        // Written in place, field by field: a copy of what was just written would stall.
        self.current().pending.set(op);
        self.await_turn(wait, until)
    }

    fn await_turn(&self, wait: Option<*const dyn Waitable>, until: Option<u64>) -> bool {
        let fiber = self.current();
        fiber.wait.set(wait);
        fiber.until.set(until);
        self.recorder.complete_write();
        let registers = self.world.state_hashes.borrow_mut().are_wanted().then(crate::arch::registers);
        if registers.is_some() {
            fiber.state_hash.set(crate::thread_state_hash::of(fiber));
        }
        if self.running.get() {
            if !self.looks_on() {
                self.reschedule();
            }
        } else if !fiber.ready() {
            deadlock::report();
        }
        if let Some(registers) = registers {
            // A call that has more than one step continues where it was made, whichever thread ran in between.
            crate::arch::set_registers(registers);
        }
        // The thread may have moved on to another place in time, but it is the same thread.
        let timed_out = fiber.timed_out();
        fiber.wait.set(None);
        let mut control = self.shared.control();
        control.steps += 1;
        if control.steps > control.plan.max_steps && self.running.get() {
            let limit = control.plan.max_steps;
            shared_memory::cut(format_args!(
                "the limit of {limit} steps was reached; --max-steps N allows for more"
            ));
        }
        fiber.steps.set(fiber.steps.get() + 1);
        if self.running.get() {
            fiber.waiting.end(control.steps);
            if self.time_is_ordered.get() {
                self.world.clock.borrow_mut().step();
            }
            self.world
                .signals
                .program_steps
                .set(self.world.signals.program_steps.get() + u64::from(fiber.interrupt.is_none()));
            self.policy.borrow_mut().executed(fiber.id, &fiber.pending.borrow_mut());
            fiber.private_stretch.end();
            self.update_stop();
            if fiber.cancel.asynchronous.get() {
                crate::cancel::check(fiber);
            }
        }
        timed_out
    }

    /// The running thread calls a function of the library. If it does nothing else for long, others get their turn.
    pub fn calls_library(&self, site: impl FnOnce() -> u64) {
        /// Any number does that is seldom reached by those who also make steps, and soon by those who do not.
        const MOST: u32 = 1_000;
        let fiber = self.current();
        let (since, calls) = fiber.library_calls.get();
        let calls = if since == fiber.steps.get() { calls + 1 } else { 1 };
        fiber.library_calls.set((fiber.steps.get(), calls));
        if calls >= MOST && self.running.get() {
            crate::time::give_way(site());
        }
    }

    /// Where in the program's own code the running thread asks for a lock, if the policy wants to know.
    pub fn lock_place(&self, pc: u64) -> u64 {
        if !self.policy.borrow_mut().needs_lock_places() {
            return 0;
        }
        own_place(self.shared.own_code(), std::iter::once(pc).chain(self.current().call_stack()))
    }

    /// The running thread has taken the lock that it asked for.
    pub fn took_lock(&self) {
        if self.running.get() {
            let fiber = self.current();
            self.policy.borrow_mut().acquired(fiber.id, &fiber.pending.borrow_mut());
        }
    }

    /// The running thread has taken a lock that is nothing but a word, where nobody was asked.
    pub fn took_word(&self, word: usize) {
        if self.running.get() && self.policy.borrow_mut().needs_lock_places() {
            let fiber = self.current();
            let place = self.lock_place(fiber.site());
            self.policy
                .borrow_mut()
                .acquired(fiber.id, &Op { object: word as u64, place, ..*fiber.pending.borrow_mut() });
        }
    }

    /// Lets the policy decide; returns when the running thread may make its operation.
    fn reschedule(&self) {
        let fiber = self.current();
        if fiber.to_deliver.get().is_some() {
            // In a replay a new thread may be interrupted before it has begun.
            signals::deliver::deliver_at(self, fiber);
        } else if let Some(creator) = fiber.starting.take() {
            self.go(creator, SwitchReason::Started);
        } else {
            if !fiber.is_idle() {
                self.spin_detector.note_progress();
                self.spins.set(0);
            }
            if fiber.fruitless.get() >= self.policy.borrow_mut().spin_limit()
                && crate::thread_state_hash::may_spin(fiber)
            {
                if !crate::thread_state_hash::is_in_loop(fiber) {
                    crate::dependences::note_yield(fiber.site());
                }
                fiber.yielded_at.set(Some(self.progress.get()));
                self.world.checkpoints.borrow_mut().leave_no_more();
                self.policy.borrow_mut().yielded(fiber.id);
            }
            self.decide_and_go();
        }
    }

    fn decide_and_go(&self) {
        let fiber = self.current();
        if self.threads.live_count() == 1 && fiber.ready() && !self.policy.borrow_mut().forces_switches() {
            fiber.yielded_at.set(None);
            if fiber.is_idle() {
                self.spin_detector.count_fruitless(self, fiber.rounds());
            }
            return;
        }
        let next = self.decide();
        if next != fiber.id {
            let reason = if !fiber.ready() {
                SwitchReason::Blocked
            } else if fiber.yielded_at.get().is_some() {
                SwitchReason::Yielded
            } else {
                SwitchReason::Chosen
            };
            self.go(next, reason);
        }
    }

    /// Picks the next thread among the runnable ones.
    pub(crate) fn decide(&self) -> ThreadId {
        let mut candidates = self.candidates.borrow_mut();
        let chosen = self.decide_among(&mut candidates);
        candidates.clear();
        chosen
    }

    #[inline(always)]
    fn decide_among(&self, candidates: &mut Vec<Candidate<'static>>) -> ThreadId {
        let fiber = self.current();
        let step = self.shared.control().steps;
        let mut passed = step - self.decided_at.replace(step).min(step);
        let starved = (step >= self.none_starves_before.get()).then(|| self.starved(step)).flatten();
        loop {
            let mut any_yielded = false;
            for other in self.threads.live() {
                if !other.ready() {
                    // A lock that others take again and again is free now and then.
                    // SAFETY: as below.
                    if !matches!(unsafe { other.pending.peek() }.kind, EventKind::Lock | EventKind::ReadLock)
                    {
                        other.waiting.pause(passed);
                    }
                    continue;
                }
                match other.yielded_at.get() {
                    Some(mark) if mark == self.progress.get() => {
                        any_yielded = true;
                        self.world.irregular.set(true);
                    }
                    _ => {
                        other.yielded_at.set(None);
                        // SAFETY: no thread changes its operation until the decision is made, and the candidates are gone then.
                        let op = unsafe { other.pending.peek() };
                        candidates.push(Candidate { thread: other.id, op });
                    }
                }
            }
            passed = 0;
            if starved.is_some() || self.turn.get().is_some() {
                self.give_turn(candidates, starved, step);
            }
            if !candidates.is_empty() {
                if self.time_is_ordered.get() && self.let_time_pass_after_long(step) {
                    candidates.clear();
                    continue;
                }
                break;
            }
            if !any_yielded && external_waits::has_somebody_come(self, || self.time_to_next_deadline()) {
                continue;
            }
            let waits_for_sleeper = any_yielded && self.spins.get() < SPINS_WHILE_OTHERS_SLEEP;
            if !waits_for_sleeper && self.let_time_pass(step) {
                if let Some(looked_at) = self.spin_detector.count_fruitless(self, 1) {
                    return looked_at;
                }
                continue;
            }
            if any_yielded {
                self.spins.set(self.spins.get() + 1);
                self.threads.live().for_each(|other| other.yielded_at.set(None));
                if let Some(looked_at) = self.spin_detector.count_fruitless(self, fiber.rounds()) {
                    return looked_at;
                }
                continue;
            }
            if !external_waits::wait_for_any(self) {
                deadlock::report();
            }
        }
        crate::checkpoints::leave_one_if_due(self);
        if self.policy.borrow_mut().forces_switches() {
            self.policy.borrow_mut().reached(fiber.id, fiber.pending.borrow_mut().index);
            // Whatever the replay decides, the place where it wants to stop next has changed.
            let chosen = self.policy.borrow_mut().choose(&Choice { candidates, current: fiber.id, step });
            self.note_delay(candidates, chosen);
            self.update_stop();
            return chosen;
        } else if candidates.len() == 1 {
            return candidates[0].thread;
        }
        if crate::thread_state_hash::are_merged()
            && let Some(joins) = candidates.iter().find(|candidate| self.joins_the_ended(candidate))
        {
            // Nobody else can observe when it does, so nothing is lost if it does so first.
            return joins.thread;
        }
        if self.steered.get() && self.policy.borrow_mut().awaits_choices() {
            crate::steered::await_order(self, candidates);
        }
        let asked_for = !self.policy.borrow_mut().awaits_choices();
        let mut chosen = self.policy.borrow_mut().choose(&Choice { candidates, current: fiber.id, step });
        if self.shared.wants_decisions() {
            chosen = self.note_decision(candidates, chosen, asked_for, step);
        }
        self.note_delay(candidates, chosen);
        chosen
    }

    /// Records a decision between several. Where executions with the same state are merged, the state may decide otherwise.
    #[inline(never)]
    fn note_decision(
        &self,
        candidates: &[Candidate<'static>],
        mut chosen: ThreadId,
        asked_for: bool,
        step: u64,
    ) -> ThreadId {
        let bit = |candidate: &Candidate<'_>| 1u64.checked_shl(u32::from(candidate.thread.0)).unwrap_or(0);
        let enabled = candidates.iter().fold(0, |mask, candidate| mask | bit(candidate));
        let state = crate::thread_state_hash::of_program(self, enabled);
        if crate::thread_state_hash::are_merged() {
            chosen = crate::untried::choose(self, state, candidates, chosen, asked_for);
        }
        note_races(candidates);
        let op = candidates.iter().find(|candidate| candidate.thread == chosen).map(|candidate| candidate.op);
        self.shared.decision(DecisionRecord {
            enabled,
            chosen,
            current: self.current_id(),
            step: step as u32,
            state,
            object: op.map_or(0, |op| op.object),
            events: self.shared.control().events,
            unseen: self.world.unseen_in_std.get(),
            kind: op.map_or(0, |op| op.kind as u8),
            irregular: u8::from(self.world.irregular.get()),
            allocated: self.world.allocated.get(),
            freed: self.world.freed.get(),
            spare: [0; 2],
        });
        chosen
    }

    /// The runnable thread that has waited longest, if that is too long. Notes when to look again.
    #[cold]
    fn starved(&self, step: u64) -> Option<(u64, &'static Fiber)> {
        let next = self.threads.live().map(|fiber| fiber.waiting.ends_at_the_earliest()).min();
        self.none_starves_before.set(next.unwrap_or(0).max(step + 1));
        let runnable = self.threads.live().filter(|fiber| fiber.ready());
        let starved = runnable.filter_map(|fiber| Some((fiber.waiting.too_long(step)?, fiber)));
        starved.reduce(|longest, other| if other.0 > longest.0 { other } else { longest })
    }

    /// An execution begins: nobody has waited for anything yet.
    pub(crate) fn begin_fairly(&self) {
        let steps = self.shared.control().steps;
        self.turn.set(None);
        self.none_starves_before.set(0);
        self.decided_at.set(steps);
        self.time_passed_at.set(steps);
        self.next_look_at_time.set(0);
        self.spins.set(0);
        self.threads.live().for_each(|fiber| fiber.waiting.begin(steps));
    }

    /// Leaves only one candidate: the thread whose turn it is because it was starved.
    #[cold]
    fn give_turn(
        &self,
        candidates: &mut Vec<Candidate<'static>>,
        starved: Option<(u64, &'static Fiber)>,
        step: u64,
    ) {
        // A schedule says itself who runs, and what it was made of was fair.
        if self.policy.borrow_mut().has_switches_left() {
            return;
        }
        if let Some(turn) = self.turn.get() {
            let holder = self.fiber(turn.thread);
            let gives_way = holder.yielded_at.get().is_some() || holder.done.get();
            if step < turn.until && !gives_way {
                // While it waits for something others have to run.
                if let Some(place) = candidates.iter().position(|it| it.thread == turn.thread) {
                    candidates.swap(0, place);
                    candidates.truncate(1);
                }
                return;
            }
            self.turn.set(None);
            holder.waiting.begin(step);
        }
        let Some((waited, other)) = starved.filter(|(_, other)| other.waiting.too_long(step).is_some())
        else {
            return;
        };
        let fiber = self.current();
        crate::dependences::note_yield(fiber.site());
        self.world.checkpoints.borrow_mut().leave_no_more();
        if other.id != fiber.id {
            self.policy.borrow_mut().yielded(fiber.id);
        }
        self.turn.set(Some(Turn { thread: other.id, until: step + waited }));
        other.yielded_at.set(None);
        candidates.clear();
        // SAFETY: as for all candidates.
        let op = unsafe { other.pending.peek() };
        candidates.push(Candidate { thread: other.id, op });
    }

    /// Takes note if a thread is chosen whose time comes only if others, which are runnable or due earlier, are delayed till then.
    #[inline(always)]
    fn note_delay(&self, candidates: &[Candidate<'static>], chosen: ThreadId) {
        if !self.time_is_ordered.get() {
            self.note_delay_until(candidates, self.fiber(chosen));
        }
    }

    #[inline(never)]
    fn note_delay_until(&self, candidates: &[Candidate<'static>], chosen: &Fiber) {
        let now = self.world.clock.borrow_mut().now();
        let ends_by_time = |fiber: &Fiber| {
            let deadline = fiber.deadline().filter(|deadline| *deadline > now)?;
            fiber.ends_by_time().then_some(deadline)
        };
        let Some(deadline) = ends_by_time(chosen) else { return };
        for candidate in candidates.iter().filter(|candidate| candidate.thread != chosen.id) {
            let other = self.fiber(candidate.thread);
            let delay = deadline.saturating_sub(ends_by_time(other).unwrap_or(now));
            let mut control = self.shared.control();
            if delay > control.delay {
                control.delay = delay;
                control.delayed_thread = other.owner();
                control.delayed_site = other.site();
            }
        }
    }

    /// Lets time pass until the next thread or timer is due; says whether there is one.
    #[cold]
    fn let_time_pass(&self, step: u64) -> bool {
        let earliest = self.earliest_deadline();
        let deadline = earliest.unwrap_or(u64::MAX);
        let rings = timer_descriptors::next_expiry().unwrap_or(u64::MAX);
        if signals::timers::let_time_pass(self, deadline.min(rings))
            || timer_descriptors::let_time_pass(self, deadline)
        {
            return true;
        }
        let Some(deadline) = earliest else { return false };
        self.world.clock.borrow_mut().reach(deadline);
        self.time_passed_at.set(step);
        self.spins.set(0);
        true
    }

    /// How long it is until time ends the wait of some thread.
    fn time_to_next_deadline(&self) -> Option<u64> {
        let deadline = self.threads.live().filter_map(Fiber::deadline).min();
        let deadline = deadline.into_iter().chain(timer_descriptors::next_expiry()).min()?;
        Some(deadline.saturating_sub(self.world.clock.borrow_mut().now()))
    }

    /// The time at which the next thread is due that waits for time to pass.
    fn earliest_deadline(&self) -> Option<u64> {
        if !self.time_is_ordered.get() {
            return None;
        }
        let waits = |fiber: &&Fiber| fiber.interrupted_by.get().is_none();
        let deadlines = self.threads.live().filter(waits).filter_map(Fiber::deadline);
        deadlines.filter(|deadline| !crate::time::has_come(*deadline)).min()
    }

    /// The same where threads have been running for so long that they may wait for one that sleeps.
    #[inline(always)]
    fn let_time_pass_after_long(&self, step: u64) -> bool {
        if step < self.next_look_at_time.get() {
            return false;
        }
        self.hurry_time(step)
    }

    #[cold]
    fn hurry_time(&self, step: u64) -> bool {
        let hurries_at = self.time_passed_at.get() + STEPS_WHILE_OTHERS_SLEEP;
        if step < hurries_at {
            self.next_look_at_time.set(hurries_at);
            return false;
        }
        self.next_look_at_time.set(step + STEPS_BETWEEN_LOOKS);
        let timers = [timer_descriptors::next_expiry(), signals::timers::next_expiry()];
        let next = timers.into_iter().flatten().chain(self.earliest_deadline()).min();
        let now = self.world.clock.borrow_mut().now();
        let passing = TIME_BETWEEN_LOOKS << ((step - hurries_at) / STEPS_UNTIL_TWICE_AS_FAST).min(20);
        match next {
            Some(next) if next <= now.saturating_add(passing) => {
                self.time_passed_at.set(step);
                self.let_time_pass(step)
            }
            Some(_) => {
                self.world.clock.borrow_mut().pass(passing);
                false
            }
            None => {
                self.time_passed_at.set(step);
                false
            }
        }
    }

    /// Whether a thread has waited for the end of another, which has come.
    fn joins_the_ended(&self, candidate: &Candidate<'_>) -> bool {
        let fiber = self.fiber(candidate.thread);
        let awaited = fiber.waits_for().and_then(Waitable::holder);
        candidate.op.kind == EventKind::Join
            && fiber.until.get().is_none()
            && awaited.is_some_and(|awaited| self.fiber(awaited).done.get())
            && !crate::cancel::is_due(fiber)
    }

    /// Hands control to another thread and returns when it is handed back.
    pub fn go(&self, next: ThreadId, reason: SwitchReason) {
        let from = self.current();
        self.hand_over(from, from, next, reason);
    }

    /// The same where a handler may just have ended, `from`, on the stack of `here`.
    pub(crate) fn hand_over(
        &self,
        from: &'static Fiber,
        here: &'static Fiber,
        next: ThreadId,
        reason: SwitchReason,
    ) {
        let interrupted = signals::deliver::interrupted_by(self, next);
        self.recorder.note_switch(from, next, reason);
        // A handler begins where the thread that it interrupts is stopped.
        let to = interrupted.unwrap_or_else(|| self.fiber(next));
        if interrupted.is_some() {
            to.to_deliver.set(Some(next));
        }
        self.become_current(to);
        nothing_is_borrowed();
        if to.id != here.id {
            if self.os_threads.get() {
                let has_ended = reason == SwitchReason::Ended && here.id == from.id;
                threads::pass_baton(here, to, has_ended);
            } else {
                // SAFETY: `to` was saved by an earlier switch or prepared as a new stack.
                unsafe { arch::switch(here.sp.as_ptr(), to.sp.get(), to.thread_pointer.get()) };
            }
        }
        signals::deliver::deliver_at(self, here);
    }

    /// From now on this thread runs.
    #[inline]
    pub(crate) fn become_current(&self, fiber: &'static Fiber) {
        self.set_current(fiber);
        engine::note_watched(fiber);
        engine::note_running(fiber);
        self.update_stop();
    }

    /// The running thread has ended: others run from now on.
    pub fn leave_for_good(&self) -> ! {
        let fiber = self.current();
        self.recorder.complete_write();
        guarding_locks::does_not_wait(fiber);
        crate::call_profile::end(Some(fiber.id));
        fiber.done.set(true);
        self.count_progress();
        self.threads.end(fiber.id);
        signals::deliver::thread_ended(fiber.id);
        fiber.comes_to_its_end();
        let next = match fiber.starting.take() {
            Some(creator) => creator,
            None => self.decide(),
        };
        self.go(next, SwitchReason::Ended);
        sys::die("a thread that had ended was run again")
    }

    /// In a replay, decides at the point after a thread's creation; otherwise runs the new thread
    /// up to its first visible operation, so that policies always know what comes next.
    pub fn run_new_thread(&self, new: ThreadId) {
        let fiber = self.current();
        fiber.count_operation();
        fiber.pending.set(Op {
            kind: EventKind::Create,
            index: fiber.ops.get(),
            object: 0,
            size: 0,
            site: fiber.site(),
            place: 0,
        });
        self.fiber(new).waiting.begin(self.shared.control().steps);
        if self.policy.borrow_mut().forces_switches() {
            let next = self.decide();
            if next != fiber.id {
                self.go(next, SwitchReason::Chosen);
            }
            return;
        }
        self.fiber(new).starting.set(Some(fiber.id));
        self.go(new, SwitchReason::Starting);
    }

    /// The running thread gave back what others may try to take. By itself that brings the thread no
    /// further: it may take, look and give back for ever.
    pub fn released(&self) {
        self.count_progress();
        self.spin_detector.note_progress();
    }

    /// The running thread changed something that others may wait for.
    #[inline(always)]
    pub fn changed(&self) {
        self.count_progress();
        self.spin_detector.note_progress();
        self.current().changed_something();
    }

    /// Says at which operation the running thread has to come here although it may be private:
    /// where a replay wants to decide, or where a probe is due.
    pub fn update_stop(&self) {
        const DENSE_STEPS: u64 = 256;
        let fiber = self.current();
        if self.spin_detector.is_looking() {
            fiber.stop_at.set(fiber.ops.get().saturating_add(1));
            return;
        }
        fiber.stop_at.set(match &mut *self.probe.borrow_mut() {
            Some(rng) => {
                let gap = 1 + rng.below(1 + self.shared.control().steps / DENSE_STEPS);
                fiber.ops.get().saturating_add(gap as u32)
            }
            None => {
                // The stop is only looked for by its number: one that the thread has gone past would never come.
                let listed =
                    self.policy.borrow_mut().stop_before(fiber.id).filter(|stop| *stop > fiber.ops.get());
                let has_switches_left = self.policy.borrow_mut().has_switches_left();
                let stretch = fiber.ops.get().saturating_add(fiber.private_stretch.limit(has_switches_left));
                listed.map_or(stretch, |stop| stop.min(stretch))
            }
        });
    }

    /// Whether the running thread stops at a private access only because it made so many of them.
    pub fn is_in_private_stretch(&self) -> bool {
        let fiber = self.current();
        self.spin_detector.is_looking()
            || (self.probe.borrow_mut().is_none()
                && self.policy.borrow_mut().stop_before(fiber.id) != Some(fiber.ops.get()))
    }

    /// Lets others run before a private access; says whether one did. This is no step: a program
    /// that makes no other is still seen to make no progress.
    pub fn yield_to_others(&self, op: Op) -> bool {
        let fiber = self.current();
        let stretch = &fiber.private_stretch;
        fiber.pending.set(op);
        self.recorder.complete_write();
        let switches = self.shared.control().switches;
        if !self.looks_on() {
            stretch.look_at(ThreadState::of(fiber));
            if stretch.is_led(self.policy.borrow_mut().has_switches_left()) {
                self.update_stop();
                return false;
            }
            stretch.note_yield();
            fiber.yielded_at.set(Some(self.progress.get()));
            self.world.checkpoints.borrow_mut().leave_no_more();
            if stretch.yields_often() {
                self.policy.borrow_mut().yielded(fiber.id);
            }
            self.reschedule();
        }
        self.update_stop();
        switches != self.shared.control().switches
    }

    /// The running thread is about to make an operation. True if it shall make it, without a decision, because
    /// threads are being looked at, one after the other.
    #[inline(always)]
    fn looks_on(&self) -> bool {
        self.spin_detector.is_looking() && self.look_on()
    }

    #[cold]
    fn look_on(&self) -> bool {
        let Some(next) = self.spin_detector.look_on(self) else { return false };
        if next != self.current_id() {
            self.go(next, SwitchReason::Yielded);
        }
        true
    }

    /// Whether the running thread's operation, announced at `pc`, is passed over: the code that makes it is taken in one piece.
    #[inline(always)]
    pub fn passes_over(&self, pc: u64) -> bool {
        self.world.whole_code.borrow_mut().is_known() && self.is_in_whole_code(pc)
    }

    /// Whether the interposed function was called by the C library itself: that may hold a lock of its own, for which whoever came next
    /// would wait unseen. So no thread is switched there.
    pub fn is_inside_c_library(&self) -> bool {
        let is_inside = self.world.libraries().is_in_c_library(crate::arch::caller());
        if is_inside && self.current().is_stop_due() {
            self.update_stop();
        }
        is_inside
    }

    fn is_in_whole_code(&self, pc: u64) -> bool {
        let fiber = self.current();
        let passes = self.world.whole_code.borrow_mut().made(std::iter::once(pc).chain(fiber.call_stack()));
        if passes && fiber.is_stop_due() {
            self.update_stop();
        }
        passes
    }
}

/// Notes plain accesses that race: both are possible now. Nothing orders them, so on a machine they need not be sequentially consistent.
fn note_races(candidates: &[Candidate<'_>]) {
    let is_plain = |op: &Op| matches!(op.kind, kinds!(plain));
    for (place, one) in candidates.iter().enumerate().filter(|(_, it)| is_plain(it.op)) {
        for other in candidates.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, it)| it.op) {
            let accesses = other.kind.accesses_memory();
            let meets = one.op.object < other.object + u64::from(other.size)
                && other.object < one.op.object + u64::from(one.op.size);
            if accesses && meets && (one.op.kind.writes() || other.kind.writes()) {
                crate::dependences::note_weak_order(one.op.site);
            }
        }
    }
}
