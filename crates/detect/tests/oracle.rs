//! Every detector against its definition, and against everything that small programs can do.

mod toy;

use std::cell::Cell;
use std::collections::BTreeSet;

use threadbare_detect::{
    Atomicity, Deadlock, Detector, EitherOrder, Finding, HappensBefore, Hybrid, LockDiscipline, MultiVariable,
};
use threadbare_patterns as patterns;
use threadbare_sched::Rng;
use threadbare_trace::Event;

use toy::naive::Naive;
use toy::{Ingredients, PLAIN, Program, RICH};

fn findings<D: Detector + Default + 'static>(events: &[Event]) -> Vec<Finding> {
    let mut detector = Box::<D>::default();
    for (index, event) in events.iter().enumerate() {
        detector.observe(index, event);
    }
    detector.findings()
}

fn sites(finding: &Finding) -> Vec<u64> {
    finding.accesses.iter().map(|access| access.pc).collect()
}

fn site_sets(findings: &[Finding]) -> BTreeSet<Vec<u64>> {
    let set = |finding: &Finding| sites(finding).into_iter().collect::<BTreeSet<u64>>();
    findings.iter().map(|finding| set(finding).into_iter().collect()).collect()
}

fn patterns_and_sites(findings: &[Finding]) -> BTreeSet<(u8, Vec<u64>)> {
    findings.iter().filter_map(|finding| Some((finding.pattern?, sites(finding)))).collect()
}

/// Runs a check on random programs with a random run each, and says which one went wrong.
fn for_random_runs(seeds: u64, with: Ingredients, check: impl Fn(&Program, &[Event], bool)) {
    for seed in 0..seeds {
        let mut rng = Rng::new(seed);
        let program = Program::random(&mut rng, with);
        let (events, complete) = program.run(&mut rng);
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check(&program, &events, complete);
        }));
        if let Err(panic) = failed {
            eprintln!("seed {seed}: {program:#?}");
            for (index, event) in events.iter().enumerate() {
                let kind = toy::naive::kind(event).word();
                eprintln!(
                    "{index:3} {} {kind} {:#x} ({}) pc {}",
                    event.thread, event.addr, event.size, event.pc
                );
            }
            std::panic::resume_unwind(panic);
        }
    }
}

#[test]
fn happens_before_races_are_the_unordered_conflicts_of_the_run() {
    for with in [PLAIN, RICH] {
        for_random_runs(4000, with, |_, events, _| {
            let naive = Naive::new(events, true).races(false);
            assert_eq!(site_sets(&findings::<HappensBefore>(events)), naive);
        });
    }
}

#[test]
fn hybrid_races_are_the_conflicts_without_common_lock_and_enforced_order() {
    for with in [PLAIN, RICH] {
        for_random_runs(4000, with, |_, events, _| {
            let naive = Naive::new(events, false).races(true);
            assert_eq!(site_sets(&findings::<Hybrid>(events)), naive);
        });
    }
}

#[test]
fn either_order_is_that_of_conflicts_under_a_common_lock_that_nothing_orders() {
    for with in [PLAIN, RICH] {
        for_random_runs(4000, with, |_, events, _| {
            let found: BTreeSet<Vec<u64>> = findings::<EitherOrder>(events).iter().map(sites).collect();
            assert_eq!(found, Naive::new(events, false).turnable());
        });
    }
}

/// What happens-before finds in all interleavings together is exactly what some interleaving does.
#[test]
fn over_all_interleavings_happens_before_neither_misses_nor_invents_a_race() {
    let mut compared = 0;
    for_random_runs(1500, Ingredients { ops: 4, ..PLAIN }, |program, _, _| {
        let Some(traces) = program.traces(400) else { return };
        let found: BTreeSet<Vec<u64>> =
            traces.iter().flat_map(|trace| site_sets(&findings::<HappensBefore>(trace))).collect();
        assert_eq!(found, program.adjacent_conflicts());
    });
    for seed in 0..1500 {
        let program = Program::random(&mut Rng::new(seed), Ingredients { ops: 4, ..PLAIN });
        compared += usize::from(program.traces(400).is_some());
    }
    assert!(compared > 500, "only {compared} programs were small enough");
}

