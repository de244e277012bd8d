//! Maximal causality reduction: for each read and each other value that it could see, an order of the recorded steps
//! in which it does.
//!
//! Threads that have seen the same are in the same state, so an interleaving shows something new only if some thread
//! sees something new. Each execution is asked what its reads could see else (Huang, "Stateless model checking
//! concurrent programs with maximal causality reduction", PLDI 2015); a solver answers with a schedule; its
//! execution shows the new state and is asked in turn. No state is aimed at twice.
//!
//! A single execution does not show everything: the steps that are needed may come from several. When no execution
//! alone suggests anything more, all are taken together, with every thread free to go any of the ways that it was seen
//! to go. If nothing is possible then either, no thread can get into a state that has not been seen: the
//! operation that would be the first to see something new has only seen steps before it. Only then, and only if
//! nothing was left out, the search is exhausted. Where nobody can go on is a state of all threads together, and is asked for separately.

mod targets;
mod together;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use threadbare_order::{Action, Answer, Budget, Forest, Goal, Model, Path, Schedule, Solver, StepId};
use threadbare_target::Execution;
use threadbare_trace::{Outcome, ThreadId};

use self::targets::{Key, Seen, Target, is_reached};
use crate::cut::{Cut, warning};
use crate::effort::Effort;
use crate::error::ExploreError;
use crate::follow;
use crate::history::History;
use crate::strategy::{Plan, Strategy};

const NAME: &str = "mcr";

/// Steps beyond which an execution is not looked at.
const LONGEST: usize = 100_000;

/// How hard to try for one target: most are settled by a few conflicts, and those that are not are seldom settled
/// by many.
const BUDGET: Budget = Budget { conflicts: 2_000, rounds: 500 };

/// How many solvers are kept; others are made anew when needed.
const MOST_SOLVERS: usize = 32;

/// Where the search stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// An execution looks for shared memory.
    Probe,
    /// The first execution is to be made.
    First,
    /// Executions are asked for more.
    Search,
    /// There is nothing left to try.
    Done,
}

/// In which order targets are tried: the most promising first, those of older executions first.
type Rank = (u8, usize, usize);

/// A plan under way.
struct Planned {
    schedule: Schedule,
    target: Option<Target>,
}

/// See the module's description.
pub(crate) struct Mcr {
    seed: u64,
    phase: Phase,
    forest: Forest,
    seen: Seen,
    paths: Vec<Path>,
    queue: BTreeMap<Rank, Option<Target>>,
    solvers: HashMap<usize, Solver>,
    asked: HashSet<Key>,
    /// The schedules that have been run.
    explored: HashSet<follow::Way>,
    /// Where nobody could go on, by the last steps of all threads.
    stuck: Vec<Vec<StepId>>,
    planned: HashMap<u64, Planned>,
    next_tag: u64,
    /// How many executions were made.
    made: u64,
    /// The next plans, worked out ahead: so it is known at once when there are none.
    ready: VecDeque<Plan>,
    cuts: BTreeSet<Cut>,
    /// How much may still be asked of all executions together.
    allowance: u64,
    effort: Effort,
}

impl Mcr {
    /// Where all shared memory is known already, no execution has to look for it.
    pub(crate) fn new(seed: u64, sharing_is_known: bool) -> Mcr {
        Mcr {
            seed,
            phase: if sharing_is_known { Phase::First } else { Phase::Probe },
            forest: Forest::new(),
            seen: Seen::default(),
            paths: Vec::new(),
            queue: BTreeMap::new(),
            solvers: HashMap::new(),
            asked: HashSet::new(),
            explored: HashSet::new(),
            stuck: Vec::new(),
            planned: HashMap::new(),
            next_tag: 1,
            made: 0,
            ready: VecDeque::new(),
            cuts: BTreeSet::new(),
            allowance: together::ALLOWANCE,
            effort: Effort::default(),
        }
    }

    /// How many executions to plan at once, after this many: few at first, when each may teach a lot.
    fn batch(made: u64) -> usize {
        match made {
            0..=64 => 1,
            65..=256 => 4,
            _ => 16,
        }
    }

