//! The search of `ars`: one trace at a time grows step by step, towards the future that is worth most.
//!
//! At a decision for which it has no plan, it draws some futures from what it has learned of the
//! program's threads, and takes the one that is worth most. It follows that one until something comes that
//! nobody has seen, and then draws again. In the first execution, of which little can be predicted, a thread that is
//! about to read what another thread has just written is scheduled first.

use std::collections::VecDeque;

use threadbare_sched::Rng;
use threadbare_target::{Execution, Stop};
use threadbare_trace::{Event, ThreadId};
use threadbare_wire::{LearnedRecord, OfferRecord};

use super::foresight::{Foresight, Future, NoveltyWeights, PartialTrace, PredictedStep, is_step};
use super::navigator::{Arrival, Navigator, NavigatorState, Since, StoppedCopy};
use super::paths::Paths;
use super::unread_writes::UnreadWrites;
use super::{Adaptive, Style};
use crate::error::ExploreError;
use crate::search::{Search, Steer};
use crate::strategy::Plan;

/// Futures that are drawn at once, for each sub-trace of the width.
const FUTURES: usize = 4;

/// Steps that may be predicted in a short execution, whatever it does. Predicting a step takes one or two
/// microseconds, making one about ten.
const MOST_FREE_PREDICTIONS: usize = 30_000;

/// Steps that may be predicted in a long one. There the futures are long, so it is few of them either way.
const LEAST_FREE_PREDICTIONS: usize = 4_000;

/// The product of the predicted steps that are free and the events of an execution, in between.
const PREDICTIONS_TIMES_EVENTS: usize = 2_500_000;

/// Steps that may be predicted for each one that is made.
const PREDICTIONS_PER_STEP: usize = 8;

/// A trace that has come to a decision.
struct ReachedDecision {
    copy: StoppedCopy,
    offers: Vec<OfferRecord>,
    trace: PartialTrace,
}

/// The state of the search.
pub(in crate::strategies) struct Walk {
    style: Style,
    seed: u64,
    rng: Rng,
    foresight: Foresight,
    weights: NoveltyWeights,
    /// What threads have written and others have not read, as long as no execution has ended.
    unread: Option<UnreadWrites>,
    paths: Paths,
    here: Option<ReachedDecision>,
    /// The first decision of the program, where every execution begins.
    first: Option<(Vec<OfferRecord>, PartialTrace)>,
    navigator: NavigatorState,
    /// The steps to be made next.
    plan: VecDeque<PredictedStep>,
    /// More has been seen than when the plan was made.
    is_outdated: bool,
    /// A plan of this execution was predicted to end in a deadlock.
    expects_deadlock: bool,
    /// Steps that may still be predicted.
    predictions: usize,
    /// How many events the longest execution had.
    longest: usize,
    begun: bool,
    ended: VecDeque<Execution>,
    discovered: Vec<LearnedRecord>,
}

impl Walk {
    pub fn new(seed: u64, style: Style) -> Walk {
        Walk {
            style,
            seed,
            rng: Rng::new(Rng::derive(seed, 0)),
            foresight: Foresight::default(),
            weights: NoveltyWeights { again: 0.0, pattern: 1.0 },
            unread: Some(UnreadWrites::default()),
            paths: Paths::new(),
            here: None,
            first: None,
            navigator: NavigatorState::new(seed, style.always_from_start),
            plan: VecDeque::new(),
            is_outdated: false,
            expects_deadlock: false,
            predictions: 0,
            longest: 0,
            begun: false,
            ended: VecDeque::new(),
            discovered: Vec::new(),
        }
    }

    fn navigator<'a>(&'a mut self, steer: &'a mut dyn Steer) -> Navigator<'a> {
        Navigator { steer, state: &mut self.navigator }
    }

    /// Finds out what is shared.
    fn run_randomly(&mut self, steer: &mut dyn Steer) -> Result<(), ExploreError> {
        let mut plan = Plan::probe(Rng::derive(self.seed, 1), self.style.name);
        plan.profile = true;
        let run = self.navigator(steer).run(&plan)?;
        let mut trace = PartialTrace::default();
        self.record(&mut trace, &run.events);
        self.end(&trace, &run);
        self.ended.push_back(run);
        Ok(())
    }

    fn begin(&mut self, steer: &mut dyn Steer) -> Result<(), ExploreError> {
        self.paths = Paths::new();
        self.plan.clear();
        self.expects_deadlock = false;
        self.predictions = (PREDICTIONS_TIMES_EVENTS / self.longest.max(1))
            .clamp(LEAST_FREE_PREDICTIONS, MOST_FREE_PREDICTIONS);
        // No weights are the best for every program, so every execution draws its own.
        let again = if self.rng.below(2) == 0 { 0.0 } else { 1.0 };
        let pattern = if self.rng.below(7) == 0 { 0.0 } else { 1.0 };
        self.weights = NoveltyWeights { again, pattern };
        let is_there = self.navigator(steer).knows_first();
        if let (true, Some(copy), Some((offers, trace))) = (is_there, self.navigator.first(), &self.first) {
            self.here = Some(ReachedDecision { copy, offers: offers.clone(), trace: trace.clone() });
            return Ok(());
        }
        let arrival = self.navigator(steer).go_to_first()?;
        self.arrive(steer, Paths::START, PartialTrace::default(), arrival)?;
        self.first = self.here.as_ref().map(|here| (here.offers.clone(), here.trace.clone()));
        Ok(())
    }

