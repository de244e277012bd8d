//! Several solvers that answer independent questions side by side.
//!
//! What a solver answers may depend on what it was asked before: of two orders that reach a goal it finds the one that
//! is nearer to what it has learned. So which solver gets which question is fixed by the questions alone, and the
//! number of threads only decides who waits for whom. The same questions get the same answers on every machine.

use std::collections::{BTreeMap, HashMap};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::answer::Answer;
use crate::constraint::Core;
use crate::goal::Goal;
use crate::model::Model;
use crate::solver::{Budget, Effort, Solver};

/// How many solvers share the questions about one model. More could run at once, but each has to learn
/// by itself what the others have learned.
const LANES: usize = 4;

/// How many steps the models of the solvers may have together before all begin anew. A solver takes about a KiB for
/// each.
const MOST_STEPS: usize = 400_000;

/// How many solvers are kept, however short their models are.
const MOST_SOLVERS: usize = 128;

/// Questions about fewer steps than this, all taken together, are answered before another thread has begun.
const WORTH_A_THREAD: usize = 4_000;

/// Something to be answered.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Question {
    /// The number of the model that it is about.
    pub about: usize,
    /// What shall happen.
    pub goal: Goal,
}

/// What came of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PanelReply {
    /// The answer.
    pub answer: Answer,
    /// Why it is impossible, where that was asked for and is known.
    pub core: Option<Core>,
    /// What the answer took.
    pub effort: Effort,
}

/// Solvers of numbered models.
pub struct Panel {
    budget: Budget,
    jobs: usize,
    with_cores: bool,
    models: HashMap<usize, Arc<Model>>,
    /// By model and lane.
    solvers: HashMap<(usize, usize), Solver>,
}

/// What one solver has to do: the questions by their places.
struct Duty {
    key: (usize, usize),
    solver: Option<Solver>,
    model: Arc<Model>,
    places: Vec<usize>,
}

impl Panel {
    /// Solvers that try as hard as this for each question, this many of them at once.
    pub fn new(budget: Budget, jobs: usize) -> Panel {
        Panel { budget, jobs, with_cores: false, models: HashMap::new(), solvers: HashMap::new() }
    }

    /// The same, and they say why something is impossible.
    pub fn with_cores(self) -> Panel {
        Panel { with_cores: true, ..self }
    }

    /// The model with this number; `make` makes it if it is not known.
    pub fn model(&mut self, about: usize, make: impl FnOnce() -> Model) -> Arc<Model> {
        Arc::clone(self.models.entry(about).or_insert_with(|| Arc::new(make())))
    }

    /// Replies to all questions, in their order. `make` makes the models that are not known.
    pub fn ask(&mut self, questions: &[Question], make: &(dyn Fn(usize) -> Model + Sync)) -> Vec<PanelReply> {
        let duties = self.share_out(questions, make);
        let steps: usize = duties.iter().map(|duty| duty.model.len() * duty.places.len()).sum();
        let jobs = if steps < WORTH_A_THREAD { 1 } else { self.jobs };
        let (budget, with_cores) = (self.budget, self.with_cores);
        let done = side_by_side(jobs, duties, |duty| {
            let Duty { key, solver, model, places } = duty;
            let mut solver = solver.unwrap_or_else(|| Solver::with_budget(model, budget));
            let reply = |place: usize| (place, reply(&mut solver, &questions[place].goal, with_cores));
            let replies: Vec<(usize, PanelReply)> = places.into_iter().map(reply).collect();
            (key, solver, replies)
        });
        let mut all: BTreeMap<usize, PanelReply> = BTreeMap::new();
        for (key, solver, replies) in done {
            self.solvers.insert(key, solver);
            all.extend(replies);
        }
        all.into_values().collect()
    }

    /// Who answers what. Solvers that are needed are taken out.
    fn share_out(&mut self, questions: &[Question], make: &(dyn Fn(usize) -> Model + Sync)) -> Vec<Duty> {
        let mut places: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (place, question) in questions.iter().enumerate() {
            places.entry((question.about, place % LANES)).or_default().push(place);
        }
        self.make_room(places.len());
        let mut unknown: Vec<usize> = places.keys().map(|(about, _)| *about).collect();
        unknown.dedup();
        unknown.retain(|about| !self.models.contains_key(about));
        let made = side_by_side(self.jobs, unknown, |about| (about, Arc::new(make(about))));
        self.models.extend(made);
        let duty = |(key, places): ((usize, usize), Vec<usize>)| {
            let model = Arc::clone(&self.models[&key.0]);
            Duty { key, solver: self.solvers.remove(&key), model, places }
        };
        places.into_iter().map(duty).collect()
    }

    /// Forgets everything if there is too much of it.
    fn make_room(&mut self, needed: usize) {
        let solvers: usize = self.solvers.values().map(|solver| solver.model().len()).sum();
        let models: usize = self.models.values().map(|model| model.len()).sum();
        if solvers + models > MOST_STEPS || self.solvers.len() + needed > MOST_SOLVERS {
            self.solvers.clear();
            self.models.clear();
        }
    }
}

fn reply(solver: &mut Solver, goal: &Goal, with_cores: bool) -> PanelReply {
    let before = solver.effort();
    let answer = solver.solve(goal);
    let after = solver.effort();
    let core = if with_cores && answer == Answer::Impossible { solver.why_not(goal) } else { None };
    let effort = Effort {
        questions: 1,
        rounds: after.rounds - before.rounds,
        conflicts: after.conflicts - before.conflicts,
    };
    PanelReply { answer, core, effort }
}

/// Does all the work with up to this many threads; what comes of it is in the order of the work.
fn side_by_side<W: Send, R: Send>(jobs: usize, work: Vec<W>, does: impl Fn(W) -> R + Sync) -> Vec<R> {
    let jobs = jobs.min(work.len());
    if jobs <= 1 {
        return work.into_iter().map(does).collect();
    }
    let left = Mutex::new(work.into_iter().enumerate());
    let take = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let help = || {
        let mut done = Vec::new();
        while let Some((place, work)) = take() {
            done.push((place, does(work)));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        let helpers: Vec<_> = (1..jobs).map(|_| scope.spawn(help)).collect();
        let mut done = help();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}
