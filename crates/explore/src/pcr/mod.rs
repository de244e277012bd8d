//! Pattern constraint reduction: schedules that show memory-access patterns which no execution has shown (Zhao et al.,
//! "Achieving high MAP-coverage through pattern constraint reduction", TSE 2023, Algorithms 1 to 4).
//!
//! Each execution suggests candidates: accesses that would make a pattern in another order. Six rules remove those
//! that are none, are known, cannot be, or show nothing new. For the others an order of steps is solved for, longer
//! patterns first; what cannot be is kept as a core, so that goals with the same core are not solved again. An execution
//! that leaves its schedule is as good as any other: it suggests candidates of its own.
//!
//! No pattern says that a read shall see what was there before anybody else wrote: the thread may well write itself before
//! the other one does, and then it is none. Such reads are asked for as such, after the patterns.
//!
//! A pattern is known by its sites and variables, and that it has been covered there does not mean that a thread in
//! another state would not show something new with it. So when no uncovered pattern is left, covered ones are tried
//! that show something new where they were not tried yet.

mod accesses;
mod candidates;
mod cores;
mod rank;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};

use threadbare_analysis::patterns::{PatternKey, PatternSet, TraceMatcher};
use threadbare_order::{Answer, Budget, Extent, Forest, Goal, Model, Path, Schedule, Solver, StepId};
use threadbare_sched::{PolicyKind, Rng};
use threadbare_target::Execution;
use threadbare_trace::Event;

use self::accesses::{Access, Accesses};
use self::candidates::Candidate;
use self::cores::Cores;
use self::rank::{Rank, Sights};
use crate::effort::Effort;
use crate::error::ExploreError;
use crate::follow;
use crate::history::History;
use crate::strategy::{Plan, Strategy};

const NAME: &str = "pcr";

/// Events beyond which an execution is not asked for candidates.
const LONGEST: usize = 100_000;

/// How hard to try for one candidate.
const BUDGET: Budget = Budget { conflicts: 2_000, rounds: 500 };

/// How many solvers are kept; others are made anew when needed.
const MOST_SOLVERS: usize = 32;

/// How often a pattern is aimed at in vain before others of it are left alone.
const MOST_MISSES: u32 = 3;

/// How many executions of random order there may be in a row that suggest nothing.
const MOST_FRESH: u32 = 8;

/// Where the search stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// An execution looks for shared memory.
    Probe,
    /// An execution of random order is to be made.
    Fresh,
    /// Candidates are tried.
    Search,
    /// There is nothing left to try.
    Done,
}

/// Something that is worth solving.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    trace: usize,
    aim: Aim,
}

#[derive(Clone, Copy, Debug)]
enum Aim {
    /// A pattern with its number and what it is known by.
    Pattern(Candidate, u8, PatternKey),
    /// A read, by its step, that sees this.
    Sight(StepId, Extent, u64),
}

/// A plan under way.
struct Planned {
    schedule: Schedule,
    pattern: u8,
    key: PatternKey,
}

/// What became of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Attempt {
    pattern: u8,
    /// The execution made the steps of its schedule.
    followed: bool,
    /// The pattern occurred.
    met: bool,
}

/// An execution that candidates come from.
struct Trace {
    path: Path,
    accesses: Accesses,
}

/// See the module's description.
pub(crate) struct Pcr {
    seed: u64,
    phase: Phase,
    forest: Forest,
    traces: Vec<Trace>,
    covered: PatternSet,
    sights: Sights,
    queue: BTreeMap<Rank, Wanted>,
    /// By pattern: how often it was aimed at and did not occur.
    misses: HashMap<PatternKey, u32>,
    /// What was aimed at.
    asked: HashSet<Goal>,
    cores: Cores,
    solvers: HashMap<usize, Solver>,
    /// The pool of schedules that have been run.
    explored: HashSet<follow::Way>,
    planned: HashMap<u64, Planned>,
    attempts: Vec<Attempt>,
    next_tag: u64,
    /// How many executions were made.
    made: u64,
    /// How many executions of random order in a row have suggested nothing.
    fresh: u32,
    ready: Vec<Plan>,
    effort: Effort,
}

