//! What each rule removes, and that nothing is lost by it.

use threadbare_order::{Forest, Path, StepId};
use threadbare_patterns::{PATTERNS, TraceMatcher};
use threadbare_sched::Rng;
use threadbare_sched::toy::{Toy, ToyStep as Step};
use threadbare_target::Execution;

use super::super::accesses::{Access, Accesses};
use super::super::{candidates, rules, worth_solving};
use crate::tests::toy_runner::all_executions;

/// One interleaving of a program.
struct Shown {
    run: Execution,
    path: Path,
    accesses: Accesses,
}

/// All interleavings of a program, with steps under common names.
struct World {
    forest: Forest,
    all: Vec<Shown>,
}

/// A few reads and writes by two threads, some of them under a lock, and some that depend on what was read.
fn made_up(rng: &mut Rng) -> Toy {
    let mut value = 0;
    let mut thread = || {
        let mut steps = Vec::new();
        while steps.len() < 3 {
            let x = 8 * (1 + rng.below(2));
            value += 1;
            match rng.below(8) {
                0..=2 => steps.push(Step::Read(x)),
                3 | 4 => steps.push(Step::Store(x, value)),
                5 => steps.push(Step::Write(x)),
                6 => steps.extend([Step::Read(x), Step::SkipIf(0, 1), Step::Store(24 - x, 50)]),
                _ => steps.extend([Step::Lock(1000), Step::Read(x), Step::Write(x), Step::Unlock(1000)]),
            }
        }
        steps
    };
    Toy { threads: vec![thread(), thread()] }
}

impl World {
    fn of(toy: &Toy) -> Option<World> {
        let mut forest = Forest::new();
        let shown = |run: Execution| {
            let path = forest.add(&run.events);
            let accesses = Accesses::of(&run.events, &path);
            Shown { run, path, accesses }
        };
        let all = all_executions(toy, 80)?.into_iter().map(shown).collect();
        Some(World { forest, all })
    }

    /// Whether two steps are the same operation of a thread that has seen the same before.
    fn is_same_operation(&self, one: StepId, other: StepId) -> bool {
        let (one, other) = (self.forest.step(one), self.forest.step(other));
        (one.thread, one.parent, one.op) == (other.thread, other.parent, other.op)
    }

    /// Whether these accesses of another interleaving make a pattern in this one, in their order.
    fn shows(&self, shown: &Shown, candidate: &[&Access]) -> bool {
        let own: Option<Vec<&Access>> = candidate
            .iter()
            .map(|access| {
                let is_it = |own: &&Access| {
                    own.object == access.object
                        && own.manner == access.manner
                        && self.is_same_operation(own.step, access.step)
                };
                shown.accesses.iter().find(is_it)
            })
            .collect();
        let Some(own) = own else { return false };
        let in_order = own.windows(2).all(|two| two[0].place < two[1].place);
        let unbroken = own.iter().enumerate().all(|(at, first)| {
            let next = own[at + 1..].iter().find(|next| next.object == first.object);
            next.is_none_or(|next| {
                let mut between =
                    shown.accesses.iter().filter(|it| first.place < it.place && it.place < next.place);
                !between.any(|it| it.writes() && it.object == first.object)
            })
        });
        in_order && unbroken
    }

    /// The first step of the second by which a thread sees something that it did not see in the first, if another
    /// thread wrote it. (What was there from the beginning, or comes from the thread itself, is no
    /// pattern's business: then there is only the write that the read comes before, and the thread may write itself
    /// before that one is made.)
    fn first_new(&self, first: &Shown, second: &Shown) -> Option<StepId> {
        let is_new = |step: &StepId| {
            let mut known = first.path.steps.iter();
            known.any(|other| step != other && self.is_same_operation(*step, *other))
        };
        let step = second.path.steps.iter().copied().find(is_new)?;
        let read = second.accesses.iter().find(|access| access.step == step)?;
        let before = second.accesses.iter().filter(|it| it.place < read.place && it.object == read.object);
        let source = before.filter(|it| it.writes()).last()?;
        (source.thread != read.thread).then_some(step)
    }

    /// Whether some interleaving that has this step shows one of the candidates.
    fn is_reached(&self, step: StepId, candidates: &[&Vec<&Access>]) -> bool {
        let mut having = self.all.iter().filter(|shown| shown.path.steps.contains(&step));
        having.any(|shown| candidates.iter().any(|candidate| self.shows(shown, candidate)))
    }
}

/// Calls `judge` with every program's interleavings and candidates.
fn everywhere(mut judge: impl FnMut(&World, &Shown, &[Vec<&Access>])) {
    let mut worlds = 0;
    for seed in 0..60 {
        let Some(world) = World::of(&made_up(&mut Rng::new(seed))) else { continue };
        worlds += 1;
        for shown in world.all.iter().step_by(3) {
            let mut all = Vec::new();
            candidates::each(&shown.accesses, &mut |candidate| all.push(candidate.of(&shown.accesses)));
            judge(&world, shown, &all);
        }
    }
    assert!(worlds > 20, "only {worlds}");
}