    fn begin_plan(&mut self) -> Plan {
        let nothing = Schedule { steps: Vec::new() };
        let plan = follow::plan(&nothing, &self.forest, None, self.seed);
        self.explored.insert(follow::way(&plan));
        Plan { name: NAME.to_string(), ..plan }
    }

    /// A plan that follows a schedule, unless one with the same switches has been made before.
    fn follow(&mut self, schedule: Schedule, target: Option<Target>) -> Option<Plan> {
        let then = target.as_ref().and_then(|target| target.then).map(|then| then.thread);
        let plan = follow::plan(&schedule, &self.forest, then, self.seed);
        if !self.explored.insert(follow::way(&plan)) {
            // It has been run and did not lead there.
            if then.is_none() {
                self.cuts.insert(Cut::Diverged);
            }
            return None;
        }
        let tag = self.next_tag;
        self.next_tag += 1;
        self.planned.insert(tag, Planned { schedule, target });
        Some(Plan { name: NAME.to_string(), tag, ..plan })
    }

    /// The next plan that one execution suggests.
    fn next_plan(&mut self, is_over: &dyn Fn() -> bool) -> Option<Plan> {
        while let Some(((_, number, _), target)) = self.queue.pop_first() {
            if is_over() {
                self.cuts.insert(Cut::TimeUp);
                return None;
            }
            let Some(target) = target else {
                if let Some(plan) = self.look_for_stuck(number) {
                    return Some(plan);
                }
                continue;
            };
            if self.asked.contains(&target.key) || self.is_known(&target) {
                continue;
            }
            let is_recorded = target.then.is_some_and(|then| then.as_recorded);
            let answer = match target.goal.steps() {
                steps if is_recorded || steps.is_empty() => {
                    Answer::Schedule(Schedule { steps: steps.to_vec() })
                }
                _ => {
                    self.effort.questions += 1;
                    self.solver(number).solve(&target.goal)
                }
            };
            if let Some(schedule) = self.take(answer) {
                self.asked.insert(target.key.clone());
                if let Some(plan) = self.follow(schedule, Some(target)) {
                    return Some(plan);
                }
            }
        }
        None
    }

    fn is_known(&self, target: &Target) -> bool {
        !matches!(target.key, Key::Gone(..)) && is_reached(&self.forest, target)
    }

    /// The schedule of an answer; notes if there was none.
    fn take(&mut self, answer: Answer) -> Option<Schedule> {
        match answer {
            Answer::Schedule(schedule) => return Some(schedule),
            Answer::Impossible => {}
            Answer::Unknown => {
                self.cuts.insert(Cut::Unanswered);
            }
        }
        None
    }

    fn solver(&mut self, number: usize) -> &mut Solver {
        if self.solvers.len() >= MOST_SOLVERS && !self.solvers.contains_key(&number) {
            self.solvers.clear();
        }
        let (forest, paths) = (&self.forest, &self.paths);
        let new = || Solver::with_budget(Model::of(forest, &paths[number]), BUDGET);
        self.solvers.entry(number).or_insert_with(new)
    }

    fn look_for_stuck(&mut self, number: usize) -> Option<Plan> {
        let goal = Goal::stuck(self.stuck.clone());
        self.effort.questions += 1;
        let answer = self.solver(number).solve(&goal);
        let schedule = self.take(answer)?;
        self.get_stuck(schedule)
    }

    fn get_stuck(&mut self, schedule: Schedule) -> Option<Plan> {
        let mut last: BTreeMap<ThreadId, StepId> = BTreeMap::new();
        for id in &schedule.steps {
            last.insert(self.forest.step(*id).thread, *id);
        }
        self.stuck.push(last.into_values().collect());
        self.follow(schedule, None)
    }

