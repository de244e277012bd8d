//! Futures: ways that a trace might go on.

use std::collections::VecDeque;

use threadbare_sched::Rng;
use threadbare_target::Execution;
use threadbare_trace::{Event, EventKind, Outcome, ThreadId};
use threadbare_wire::OfferRecord;

use super::next_steps::{Foreseen, NextSteps};
use super::novelty::{Seen, Taste};
use super::partial_trace::PartialTrace;

/// The most steps that a future is long.
const LONGEST: usize = 1000;

/// How much likelier one thread may be to go on than another: two to the power of this, squared.
const SPREAD: u64 = 5;

/// What executions so far have taught.
#[derive(Default)]
pub(in crate::strategies::ars) struct Foresight {
    habits: NextSteps,
    seen: Seen,
    /// Deadlocks that were foreseen and did not come.
    false_alarms: u32,
}

/// A way that a trace might go on.
#[derive(Default)]
pub(in crate::strategies::ars) struct Future {
    /// Its steps, as far as they can be foreseen.
    pub steps: VecDeque<Foreseen>,
    /// What all is worth that the trace will have shown then.
    pub worth: f64,
    /// Everybody will wait for somebody else.
    pub is_stuck: bool,
}

/// How threads take turns in a future. Kinds of futures differ in that, so that some are rare in none of them.
struct Gait {
    /// How likely each thread is to go on.
    weights: Vec<u64>,
    spread: u64,
    /// How many times in a hundred the same thread goes on.
    stays: u64,
}

impl Gait {
    fn draw(rng: &mut Rng) -> Gait {
        let (spread, stays) = match rng.below(3) {
            0 => (0, 0),
            1 => (SPREAD, 0),
            _ => (0, [50, 80, 95][rng.below(3) as usize]),
        };
        Gait { weights: Vec::new(), spread, stays }
    }

    fn weight(&mut self, thread: ThreadId, rng: &mut Rng) -> u64 {
        while self.weights.len() <= thread.index() {
            self.weights.push(1 << (2 * rng.below(self.spread + 1)));
        }
        self.weights[thread.index()]
    }
}

impl Foresight {
    /// Takes in an event of a trace.
    pub fn learn(&mut self, trail: &mut PartialTrace, event: &Event, taste: &Taste) {
        self.habits.learn(&trail.world, event);
        trail.observe(event, &self.seen, taste);
    }

    /// Takes in what threads are about to do.
    pub fn expect(&mut self, trail: &mut PartialTrace, offers: &[OfferRecord]) {
        offers.iter().for_each(|offer| trail.world.meet(offer.thread));
        offers.iter().for_each(|offer| self.habits.expect(&trail.world, offer));
    }

    /// Takes in how a trace ended; a deadlock may have been foreseen.
    pub fn end(&mut self, trail: &PartialTrace, run: &Execution, was_alarmed: bool) {
        if matches!(run.outcome, Outcome::Uncontrolled(_)) {
            return;
        }
        // One that failed counts too, in case the search goes on: it shall find another failure.
        self.seen.add(trail.gains());
        if let (Outcome::Passed, Some(last)) = (&run.outcome, trail.last()) {
            self.habits.end(&trail.world, last);
            self.false_alarms += u32::from(was_alarmed);
        }
    }

    /// More happens at once than was known: steps mean something else from now on.
    pub fn forget_habits(&mut self) {
        self.habits = NextSteps::default();
    }

    /// Draws a future.
    pub fn imagine(&self, from: &PartialTrace, taste: &Taste, rng: &mut Rng) -> Future {
        let mut trail = from.clone();
        let mut future = Future::default();
        let mut gait = Gait::draw(rng);
        while future.steps.len() < LONGEST {
            let Some(step) = self.draw_step(&trail, &mut gait, future.steps.back(), rng) else {
                future.is_stuck = self.is_stuck(&trail);
                break;
            };
            trail.observe(&step.event, &self.seen, taste);
            future.steps.push_back(step);
            self.follow_up(&mut trail, &step.event);
            if self.habits.ends(&trail.world, &step) {
                break;
            }
        }
        let alarm = if future.is_stuck { 1.0 / f64::from(self.false_alarms + 2) } else { 0.0 };
        future.worth = trail.gains().worth() + alarm;
        future
    }

    /// Who goes on, by lot among those of whom it is known that they can.
    fn draw_step(
        &self,
        trail: &PartialTrace,
        gait: &mut Gait,
        last: Option<&Foreseen>,
        rng: &mut Rng,
    ) -> Option<Foreseen> {
        if let Some(last) = last
            && rng.below(100) < gait.stays
            && let Some(step) = self.step(trail, last.event.thread)
        {
            return Some(step);
        }
        let mut lots: Vec<(u64, ThreadId)> =
            trail.world.alive().map(|thread| (gait.weight(thread, rng), thread)).collect();
        let mut total: u64 = lots.iter().map(|(weight, _)| weight).sum();
        while total > 0 {
            let mut lot = rng.below(total);
            let place = lots.iter().position(|(weight, _)| match lot.checked_sub(*weight) {
                Some(rest) => {
                    lot = rest;
                    false
                }
                None => true,
            })?;
            let (weight, thread) = lots.swap_remove(place);
            total -= weight;
            if let Some(step) = self.step(trail, thread) {
                return Some(step);
            }
        }
        None
    }

    fn step(&self, trail: &PartialTrace, thread: ThreadId) -> Option<Foreseen> {
        self.habits.foresee(&trail.world, thread).filter(|step| trail.world.lets(&step.event))
    }

    /// What a step brings about at once: a new thread begins, a thread that has made its last step ends.
    fn follow_up(&self, trail: &mut PartialTrace, event: &Event) {
        let mut follow = |thread: ThreadId, kind: EventKind| {
            if let Some(next) = self.habits.foresee(&trail.world, thread)
                && next.event.kind() == Some(kind)
            {
                trail.world.observe(&next.event);
            }
        };
        if event.kind() == Some(EventKind::Create) {
            follow(ThreadId(event.value as u16), EventKind::Start);
        }
        follow(event.thread, EventKind::Exit);
    }

    /// Whether everybody is known to wait.
    fn is_stuck(&self, trail: &PartialTrace) -> bool {
        let mut alive = trail.world.alive().peekable();
        alive.peek().is_some() && alive.all(|thread| self.habits.foresee(&trail.world, thread).is_some())
    }
}
