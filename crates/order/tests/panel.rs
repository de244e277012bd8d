//! Several solvers side by side answer as one after the other.

mod support;

use support::program::{Flavour, Program};
use support::run::trace;
use support::{extent, reads, seen, writes};
use threadbare_order::{
    Answer, Budget, Effort, Forest, Goal, Model, Panel, PanelReply, Path, Question, Solver,
};
use threadbare_sched::Rng;
use threadbare_trace::Event;

/// How many steps the questions have to be about, all taken together, for a panel to use more than one thread.
const WORTH_A_THREAD: usize = 4_000;

/// A trace with its forest.
struct Traced {
    forest: Forest,
    path: Path,
}

/// Every read with what others write to its variable, and some accesses in another order.
fn goals(events: &[Event], path: &Path, rng: &mut Rng) -> Vec<Goal> {
    let mut goals = Vec::new();
    let step = |event: usize| path.step_of(event).expect("every event is a step");
    for (index, read) in events.iter().enumerate().filter(|(_, event)| reads(event)) {
        for write in events.iter().filter(|it| writes(it) && it.addr == read.addr && it.value != seen(read)) {
            goals.push(Goal::sees(step(index), extent(read), write.value));
        }
    }
    let accesses: Vec<usize> = (0..events.len()).filter(|at| events[*at].size > 0).collect();
    for _ in 0..8.min(accesses.len()) {
        let mut pick = || step(accesses[rng.below(accesses.len() as u64) as usize]);
        let (first, second) = (pick(), pick());
        if first != second {
            goals.push(Goal::pattern(&[first, second]));
        }
    }
    goals
}

fn all_replies(
    traces: &[Traced],
    rounds: &[Vec<Question>],
    jobs: usize,
    with_cores: bool,
) -> Vec<PanelReply> {
    let mut panel = Panel::new(Budget::default(), jobs);
    if with_cores {
        panel = panel.with_cores();
    }
    let make = |about: usize| Model::of(&traces[about].forest, &traces[about].path);
    rounds.iter().flat_map(|round| panel.ask(round, &make)).collect()
}

#[test]
fn the_replies_do_not_depend_on_the_number_of_jobs() {
    let locks = Flavour { locks: true, try_locks: true, atomics: true, ..Flavour::default() };
    let waits = Flavour { conditions: true, semaphores: true, ..locks };
    let threads = Flavour { creation: true, nested: true, ..waits };
    // With how many traces to ask about at once: those of threads that block each other are short.
    let flavours =
        [(Flavour { atomics: true, ..Flavour::default() }, 100), (locks, 100), (waits, 100), (threads, 500)];
    let (mut possible, mut impossible, mut different) = (0, 0, 0);
    for (seed, (flavour, count)) in (0..).zip(flavours) {
        let mut rng = Rng::new(seed);
        let (mut traces, mut rounds) = (Vec::new(), vec![Vec::new(), Vec::new(), Vec::new()]);
        for about in 0..count {
            let program = Program::random(&mut rng, flavour, 3, 8);
            let events = trace(&program, &mut rng);
            let mut forest = Forest::new();
            let path = forest.add(&events);
            for (place, goal) in goals(&events, &path, &mut rng).into_iter().enumerate() {
                rounds[place % 3].push(Question { about, goal });
            }
            traces.push(Traced { forest, path });
        }
        for round in &rounds {
            let steps: usize = round.iter().map(|question| traces[question.about].path.steps.len()).sum();
            assert!(steps > WORTH_A_THREAD, "seed {seed}: {steps} steps are answered by one thread anyway");
        }
        let one = all_replies(&traces, &rounds, 1, true);
        for jobs in [2, 3, 16] {
            assert_eq!(one, all_replies(&traces, &rounds, jobs, true), "seed {seed}, {jobs} jobs");
        }
        let without = all_replies(&traces, &rounds, 2, false);
        assert!(without.iter().all(|reply| reply.core.is_none()));
        // Whether there is an order does not depend on who is asked, or what was asked before.
        for (question, reply) in rounds.iter().flatten().zip(&one) {
            let Traced { forest, path } = &traces[question.about];
            let answer = Solver::new(Model::of(forest, path)).solve(&question.goal);
            match (&answer, &reply.answer) {
                (Answer::Schedule(own), Answer::Schedule(theirs)) => {
                    possible += 1;
                    different += usize::from(own != theirs);
                }
                (Answer::Impossible, Answer::Impossible) => impossible += 1,
                other => panic!("seed {seed}, {question:?}: {other:?}"),
            }
            assert!(reply.effort.questions == 1 && reply.effort != Effort::default());
        }
    }
    println!("{possible} possible, {different} of them in another order, {impossible} impossible");
    assert!(possible > 1000 && impossible > 1000, "{possible} possible, {impossible} impossible");
}
