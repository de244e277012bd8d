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

use std::collections::{HashMap, HashSet, VecDeque};

use threadbare_order::{Answer, Core, Forest, Goal, MemoryRange, Model, Panel, Path, Question, StepId};
use threadbare_patterns::{PatternKey, PatternSet, TraceMatcher};
use threadbare_sched::{Random, Rng};
use threadbare_target::Execution;
use threadbare_trace::Event;

use self::accesses::{Access, Accesses};
use self::candidates::Candidate;
use self::cores::Cores;
use self::rank::{Rank, Ranking};
use crate::follow_schedule;
use crate::question_queue::{Asking, QuestionQueue, Triage};
use crate::search_effort::SearchEffort;
use crate::solved::{BUDGET, Entry, Next, Notes, Planned, Reasoning, Solved};
use crate::strategy::Plan;

/// See the module's description.
pub(crate) type Pcr = Solved<Patterns>;

/// How often a pattern is aimed at and missed before other candidates of it are dropped.
const MOST_MISSES: u32 = 3;

/// How many executions of random order there may be in a row that suggest nothing.
const MOST_FRESH: u32 = 8;

/// Something that is worth solving.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    trace: usize,
    aim: Aim,
}

/// What a schedule is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aim {
    /// A pattern with its number and what it is known by.
    Pattern(Candidate, u8, PatternKey),
    /// A read, by its step, and the value that it shall see.
    ReadValue(StepId, MemoryRange, u64),
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

/// The patterns that executions suggest.
pub(crate) struct Patterns {
    queue: QuestionQueue<Rank, Wanted>,
    known: Knowledge,
    attempts: Vec<Attempt>,
    /// How many executions of random order in a row have suggested nothing.
    fresh: u32,
}

/// What has been shown and aimed at.
#[derive(Default)]
struct Knowledge {
    traces: Vec<Trace>,
    covered: PatternSet,
    ranking: Ranking,
    /// By pattern: how often it was aimed at and did not occur.
    misses: HashMap<PatternKey, u32>,
    /// What was aimed at.
    asked: HashSet<Goal>,
    cores: Cores,
}

impl Knowledge {
    fn goal(&self, wanted: &Wanted) -> Goal {
        match wanted.aim {
            Aim::ReadValue(read, extent, value) => Goal::sees(read, extent, value),
            Aim::Pattern(candidate, ..) => {
                let members = candidate.of(&self.traces[wanted.trace].accesses);
                Goal::pattern(&members.iter().map(|access| access.step).collect::<Vec<StepId>>())
            }
        }
    }

    fn is_missed(&self, key: PatternKey) -> bool {
        self.misses.get(&key).is_some_and(|misses| *misses >= MOST_MISSES)
    }
}

/// Asks for what the executions suggest (the loop of Algorithm 2).
struct Asker<'a> {
    known: &'a mut Knowledge,
    notes: &'a mut Notes<Aim>,
}

impl Asking<Rank, Wanted> for Asker<'_> {
    fn triage(&self, rank: &Rank, wanted: &Wanted) -> Triage<Rank> {
        let Knowledge { traces, covered, ranking, asked, .. } = &*self.known;
        let now = match wanted.aim {
            // Since it was put on the queue it may have been covered, or aimed at often enough, or what it shows may
            // have been seen.
            Aim::Pattern(candidate, _, key) => {
                let members = candidate.of(&traces[wanted.trace].accesses);
                let is_covered = rules::is_covered(key, covered) || self.known.is_missed(key);
                ranking.rank(is_covered, &members, &self.notes.forest, (wanted.trace, rank.place))
            }
            Aim::ReadValue(..) => ranking.rank_of_read_value_now(rank),
        };
        if now > *rank {
            return Triage::Later(now);
        }
        let goal = self.known.goal(wanted);
        if asked.contains(&goal) { Triage::Skip } else { Triage::Ask(Question { about: wanted.trace, goal }) }
    }

    fn model(&self, about: usize) -> Model {
        Model::of(&self.notes.forest, &self.known.traces[about].path)
    }

    fn take(&mut self, rank: Rank, wanted: Wanted, answer: Answer) -> Option<Plan> {
        self.known.asked.insert(self.known.goal(&wanted));
        let Answer::Schedule(schedule) = answer else { return None };
        let plan = self.notes.follow(schedule, None, wanted.aim)?;
        match wanted.aim {
            Aim::ReadValue(..) => self.known.ranking.try_read_value(&rank),
            Aim::Pattern(candidate, ..) => {
                let members = candidate.of(&self.known.traces[wanted.trace].accesses);
                self.known.ranking.try_candidate(&members, &self.notes.forest);
            }
        }
        Some(plan)
    }

    fn is_refuted(&self, goal: &Goal, model: &Model) -> bool {
        self.known.cores.refute(goal, model)
    }

    fn note(&mut self, core: Core) {
        self.known.cores.add(core, &self.notes.forest);
    }

    fn effort(&mut self) -> &mut SearchEffort {
        &mut self.notes.effort
    }
}

