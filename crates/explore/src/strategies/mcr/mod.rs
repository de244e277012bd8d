//! Maximal causality reduction: for each read and each other value that it could see, an order of the recorded steps
//! in which it does.
//!
//! Threads that have seen the same are in the same state, so an interleaving shows something new only if some thread
//! sees something new. Each execution is asked what its reads could see else (Huang, "Stateless model checking
//! concurrent programs with maximal causality reduction", PLDI 2015); a solver answers with a schedule; its
//! execution shows the new state and is asked in turn. No state is aimed at twice.
//!
//! A single execution does not show everything: the steps that are needed may come from several. When no execution
//! alone suggests anything more, all are taken together, with every thread free to take any of the paths that it was seen
//! to take. If nothing is possible then either, no thread can get into a state that has not been seen: the
//! operation that would be the first to see something new has only seen steps before it. Only then, and only if
//! nothing was left out, the search is exhausted. A deadlock is a state of all threads together, and is asked for separately.

mod all_executions;
mod deadlock_targets;
mod lifetimes;
mod open_questions;
mod race_targets;
mod targets;

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use threadbare_order::{Answer, Doubt, Forest, Goal, Model, Panel, Path, Question, SolvedSchedule, StepId};
use threadbare_target::Execution;
use threadbare_trace::{Failure, FailureKind, Outcome, ThreadId, kinds};

pub use self::open_questions::{OpenKind, OpenQuestion};
pub(crate) use self::targets::Target;
use self::targets::{Key, SeenReads, is_reached};
use crate::follow_schedule;
use crate::omission::{Omission, warning};
use crate::question_queue::{Asking, QuestionQueue, Triage};
use crate::search_effort::SearchEffort;
use crate::solved::{BUDGET, Entry, Next, Notes, Planned, Reasoning, Solved, batch};
use crate::strategy::Plan;

/// See the module's description.
pub(crate) type Mcr = Solved<Values>;

/// In which order targets are tried: the most promising first, those of older executions first.
type Rank = (u8, usize, usize);

/// What a schedule is for; none if it is for a deadlock.
type Aim = Option<Target>;

/// What the reads of all executions could see else.
pub(crate) struct Values {
    jobs: usize,
    /// Whether to look for races, too.
    wants_races: bool,
    queue: QuestionQueue<Rank, Aim>,
    known: Knowledge,
    /// How much may still be asked of all executions together.
    allowance: u64,
}

/// What has been shown, asked and left out.
#[derive(Default)]
struct Knowledge {
    seen: SeenReads,
    paths: Vec<Path>,
    asked: HashSet<Key>,
    /// The code that accesses memory atomically.
    atomic: HashSet<u64>,
    /// The deadlocks that were found, by the last steps of all threads.
    deadlocks: Vec<Vec<StepId>>,
    omissions: BTreeSet<Omission>,
}

impl Knowledge {
    /// The schedule of an answer; notes if it is not known whether there is one.
    fn schedule(&mut self, answer: Answer) -> Option<SolvedSchedule> {
        match answer {
            Answer::Schedule(schedule) => return Some(schedule),
            Answer::Impossible => {}
            Answer::Unknown => {
                self.omissions.insert(Omission::Unanswered);
            }
        }
        None
    }

    /// A plan that follows the schedule of an answer.
    fn follow(&mut self, answer: Answer, aim: Aim, notes: &mut Notes<Aim>) -> Option<Plan> {
        let mut schedule = self.schedule(answer)?;
        match &aim {
            Some(target) => drop(self.asked.insert(target.key.clone())),
            None => self.deadlocks.push(last_steps(&schedule, &notes.forest)),
        }
        let race = aim.as_ref().filter(|target| target.is_race());
        if let Some(target) = race {
            race_targets::bring_together(&mut schedule, &target.goal);
        }
        let is_race = race.is_some();
        let then = aim.as_ref().and_then(|target| target.then).map(|then| then.thread);
        let plan = notes.follow(schedule, then, aim);
        if plan.is_none() && then.is_none() && !is_race {
            // It has been run and did not lead there.
            self.omissions.insert(Omission::Diverged);
        }
        plan
    }
}

/// The last steps of all threads.
fn last_steps(schedule: &SolvedSchedule, forest: &Forest) -> Vec<StepId> {
    let mut last: BTreeMap<ThreadId, StepId> = BTreeMap::new();
    for id in &schedule.steps {
        last.insert(forest.step(*id).thread, *id);
    }
    last.into_values().collect()
}

/// Asks for what the executions suggest.
struct Asker<'a> {
    known: &'a mut Knowledge,
    notes: &'a mut Notes<Aim>,
}

impl Asking<Rank, Aim> for Asker<'_> {
    fn triage(&self, &(_, about, _): &Rank, aim: &Aim) -> Triage<Rank> {
        let Some(target) = aim else {
            return Triage::Ask(Question { about, goal: Goal::deadlock(self.known.deadlocks.clone()) });
        };
        let is_known = !matches!(target.key, Key::Lifetime(..) | Key::Race(..))
            && is_reached(&self.notes.forest, target);
        if is_known || self.known.asked.contains(&target.key) {
            return Triage::Skip;
        }
        let steps = target.goal.steps();
        if steps.is_empty() || target.then.is_some_and(|then| then.as_recorded) {
            return Triage::Known(Answer::Schedule(SolvedSchedule { steps: steps.to_vec() }));
        }
        Triage::Ask(Question { about, goal: target.goal.clone() })
    }

    fn model(&self, about: usize) -> Model {
        Model::of(&self.notes.forest, &self.known.paths[about])
    }

    fn take(&mut self, _rank: Rank, aim: Aim, answer: Answer) -> Option<Plan> {
        self.known.follow(answer, aim, self.notes)
    }

    fn effort(&mut self) -> &mut SearchEffort {
        &mut self.notes.effort
    }
}