/// Whatever is removed and can happen: either nobody sees anything new then, or what is the first to be new also comes
/// with something that is not removed. Returns how much was removed, how much of it can happen, and how much of that
/// shows something new.
fn what_is_lost(removes: impl Fn(&[&Access], &Accesses) -> bool) -> (usize, usize, usize) {
    let (mut removed, mut feasible, mut new) = (0, 0, 0);
    everywhere(|world, shown, all| {
        let (gone, kept): (Vec<&Vec<&Access>>, Vec<&Vec<&Access>>) =
            all.iter().partition(|it| removes(it, &shown.accesses));
        removed += gone.len();
        for other in &world.all {
            let shown_there = gone.iter().filter(|candidate| world.shows(other, candidate)).count();
            feasible += shown_there;
            if let Some(step) = world.first_new(shown, other).filter(|_| shown_there > 0) {
                new += shown_there;
                assert!(world.is_reached(step, &kept), "{step:?} is lost in {:?}", other.run.events);
            }
        }
    });
    println!("{removed} removed, {feasible} times feasible, {new} times with something new");
    (removed, feasible, new)
}

#[test]
fn rule_1_removes_what_is_no_pattern() {
    let mut met = [false; 18];
    everywhere(|_, _, all| {
        for candidate in all {
            let pattern = rules::defined(candidate);
            met[pattern.map_or(0, |pattern| usize::from(pattern.id))] = true;
            assert_eq!(pattern.is_some(), pattern.is_some_and(|it| rules::key(&it, candidate).is_some()));
        }
    });
    // All patterns come from links, and some pairs of links are none.
    assert_eq!(met, [true; 18]);
    assert_eq!(PATTERNS.len(), 17);
    what_is_lost(|candidate, _| rules::defined(candidate).is_none());
}

#[test]
fn rule_2_removes_just_what_an_execution_has_shown() {
    let (mut removed, mut kept) = (0, 0);
    everywhere(|world, shown, all| {
        let covered = TraceMatcher::patterns_of(&shown.run.events);
        for candidate in all {
            let Some(key) = rules::defined(candidate).and_then(|it| rules::key(&it, candidate)) else {
                continue;
            };
            let is_covered = rules::is_covered(key, &covered);
            // Whoever is shown is covered; others may be by accesses at the same sites.
            assert!(is_covered || !world.shows(shown, candidate), "{candidate:?}");
            removed += usize::from(is_covered);
            kept += usize::from(!is_covered);
        }
    });
    assert!(removed > 1000 && kept > 1000, "{removed} removed, {kept} kept");
}

#[test]
fn rule_3_removes_only_what_cannot_happen() {
    let (removed, feasible, _) = what_is_lost(|candidate, _| rules::is_against_happens_before(candidate));
    assert!(removed > 1000);
    assert_eq!(feasible, 0);
}

#[test]
fn rule_4_removes_what_shows_no_new_state() {
    let (removed, feasible, _) = what_is_lost(|candidate, _| rules::is_old_state(candidate));
    assert!(removed > 500 && feasible > 500);
}

#[test]
fn rule_5_removes_what_is_interrupted() {
    let (removed, feasible, _) = what_is_lost(rules::is_interrupted);
    assert!(removed > 100 && feasible > 100);
    // Those that step over a write cannot happen at all.
    everywhere(|world, shown, all| {
        for candidate in all.iter().filter(|candidate| candidate.len() == 3) {
            let [first, _, last] = candidate[..] else { continue };
            let mut between = shown.accesses.between(first.object, first.thread, (first.place, last.place));
            if between.any(Access::writes) {
                assert!(rules::is_interrupted(candidate, &shown.accesses));
                assert!(!world.all.iter().any(|other| world.shows(other, candidate)));
            }
        }
    });
}

#[test]
fn rule_6_removes_exchanges_that_nobody_notices() {
    let (removed, feasible, _) = what_is_lost(|candidate, _| rules::is_redundant_exchange(candidate));
    assert!(removed > 500 && feasible > 500);
}

/// Whatever a thread can get to see of another one that it has not seen comes with a candidate that all rules
/// together leave.
#[test]
fn whatever_is_new_comes_with_a_candidate_that_no_rule_removes() {
    let mut new = 0;
    everywhere(|world, shown, all| {
        let kept: Vec<_> = all.iter().filter(|it| worth_solving(it, &shown.accesses).is_some()).collect();
        for other in &world.all {
            let Some(step) = world.first_new(shown, other) else { continue };
            new += 1;
            assert!(world.is_reached(step, &kept), "{step:?} is lost in {:?}", other.run.events);
        }
    });
    assert!(new > 1000, "only {new}");
}