impl Pcr {
    /// Where all shared memory is known already, no execution has to look for it.
    pub(crate) fn new(seed: u64, sharing_is_known: bool) -> Pcr {
        Pcr {
            seed,
            phase: if sharing_is_known { Phase::Fresh } else { Phase::Probe },
            forest: Forest::new(),
            traces: Vec::new(),
            covered: PatternSet::default(),
            sights: Sights::default(),
            queue: BTreeMap::new(),
            misses: HashMap::new(),
            asked: HashSet::new(),
            cores: Cores::default(),
            solvers: HashMap::new(),
            explored: HashSet::new(),
            planned: HashMap::new(),
            attempts: Vec::new(),
            next_tag: 1,
            made: 0,
            fresh: 0,
            ready: Vec::new(),
            effort: Effort::default(),
        }
    }

    /// An execution of random order.
    fn fresh_plan(&mut self) -> Plan {
        self.fresh += 1;
        let seed = Rng::derive(self.seed, self.made + 1);
        Plan { trace: true, ..Plan::new(PolicyKind::Random, seed, "pcr (random)") }
    }

    /// Adds the candidates of an execution that no rule removes to the queue (Algorithm 3).
    fn suggest(&mut self, path: Path, events: &[Event]) {
        let accesses = Accesses::of(events, &path);
        let trace = self.traces.len();
        self.sights.add(&accesses);
        let (queue, covered, sights) = (&mut self.queue, &self.covered, &self.sights);
        let mut place = 0;
        candidates::each(&accesses, &mut |candidate| {
            let members = candidate.of(&accesses);
            let Some((pattern, key)) = worth_solving(&members, &accesses) else { return };
            let is_covered = rules::is_covered(key, covered);
            let rank = sights.rank(is_covered, &members, (trace, place));
            queue.insert(rank, Wanted { trace, aim: Aim::Pattern(candidate, pattern, key) });
            place += 1;
        });
        for (read, extent, value) in accesses.disturbed(&path) {
            let rank = sights.rank_of_sight(read, value, (trace, place));
            queue.insert(rank, Wanted { trace, aim: Aim::Sight(read.step, extent, value) });
            place += 1;
        }
        self.traces.push(Trace { path, accesses });
    }

    /// The next plan (the loop of Algorithm 2).
    fn next_plan(&mut self, is_over: &dyn Fn() -> bool) -> Option<Plan> {
        while let Some((rank, wanted)) = self.queue.pop_first() {
            if is_over() {
                return None;
            }
            let goal = match wanted.aim {
                Aim::Sight(read, extent, value) => Goal::sees(read, extent, value),
                Aim::Pattern(candidate, _, key) => {
                    let members = candidate.of(&self.traces[wanted.trace].accesses);
                    // Since it was put into the queue it may have been covered, or aimed at often enough, or what
                    // it shows may have been seen.
                    let is_covered = rules::is_covered(key, &self.covered) || self.is_missed(key);
                    let now = self.sights.rank(is_covered, &members, (wanted.trace, rank.place));
                    if now > rank {
                        self.queue.insert(now, wanted);
                        continue;
                    }
                    Goal::pattern(&members.iter().map(|access| access.step).collect::<Vec<StepId>>())
                }
            };
            if !self.asked.insert(goal.clone()) {
                continue;
            }
            if let Some(schedule) = self.solve(wanted.trace, &goal)
                && let Some(plan) = self.follow(schedule, &wanted)
            {
                return Some(plan);
            }
        }
        None
    }

    fn is_missed(&self, key: PatternKey) -> bool {
        self.misses.get(&key).is_some_and(|misses| *misses >= MOST_MISSES)
    }

    /// An order of steps that reaches the goal, unless it is known or found that there is none (Algorithm 4).
    fn solve(&mut self, trace: usize, goal: &Goal) -> Option<Schedule> {
        if self.solvers.len() >= MOST_SOLVERS && !self.solvers.contains_key(&trace) {
            self.solvers.clear();
        }
        let (forest, traces) = (&self.forest, &self.traces);
        let new = || Solver::with_budget(Model::of(forest, &traces[trace].path), BUDGET);
        let solver = self.solvers.entry(trace).or_insert_with(new);
        if self.cores.refute(goal, solver.model()) {
            self.effort.spared += 1;
            return None;
        }
        self.effort.questions += 1;
        match solver.solve(goal) {
            Answer::Schedule(schedule) => Some(schedule),
            Answer::Impossible => {
                if let Some(core) = solver.why_not(goal) {
                    self.cores.add(core, forest);
                }
                None
            }
            Answer::Unknown => None,
        }
    }

