//! Driving operations to where they are wanted.

use threadbare_trace::ThreadId;

use super::{made_up, run};
use crate::toy::{Toy, ToyStep, Walk};
use crate::{InOrder, Instance, OrderedOp, PolicySpec, Rng, Turn, Turns};

const LOCK: u64 = 1000;

/// Two threads that each write two locations in two critical sections of one lock.
fn two_sections() -> Toy {
    let thread = || {
        [8, 16]
            .iter()
            .flat_map(|place| [ToyStep::Lock(LOCK), ToyStep::Write(*place), ToyStep::Unlock(LOCK)])
            .collect()
    };
    Toy { threads: vec![thread(), thread()] }
}

/// Whether the run makes these steps, by thread and number, in this order.
fn makes_in_order(walk: &Walk, steps: &[(usize, usize)]) -> bool {
    let place = |(thread, step): &(usize, usize)| {
        walk.ops.iter().position(|op| op.site == Toy::site(*thread, *step)).expect("every step is made")
    };
    steps.windows(2).all(|two| place(&two[0]) < place(&two[1]))
}

#[test]
fn operations_in_critical_sections_come_in_the_order_wanted() {
    // The second thread's sections between those of the first; step 1 is a write, and step 0 its lock.
    let steps = [(0, 1), (1, 1), (1, 4), (0, 4)];
    let wanted = steps.map(|(thread, step)| {
        let (site, gate) = (Toy::site(thread, step), Toy::site(thread, step - 1));
        OrderedOp { thread: ThreadId(thread as u16), site, gate }
    });
    let in_order = InOrder::new(wanted.to_vec()).expect("four are not too many");
    let toy = two_sections();
    let hit = |seed: &u64| makes_in_order(&run(&toy, &PolicySpec::new(in_order.clone(), *seed)), &steps);
    let hits = (0..200).filter(hit).count();
    // A quarter of the runs lets the first write go by unseen.
    assert!(hits >= 130, "{hits} of 200");
}

#[test]
fn nothing_that_is_wanted_keeps_a_program_from_ending() {
    let mut rng = Rng::new(23);
    for case in 0..100 {
        let toy = made_up(&mut rng);
        let steps: usize = toy.threads.iter().map(Vec::len).sum();
        let mut pick = || {
            let thread = rng.below(toy.threads.len() as u64) as usize;
            let step = rng.below(toy.threads[thread].len() as u64) as usize;
            let (site, gate) = (Toy::site(thread, step), Toy::site(thread, step.saturating_sub(1)));
            OrderedOp { thread: ThreadId(thread as u16), site, gate }
        };
        let wanted = [pick(), pick(), pick()];
        let in_order = InOrder::new(wanted.to_vec()).expect("three are not too many");
        let walk = run(&toy, &PolicySpec::new(in_order, case));
        assert_eq!(walk.order.len(), steps, "case {case}");
    }
}

#[test]
fn too_many_operations_are_refused() {
    assert!(InOrder::new(vec![OrderedOp { thread: ThreadId(0), site: 1, gate: 1 }; 5]).is_none());
}

/// The turn of a thread that makes a step, or only comes to the lock before it.
fn turn(thread: usize, step: usize, makes: bool) -> Turn {
    let instance = |step| Instance { site: Toy::site(thread, step), object: 0, number: 1 };
    let gate = instance(step.saturating_sub(1));
    Turn { thread: ThreadId(thread as u16), operation: instance(step), gate, makes }
}

#[test]
fn turns_change_the_order_of_these_operations_only() {
    let toy = two_sections();
    let walk = |turns: &[Turn]| {
        run(&toy, &PolicySpec::new(Turns::new(turns.to_vec(), ThreadId(0)).expect("a few"), 0)).word()
    };
    assert_eq!(walk(&[]), "000000111111");
    // The second thread's first section comes between the sections of the first one, and nothing else does.
    assert_eq!(walk(&[turn(0, 1, true), turn(1, 1, true), turn(0, 4, true)]), "000111000111");
    // The second thread only comes to its first lock before the first one begins.
    assert_eq!(walk(&[turn(1, 1, false), turn(0, 4, true)]), "000000111111");
    assert_eq!(walk(&[turn(1, 4, false), turn(0, 4, true)]), "111000000111");
}

#[test]
fn no_turn_keeps_a_program_from_ending() {
    let mut rng = Rng::new(29);
    for case in 0..200 {
        let toy = made_up(&mut rng);
        let steps: usize = toy.threads.iter().map(Vec::len).sum();
        let turns = (0..3).map(|_| {
            let thread = rng.below(toy.threads.len() as u64) as usize;
            turn(thread, rng.below(toy.threads[thread].len() as u64) as usize, rng.below(2) == 0)
        });
        let turns = Turns::new(turns.collect(), ThreadId(0)).expect("three are not too many");
        assert_eq!(run(&toy, &PolicySpec::new(turns, case)).order.len(), steps, "case {case}");
    }
}
