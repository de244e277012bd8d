//! Futures: predicted continuations of a trace.

use std::collections::VecDeque;

use threadbare_sched::Rng;
use threadbare_target::Execution;
use threadbare_trace::{Event, EventKind, Outcome, ThreadId};
use threadbare_wire::OfferRecord;

use super::next_steps::{NextSteps, PredictedStep};
use super::novelty::{NoveltyWeights, SeenFeatures};
use super::partial_trace::PartialTrace;

/// The most steps of a future.
const LONGEST: usize = 1000;

/// How much likelier one thread may be to be picked than another: two to the power of this, squared.
const SPREAD: u64 = 5;

/// What was learned from the executions so far.
#[derive(Default)]
pub(in crate::strategies::ars) struct Foresight {
    next_steps: NextSteps,
    seen: SeenFeatures,
    /// Deadlocks that were predicted and did not occur.
    false_deadlocks: u32,
}

/// A predicted continuation of a trace.
#[derive(Default)]
pub(in crate::strategies::ars) struct Future {
    /// Its steps, as far as they can be predicted.
    pub steps: VecDeque<PredictedStep>,
    /// The worth of all that the trace will have shown then.
    pub worth: f64,
    /// It ends in a deadlock.
    pub is_deadlock: bool,
}

/// How the next thread of a future is picked. Futures differ in that, so that no interleaving is rare in all of them.
struct ThreadPicker {
    /// How likely each thread is to be picked.
    weights: Vec<u64>,
    spread: u64,
    /// How many times in a hundred the same thread is picked again.
    stays: u64,
}

impl ThreadPicker {
    fn draw(rng: &mut Rng) -> ThreadPicker {
        let (spread, stays) = match rng.below(3) {
            0 => (0, 0),
            1 => (SPREAD, 0),
            _ => (0, [50, 80, 95][rng.below(3) as usize]),
        };
        ThreadPicker { weights: Vec::new(), spread, stays }
    }

    fn weight(&mut self, thread: ThreadId, rng: &mut Rng) -> u64 {
        while self.weights.len() <= thread.index() {
            self.weights.push(1 << (2 * rng.below(self.spread + 1)));
        }
        self.weights[thread.index()]
    }
}

impl Foresight {
    /// Records an event of a trace.
    pub fn learn(&mut self, trace: &mut PartialTrace, event: &Event, weights: &NoveltyWeights) {
        self.next_steps.learn(&trace.state, event);
        trace.observe(event, &self.seen, weights);
    }

    /// Records what threads are about to do.
    pub fn expect(&mut self, trace: &mut PartialTrace, offers: &[OfferRecord]) {
        offers.iter().for_each(|offer| trace.state.add_thread(offer.thread));
        offers.iter().for_each(|offer| self.next_steps.expect(&trace.state, offer));
    }

    /// Records how a trace ended; a deadlock may have been predicted.
    pub fn end(&mut self, trace: &PartialTrace, run: &Execution, expected_deadlock: bool) {
        if matches!(run.outcome, Outcome::Uncontrolled(_)) {
            return;
        }
        // One that failed counts too, in case the search continues: it shall find another failure.
        self.seen.add(trace.gains());
        if let (Outcome::Passed, Some(last)) = (&run.outcome, trace.last()) {
            self.next_steps.end(&trace.state, last);
            self.false_deadlocks += u32::from(expected_deadlock);
        }
    }

    /// There are more scheduling points than before: what follows a history is to be learned anew.
    pub fn forget_next_steps(&mut self) {
        self.next_steps = NextSteps::default();
    }

    /// Draws a future.
    pub fn draw_future(&self, from: &PartialTrace, weights: &NoveltyWeights, rng: &mut Rng) -> Future {
        let mut trace = from.clone();
        let mut future = Future::default();
        let mut picker = ThreadPicker::draw(rng);
        while future.steps.len() < LONGEST {
            let Some(step) = self.draw_step(&trace, &mut picker, future.steps.back(), rng) else {
                future.is_deadlock = self.is_deadlocked(&trace);
                break;
            };
            trace.observe(&step.event, &self.seen, weights);
            future.steps.push_back(step);
            self.follow_up(&mut trace, &step.event);
            if self.next_steps.ends(&trace.state, &step) {
                break;
            }
        }
        let deadlock_worth = if future.is_deadlock { 1.0 / f64::from(self.false_deadlocks + 2) } else { 0.0 };
        future.worth = trace.gains().worth() + deadlock_worth;
        future
    }

    /// The next step, of a thread picked at random among those that are known to be enabled.
    fn draw_step(
        &self,
        trace: &PartialTrace,
        picker: &mut ThreadPicker,
        last: Option<&PredictedStep>,
        rng: &mut Rng,
    ) -> Option<PredictedStep> {
        if let Some(last) = last
            && rng.below(100) < picker.stays
            && let Some(step) = self.step(trace, last.event.thread)
        {
            return Some(step);
        }
        let mut candidates: Vec<(u64, ThreadId)> =
            trace.state.alive().map(|thread| (picker.weight(thread, rng), thread)).collect();
        let mut total: u64 = candidates.iter().map(|(weight, _)| weight).sum();
        while total > 0 {
            let mut draw = rng.below(total);
            let place = candidates.iter().position(|(weight, _)| match draw.checked_sub(*weight) {
                Some(rest) => {
                    draw = rest;
                    false
                }
                None => true,
            })?;
            let (weight, thread) = candidates.swap_remove(place);
            total -= weight;
            if let Some(step) = self.step(trace, thread) {
                return Some(step);
            }
        }
        None
    }

    fn step(&self, trace: &PartialTrace, thread: ThreadId) -> Option<PredictedStep> {
        self.next_steps.predict(&trace.state, thread).filter(|step| trace.state.is_enabled(&step.event))
    }

    /// What a step brings about at once: a new thread begins, a thread that has made its last step ends.
    fn follow_up(&self, trace: &mut PartialTrace, event: &Event) {
        let mut follow = |thread: ThreadId, kind: EventKind| {
            if let Some(next) = self.next_steps.predict(&trace.state, thread)
                && next.event.kind() == Some(kind)
            {
                trace.state.observe(&next.event);
            }
        };
        if event.kind() == Some(EventKind::Create) {
            follow(ThreadId(event.value as u16), EventKind::Start);
        }
        follow(event.thread, EventKind::Exit);
    }

    /// Whether all threads are known to be blocked.
    fn is_deadlocked(&self, trace: &PartialTrace) -> bool {
        let mut alive = trace.state.alive().peekable();
        alive.peek().is_some() && alive.all(|thread| self.next_steps.predict(&trace.state, thread).is_some())
    }
}