impl Patterns {
    /// Adds the candidates of an execution that no rule removes to the queue (Algorithm 3).
    fn suggest(&mut self, path: Path, events: &[Event], forest: &Forest) {
        let accesses = Accesses::of(events, &path);
        let (queue, Knowledge { traces, covered, ranking, .. }) = (&mut self.queue, &mut self.known);
        let trace = traces.len();
        ranking.see(&accesses);
        let mut place = 0;
        candidates::each(&accesses, &mut |candidate| {
            let members = candidate.of(&accesses);
            let Some((pattern, key)) = worth_solving(&members, &accesses) else { return };
            let rank = ranking.rank(rules::is_covered(key, covered), &members, forest, (trace, place));
            queue.add(rank, Wanted { trace, aim: Aim::Pattern(candidate, pattern, key) });
            place += 1;
        });
        for (read, extent, value) in accesses.disturbed(&path) {
            let rank = ranking.rank_of_read_value(read, (extent, value), forest, (trace, place));
            queue.add(rank, Wanted { trace, aim: Aim::ReadValue(read.step, extent, value) });
            place += 1;
        }
        traces.push(Trace { path, accesses });
    }

    /// Whether an execution shows what it was made for.
    fn check(&mut self, path: &Path, planned: Planned<Aim>, patterns: &PatternSet, notes: &mut Notes<Aim>) {
        let Aim::Pattern(_, pattern, key) = planned.aim else { return };
        let followed = follow_schedule::followed(&planned.schedule.steps, path, &notes.forest);
        let met = patterns.contains(key);
        notes.effort.aimed += 1;
        notes.effort.met += u64::from(met);
        if !met {
            *self.known.misses.entry(key).or_default() += 1;
        }
        self.attempts.push(Attempt { pattern, followed, met });
    }
}

impl Reasoning for Patterns {
    type Aim = Aim;

    fn new(jobs: usize) -> Patterns {
        let queue = QuestionQueue::new(Panel::new(BUDGET, jobs).with_cores());
        Patterns { queue, known: Knowledge::default(), attempts: Vec::new(), fresh: 0 }
    }

    /// An execution of random order.
    fn opening(&mut self, notes: &mut Notes<Aim>) -> Plan {
        self.fresh += 1;
        let seed = Rng::derive(notes.seed, notes.made + 1);
        let name = format!("{} (random)", notes.name);
        Plan { trace: true, ..Plan::new(Random, seed, name) }
    }

    fn learn(&mut self, notes: &mut Notes<Aim>, run: &Execution, entry: Entry<Aim>) {
        let Entry::Read(path, planned) = entry else { return };
        let patterns = TraceMatcher::patterns_of(&run.events);
        if let Some(planned) = planned {
            self.check(&path, planned, &patterns, notes);
        }
        self.known.covered.extend(patterns.iter());
        // An execution in which no thread sees anything new suggests nothing new either.
        if path.new_steps > 0 {
            self.fresh = 0;
            self.suggest(path, &run.events, &notes.forest);
        } else {
            self.known.ranking.see_nothing_new();
        }
    }

    /// When no candidate is left, an execution of random order may show other ones.
    fn next(&mut self, notes: &mut Notes<Aim>, is_over: &dyn Fn() -> bool) -> Next {
        let mut asker = Asker { known: &mut self.known, notes };
        match self.queue.next(&mut asker, is_over) {
            Some(plan) => Next::Plans(VecDeque::from([plan])),
            None if self.fresh < MOST_FRESH => Next::Opening,
            None => Next::Nothing,
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
