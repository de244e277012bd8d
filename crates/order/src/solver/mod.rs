//! Answers questions about a model.
//!
//! The solver starts with what a goal asks for and with nothing else: which steps have to be made, in which order.
//! What comes out is an order of steps; it is tried out, and whatever it breaks is written down as clauses. So
//! only those rules are ever looked at that some order near the recorded one would break, whatever the length of
//! the trace, and an order that is returned has been checked by making it. What was written down stays for the
//! next question.

mod bindings;
mod cone;
mod deadlock;
mod effort;
mod literals;
mod reads_from;
mod wake_ups;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

use batsat::{Lit, SolverInterface as _, lbool};

use self::bindings::{Bindings, keep_out};
pub use self::effort::{Budget, Effort};
use self::literals::{Habit, Literals, Term};
use self::reads_from::ReadsFrom;
pub(crate) use self::reads_from::sources;
use crate::answer::{Answer, SolvedSchedule};
use crate::constraint::{Constraint, Core, Demand};
use crate::goal::{Goal, Target};
use crate::machine::{self, Violation};
use crate::model::{Ix, Model, Value};

/// When there are so many variables, it is cheaper to begin anew than to drag them along.
const MOST_VARIABLES: u32 = 300_000;

/// How often leaving a constraint out of a core is tried.
const MOST_REMOVALS: usize = 24;

/// Answers questions about one model, each helped by those before.
pub struct Solver {
    model: Arc<Model>,
    literals: Literals,
    bindings: Bindings,
    seeings: HashMap<(Ix, u32, Value), ReadsFrom>,
    /// By read whose value has to be kept: the step, and where.
    kept: HashSet<(Ix, u32)>,
    /// By pair of steps between which nobody may write.
    unbroken: HashMap<(Ix, Ix), (Lit, HashSet<Ix>)>,
    budget: Budget,
    effort: Effort,
}

/// A goal as literals to assume.
struct Assumed {
    lits: Vec<Lit>,
    names: Vec<(Lit, Constraint)>,
    pairs: Vec<Lit>,
}

impl Solver {
    /// A solver for this model.
    pub fn new(model: impl Into<Arc<Model>>) -> Solver {
        Solver::with_budget(model, Budget::default())
    }

