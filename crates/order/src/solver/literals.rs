//! Variables of the SAT solver, made as they are needed.

use std::collections::{BTreeMap, HashMap};

use batsat::{Callbacks, ClauseKind, Lit, SolverInterface as _, SolverOpts, lbool};

use threadbare_trace::ThreadId;

use crate::constraint::{Constraint, Demand};
use crate::model::{InThread, Ix, Model, ModelStep};
use crate::theory::{Graph, Orders};

/// Counts conflicts and ends the search when there were too many.
#[derive(Default)]
pub struct Limit {
    pub conflicts: u64,
    pub most: u64,
}

impl Callbacks for Limit {
    fn on_new_clause(&mut self, _clause: &[Lit], kind: ClauseKind) {
        self.conflicts += u64::from(kind != ClauseKind::Axiom);
    }

    fn stop(&self) -> bool {
        self.conflicts > self.most
    }
}

/// What is known of a statement before anything is solved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Term {
    True,
    False,
    Lit(Lit),
}

/// How the solver treats a new variable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Habit {
    /// It is tried to be false first.
    No,
    /// It is tried to be true first.
    Yes,
    /// It is never tried, and follows from others or does not matter.
    Follows,
}

/// The SAT solver with the meaning of its variables.
pub struct Literals {
    pub sat: batsat::Solver<Limit>,
    pub orders: Orders,
    /// Everything but the goal holds.
    pub world: Lit,
    /// The constraints so far, each with the literal that switches it on.
    pub constraints: Vec<(Lit, Constraint)>,
    /// By step: it is made.
    included: Vec<Option<Lit>>,
    /// By thread that goes one way only: the depths of the steps that have such a literal.
    landmarks: HashMap<ThreadId, BTreeMap<u32, Lit>>,
    /// By step: it has the outcome that was recorded.
    as_recorded: HashMap<Ix, Lit>,
    pairs: HashMap<(Ix, Ix), Lit>,
}

impl Literals {
    pub fn new(model: &Model) -> Literals {
        let fixed: Vec<(Ix, Ix)> = (0..model.len() as Ix)
            .filter_map(|at| model.step(at).parent.map(|parent| (parent, at)))
            .collect();
        // Small problems would otherwise forget at once what they have learned.
        let options = SolverOpts { min_learnts_lim: 2000, ..SolverOpts::default() };
        let mut sat = batsat::Solver::new(options, Limit::default());
        let world = Lit::new(sat.new_var(lbool::FALSE, true), true);
        Literals {
            sat,
            orders: Orders::new(Graph::new(model.len(), &fixed)),
            world,
            constraints: Vec::new(),
            included: vec![None; model.len()],
            landmarks: HashMap::new(),
            as_recorded: HashMap::new(),
            pairs: HashMap::new(),
        }
    }

    /// A new variable.
    pub fn fresh(&mut self, habit: Habit) -> Lit {
        let first = if habit == Habit::Yes { lbool::TRUE } else { lbool::FALSE };
        Lit::new(self.sat.new_var(first, habit != Habit::Follows), true)
    }

    /// Adds a clause.
    pub fn clause(&mut self, lits: impl IntoIterator<Item = Lit>) {
        self.sat.add_clause_reuse(&mut lits.into_iter().collect());
    }

    /// Adds a clause of literals and terms.
    pub fn clause_with(&mut self, lits: impl IntoIterator<Item = Lit>, terms: &[Term]) {
        if terms.contains(&Term::True) {
            return;
        }
        let terms = terms.iter().filter_map(|term| if let Term::Lit(lit) = term { Some(*lit) } else { None });
        self.clause(lits.into_iter().chain(terms));
    }

    /// A literal that switches a constraint on.
    pub fn name(&mut self, constraint: Constraint) -> Lit {
        let switch = self.fresh(Habit::No);
        self.clause([!self.world, switch]);
        self.constraints.push((switch, constraint));
        switch
    }

    /// The step is made. Then so are those before it in its thread, and the one that created the thread.
    pub fn included(&mut self, at: Ix, model: &Model) -> Lit {
        if let Some(lit) = self.included[at as usize] {
            return lit;
        }
        if !model.branches {
            return self.set_landmark(at, model);
        }
        let mut line = vec![at];
        while let Some(parent) = line.last().and_then(|at| model.step(*at).parent) {
            if self.included[parent as usize].is_some() {
                break;
            }
            line.push(parent);
        }
        for at in line.into_iter().rev() {
            self.include(at, model);
        }
        self.included[at as usize].unwrap_or(self.world)
    }