    fn advance(&mut self, steer: &mut dyn Steer, mut here: ReachedDecision) -> Result<(), ExploreError> {
        self.predictions += PREDICTIONS_PER_STEP;
        let thread = self.choose(&mut here);
        let path = self.paths.extend(here.copy.path, thread);
        let arrival = Navigator { steer, state: &mut self.navigator }.reach(&self.paths, path)?;
        self.arrive(steer, path, here.trace, arrival)
    }

    fn choose(&mut self, here: &mut ReachedDecision) -> ThreadId {
        self.foresight.expect(&mut here.trace, &here.offers);
        if let Some(thread) =
            self.unread.as_ref().and_then(|unread| unread.reader(&here.offers, &mut self.rng))
        {
            return thread;
        }
        let offered = |plan: &VecDeque<PredictedStep>| {
            let thread = plan.front()?.event.thread;
            here.offers.iter().map(|offer| offer.thread).find(|it| *it == thread)
        };
        if self.is_outdated || offered(&self.plan).is_none() {
            self.plan_ahead(here);
        }
        offered(&self.plan).unwrap_or_else(|| {
            self.plan.clear();
            here.offers[self.rng.below(here.offers.len() as u64) as usize].thread
        })
    }

    /// Makes a plan, if steps may still be predicted.
    fn plan_ahead(&mut self, here: &ReachedDecision) {
        let mut best: Option<Future> = None;
        for _ in 0..FUTURES * self.style.width {
            if self.predictions == 0 {
                break;
            }
            let future = self.foresight.draw_future(&here.trace, &self.weights, &mut self.rng);
            self.predictions = self.predictions.saturating_sub(future.steps.len() + 1);
            if best.as_ref().is_none_or(|best| future.worth > best.worth) {
                best = Some(future);
            }
        }
        if let Some(best) = best {
            self.plan = best.steps;
            self.expects_deadlock |= best.is_deadlock;
            self.is_outdated = false;
        }
    }

    /// Records what has happened, and whether it was planned.
    fn record(&mut self, trace: &mut PartialTrace, events: &[Event]) {
        for event in events {
            self.foresight.learn(trace, event, &self.weights);
            self.unread.iter_mut().for_each(|unread| unread.observe(event));
            if !event.kind().is_some_and(is_step) {
                continue;
            }
            match self.plan.pop_front() {
                Some(planned) if planned.is(event) => self.is_outdated |= !planned.is_known,
                _ => self.plan.clear(),
            }
        }
    }

    /// Records how a trace has ended.
    fn end(&mut self, trace: &PartialTrace, run: &Execution) {
        self.unread = None;
        self.longest = self.longest.max(trace.events());
        self.foresight.end(trace, run, self.expects_deadlock);
    }

    /// Records where a step has led to: a decision, or the end of the trace.
    fn arrive(
        &mut self,
        steer: &mut dyn Steer,
        path: usize,
        mut trace: PartialTrace,
        arrival: Arrival,
    ) -> Result<(), ExploreError> {
        // The events of the trace so far are reported again, unless a copy has continued from there.
        let known = match arrival.since {
            Since::Start => trace.events(),
            Since::First => trace.events() - self.first.as_ref().map_or(0, |(_, trace)| trace.events()),
            Since::Before => 0,
        };
        match arrival.stop {
            Stop::Paused(pause) => {
                self.discovered.extend(&pause.discovered);
                self.record(&mut trace, pause.events.get(known..).unwrap_or_default());
                let copy = self.navigator(steer).stopped_copy(path, pause.snapshot);
                if path != Paths::START {
                    self.navigator(steer).stay_at(copy);
                }
                self.here = Some(ReachedDecision { copy, offers: pause.offers, trace });
            }
            Stop::Ended(run) => {
                self.record(&mut trace, run.events.get(known..).unwrap_or_default());
                self.end(&trace, &run);
                let choices = self.paths.choices(path);
                let name = self.style.name;
                let mut run = self.navigator(steer).in_full(name, choices, *run)?;
                run.discovered.append(&mut self.discovered);
                self.ended.push_back(run);
            }
            Stop::Refused(reason) => return Err(ExploreError::Uncontrolled(reason)),
        }
        Ok(())
    }
}

impl Adaptive for Walk {
    fn decisions_changed(&mut self) {
        self.here = None;
        self.first = None;
        self.foresight.forget_next_steps();
    }

    fn navigator_state(&self) -> &NavigatorState {
        &self.navigator
    }
}

impl Search for Walk {
    fn next(
        &mut self,
        steer: &mut dyn Steer,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Execution>, ExploreError> {
        loop {
            if let Some(run) = self.ended.pop_front() {
                return Ok(Some(run));
            }
            if self.begun && stop() {
                return Ok(None);
            }
            if !self.begun && self.style.probes {
                self.run_randomly(steer)?;
            } else if let Some(here) = self.here.take() {
                self.advance(steer, here)?;
            } else {
                self.begin(steer)?;
            }
            self.begun = true;
        }
    }
}
