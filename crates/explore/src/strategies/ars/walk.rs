//! The search of `ars`: one trace at a time grows step by step, towards the future that promises most.
//!
//! At a decision where it does not know how to go on, it draws some futures from what it has learned of the
//! program's threads, and takes the one that is worth most. It follows that one until something comes that
//! nobody has seen, and then thinks again. In the first execution, of which little can be foreseen, whoever is
//! about to read what another thread has just written goes first.

use std::collections::VecDeque;

use threadbare_sched::Rng;
use threadbare_target::{Execution, Stop};
use threadbare_trace::{Event, EventKind, ThreadId};
use threadbare_wire::{LearnedRecord, OfferRecord};

use super::foresight::{Foreseen, Foresight, Future, PartialTrace, Taste};
use super::navigator::{Arrival, Navigator, Since, State, StoppedCopy};
use super::paths::Paths;
use super::unread_writes::UnreadWrites;
use super::{Adaptive, Style};
use crate::error::ExploreError;
use crate::search::{Search, Steer};
use crate::strategy::Plan;

/// Futures that are drawn at once, for each sub-trace of the width.
const FUTURES: usize = 4;

/// Steps that may be thought of in a short execution, whatever it does. Thinking of a step takes one or two
/// microseconds, making one about ten.
const MOST_FREE_THOUGHTS: usize = 30_000;

/// Steps that may be thought of in a long one. There the futures are long, so it is few of them either way.
const LEAST_FREE_THOUGHTS: usize = 4_000;

/// What the thoughts that are free and the events of an execution multiply to in between.
const THOUGHTS_BY_EVENTS: usize = 2_500_000;

/// Steps that may be thought of for each one that is made.
const THOUGHTS_PER_STEP: usize = 8;

/// A trace that has come to a decision.
struct Here {
    standing: StoppedCopy,
    offers: Vec<OfferRecord>,
    trail: PartialTrace,
}

