//! What the strategies have in common that solve for their schedules.
//!
//! They look for shared memory first, make an execution to begin with, and then continue with what executions
//! have shown: each is entered into the forest of all steps, suggests something to ask, and what the answers suggest is
//! run. When more memory turns out to be shared there are more steps than the executions have shown, and all
//! begins anew.

use std::collections::{HashMap, HashSet, VecDeque};

use threadbare_library::Dependence;
use threadbare_order::{Budget, Forest, Path, SolvedSchedule};
use threadbare_sched::Random;
use threadbare_target::Execution;
use threadbare_trace::ThreadId;
use threadbare_wire::flags;

use crate::claims::{Claims, Doubt};
use crate::error::ExploreError;
use crate::follow_schedule;
use crate::history::History;
use crate::search_effort::SearchEffort;
use crate::strategies::total::Relevance;
use crate::strategies::{Claim, claim_of};
use crate::strategy::{Plan, Strategy};

/// Steps beyond which an execution is not looked at.
const LONGEST: usize = 100_000;

/// How hard to try for one answer: most questions are settled by a few conflicts, and those that are not are seldom
/// settled by many.
pub(crate) const BUDGET: Budget = Budget { conflicts: 2_000, rounds: 500 };

/// How many executions to plan at once, after this many: few at first, when much is learned from each.
pub(crate) fn batch(made: u64) -> usize {
    match made {
        0..=64 => 1,
        65..=256 => 4,
        _ => 16,
    }
}

/// What a strategy makes of executions.
pub(crate) trait Reasoning {
    /// What a schedule was solved for.
    type Aim;

    /// Begins with nothing known. This many questions may be worked on at once.
    fn new(jobs: usize) -> Self;

    /// Whether an execution with this aim is to show something new, rather than to bring out what is known.
    fn is_test_case(_aim: &Self::Aim) -> bool {
        true
    }

    /// What matters to threads, where not everything that they see does.
    fn relevance() -> Option<Relevance> {
        None
    }

    /// Whether loops that threads wait in are followed until they can only come round.
    fn follows_loops() -> bool {
        true
    }

    /// A plan that aims at nothing: to begin with, or where [`Next::Opening`] asks for it.
    fn opening(&mut self, notes: &mut Notes<Self::Aim>) -> Plan;

    /// Takes note of an execution.
    fn learn(&mut self, notes: &mut Notes<Self::Aim>, run: &Execution, entry: Entry<Self::Aim>);

    /// Works out what comes next, ahead of time: so it is known at once when there is nothing.
    fn next(&mut self, notes: &mut Notes<Self::Aim>, is_over: &dyn Fn() -> bool) -> Next;

    /// Whether nothing was left out, when there is nothing left to try.
    fn is_complete(&self) -> bool {
        false
    }

    /// What the user should know when there is nothing left to try.
    fn warning(&self, _speaker: &str) -> Option<String> {
        None
    }
}

/// What comes next.
pub(crate) enum Next {
    /// These plans, at least one.
    Plans(VecDeque<Plan>),
    /// An execution that aims at nothing.
    Opening,
    /// There is nothing left to try.
    Nothing,
}

/// A recorded execution.
pub(crate) enum Entry<A> {
    /// It was too long to be looked at.
    TooLong,
    /// Its steps, and what it was to follow.
    Read(Path, Option<Planned<A>>),
}

/// A plan under way.
pub(crate) struct Planned<A> {
    pub(crate) schedule: SolvedSchedule,
    pub(crate) aim: A,
}

/// What was run and shown.
pub(crate) struct Notes<A> {
    /// What people call the strategy.
    pub(crate) name: &'static str,
    pub(crate) seed: u64,
    /// What matters to threads, with the executions that have been seen through it; none if everything does.
    pub(crate) relevance: Option<Relevance>,
    pub(crate) forest: Forest,
    pub(crate) effort: SearchEffort,
    /// How many executions were made.
    pub(crate) made: u64,
    /// How many of them were to show something new, since all shared memory has been known.
    pub(crate) test_cases: u64,
    /// The schedules that have been run.
    explored: HashSet<follow_schedule::PlanKey>,
    planned: HashMap<u64, Planned<A>>,
    next_tag: u64,
}

