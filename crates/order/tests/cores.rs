//! What is named as the reason for an impossibility has to be one: no sequence of steps at all satisfies it, whatever
//! else it breaks.

mod support;

use std::collections::HashMap;

use support::program::{Flavour, Program};
use support::run::trace;
use support::{Traced, extent, reads, seen, writes};
use threadbare_order::{
    Action, Answer, Constraint, Core, Demand, ForestStep, Goal, MemoryRange, Model, Solver, StepId,
};
use threadbare_sched::Rng;

/// A sequence of steps, with the position of each.
struct Sequence<'a> {
    traced: &'a Traced,
    steps: &'a [StepId],
    places: HashMap<StepId, usize>,
}

impl Sequence<'_> {
    fn step(&self, id: StepId) -> &ForestStep {
        self.traced.forest.step(id)
    }

    fn place(&self, id: StepId) -> Option<usize> {
        self.places.get(&id).copied()
    }

    fn has_before(&self, first: StepId, second: StepId) -> bool {
        self.place(first).zip(self.place(second)).is_some_and(|(first, second)| first < second)
    }

    fn runs_on_after(&self, id: StepId) -> bool {
        self.step(id).children.iter().any(|child| self.place(*child).is_some())
    }

    /// Who wrote what a step finds in memory, and what that is. Writes leave what they left when recorded.
    fn found(&self, id: StepId, memory: MemoryRange) -> (Option<StepId>, u64) {
        let end = self.place(id).unwrap_or(0);
        let writer = self.steps[..end].iter().rev().find_map(|other| {
            let write = self.step(*other).actions.iter().find_map(Action::write);
            write.filter(|(extent, _)| *extent == memory).map(|(_, value)| (Some(*other), value.unwrap_or(0)))
        });
        let initial = || {
            let first = self.traced.events.iter().find(|e| (reads(e) || writes(e)) && extent(e) == memory);
            first.map_or(0, |event| if reads(event) { seen(event) } else { event.old })
        };
        writer.unwrap_or_else(|| (None, initial()))
    }

    fn recorded(&self, id: StepId) -> Option<(MemoryRange, u64)> {
        let read = self.step(id).actions.iter().find_map(Action::read);
        read.and_then(|(extent, value)| Some((extent, value?)))
    }

    /// The steps that have to see what they saw: those whose threads make another step, or end and are joined, and updates whose
    /// outcome matters.
    fn bound_reads(&self, core: &Core) -> Vec<StepId> {
        let named =
            |id: &StepId| core.iter().any(|c| matches!(c.demand, Demand::Reads(_)) && c.steps.contains(id));
        let mut bound: Vec<StepId> = Vec::new();
        let mut open: Vec<StepId> =
            self.steps.iter().copied().filter(|id| named(id) && self.runs_on_after(*id)).collect();
        open.extend(core.iter().filter(|c| matches!(c.demand, Demand::Sees(..))).map(|c| c.steps[0]));
        // A thread has one end only in these executions.
        let joined = core.iter().filter(|c| c.demand == Demand::Joined && self.place(c.steps[0]).is_some());
        open.extend(joined.flat_map(|c| c.options.iter().flatten().copied()).filter(named));
        while let Some(id) = open.pop() {
            let is_goal = core.iter().any(|c| matches!(c.demand, Demand::Sees(..)) && c.steps[0] == id);
            if bound.contains(&id) {
                continue;
            }
            if !is_goal {
                bound.push(id);
            }
            if let Some((memory, _)) = self.recorded(id)
                && let (Some(writer), _) = self.found(id, memory)
                && self.recorded(writer).is_some()
                && named(&writer)
            {
                open.push(writer);
            }
        }
        bound
    }

    fn satisfies(&self, core: &Core) -> bool {
        let bound = self.bound_reads(core);
        core.iter().all(|constraint| self.satisfies_one(constraint, &bound)) && self.serves(core)
    }

    fn satisfies_one(&self, constraint: &Constraint, bound: &[StepId]) -> bool {
        let Constraint { demand, steps, options } = constraint;
        let (first, second) = (steps[0], steps.get(1).copied().unwrap_or(steps[0]));
        let is_made = self.place(first).is_some();
        let one_before = |id: StepId| options.iter().flatten().any(|option| self.has_before(*option, id));
        match demand {
            Demand::Happens => is_made,
            Demand::Before => self.has_before(first, second),
            Demand::Unbroken => {
                let (Some(from), Some(to)) = (self.place(first), self.place(second)) else { return false };
                let memory = |id: StepId| self.step(id).actions.iter().find_map(|a| a.read().or(a.write()));
                let between = self.steps.get(from + 1..to).unwrap_or(&[]);
                let breaks = |id: &StepId| {
                    let write = self.step(*id).actions.iter().find_map(Action::write);
                    write.is_some_and(|(extent, _)| memory(first).is_some_and(|(other, _)| other == extent))
                };
                from < to && !between.iter().any(breaks)
            }
            Demand::Sees(memory, value) => {
                is_made && !self.runs_on_after(first) && self.found(first, *memory).1 == *value
            }
            Demand::Created => !is_made || one_before(first),
            Demand::Reads(memory) => {
                let expected = self.recorded(first).map(|(_, value)| value);
                !bound.contains(&first) || expected == Some(self.found(first, *memory).1)
            }
            Demand::Exclusion => {
                let ends_before = |begin: StepId, other: StepId| {
                    let mut ends = options.iter().flatten();
                    ends.any(|end| {
                        self.step(*end).thread == self.step(begin).thread && self.has_before(*end, other)
                    })
                };
                let both = is_made && self.place(second).is_some();
                !both || ends_before(first, second) || ends_before(second, first)
            }
            Demand::Round => {
                let has = |id: StepId, arrives: bool| {
                    let actions = &self.step(id).actions;
                    actions.iter().any(|action| match action {
                        Action::Arrive(_) => arrives,
                        Action::Leave(..) => !arrives,
                        _ => false,
                    })
                };
                let last = steps.iter().copied().find(|id| has(*id, true) && has(*id, false));
                let Some(last) = last else { return true };
                steps.iter().filter(|id| **id != last).all(|id| match has(*id, true) {
                    true => self.place(last).is_none() || self.has_before(*id, last),
                    false => self.place(*id).is_none() || self.has_before(last, *id),
                })
            }
            Demand::Joined => !is_made || one_before(first),
            Demand::Woken | Demand::Token => true,
            other => panic!("{other:?} does not occur in these programs"),
        }
    }

    /// Whether everybody who is woken or takes a token can have a signal or a token of his own.
    fn serves(&self, core: &Core) -> bool {
        let served = |c: &&Constraint| {
            matches!(c.demand, Demand::Woken | Demand::Token) && self.place(c.steps[0]).is_some()
        };
        let served: Vec<&Constraint> = core.iter().filter(served).collect();
        self.serve(&served, &mut Vec::new())
    }

    fn serve(&self, served: &[&Constraint], used: &mut Vec<Option<StepId>>) -> bool {
        let Some((first, rest)) = served.split_first() else { return true };
        let step = first.steps[0];
        for option in &first.options {
            let fits = match option {
                None => true,
                Some(giver) => {
                    let waits = first.demand == Demand::Woken;
                    let since = self.step(step).parent.unwrap_or(step);
                    self.has_before(*giver, step) && (!waits || self.has_before(since, *giver))
                }
            };
            let serves_all = option.is_some_and(|giver| {
                let actions = &self.step(giver).actions;
                actions.iter().any(|action| matches!(action, Action::Signal { all: true, .. }))
            });
            // At most one token is there from the beginning.
            if !fits || (!serves_all && used.contains(option)) {
                continue;
            }
            used.push(*option);
            let works = self.serve(rest, used);
            used.pop();
            if works {
                return true;
            }
        }
        false
    }
}