impl Values {
    /// One that looks for races, too.
    pub(crate) fn with_races(jobs: usize) -> Values {
        Values { wants_races: true, ..Values::new(jobs) }
    }

    /// What else these steps suggest to ask about, if races are wanted: accesses that can race, and memory and objects that
    /// can be used before or after their lifetime.
    fn race_and_lifetime_targets(&mut self, forest: &Forest, steps: &[StepId]) -> Vec<Target> {
        if !self.wants_races {
            return Vec::new();
        }
        let (mut found, cut) = race_targets::of(forest, steps, &self.known.atomic, &self.known.asked);
        let (ends, are_cut) = lifetimes::of(forest, steps, &self.known.asked);
        if cut || are_cut {
            self.known.omissions.insert(Omission::TooMany);
        }
        found.extend(ends);
        found
    }

    /// How much is still to be asked.
    pub(crate) fn left(&self) -> usize {
        self.queue.len()
    }

    /// Adds what an execution suggests to the queue.
    fn ask(&mut self, path: Path, run: &Execution, forest: &Forest) {
        let number = self.known.paths.len();
        let (targets, cut) =
            targets::of(forest, &path, &follow_schedule::unfinished_threads(run), &mut self.known.seen);
        if cut {
            self.known.omissions.insert(Omission::Spinning);
        }
        if deadlock_targets::are_possible(forest, &path.steps) {
            self.queue.add((1, number, usize::MAX), None);
        }
        let more = self.race_and_lifetime_targets(forest, &path.steps);
        for (place, target) in targets.into_iter().chain(more).enumerate() {
            if !self.known.asked.contains(&target.key) {
                self.queue.add((target.class, number, place), Some(target));
            }
        }
        self.known.paths.push(path);
    }

    /// Whether an execution did what it was made for.
    fn check(&mut self, path: &Path, planned: Planned<Aim>, run: &Execution, forest: &Forest) {
        let Planned { schedule, aim } = planned;
        if aim.as_ref().is_some_and(|target| matches!(target.key, Key::Lifetime(..))) {
            use FailureKind::*;
            let shows_it = |failure: &Failure| match failure.kind {
                UseAfterFree | Misuse => true,
                Assertion | Abort | Segfault | Exception | Deadlock | Hang | Exit => false,
            };
            if !run.outcome.failure().is_some_and(shows_it) {
                // It can happen, and nobody knows what comes of it.
                self.known.omissions.insert(Omission::Doubt(Doubt::Lifetime));
            }
            return;
        }
        let reached = aim.as_ref().is_none_or(|target| is_reached(forest, target));
        let only_continues = aim.is_some_and(|target| target.then.is_some());
        if !follow_schedule::followed(&schedule.steps, path, forest) || (!reached && !only_continues) {
            self.known.omissions.insert(Omission::Diverged);
        }
    }
}

impl Reasoning for Values {
    type Aim = Aim;

    fn new(jobs: usize) -> Values {
        let queue = QuestionQueue::new(Panel::new(BUDGET, jobs));
        Values {
            jobs,
            wants_races: false,
            queue,
            known: Knowledge::default(),
            allowance: all_executions::ALLOWANCE,
        }
    }

    fn opening(&mut self, notes: &mut Notes<Aim>) -> Plan {
        notes.undisturbed()
    }

    fn learn(&mut self, notes: &mut Notes<Aim>, run: &Execution, entry: Entry<Aim>) {
        if let Outcome::Uncontrolled(_) = run.outcome {
            self.known.omissions.insert(Omission::Uncontrolled);
        }
        let Entry::Read(path, planned) = entry else {
            self.known.omissions.insert(Omission::TooLong);
            return;
        };
        if let Some(planned) = planned {
            self.check(&path, planned, run, &notes.forest);
        }
        if self.wants_races {
            let is_atomic = |kind| matches!(kind, kinds!(atomic));
            let atomic = run.events.iter().filter(|event| event.kind().is_some_and(is_atomic));
            self.known.atomic.extend(atomic.map(|event| event.pc));
        }
        // An execution in which no thread sees anything new suggests nothing new either.
        if path.new_steps > 0 {
            self.ask(path, run, &notes.forest);
        }
    }

    fn next(&mut self, notes: &mut Notes<Aim>, is_over: &dyn Fn() -> bool) -> Next {
        let mut plans = VecDeque::new();
        while plans.len() < batch(notes.made) {
            let mut asker = Asker { known: &mut self.known, notes: &mut *notes };
            let Some(plan) = self.queue.next(&mut asker, is_over) else { break };
            plans.push_back(plan);
        }
        if !self.queue.is_empty() && is_over() {
            self.known.omissions.insert(Omission::TimeUp);
        }
        if plans.is_empty() {
            plans.extend(self.plans_of_all(notes, is_over));
        }
        if plans.is_empty() {
            if self.known.seen.has_stalled(&notes.forest) {
                self.known.omissions.insert(Omission::Stalled);
            }
            return Next::Nothing;
        }
        Next::Plans(plans)
    }

    fn is_complete(&self) -> bool {
        self.known.omissions.is_empty()
    }

    fn warning(&self, speaker: &str) -> Option<String> {
        warning(speaker, &self.known.omissions)
    }
}