impl<A> Notes<A> {
    fn new(name: &'static str, seed: u64, relevance: Option<Relevance>) -> Notes<A> {
        Notes {
            name,
            seed,
            relevance,
            forest: Forest::new(),
            effort: SearchEffort::default(),
            made: 0,
            test_cases: 0,
            explored: HashSet::new(),
            planned: HashMap::new(),
            next_tag: 1,
        }
    }

    /// A plan that follows a schedule, and then schedules a thread if that is asked for, unless one with the same
    /// switches has been made before.
    pub(crate) fn follow(
        &mut self,
        schedule: SolvedSchedule,
        then: Option<ThreadId>,
        aim: A,
    ) -> Option<Plan> {
        let plan = follow_schedule::plan(&schedule, &self.forest, then, self.seed);
        if !self.explored.insert(follow_schedule::plan_key(&plan)) {
            return None;
        }
        let tag = self.next_tag;
        self.next_tag += 1;
        self.planned.insert(tag, Planned { schedule, aim });
        Some(Plan { tag, ..plan })
    }

    /// A plan without preemptions.
    pub(crate) fn undisturbed(&mut self) -> Plan {
        let nothing = SolvedSchedule { steps: Vec::new() };
        let plan = follow_schedule::plan(&nothing, &self.forest, None, self.seed);
        self.explored.insert(follow_schedule::plan_key(&plan));
        Plan { name: self.name.to_string(), ..plan }
    }

    fn enter(&mut self, plan: &Plan, run: &Execution) -> Entry<A> {
        let planned = self.planned.remove(&plan.tag);
        if run.events.len() > LONGEST {
            return Entry::TooLong;
        }
        let path = match &self.relevance {
            Some(relevance) => {
                // In these executions no memory is handed out twice.
                self.forest.leave_lifetimes_to_the_asker();
                self.forest.add_what_matters(&run.events, &|event| relevance.matters(event))
            }
            None => self.forest.add(&run.events),
        };
        if let Some(thread) = follow_schedule::brought_down_by(run) {
            self.forest.ends_with(&path, thread);
        }
        Entry::Read(path, planned)
    }
}

/// The phase of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// An execution looks for shared memory.
    Probe,
    /// An execution that aims at nothing is to be made.
    Opening,
    /// What was solved for is run.
    Search,
    /// There is nothing left to try.
    Done,
}

/// A strategy that solves for its schedules.
pub(crate) struct Solved<R: Reasoning> {
    phase: Phase,
    jobs: usize,
    pub(crate) notes: Notes<R::Aim>,
    pub(crate) reasoning: R,
    ready: VecDeque<Plan>,
    /// Something may be claimed when there is nothing left to try.
    may_claim: bool,
    claims: Claims,
}

impl<R: Reasoning> Solved<R> {
    /// Where all shared memory is known already, no execution has to look for it.
    pub(crate) fn new(name: &'static str, seed: u64, jobs: usize, sharing_is_known: bool) -> Solved<R> {
        Solved {
            phase: if sharing_is_known { Phase::Opening } else { Phase::Probe },
            jobs,
            notes: Notes::new(name, seed, R::relevance()),
            reasoning: R::new(jobs),
            ready: VecDeque::new(),
            may_claim: claim_of(name) != Claim::Nothing,
            claims: Claims::default().following_loops(R::follows_loops()),
        }
    }

    /// The same, passing over doubts of this kind.
    pub(crate) fn overlooking(mut self, kind: Option<Dependence>) -> Solved<R> {
        self.claims.overlook(kind);
        self
    }

    /// Whether executions depended on something else than the order of their steps, or made steps that nobody has seen.
    pub(crate) fn is_doubted(&self) -> bool {
        !self.claims.may_be_made()
    }

    /// Whether there is no such doubt to who runs every order of the steps.
    pub(crate) fn can_be_settled_by_running_all(&self) -> bool {
        self.claims.may_be_made_of_all_orders()
    }

    /// Keeps only what was counted.
    fn begin_anew(&mut self) {
        let Notes { name, seed, effort, made, next_tag, .. } = self.notes;
        let relevance = self.notes.relevance.take().map(Relevance::without_executions);
        let claims = std::mem::take(&mut self.claims);
        *self = Solved { claims, ..Solved::new(name, seed, self.jobs, true) };
        self.notes = Notes { effort, made, next_tag, ..Notes::new(name, seed, relevance) };
    }