/// Whether any sequence that keeps the order within threads satisfies all constraints.
fn is_satisfiable(traced: &Traced, core: &Core) -> bool {
    fn extend(traced: &Traced, core: &Core, steps: &mut Vec<StepId>) -> bool {
        let places = steps.iter().enumerate().map(|(place, id)| (*id, place)).collect();
        let sequence = Sequence { traced, steps, places };
        if sequence.satisfies(core) {
            return true;
        }
        let next: Vec<StepId> = (traced.path.steps.iter().copied())
            .filter(|id| {
                let parent = traced.forest.step(*id).parent;
                sequence.place(*id).is_none() && parent.is_none_or(|parent| sequence.place(parent).is_some())
            })
            .collect();
        next.into_iter().any(|id| {
            steps.push(id);
            let found = extend(traced, core, steps);
            steps.pop();
            found
        })
    }
    extend(traced, core, &mut Vec::new())
}

/// A goal that is likely not to be reachable.
fn some_goal(traced: &Traced, rng: &mut Rng) -> Option<Goal> {
    let accesses: Vec<usize> = (0..traced.events.len())
        .filter(|index| reads(&traced.events[*index]) || writes(&traced.events[*index]))
        .collect();
    if accesses.is_empty() {
        return None;
    }
    let pick = |rng: &mut Rng| accesses[rng.below(accesses.len() as u64) as usize];
    let first = pick(rng);
    let event = &traced.events[first];
    if reads(event) && rng.below(2) == 0 {
        return Some(Goal::sees(traced.path.step_of(first)?, extent(event), rng.below(4)));
    }
    let mut steps: Vec<StepId> = Vec::new();
    for index in [first, pick(rng), pick(rng)] {
        let step = traced.path.step_of(index)?;
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    Some(Goal::pattern(&steps))
}

fn check(flavour: Flavour, seeds: std::ops::Range<u64>) {
    let (mut cores, mut size) = (0, 0);
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let threads = 2 + rng.below(2) as usize;
        let program = Program::random(&mut rng, flavour, threads, if threads == 2 { 4 } else { 2 });
        let traced = Traced::new(trace(&program, &mut rng));
        if traced.path.steps.len() > 11 {
            continue;
        }
        let mut solver = Solver::new(Model::of(&traced.forest, &traced.path));
        for _ in 0..4 {
            let Some(goal) = some_goal(&traced, &mut rng) else { continue };
            let answer = solver.solve(&goal);
            let Some(core) = solver.why_not(&goal) else {
                assert_ne!(answer, Answer::Impossible, "seed {seed}: no reason for {goal:?}");
                continue;
            };
            assert_eq!(answer, Answer::Impossible, "seed {seed}");
            assert!(!is_satisfiable(&traced, &core), "seed {seed}, {goal:?}: {core:#?}");
            cores += 1;
            size += core.len();
        }
    }
    println!("{cores} cores, {:.1} constraints each", f64::from(size as u32) / f64::from(cores));
    assert!(cores > 100, "only {cores}");
}

#[test]
fn plain_accesses() {
    check(Flavour::default(), 0..300);
}

#[test]
fn atomics() {
    check(Flavour { atomics: true, ..Flavour::default() }, 1000..1300);
}

#[test]
fn locks() {
    check(Flavour { locks: true, read_locks: true, ..Flavour::default() }, 2000..2400);
}

#[test]
fn condition_variables() {
    check(Flavour { locks: true, conditions: true, ..Flavour::default() }, 3000..3600);
}

#[test]
fn semaphores_and_barriers() {
    check(Flavour { semaphores: true, barriers: true, ..Flavour::default() }, 4000..4600);
}

#[test]
fn creation_and_join() {
    check(Flavour { creation: true, locks: true, ..Flavour::default() }, 5000..5600);
}

#[test]
fn creation_and_join_with_nested_locks_and_condition_variables() {
    check(Flavour::NESTED_CREATION, 6000..6800);
}
