//! The search of ARS: a queue of sub-traces, the farthest of which goes on.

use std::collections::{HashSet, VecDeque};

use threadbare_analysis::patterns::PatternSet;
use threadbare_sched::{PolicyKind, Rng};
use threadbare_target::{Execution, Script, Stop};
use threadbare_trace::{Event, EventKind, Outcome};
use threadbare_wire::{LearnedRecord, OfferRecord, flags};

use super::graph::{Graph, Step};
use super::ground::{Arrival, Ground, Since, State};
use super::passed::{Distance, Passed};
use super::subtrace::{Ahead, Decision, Growth, Paths, Rank, SubTrace};
use super::{Order, Style};
use crate::error::ExploreError;
use crate::search::{Search, Steer};
use crate::strategy::Plan;

/// The state of the search.
pub(super) struct Beam {
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
    ground: State,
    /// What has been seen by all iterations.
    graph: Graph,
    /// The situations in which a thread has read something.
    tried: HashSet<u64>,
    /// The states that this iteration has gone on from.
    seen: HashSet<u64>,
    begun: bool,
    iterations: u64,
    /// Executions that ended and were not asked for yet.
    ended: VecDeque<Execution>,
    discovered: Vec<LearnedRecord>,
    warnings: Vec<String>,
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
            ground: State::new(seed, style.always_from_start),
            graph: Graph::default(),
            tried: HashSet::new(),
            seen: HashSet::new(),
            begun: false,
            iterations: 0,
            ended: VecDeque::new(),
            discovered: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// There are more scheduling points than before: paths mean something else from now on.
    pub fn decisions_changed(&mut self) {
        self.queue.clear();
        self.first = None;
        self.graph.forget();
    }

    /// Partial runs made.
    pub fn partial_runs(&self) -> u64 {
        self.ground.partial_runs
    }

    pub fn warnings(&self) -> Vec<String> {
        let slow = self.ground.no_copies.iter().map(|reason| {
            format!("ars ran prefixes again where it would have gone on from snapshots: {reason}")
        });
        slow.chain(self.warnings.iter().cloned()).collect()
    }

    fn ground<'a>(&'a mut self, steer: &'a mut dyn Steer) -> Ground<'a> {
        Ground { steer, state: &mut self.ground }
    }

    /// Line 3 of the algorithm.
    fn run_randomly(&mut self, steer: &mut dyn Steer) -> Result<(), ExploreError> {
        let mut plan = Plan::new(PolicyKind::Random, Rng::derive(self.seed, 1), "ars (random start)");
        plan.flags = if self.style.probes { flags::PROBE } else { 0 };
        plan.profile = true;
        let run = self.ground(steer).run(&plan)?;
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
        self.iterations += 1;
        self.paths = Paths::new();
        self.seen.clear();
        let is_there = self.ground(steer).knows_first();
        let first = match self.first.take().filter(|_| is_there) {
            Some(first) => Decision { growth: first.growth.afresh(&self.passed), ..first },
            None => {
                let arrival = self.ground(steer).go_to_first()?;
                let growth = Growth::start(&self.passed);
                // Without a decision there is only this one execution.
                let Some(first) = self.arrive(steer, Paths::START, &growth, arrival)? else { return Ok(()) };
                self.events_before_first = first.growth.events();
                first
            }
        };
        self.expand(steer, &first)?;
        if self.queue.is_empty() && self.ended.is_empty() {
            // Everything has been seen, as far as the states tell: look again.
            self.graph.forget();
        }
        self.first = Some(first);
        Ok(())
    }

    /// Lines 17 to 24: the farthest sub-trace makes one step, in every way.
    fn go_on(&mut self, steer: &mut dyn Steer, subtrace: SubTrace) -> Result<(), ExploreError> {
        let decision = match subtrace.decision {
            Ok(decision) => decision,
            Err(Ahead { path, growth }) => {
                let arrival = Ground { steer, state: &mut self.ground }.reach(&self.paths, path)?;
                let Some(decision) = self.arrive(steer, path, &growth, arrival)? else { return Ok(()) };
                decision
            }
        };
        let is_news = self.seen.insert(decision.growth.footprint.state());
        if is_news || !self.style.remembers {
            self.expand(steer, &decision)?;
        }
        self.ground(steer).stay_at(decision.standing);
        Ok(())
    }

    /// Enters all traces that are one step longer into the queue.
    fn expand(&mut self, steer: &mut dyn Steer, from: &Decision) -> Result<(), ExploreError> {
        let state = from.growth.footprint.state();
        let mut is_spent = true;
        for offer in &from.offers {
            let known = if self.style.remembers { self.graph.step(state, offer.thread) } else { Step::Open };
            if known == Step::Spent {
                continue;
            }
            is_spent = false;
            let path = self.paths.extend(from.standing.path, offer.thread);
            let is_new = known == Step::Unknown;
            if self.looks_ahead(from, offer) {
                // The step is made at once, so that a failure right behind it is found however near the
                // trace is.
                let ground = &mut Ground { steer, state: &mut self.ground };
                let arrival = ground.look_ahead(from.standing, &self.paths, path)?;
                match self.arrive(steer, path, &from.growth, arrival)? {
                    Some(decision) => {
                        let rank = self.rank(path, decision.growth.distance(), is_new);
                        self.enqueue(steer, SubTrace { decision: Ok(decision), rank });
                    }
                    None if self.has_failed() || self.style.restarts => return Ok(()),
                    None => {}
                }
            } else {
                let distance = from.growth.distance_with(offer, &self.passed);
                let ahead = Ahead { path, growth: from.growth.clone() };
                let rank = self.rank(path, &distance, is_new);
                self.enqueue(steer, SubTrace { decision: Err(ahead), rank });
            }
        }
        if is_spent {
            self.graph.spend(state);
        }
        Ok(())
    }