    /// Reads all executions again: more matters than it seemed.
    fn read_again(&mut self) {
        self.reasoning = R::new(self.jobs);
        self.ready.clear();
        let notes = &mut self.notes;
        notes.forest = Forest::new();
        notes.planned.clear();
        let runs =
            notes.relevance.as_ref().map(|relevance| relevance.executions().to_vec()).unwrap_or_default();
        for run in runs {
            let entry = notes.enter(&Plan::new(Random, 0, ""), &run);
            self.reasoning.learn(notes, &run, entry);
        }
    }

    fn look_ahead(&mut self, is_over: &dyn Fn() -> bool) {
        if !self.ready.is_empty() {
            return;
        }
        self.phase = match self.reasoning.next(&mut self.notes, is_over) {
            Next::Plans(plans) => {
                self.ready = plans;
                Phase::Search
            }
            Next::Opening => Phase::Opening,
            Next::Nothing => Phase::Done,
        };
    }
}

impl<R: Reasoning> Strategy for Solved<R> {
    fn plan(&mut self, _first: u64, count: usize, _history: &History) -> Vec<Plan> {
        let states = match self.notes.relevance {
            Some(_) => flags::THREAD_STATES | flags::THREAD_HEAPS,
            None => 0,
        };
        let flags = flags::CLAIMS | states;
        let mut plans = match self.phase {
            _ if count == 0 => Vec::new(),
            Phase::Probe => {
                self.phase = Phase::Opening;
                vec![Plan::probe(self.notes.seed, format!("{} (probe)", self.notes.name))]
            }
            Phase::Opening => {
                self.phase = Phase::Search;
                vec![self.reasoning.opening(&mut self.notes)]
            }
            Phase::Search => {
                let name = self.notes.name;
                let named = |plan: Plan| Plan { name: name.to_string(), ..plan };
                self.ready.drain(..count.min(self.ready.len())).map(named).collect()
            }
            Phase::Done => Vec::new(),
        };
        let follows = self.notes.relevance.is_some();
        for plan in &mut plans {
            plan.flags |= flags;
            plan.checkpoints = follows;
        }
        plans
    }

    fn learn(
        &mut self,
        runs: &[(&Plan, &Execution)],
        sharing_grew: bool,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        self.notes.made += runs.len() as u64;
        if self.may_claim {
            runs.iter().for_each(|(_, run)| self.claims.take_in(run));
        }
        if sharing_grew {
            self.begin_anew();
            return Ok(());
        }
        for (plan, run) in runs.iter().filter(|(plan, _)| plan.trace) {
            let planned = self.notes.planned.get(&plan.tag);
            let is_test_case = planned.is_none_or(|planned| R::is_test_case(&planned.aim));
            self.notes.test_cases += u64::from(is_test_case);
            if let Some(relevance) = &mut self.notes.relevance
                && relevance.look_at(run)
            {
                self.read_again();
                continue;
            }
            let entry = self.notes.enter(plan, run);
            self.reasoning.learn(&mut self.notes, run, entry);
        }
        if self.phase == Phase::Search {
            self.look_ahead(is_over);
        }
        Ok(())
    }

    fn exhausted(&self) -> bool {
        self.phase == Phase::Done && self.reasoning.is_complete() && !self.is_doubted()
    }

    fn effort(&self) -> SearchEffort {
        self.notes.effort
    }

    fn doubts(&self) -> Vec<Doubt> {
        // What a claim rests on is of interest only where one is made.
        let is_told = self.phase == Phase::Done && (self.exhausted() || !self.claims.may_be_made());
        if is_told { self.claims.remarks() } else { Vec::new() }
    }

    fn warnings(&self, speaker: &str) -> Vec<String> {
        let is_through = self.phase == Phase::Done;
        let left_out = is_through.then(|| self.reasoning.warning(speaker)).flatten();
        let everything = self.notes.relevance.as_ref().and_then(Relevance::warning);
        left_out.into_iter().chain(everything).collect()
    }
}
