//! A core that was found in one execution and is said to forbid a goal in another one does so: the solver comes to the same
//! answer by itself.

mod support;

use support::program::{Flavour, Program};
use support::run::trace;
use support::{reads, writes};
use threadbare_order::{Answer, Core, Forest, Goal, Model, Path, Solver, StepId, can_be_carried};
use threadbare_sched::Rng;
use threadbare_trace::Event;

/// Some accesses of an execution, in some order.
fn some_goal(events: &[Event], path: &Path, rng: &mut Rng) -> Option<Goal> {
    let accesses: Vec<usize> =
        (0..events.len()).filter(|index| reads(&events[*index]) || writes(&events[*index])).collect();
    let mut steps: Vec<StepId> = Vec::new();
    for _ in 0..2 + rng.below(3) {
        let index = accesses.get(rng.below(accesses.len().max(1) as u64) as usize)?;
        let step = path.step_of(*index)?;
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    Some(Goal::pattern(&steps))
}

fn check(flavour: Flavour, seeds: std::ops::Range<u64>) {
    let (mut refuted, mut possible, mut wider) = (0, 0, 0);
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let program = Program::random(&mut rng, flavour, 3, 4);
        let mut forest = Forest::new();
        let traces: Vec<(Vec<Event>, Path)> = (0..3)
            .map(|_| {
                let events = trace(&program, &mut rng);
                let path = forest.add(&events);
                (events, path)
            })
            .collect();
        let mut cores: Vec<(usize, Goal, Core)> = Vec::new();
        let mut solvers: Vec<Solver> =
            traces.iter().map(|(_, path)| Solver::new(Model::of(&forest, path))).collect();
        for round in 0..60 {
            let number = round % traces.len();
            let (events, path) = &traces[number];
            let Some(goal) = some_goal(events, path, &mut rng) else { continue };
            let solver = &mut solvers[number];
            let by = cores.iter().find(|(_, _, core)| solver.model().is_refuted_by(&goal, core));
            let answer = solver.solve(&goal);
            if let Some((from, other, core)) = by {
                assert_eq!(answer, Answer::Impossible, "seed {seed}, {goal:?}: {core:#?}");
                refuted += 1;
                wider += usize::from(*from != number && *other != goal);
            }
            possible += usize::from(matches!(answer, Answer::Schedule(_)));
            if let Some(core) = solver.why_not(&goal).filter(|core| can_be_carried(core, &forest)) {
                cores.push((number, goal, core));
            }
        }
    }
    println!("{refuted} goals refuted, {wider} of them by another goal's core in another execution");
    assert!(wider > 50 && possible > 100, "{wider} of {refuted}, {possible} possible");
}

#[test]
fn plain_accesses_and_atomics() {
    check(Flavour { atomics: true, ..Flavour::default() }, 0..200);
}

#[test]
fn locks() {
    check(Flavour { locks: true, read_locks: true, ..Flavour::default() }, 1000..1150);
}

#[test]
fn condition_variables_semaphores_and_barriers() {
    let flavour =
        Flavour { locks: true, conditions: true, semaphores: true, barriers: true, ..Flavour::default() };
    check(flavour, 2000..2200);
}

#[test]
fn creation_and_join() {
    check(Flavour { creation: true, locks: true, ..Flavour::default() }, 3000..3150);
}

#[test]
fn creation_and_join_with_nested_locks_and_condition_variables() {
    check(Flavour::NESTED_CREATION, 4000..4200);
}