    /// A solver that tries as hard as this for each question.
    pub fn with_budget(model: impl Into<Arc<Model>>, budget: Budget) -> Solver {
        let model = model.into();
        Solver {
            literals: Literals::new(&model),
            model,
            bindings: Bindings::default(),
            seeings: HashMap::new(),
            kept: HashSet::new(),
            unbroken: HashMap::new(),
            budget,
            effort: Effort::default(),
        }
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What has been done so far.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Whether, and how, a goal can be reached.
    pub fn solve(&mut self, goal: &Goal) -> Answer {
        self.effort.questions += 1;
        if self.model.too_large {
            return Answer::Unknown;
        }
        if self.literals.sat.num_vars() > MOST_VARIABLES {
            self.forget();
        }
        let Some(target) = goal.in_model(&self.model) else { return Answer::Unknown };
        let assumed = match self.assume(&target) {
            Ok(assumed) => assumed,
            Err(answer) => return answer,
        };
        let mut left = self.budget;
        // What was needed when it was recorded will be needed in most other orders too.
        if !self.model.branches && target.deadlock.is_none() {
            let cone = cone::recorded(&self.model, &target);
            let guess: Vec<Lit> =
                cone.iter().map(|step| self.literals.included(*step, &self.model)).collect();
            if let Some(answer) = self.search(&target, &assumed, &guess, &mut left) {
                return answer;
            }
        }
        self.search(&target, &assumed, &[], &mut left).unwrap_or(Answer::Unknown)
    }

    /// Constraints that keep the goal from being reached, if it cannot be reached.
    pub fn why_not(&mut self, goal: &Goal) -> Option<Core> {
        if self.solve(goal) != Answer::Impossible {
            return None;
        }
        let target = goal.in_model(&self.model)?;
        let Ok(assumed) = self.assume(&target) else { return Some(contradiction(&self.model, &target)) };
        let mut names = assumed.names;
        names.extend(self.literals.constraints.iter().cloned());
        let lits: Vec<Lit> = names.iter().map(|(lit, _)| *lit).collect();
        let mut core = self.core_among(&lits)?;
        // Leaving out one after the other makes it smaller, and what has been learned makes that quick.
        for place in (0..core.len()).rev().take(MOST_REMOVALS) {
            let mut fewer = core.clone();
            if place < fewer.len() {
                fewer.remove(place);
                if let Some(smaller) = self.core_among(&fewer) {
                    core = smaller;
                }
            }
        }
        let core: HashSet<Lit> = core.into_iter().collect();
        let mut core: Core =
            names.into_iter().filter(|(lit, _)| core.contains(lit)).map(|(_, c)| c).collect();
        core.sort_unstable();
        core.dedup();
        Some(core)
    }

    /// Those of the literals that cannot hold together; none if they can, or if it takes too long.
    fn core_among(&mut self, lits: &[Lit]) -> Option<Vec<Lit>> {
        self.allow(self.budget.conflicts);
        let status = self.literals.sat.solve_limited_th(&mut self.literals.orders, lits);
        if status != lbool::FALSE {
            return None;
        }
        let sat = &self.literals.sat;
        Some(lits.iter().copied().filter(|lit| sat.unsat_core_contains_var(lit.var())).collect())
    }

    fn allow(&mut self, conflicts: u64) {
        let limit = self.literals.sat.cb_mut();
        limit.conflicts = 0;
        limit.most = conflicts;
    }

    /// Begins anew.
    fn forget(&mut self) {
        self.literals = Literals::new(&self.model);
        self.bindings = Bindings::default();
        self.seeings.clear();
        self.kept.clear();
        self.unbroken.clear();
    }

    /// The goal as assumptions, or the answer if it is clear at once: the goal contradicts the order within a
    /// thread, or is too much to write down.
    fn assume(&mut self, target: &Target) -> Result<Assumed, Answer> {
        let model = &self.model;
        let literals = &mut self.literals;
        let id = |at: Ix| model.step(at).id;
        let mut names: Vec<(Lit, Constraint)> = Vec::new();
        for &step in &target.steps {
            let made = literals.included(step, model);
            names.push((made, Constraint::new(Demand::Happens, [id(step)])));
        }
        for two in target.steps.windows(2) {
            match literals.before(two[0], two[1], model) {
                Term::True => {}
                Term::False => return Err(Answer::Impossible),
                Term::Lit(lit) => {
                    names.push((lit, Constraint::new(Demand::Before, [id(two[0]), id(two[1])])));
                }
            }
        }
        let mut pairs = Vec::new();
        for pair in &target.pairs {
            let key = (pair.first, pair.second);
            let fresh = || (literals.fresh(Habit::No), HashSet::new());
            let lit = self.unbroken.entry(key).or_insert_with(fresh).0;
            names.push((lit, Constraint::new(Demand::Unbroken, [id(pair.first), id(pair.second)])));
            pairs.push(lit);
        }
        if let Some((read, segment, value)) = target.read {
            let fresh = || ReadsFrom::new(read, segment, value, model, literals);
            let ways = self.seeings.entry((read, segment, value)).or_insert_with(fresh).ways();
            let goal = literals.fresh(Habit::No);
            literals.clause([!goal].into_iter().chain(ways));
            // Whoever sees something else does something else afterwards.
            for child in &model.step(read).children {
                let child = literals.included(*child, model);
                literals.clause([!goal, !child]);
            }
            let known = if let Value::Known(known) = value { known } else { 0 };
            let options = sources(read, segment, value, model);
            let options = options.into_iter().map(|source| source.map(id));
            let demand = Demand::Sees(model.segments[segment as usize], known);
            names.push((goal, Constraint::new(demand, [id(read)]).with(options)));
        }
        for &end in model.finals.iter().filter(|end| target.steps.last() != Some(end)) {
            if !target.steps.contains(&end) {
                let made = literals.included(end, model);
                names.push((!made, Constraint::new(Demand::Final, [id(end)])));
            } else if !model.touches_of(end).iter().any(|touch| touch.reads.is_some()) {
                // It would have to see something else, and there is nothing that it sees.
                return Err(Answer::Impossible);
            }
        }
        if let Some(known) = &target.deadlock {
            let goal = deadlock::deadlocked(known, model, literals, &mut self.bindings.wake_ups)
                .ok_or(Answer::Unknown)?;
            names.push((goal, Constraint::new(Demand::Stuck, [])));
        }
        let mut lits: Vec<Lit> = names.iter().map(|(lit, _)| *lit).collect();
        lits.dedup();
        Ok(Assumed { lits, names, pairs })
    }

    /// Looks for an order that reaches the target, with a guess at what else holds. None means that the guess was
    /// wrong.
    fn search(
        &mut self,
        target: &Target,
        assumed: &Assumed,
        guess: &[Lit],
        left: &mut Budget,
    ) -> Option<Answer> {
        let world = [self.literals.world];
        let assumptions: Vec<Lit> = world.iter().chain(&assumed.lits).chain(guess).copied().collect();
        while left.rounds > 0 {
            left.rounds -= 1;
            self.effort.rounds += 1;
            self.allow(left.conflicts);
            let Literals { sat, orders, .. } = &mut self.literals;
            let status = sat.solve_limited_preserving_trail_th(orders, &assumptions);
            let order = if status == lbool::TRUE { self.order() } else { Vec::new() };
            let Literals { sat, orders, .. } = &mut self.literals;
            sat.pop_model(orders);
            let conflicts = sat.cb().conflicts;
            self.effort.conflicts += conflicts;
            left.conflicts = left.conflicts.saturating_sub(conflicts);
            if status == lbool::FALSE {
                let guess_matters = guess.iter().any(|lit| sat.unsat_core_contains_var(lit.var()));
                return (!guess_matters).then_some(Answer::Impossible);
            }
            if status != lbool::TRUE {
                return Some(Answer::Unknown);
            }
            let outcome = machine::run(&self.model, &order, target);
            if outcome.violations.is_empty() && outcome.some_thread_is_enabled {
                if self.bindings.wake_ups.use_the_oldest(&order, &self.model, &mut self.literals) {
                    continue;
                }
                debug_assert!(false, "some thread is enabled");
                return Some(Answer::Unknown);
            }
            if outcome.violations.is_empty() {
                let steps = order[..outcome.needed].iter().map(|at| self.model.step(*at).id).collect();
                return Some(Answer::Schedule(SolvedSchedule { steps }));
            }
            if !self.learn(&outcome.violations, &order, target, assumed) {
                debug_assert!(false, "nothing to learn from {:?}", outcome.violations);
                return Some(Answer::Unknown);
            }
        }
        Some(Answer::Unknown)
    }

    /// The steps that are made in the solver's model, as close to the recorded order as its edges allow.
    fn order(&self) -> Vec<Ix> {
        let Literals { orders, .. } = &self.literals;
        let count = self.model.len();
        let made = self.literals.made(&self.model);
        let mut waits_for = vec![0_u32; count];
        let steps = || (0..count as Ix).filter(|at| made[*at as usize]);
        for at in steps() {
            waits_for[at as usize] += u32::from(self.model.step(at).parent.is_some());
            for (next, _) in orders.graph.edges_from(at) {
                waits_for[*next as usize] += 1;
            }
        }
        let mut ready: BinaryHeap<Reverse<Ix>> =
            steps().filter(|at| waits_for[*at as usize] == 0).map(Reverse).collect();
        let mut order = Vec::new();
        while let Some(Reverse(at)) = ready.pop() {
            order.push(at);
            let children = self.model.step(at).children.iter().copied();
            for next in children.chain(orders.graph.edges_from(at).iter().map(|(next, _)| *next)) {
                if made[next as usize] {
                    waits_for[next as usize] -= 1;
                    if waits_for[next as usize] == 0 {
                        ready.push(Reverse(next));
                    }
                }
            }
        }
        order
    }

    /// Writes down what an order broke; says whether anything of it is new.
    fn learn(&mut self, violations: &[Violation], order: &[Ix], target: &Target, assumed: &Assumed) -> bool {
        let mut learned = false;
        let mut seen = HashSet::new();
        for violation in violations.iter().copied().filter(|violation| seen.insert(*violation)) {
            learned |= match violation {
                Violation::Reads { step, segment, wrote } => self.keep_value(step, segment, wrote),
                Violation::Goal { wrote } => target.read.is_some_and(|key| {
                    let reads_from = self.seeings.get_mut(&key);
                    reads_from
                        .is_some_and(|reads_from| reads_from.learn(wrote, &self.model, &mut self.literals))
                }),
                Violation::Broken { pair, writer } => {
                    let crate::goal::Pair { first, second, .. } = target.pairs[pair];
                    let known = self.unbroken.get_mut(&(first, second));
                    let is_new = known.is_some_and(|(_, writers)| writers.insert(writer));
                    if is_new {
                        let lit = assumed.pairs[pair];
                        keep_out(lit, first, second, writer, &self.model, &mut self.literals);
                    }
                    is_new
                }
                other => self.bindings.learn(other, order, &self.model, &mut self.literals),
            };
        }
        learned
    }

    /// A read has to see what it saw.
    fn keep_value(&mut self, step: Ix, segment: u32, wrote: Option<Ix>) -> bool {
        let model = &self.model;
        let reads = model.touches_of(step).iter().filter(|touch| touch.segment == segment);
        let Some(value) = reads.filter_map(|touch| touch.reads).next() else { return false };
        let literals = &mut self.literals;
        let fresh = || ReadsFrom::new(step, segment, value, model, literals);
        let key = (step, segment, value);
        if !self.kept.insert((step, segment)) {
            let reads_from = self.seeings.get_mut(&key);
            return reads_from.is_some_and(|reads_from| reads_from.learn(wrote, model, literals));
        }
        let ways = self.seeings.entry(key).or_insert_with(fresh).ways();
        let id = |at: Ix| model.step(at).id;
        let options = sources(step, segment, value, model).into_iter().map(|source| source.map(id));
        let demand = Demand::Reads(model.segments[segment as usize]);
        let switch = literals.name(Constraint::new(demand, [id(step)]).with(options));
        let recorded = literals.as_recorded(step, model);
        literals.clause([!switch, !recorded].into_iter().chain(ways));
        true
    }
}

/// What is wrong with a goal that contradicts the order within a thread.
fn contradiction(model: &Model, target: &Target) -> Core {
    let id = |at: Ix| model.step(at).id;
    let happens = target.steps.iter().map(|step| Constraint::new(Demand::Happens, [id(*step)]));
    let steps = target.steps.windows(2);
    let before = steps.map(|two| Constraint::new(Demand::Before, [id(two[0]), id(two[1])]));
    let mut core: Core = happens.chain(before).collect();
    core.sort_unstable();
    core.dedup();
    core
}
