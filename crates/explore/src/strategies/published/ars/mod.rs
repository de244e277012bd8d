//! Adaptive randomized scheduling as it was published (Algorithm 1 of the paper): a queue of sub-traces, the farthest of
//! which is extended.
//!
//! The first execution is a random one. Then each iteration grows sub-traces from the first decision on: of those at hand
//! it takes the farthest, makes one step with every runnable thread, and keeps the `width` farthest of what it then
//! has. When none is left, the traces that ended and passed join those that passed before.

mod passed;
mod subtrace;

use std::collections::VecDeque;

use threadbare_patterns::PatternSet;
use threadbare_sched::{Random, Rng};
use threadbare_target::{Execution, Stop};
use threadbare_trace::{Event, Outcome};
use threadbare_wire::{LearnedRecord, flags};

use self::passed::Passed;
use self::subtrace::{Decision, Growth, Rank, SubTrace};
use crate::error::ExploreError;
use crate::search::{Search, Steer};
use crate::strategies::ars::{Adaptive, Arrival, Navigator, NavigatorState, Paths, Since, Style};
use crate::strategy::Plan;

/// The state of the search.
pub(in crate::strategies) struct Beam {
    style: Style,
    seed: u64,
    rng: Rng,
    passed: Passed,
    /// The patterns of the traces that ended in this iteration; they count from the next one on.
    fresh: Vec<PatternSet>,
    paths: Paths,
    queue: Vec<SubTrace>,
    /// The first decision of the program, where every iteration begins.
    first: Option<Decision>,
    events_before_first: usize,
    navigator: NavigatorState,
    begun: bool,
    /// Executions that ended and were not asked for yet.
    ended: VecDeque<Execution>,
    discovered: Vec<LearnedRecord>,
}

impl Beam {
    pub fn new(seed: u64, style: Style) -> Beam {
        Beam {
            style,
            seed,
            rng: Rng::new(Rng::derive(seed, 0)),
            passed: Passed::default(),
            fresh: Vec::new(),
            paths: Paths::new(),
            queue: Vec::new(),
            first: None,
            events_before_first: 0,
            navigator: NavigatorState::new(seed, style.always_from_start),
            begun: false,
            ended: VecDeque::new(),
            discovered: Vec::new(),
        }
    }

    fn navigator<'a>(&'a mut self, steer: &'a mut dyn Steer) -> Navigator<'a> {
        Navigator { steer, state: &mut self.navigator }
    }

    /// Line 3 of the algorithm.
    fn run_randomly(&mut self, steer: &mut dyn Steer) -> Result<(), ExploreError> {
        let mut plan = Plan::new(Random, Rng::derive(self.seed, 1), self.style.name);
        plan.flags = if self.style.probes { flags::PROBE } else { 0 };
        plan.profile = true;
        let run = self.navigator(steer).run(&plan)?;
        let growth = Growth::start(&self.passed).with(&run.events, &self.passed);
        self.fresh.push(growth.patterns().clone());
        self.ended.push_back(run);
        Ok(())
    }

    /// Lines 12 to 16: every iteration begins at the first decision.
    fn begin_iteration(&mut self, steer: &mut dyn Steer) -> Result<(), ExploreError> {
        for patterns in self.fresh.drain(..) {
            self.passed.add(patterns.iter());
        }
        self.paths = Paths::new();
        let is_there = self.navigator(steer).knows_first();
        let first = match self.first.take().filter(|_| is_there) {
            Some(first) => Decision { growth: first.growth.afresh(&self.passed), ..first },
            None => {
                let arrival = self.navigator(steer).go_to_first()?;
                let growth = Growth::start(&self.passed);
                // Without a decision there is only this one execution.
                let Some(first) = self.arrive(steer, Paths::START, &growth, arrival)? else { return Ok(()) };
                self.events_before_first = first.growth.events();
                first
            }
        };
        self.expand(steer, &first)?;
        self.first = Some(first);
        Ok(())
    }

    /// Lines 20 to 24: a sub-trace is extended by one step of each enabled thread.
    fn advance(&mut self, steer: &mut dyn Steer, from: &Decision) -> Result<(), ExploreError> {
        self.expand(steer, from)?;
        self.navigator(steer).discard(from.copy);
        Ok(())
    }