/// The state of the search.
pub(in crate::strategies) struct Walk {
    style: Style,
    seed: u64,
    rng: Rng,
    foresight: Foresight,
    taste: Taste,
    /// What threads could tell each other, as long as no execution has ended.
    news: Option<UnreadWrites>,
    paths: Paths,
    here: Option<Here>,
    /// The first decision of the program, where every execution begins.
    first: Option<(Vec<OfferRecord>, PartialTrace)>,
    navigator: State,
    /// What is to be done next.
    plan: VecDeque<Foreseen>,
    /// More has been seen than when the plan was made.
    is_outdated: bool,
    /// A plan of this execution was to end in a deadlock.
    is_alarmed: bool,
    /// Steps that may still be thought of.
    thoughts: usize,
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
            taste: Taste { again: 0.0, pattern: 1.0 },
            news: Some(UnreadWrites::default()),
            paths: Paths::new(),
            here: None,
            first: None,
            navigator: State::new(seed, style.always_from_start),
            plan: VecDeque::new(),
            is_outdated: false,
            is_alarmed: false,
            thoughts: 0,
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
        let mut trail = PartialTrace::default();
        self.take_in(&mut trail, &run.events);
        self.end(&trail, &run);
        self.ended.push_back(run);
        Ok(())
    }

    fn begin(&mut self, steer: &mut dyn Steer) -> Result<(), ExploreError> {
        self.paths = Paths::new();
        self.plan.clear();
        self.is_alarmed = false;
        self.thoughts =
            (THOUGHTS_BY_EVENTS / self.longest.max(1)).clamp(LEAST_FREE_THOUGHTS, MOST_FREE_THOUGHTS);
        // No taste is the best for every program, so every execution has its own.
        let again = if self.rng.below(2) == 0 { 0.0 } else { 1.0 };
        let pattern = if self.rng.below(7) == 0 { 0.0 } else { 1.0 };
        self.taste = Taste { again, pattern };
        let is_there = self.navigator(steer).knows_first();
        if let (true, Some(standing), Some((offers, trail))) = (is_there, self.navigator.first(), &self.first)
        {
            self.here = Some(Here { standing, offers: offers.clone(), trail: trail.clone() });
            return Ok(());
        }
        let arrival = self.navigator(steer).go_to_first()?;
        self.arrive(steer, Paths::START, PartialTrace::default(), arrival)?;
        self.first = self.here.as_ref().map(|here| (here.offers.clone(), here.trail.clone()));
        Ok(())
    }

    fn go_on(&mut self, steer: &mut dyn Steer, mut here: Here) -> Result<(), ExploreError> {
        self.thoughts += THOUGHTS_PER_STEP;
        let thread = self.choose(&mut here);
        let path = self.paths.extend(here.standing.path, thread);
        let arrival = Navigator { steer, state: &mut self.navigator }.reach(&self.paths, path)?;
        self.arrive(steer, path, here.trail, arrival)
    }

    fn choose(&mut self, here: &mut Here) -> ThreadId {
        self.foresight.expect(&mut here.trail, &here.offers);
        if let Some(thread) = self.news.as_ref().and_then(|news| news.reader(&here.offers, &mut self.rng)) {
            return thread;
        }
        let offered = |plan: &VecDeque<Foreseen>| {
            let thread = plan.front()?.event.thread;
            here.offers.iter().map(|offer| offer.thread).find(|it| *it == thread)
        };
        if self.is_outdated || offered(&self.plan).is_none() {
            self.think(here);
        }
        offered(&self.plan).unwrap_or_else(|| {
            self.plan.clear();
            here.offers[self.rng.below(here.offers.len() as u64) as usize].thread
        })
    }

    /// Makes a plan, if there is time to think.
    fn think(&mut self, here: &Here) {
        let mut best: Option<Future> = None;
        for _ in 0..FUTURES * self.style.width {
            if self.thoughts == 0 {
                break;
            }
            let future = self.foresight.imagine(&here.trail, &self.taste, &mut self.rng);
            self.thoughts = self.thoughts.saturating_sub(future.steps.len() + 1);
            if best.as_ref().is_none_or(|best| future.worth > best.worth) {
                best = Some(future);
            }
        }
        if let Some(best) = best {
            self.plan = best.steps;
            self.is_alarmed |= best.is_stuck;
            self.is_outdated = false;
        }
    }

    /// Takes in what has happened, and whether it was meant to.
    fn take_in(&mut self, trail: &mut PartialTrace, events: &[Event]) {
        for event in events {
            self.foresight.learn(trail, event, &self.taste);
            self.news.iter_mut().for_each(|news| news.observe(event));
            let comes_by_itself =
                |kind: EventKind| kind.only_names() || matches!(kind, EventKind::Start | EventKind::Exit);
            if event.kind().is_none_or(comes_by_itself) {
                continue;
            }
            match self.plan.pop_front() {
                Some(planned) if planned.is(event) => self.is_outdated |= !planned.is_known,
                _ => self.plan.clear(),
            }
        }
    }

    /// Takes in how a trace has ended.
    fn end(&mut self, trail: &PartialTrace, run: &Execution) {
        self.news = None;
        self.longest = self.longest.max(trail.events());
        self.foresight.end(trail, run, self.is_alarmed);
    }

    /// Takes in where a step has led to: a decision, or the end of the trace.
    fn arrive(
        &mut self,
        steer: &mut dyn Steer,
        path: usize,
        mut trail: PartialTrace,
        arrival: Arrival,
    ) -> Result<(), ExploreError> {
        // What was told of the trace before is told again, unless a copy has gone on from there.
        let told = match arrival.since {
            Since::Start => trail.events(),
            Since::First => trail.events() - self.first.as_ref().map_or(0, |(_, trail)| trail.events()),
            Since::Before => 0,
        };
        match arrival.stop {
            Stop::Paused(pause) => {
                self.discovered.extend(&pause.discovered);
                self.take_in(&mut trail, pause.events.get(told..).unwrap_or_default());
                let standing = self.navigator(steer).stand(path, pause.snapshot);
                if path != Paths::START {
                    self.navigator(steer).stay_at(standing);
                }
                self.here = Some(Here { standing, offers: pause.offers, trail });
            }
            Stop::Ended(run) => {
                self.take_in(&mut trail, run.events.get(told..).unwrap_or_default());
                self.end(&trail, &run);
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
        self.foresight.forget_habits();
    }

    fn ground_state(&self) -> &State {
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
                self.go_on(steer, here)?;
            } else {
                self.begin(steer)?;
            }
            self.begun = true;
        }
    }
}