    /// Where a thread goes one way only, it is enough to speak of the steps that are of interest.
    fn set_landmark(&mut self, at: Ix, model: &Model) -> Lit {
        let ModelStep { thread, depth, .. } = *model.step(at);
        let lit = self.fresh(Habit::No);
        self.included[at as usize] = Some(lit);
        let landmarks = self.landmarks.entry(thread).or_default();
        let before = landmarks.range(..depth).next_back().map(|(_, lit)| *lit);
        let after = landmarks.range(depth + 1..).next().map(|(_, lit)| *lit);
        landmarks.insert(depth, lit);
        if let Some(after) = after {
            self.clause([!after, lit]);
        }
        match before {
            Some(before) => self.clause([!lit, before]),
            None if depth > 0 => {
                let first = self.included(model.thread(thread)[0], model);
                self.clause([!lit, first]);
            }
            None => self.create(at, lit, model),
        }
        lit
    }

    /// In a thread that may go different ways, every step on the way has to be spoken of.
    fn include(&mut self, at: Ix, model: &Model) {
        let lit = self.fresh(Habit::No);
        self.included[at as usize] = Some(lit);
        // A thread goes one way only.
        for sibling in model.siblings(at) {
            if let Some(other) = self.included[sibling as usize].filter(|other| *other != lit) {
                self.clause([!lit, !other]);
            }
        }
        let Some(parent) = model.step(at).parent else { return self.create(at, lit, model) };
        if let Some(parent) = self.included[parent as usize] {
            self.clause([!lit, parent]);
        }
        // What a thread does next depends on what it has seen.
        if let Some(recorded) = self.as_recorded.get(&parent) {
            let recorded = *recorded;
            self.clause([!lit, recorded]);
        }
    }

    /// The steps that are made in the model that the solver has just found.
    pub fn made(&self, model: &Model) -> Vec<bool> {
        let holds = |lit: Lit| self.sat.raw_value_lit(lit) == lbool::TRUE;
        if model.branches {
            return self.included.iter().map(|lit| lit.is_some_and(holds)).collect();
        }
        let mut made = vec![false; model.len()];
        for (thread, landmarks) in &self.landmarks {
            let last = landmarks.iter().rev().find(|(_, lit)| holds(**lit));
            let Some((depth, _)) = last else { continue };
            for at in &model.thread(*thread)[..=*depth as usize] {
                made[*at as usize] = true;
            }
        }
        made
    }

    fn create(&mut self, at: Ix, lit: Lit, model: &Model) {
        let Some(creators) = model.creators.get(&model.step(at).thread) else { return };
        let names = creators.iter().map(|creator| Some(model.step(*creator).id));
        let switch = self.name(Constraint::new(Demand::Created, [model.step(at).id]).with(names));
        self.orders.mean(switch, creators.iter().map(|creator| (*creator, at)));
        let made: Vec<Lit> = creators.iter().map(|creator| self.included(*creator, model)).collect();
        self.clause([!switch, !lit].into_iter().chain(made));
    }

    /// The step has the outcome that was recorded: it must if its thread makes another step.
    pub fn as_recorded(&mut self, at: Ix, model: &Model) -> Lit {
        if let Some(lit) = self.as_recorded.get(&at) {
            return *lit;
        }
        let lit = self.fresh(Habit::Follows);
        self.as_recorded.insert(at, lit);
        for child in &model.step(at).children {
            // Where each step on the way has its literal, it will come to this when it gets it.
            let child = match model.branches {
                true => self.included[*child as usize],
                false => Some(self.included(*child, model)),
            };
            if let Some(child) = child {
                self.clause([!child, lit]);
            }
        }
        lit
    }

    /// The step is made and does all that was recorded of it.
    pub fn effective(&mut self, at: Ix, model: &Model) -> Lit {
        let made = self.included(at, model);
        if !model.touches_of(at).iter().any(|touch| touch.reads.is_some()) {
            return made;
        }
        let recorded = self.as_recorded(at, model);
        let effective = self.fresh(Habit::No);
        self.clause([!effective, made]);
        self.clause([!effective, recorded]);
        effective
    }

    /// The first step comes before the second, if both are made.
    pub fn before(&mut self, first: Ix, second: Ix, model: &Model) -> Term {
        match model.order_in_thread(first, second) {
            InThread::Before | InThread::Never => return Term::True,
            InThread::After => return Term::False,
            InThread::DifferentThreads => {}
        }
        let (early, late) = (first.min(second), first.max(second));
        let lit = match self.pairs.get(&(early, late)) {
            Some(lit) => *lit,
            None => {
                // What is left open is as it was recorded.
                let lit = self.fresh(Habit::Yes);
                self.orders.mean(lit, [(early, late)]);
                self.orders.mean(!lit, [(late, early)]);
                self.pairs.insert((early, late), lit);
                lit
            }
        };
        Term::Lit(if first == early { lit } else { !lit })
    }

    /// Whether a literal is true in the last model.
    pub fn holds(&self, lit: Lit) -> bool {
        self.sat.value_lit(lit) == lbool::TRUE
    }
}