    /// Enters all traces that are one step longer into the queue.
    fn expand(&mut self, steer: &mut dyn Steer, from: &Decision) -> Result<(), ExploreError> {
        for offer in &from.offers {
            let path = self.paths.extend(from.copy.path, offer.thread);
            let navigator = &mut Navigator { steer, state: &mut self.navigator };
            let arrival = navigator.look_ahead(from.copy, &self.paths, path)?;
            match self.arrive(steer, path, &from.growth, arrival)? {
                Some(decision) => {
                    let rank = Rank { distance: decision.growth.distance(), tie: self.rng.next_u64() };
                    self.enqueue(steer, SubTrace { decision, rank });
                }
                None if self.has_failed() => return Ok(()),
                None => {}
            }
        }
        Ok(())
    }

    /// Adds a sub-trace and drops the nearest if there are too many (lines 18, 19 and 24).
    fn enqueue(&mut self, steer: &mut dyn Steer, subtrace: SubTrace) {
        self.queue.push(subtrace);
        if self.queue.len() <= self.style.width {
            return;
        }
        if let Some((place, _)) = self.queue.iter().enumerate().min_by_key(|(_, it)| it.rank) {
            let dropped = self.queue.swap_remove(place);
            self.navigator(steer).discard(dropped.decision.copy);
        }
    }

    /// Records where a step has led to: a decision, or the end of the trace.
    fn arrive(
        &mut self,
        steer: &mut dyn Steer,
        path: usize,
        before: &Growth,
        arrival: Arrival,
    ) -> Result<Option<Decision>, ExploreError> {
        // The events of the trace so far are reported again, unless a copy has continued from there.
        let known = match arrival.since {
            Since::Start => before.events(),
            Since::First => before.events() - self.events_before_first,
            Since::Before => 0,
        };
        let grown = |events: &[Event]| before.with(events.get(known..).unwrap_or_default(), &self.passed);
        match arrival.stop {
            Stop::Paused(pause) => {
                self.discovered.extend(&pause.discovered);
                let growth = grown(&pause.events);
                let copy = self.navigator(steer).stopped_copy(path, pause.snapshot);
                Ok(Some(Decision { copy, offers: pause.offers, growth }))
            }
            Stop::Ended(run) => {
                let growth = grown(&run.events);
                self.end(steer, path, &growth, *run)?;
                Ok(None)
            }
            Stop::Refused(reason) => Err(ExploreError::Uncontrolled(reason)),
        }
    }

    /// A trace is complete.
    fn end(
        &mut self,
        steer: &mut dyn Steer,
        path: usize,
        growth: &Growth,
        run: Execution,
    ) -> Result<(), ExploreError> {
        // One that failed counts too, in case the search continues: it shall find another failure.
        if !matches!(run.outcome, Outcome::Uncontrolled(_)) {
            self.fresh.push(growth.patterns().clone());
        }
        if run.outcome.failure().is_some() {
            // The iteration ends with it.
            self.queue.clear();
        }
        let (name, choices) = (self.style.name, self.paths.choices(path));
        let mut run = self.navigator(steer).in_full(name, choices, run)?;
        run.discovered.append(&mut self.discovered);
        self.ended.push_back(run);
        Ok(())
    }

    fn has_failed(&self) -> bool {
        self.ended.back().is_some_and(|run| run.outcome.failure().is_some())
    }

    fn farthest(&mut self) -> Option<Decision> {
        let (place, _) = self.queue.iter().enumerate().max_by_key(|(_, it)| it.rank)?;
        Some(self.queue.swap_remove(place).decision)
    }
}

impl Adaptive for Beam {
    fn decisions_changed(&mut self) {
        self.queue.clear();
        self.first = None;
    }

    fn navigator_state(&self) -> &NavigatorState {
        &self.navigator
    }
}

impl Search for Beam {
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
            if !self.begun {
                self.begun = true;
                self.run_randomly(steer)?;
            } else if let Some(decision) = self.farthest() {
                self.advance(steer, &decision)?;
            } else {
                self.begin_iteration(steer)?;
            }
        }
    }
}