    /// A plan that follows a schedule, unless the pool has one with the same switches.
    fn follow(&mut self, schedule: Schedule, wanted: &Wanted) -> Option<Plan> {
        let plan = follow::plan(&schedule, &self.forest, None, self.seed);
        if !self.explored.insert(follow::way(&plan)) {
            return None;
        }
        let tag = self.next_tag;
        self.next_tag += 1;
        if let Aim::Pattern(_, pattern, key) = wanted.aim {
            self.planned.insert(tag, Planned { schedule, pattern, key });
        }
        Some(Plan { name: NAME.to_string(), tag, ..plan })
    }

    fn learn_one(&mut self, plan: &Plan, run: &Execution) {
        let planned = self.planned.remove(&plan.tag);
        if run.events.len() > LONGEST {
            return;
        }
        let path = self.forest.add(&run.events);
        if let Some(thread) = follow::ended_by(run) {
            self.forest.ends_with(&path, thread);
        }
        let patterns = TraceMatcher::patterns_of(&run.events);
        if let Some(Planned { schedule, pattern, key }) = planned {
            let followed = follow::followed(&schedule.steps, &path, &self.forest);
            let met = patterns.contains(key);
            self.effort.aimed += 1;
            self.effort.met += u64::from(met);
            if !met {
                *self.misses.entry(key).or_default() += 1;
            }
            self.attempts.push(Attempt { pattern, followed, met });
        }
        self.covered.extend(patterns.iter());
        // An execution in which nobody sees anything new suggests nothing new either.
        if path.new_steps > 0 {
            self.fresh = 0;
            self.suggest(path, &run.events);
        }
    }

    /// Works out the next plan. When no candidate is left, an execution of random order may show other ones.
    fn look_ahead(&mut self, is_over: &dyn Fn() -> bool) {
        let plan = self.next_plan(is_over);
        self.ready.extend(plan);
        if self.ready.is_empty() {
            self.phase = if self.fresh < MOST_FRESH { Phase::Fresh } else { Phase::Done };
        }
    }
}

/// The pattern of a candidate, and what it is known by, unless a rule removes it. (Rule 2, which depends on what has
/// been executed, comes when the candidate is to be tried.)
fn worth_solving(candidate: &[&Access], accesses: &Accesses) -> Option<(u8, PatternKey)> {
    let pattern = rules::defined(candidate)?;
    let removed = rules::is_against_happens_before(candidate)
        || rules::is_old_state(candidate)
        || rules::is_interrupted(candidate, accesses)
        || rules::is_redundant_exchange(candidate);
    if removed {
        return None;
    }
    Some((pattern.id, rules::key(&pattern, candidate)?))
}

impl Strategy for Pcr {
    fn plan(&mut self, _first: u64, count: usize, _history: &History) -> Vec<Plan> {
        match self.phase {
            _ if count == 0 => Vec::new(),
            Phase::Probe => {
                self.phase = Phase::Fresh;
                vec![Plan::probe(self.seed, "pcr (probe)")]
            }
            Phase::Fresh => {
                self.phase = Phase::Search;
                vec![self.fresh_plan()]
            }
            Phase::Search => std::mem::take(&mut self.ready),
            Phase::Done => Vec::new(),
        }
    }

    fn learn(
        &mut self,
        runs: &[(&Plan, &Execution)],
        news: bool,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        self.made += runs.len() as u64;
        if news {
            // There are more steps than the traces so far have shown.
            let Pcr { next_tag, made, effort, .. } = *self;
            *self = Pcr { next_tag, made, effort, ..Pcr::new(self.seed, true) };
            return Ok(());
        }
        for (plan, run) in runs.iter().filter(|(plan, _)| plan.trace) {
            self.learn_one(plan, run);
        }
        if self.phase == Phase::Search {
            self.look_ahead(is_over);
        }
        Ok(())
    }

    fn effort(&self) -> Effort {
        self.effort
    }
}