    /// Works out the next plans, or finds that there is nothing left to try.
    fn look_ahead(&mut self, is_over: &dyn Fn() -> bool) {
        while self.ready.len() < Mcr::batch(self.made) {
            let Some(plan) = self.next_plan(is_over) else { break };
            self.ready.push_back(plan);
        }
        if self.ready.is_empty() {
            let plans = self.plans_of_all(is_over);
            self.ready.extend(plans);
        }
        if self.ready.is_empty() {
            self.phase = Phase::Done;
            if self.seen.has_stalled(&self.forest) {
                self.cuts.insert(Cut::Stalled);
            }
        }
    }

    fn learn_one(&mut self, plan: &Plan, run: &Execution) {
        if let Outcome::Uncontrolled(_) = run.outcome {
            self.cuts.insert(Cut::Uncontrolled);
        }
        let planned = self.planned.remove(&plan.tag);
        if run.events.len() > LONGEST {
            self.cuts.insert(Cut::TooLong);
            return;
        }
        let path = self.forest.add(&run.events);
        if let Some(thread) = follow::ended_by(run) {
            self.forest.ends_with(&path, thread);
        }
        if let Some(Planned { schedule, target }) = planned {
            let reached = target.as_ref().is_none_or(|target| is_reached(&self.forest, target));
            let went_on = target.is_some_and(|target| target.then.is_some());
            if !follow::followed(&schedule.steps, &path, &self.forest) || (!reached && !went_on) {
                self.cuts.insert(Cut::Diverged);
            }
        }
        // An execution in which nobody sees anything new suggests nothing new either.
        if path.new_steps > 0 {
            self.ask(path, run.threads);
        }
    }

    /// Adds what an execution suggests to the queue.
    fn ask(&mut self, path: Path, threads: u32) {
        let number = self.paths.len();
        let (targets, cut) = targets::of(&self.forest, &path, threads, &mut self.seen);
        if cut {
            self.cuts.insert(Cut::Spinning);
        }
        if may_get_stuck(&self.forest, &path) {
            self.queue.insert((1, number, usize::MAX), None);
        }
        for (place, target) in targets.into_iter().enumerate() {
            if !self.asked.contains(&target.key) {
                self.queue.insert((target.class, number, place), Some(target));
            }
        }
        self.paths.push(path);
    }
}

/// Whether threads wait for each other in a way that may go wrong: for a lock while they hold one, or for a signal, a
/// token or others at a barrier.
fn may_get_stuck(forest: &Forest, path: &Path) -> bool {
    let mut held: HashMap<ThreadId, usize> = HashMap::new();
    for step in path.steps.iter().map(|id| forest.step(*id)) {
        let held = held.entry(step.thread).or_default();
        for action in &step.actions {
            match action {
                Action::Acquire { .. } if *held > 0 => return true,
                Action::Acquire { .. } => *held += 1,
                Action::Release(_) => *held = held.saturating_sub(1),
                Action::Wake { .. } | Action::Take(_) | Action::Leave(..) => return true,
                Action::Join(_) if *held > 0 => return true,
                _ => {}
            }
        }
    }
    false
}

impl Strategy for Mcr {
    fn plan(&mut self, _first: u64, count: usize, _history: &History) -> Vec<Plan> {
        match self.phase {
            Phase::Probe => {
                self.phase = Phase::First;
                vec![Plan::probe(self.seed, "mcr (probe)")]
            }
            Phase::First => {
                self.phase = Phase::Search;
                vec![self.begin_plan()]
            }
            Phase::Search => {
                let count = count.min(Mcr::batch(self.made)).min(self.ready.len());
                self.ready.drain(..count).collect()
            }
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
            let Mcr { next_tag, made, effort, .. } = *self;
            *self = Mcr { next_tag, made, effort, ..Mcr::new(self.seed, true) };
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

    fn exhausted(&self) -> bool {
        self.phase == Phase::Done && self.cuts.is_empty()
    }

    fn effort(&self) -> Effort {
        self.effort
    }

    fn warnings(&self) -> Vec<String> {
        let is_through = self.phase == Phase::Done;
        is_through.then(|| warning("mcr", &self.cuts)).flatten().into_iter().collect()
    }
}