    fn rank(&mut self, path: usize, distance: &Distance, is_new: bool) -> Rank {
        let (depth, novelty) = (self.paths.depth(path), u64::from(is_new));
        let criteria = match self.style.order {
            Order::Nearest => [distance.nearest(), 0, 0],
            // Where patterns mislead, what is merely new has its turn.
            Order::RarestAndNewest if self.iterations % 2 == 1 => [depth, distance.rarity(), novelty],
            Order::RarestAndNewest => [depth, novelty, 0],
        };
        Rank { criteria, tie: self.rng.next_u64() }
    }

    /// Whether to make a step before its turn.
    fn looks_ahead(&mut self, from: &Decision, offer: &OfferRecord) -> bool {
        self.style.always_looks_ahead
            || (reads(offer)
                && self.tried.insert(from.growth.footprint.situation(offer))
                && self.ground.can_afford_a_look())
    }

    /// Adds a sub-trace and drops the nearest if there are too many (lines 18, 19 and 24).
    fn enqueue(&mut self, steer: &mut dyn Steer, subtrace: SubTrace) {
        self.queue.push(subtrace);
        if self.queue.len() <= self.style.width {
            return;
        }
        if let Some((place, _)) = self.queue.iter().enumerate().min_by_key(|(_, it)| it.rank)
            && let Ok(decision) = self.queue.swap_remove(place).decision
        {
            self.ground(steer).discard(decision.standing);
        }
    }

    /// Takes in where a step has led to: a decision, or the end of the trace.
    fn arrive(
        &mut self,
        steer: &mut dyn Steer,
        path: usize,
        before: &Growth,
        arrival: Arrival,
    ) -> Result<Option<Decision>, ExploreError> {
        // What was told of the trace before is told again, unless a copy has gone on from there.
        let known = match arrival.since {
            Since::Start => before.events(),
            Since::First => before.events() - self.events_before_first,
            Since::Before => 0,
        };
        let news = |events: &[Event]| before.with(events.get(known..).unwrap_or_default(), &self.passed);
        match arrival.stop {
            Stop::Paused(pause) => {
                self.discovered.extend(&pause.discovered);
                let growth = news(&pause.events);
                self.remember(path, before, Some(growth.footprint.state()));
                let standing = self.ground(steer).stand(path, pause.snapshot);
                Ok(Some(Decision { standing, offers: pause.offers, growth }))
            }
            Stop::Ended(run) => {
                let growth = news(&run.events);
                self.remember(path, before, None);
                self.end(steer, path, &growth, *run)?;
                Ok(None)
            }
            Stop::Refused(reason) => Err(ExploreError::Uncontrolled(reason)),
        }
    }

    fn remember(&mut self, path: usize, before: &Growth, after: Option<u64>) {
        if path != Paths::START {
            let (_, thread) = self.paths.last(path);
            self.graph.add(before.footprint.state(), thread, after);
        }
    }

    /// A trace is complete.
    fn end(
        &mut self,
        steer: &mut dyn Steer,
        path: usize,
        growth: &Growth,
        mut run: Execution,
    ) -> Result<(), ExploreError> {
        // One that failed counts too, in case the search goes on: it shall find another failure.
        if !matches!(run.outcome, Outcome::Uncontrolled(_)) {
            self.fresh.push(growth.patterns().clone());
        }
        if let Some(failure) = run.outcome.failure() {
            // Only its last step was told: run it again from the start. The iteration ends with it.
            self.queue.clear();
            let mut plan = Plan::new(PolicyKind::Prefix, self.seed, "ars");
            plan.script = Script::Prefix(self.paths.choices(path));
            plan.profile = true;
            let again = self.ground(steer).run(&plan)?;
            if again.outcome.failure().is_some_and(|it| it.kind == failure.kind) {
                run = again;
            } else {
                let lost = "a failure met on a snapshot did not show when its path was run from the start";
                self.warnings.push(lost.to_string());
            }
        }
        if self.style.restarts {
            self.clear_queue(steer);
        }
        run.discovered.append(&mut self.discovered);
        self.ended.push_back(run);
        Ok(())
    }

    fn clear_queue(&mut self, steer: &mut dyn Steer) {
        for subtrace in std::mem::take(&mut self.queue) {
            if let Ok(decision) = subtrace.decision {
                self.ground(steer).discard(decision.standing);
            }
        }
    }

    fn has_failed(&self) -> bool {
        self.ended.back().is_some_and(|run| run.outcome.failure().is_some())
    }

    fn farthest(&mut self) -> Option<SubTrace> {
        let (place, _) = self.queue.iter().enumerate().max_by_key(|(_, it)| it.rank)?;
        Some(self.queue.swap_remove(place))
    }
}

/// Whether what the thread does next depends on what it finds.
fn reads(offer: &OfferRecord) -> bool {
    let only_writes =
        |kind: EventKind| matches!(kind, EventKind::Write | EventKind::AtomicWrite | EventKind::WriteRange);
    EventKind::from_number(offer.kind).is_some_and(|kind| kind.accesses_memory() && !only_writes(kind))
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
            } else if let Some(subtrace) = self.farthest() {
                self.go_on(steer, subtrace)?;
            } else {
                self.begin_iteration(steer)?;
            }
        }
    }
}