/// One complete run is enough for the hybrid detector to know every race of every interleaving. Only locks that are
/// taken hand over hand can make it see one that is none, and that is rare.
#[test]
fn hybrid_misses_no_race_of_any_interleaving_and_hardly_invents_one() {
    let (real, invented) = (Cell::new(0), Cell::new(0));
    for_random_runs(3000, PLAIN, |program, events, complete| {
        if complete {
            let found = site_sets(&findings::<Hybrid>(events));
            let possible = program.adjacent_conflicts();
            assert_eq!(possible.difference(&found).next(), None, "a race is missed");
            real.set(real.get() + possible.len());
            invented.set(invented.get() + found.len() - possible.len());
        }
    });
    let (real, invented) = (real.get(), invented.get());
    assert!(real > 1000 && invented * 1000 < real, "{real} real, {invented} invented");
}

#[test]
fn atomicity_violations_are_the_triples_of_the_definition() {
    for with in [PLAIN, RICH] {
        for_random_runs(3000, with, |_, events, _| {
            let naive = Naive::new(events, false).violations();
            assert_eq!(patterns_and_sites(&findings::<Atomicity>(events)), naive);
        });
    }
}

/// From one complete run: exactly those triples that some interleaving makes, if no enforced order puts r on
/// one side.
#[test]
fn atomicity_neither_misses_nor_invents_an_interruption() {
    for_random_runs(2000, PLAIN, |program, events, complete| {
        if !complete {
            return;
        }
        let naive = Naive::new(events, false);
        let place = |site: u64| events.iter().position(|event| event.pc == site).expect("all sites ran");
        let mut possible = BTreeSet::new();
        for [p, r, c] in program.interruptions() {
            let [i, j, k] = [p, r, c].map(place);
            let writes = [i, j, k].map(|index| toy::naive::writes(&events[index]));
            let id = patterns::triple(writes[0], writes[1], writes[2]).filter(|id| (4..=7).contains(id));
            if let Some(id) = id
                && !naive.ordered(i, j)
                && !naive.ordered(j, k)
            {
                possible.insert((id, vec![p, r, c]));
            }
        }
        assert_eq!(patterns_and_sites(&findings::<Atomicity>(events)), possible);
    });
}

#[test]
fn torn_couples_are_those_of_the_definition() {
    let plain = Ingredients { ops: 16, locks: 1, ..PLAIN };
    let seen = Cell::new(0);
    for with in [
        plain,
        Ingredients { read_locks: true, semaphores: true, ..plain },
        Ingredients { locks: 2, ..plain },
    ] {
        for_random_runs(8000, with, |_, events, _| {
            let naive = Naive::new(events, false).torn_couples();
            seen.set(seen.get() + naive.len());
            assert_eq!(patterns_and_sites(&findings::<MultiVariable>(events)), naive);
        });
    }
    assert!(seen.get() > 300, "too few to say anything: {}", seen.get());
}

#[test]
fn lock_discipline_reports_the_access_that_leaves_no_lock() {
    for with in [PLAIN, RICH] {
        for_random_runs(3000, with, |_, events, _| {
            let naive = Naive::new(events, false).undisciplined();
            let found = findings::<LockDiscipline>(events);
            for (_, index) in &naive {
                let reports = |finding: &Finding| sites(finding).contains(&events[*index].pc);
                assert!(found.iter().any(reports), "event {index} is missed");
            }
            for finding in &found {
                assert!(naive.iter().any(|(_, index)| *index == finding.at), "{finding:?}");
                assert!(finding.accesses[0].thread != finding.accesses[1].thread);
            }
        });
    }
}

/// Of a program without branches, one complete run shows every deadlock that its locks can lead to. What else is
/// predicted is there only where another deadlock, a real one, comes before it, and that is rare.
#[test]
fn every_deadlock_is_predicted_and_none_in_a_program_that_has_none() {
    let locks = Ingredients { locking: 9, ops: 7, ..PLAIN };
    let (real, masked) = (Cell::new(0), Cell::new(0));
    for with in [locks, Ingredients { read_locks: true, ..locks }] {
        for_random_runs(6000, with, |program, events, complete| {
            if !complete {
                return;
            }
            let cycles = findings::<Deadlock>(events).into_iter();
            let found: BTreeSet<BTreeSet<u64>> =
                cycles.map(|finding| sites(&finding).into_iter().skip(1).step_by(2).collect()).collect();
            let possible = program.lock_cycles();
            assert_eq!(possible.difference(&found).next(), None, "a deadlock is missed");
            assert!(!possible.is_empty() || found.is_empty(), "a deadlock is invented: {found:?}");
            real.set(real.get() + possible.len());
            masked.set(masked.get() + found.len() - possible.len());
        });
    }
    let (real, masked) = (real.get(), masked.get());
    assert!(real > 1000 && masked * 100 < real, "{real} real, {masked} behind other deadlocks");
}
