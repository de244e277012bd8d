//! The loop with observers: what they see, when it ends, and that none of it depends on the number of workers.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use threadbare_detect::Finding;
use threadbare_sched::toy::{Toy, ToyStep};
use threadbare_target::Execution;
use threadbare_wire::SwitchRecord;

use super::options;
use super::toy_runner::{Lab, Manners};
use crate::campaign::observer::{Examiner, Observed, Observer, Unexamined};
use crate::campaign::{Phase, conduct};
use crate::check::{self, Check};
use crate::options::Options;
use crate::strategies::by_name;
use crate::verify::{self, Verification};

/// Writes down what it sees, and asks for the end after so many executions.
struct Notebook {
    seen: Vec<(u64, String, Vec<SwitchRecord>, bool)>,
    enough: usize,
}

impl Notebook {
    fn of(enough: usize) -> Notebook {
        Notebook { seen: Vec::new(), enough }
    }
}

impl Observer for Notebook {
    fn reads_events(&self) -> bool {
        true
    }

    fn observe(&mut self, seen: &Observed<'_>) -> ControlFlow<()> {
        self.seen.push((seen.number, seen.plan.name.clone(), seen.run.switches.clone(), seen.sharing_grew));
        if self.seen.len() >= self.enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Executions end the phase when they have this many switches.
struct UntilSwitches(usize);

impl Examiner for UntilSwitches {
    fn ends_with(&self, run: &Execution, _found: &[Finding]) -> bool {
        run.switches.len() == self.0
    }
}

fn jittery(jobs: usize) -> Lab {
    Lab::ill_mannered(3, 2, Manners { jitter: jobs > 1, ..Manners::default() })
}

#[test]
fn observers_see_every_execution_in_order_whoever_ran_it() {
    let seen = |jobs| {
        let options = Options { jobs, ..options("random", 100) };
        let mut strategy = by_name(&options).unwrap();
        let (mut one, mut other) = (Notebook::of(usize::MAX), Notebook::of(usize::MAX));
        let phase = Phase { executions: 100, largest_batch: 16, examiner: Arc::new(Unexamined) };
        let workers = conduct(&jittery(jobs), &options, &|_| {}, &AtomicBool::new(false), |campaign| {
            campaign.follow(strategy.as_mut(), &phase, &mut [&mut one, &mut other]).unwrap();
            Ok(campaign.workers())
        });
        let workers = workers.unwrap();
        assert_eq!(one.seen, other.seen);
        assert!(one.seen.iter().map(|(number, ..)| *number).eq(1..=100));
        assert_eq!(workers > 1, jobs > 1, "{workers} workers for {jobs} jobs");
        one.seen
    };
    let one = seen(1);
    assert!(one[0].3 && !one[99].3, "only the first executions find shared memory");
    assert_eq!(one, seen(2));
    assert_eq!(one, seen(16));
}

/// The next phase continues with what was learned, and with the numbers.
#[test]
fn a_phase_ends_at_the_execution_that_asks_for_it_and_another_may_follow() {
    let account = |jobs| {
        let options = Options { jobs, ..options("random", 1000) };
        let mut strategy = by_name(&options).unwrap();
        let (mut first, mut second) = (Notebook::of(21), Notebook::of(usize::MAX));
        let phase = |examiner| Phase { executions: 200, largest_batch: 16, examiner };
        let lab = jittery(jobs);
        let made = conduct(&lab, &options, &|_| {}, &AtomicBool::new(false), |campaign| {
            let asking = phase(Arc::new(Unexamined) as Arc<dyn Examiner>);
            campaign.follow(strategy.as_mut(), &asking, &mut [&mut first]).unwrap();
            assert!(!campaign.is_complete(), "the rest of the batch does not count");
            let examining = phase(Arc::new(UntilSwitches(9)));
            campaign.follow(strategy.as_mut(), &examining, &mut [&mut second]).unwrap();
            Ok(campaign.made())
        });
        let made = made.unwrap();
        assert_eq!(first.seen.len(), 21);
        let last = second.seen.last().unwrap();
        assert_eq!((last.0, last.2.len()), (made, 9));
        assert!(second.seen.iter().rev().skip(1).all(|(.., switches, _)| switches.len() != 9));
        let ran = lab.0.runs.load(Ordering::Relaxed) as u64;
        assert!(jobs > 1 || ran < made + 16, "one worker begins nothing after the end");
        (first.seen, second.seen)
    };
    let one = account(1);
    assert_eq!(one, account(2));
    assert_eq!(one, account(16));
}

#[test]
fn limits_are_the_loops_and_hold_for_all_phases() {
    let lab = Lab::ill_mannered(2, 1, Manners { stops_after: Some(40), ..Manners::default() });
    let options = options("random", 1_000_000);
    let mut strategy = by_name(&options).unwrap();
    let mut notebook = Notebook::of(usize::MAX);
    let phase = Phase { executions: 1_000_000, largest_batch: 16, examiner: Arc::new(Unexamined) };
    conduct(&lab, &options, &|_| {}, &lab.0.stop, |campaign| {
        for _ in 0..2 {
            campaign.follow(strategy.as_mut(), &phase, &mut [&mut notebook]).unwrap();
            assert!(campaign.is_stopped() && campaign.is_over());
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(notebook.seen.len(), 40);
    let timed = Options { time: Some(Duration::ZERO), ..options };
    let result = check::run(&Lab::lost_update(2, 1), &timed, &|_| {}, &AtomicBool::new(false)).unwrap();
    assert_eq!(result.executions, 1, "one is always made");
}

/// Two threads that each change two variables, the second one without the lock.
fn half_locked(jobs: usize) -> Lab {
    use ToyStep::{Lock, Read, Unlock, Write};
    let thread = |first, second| {
        vec![Lock(1000), Read(first), Write(first), Unlock(1000), Read(second), Write(second)]
    };
    let threads = vec![thread(8, 16), thread(8, 16), thread(16, 8)];
    Lab::new(Toy { threads }, None, Manners { jitter: jobs > 1, ..Manners::default() })
}

/// Everything about a check that must not depend on timing.
fn account(check: &Check) -> impl PartialEq + std::fmt::Debug + use<> {
    let finding = |it: &check::Examined| {
        let confirmed = it.confirmed.as_ref().map(|run| run.switches.clone());
        (format!("{:?}", it.finding), it.run.switches.clone(), confirmed, it.fails, it.follows_from)
    };
    let met = |it: &check::Met| (it.execution, it.run.switches.clone(), it.count);
    let switches = |run: &Arc<Execution>| run.switches.clone();
    (
        check.findings.iter().map(finding).collect::<Vec<_>>(),
        check.failures.iter().map(met).collect::<Vec<_>>(),
        check.passing.iter().map(switches).collect::<Vec<_>>(),
        (check.executions, check.steps, check.threads, check.given_up, check.saturated),
        check.coverage.iter().map(|it| (it.covered, it.total)).collect::<Vec<_>>(),
    )
}

#[test]
fn a_check_does_not_depend_on_the_number_of_jobs() {
    for lab in [jittery as fn(usize) -> Lab, half_locked] {
        for strategy in ["auto", "random", "mcr", "dfs"] {
            let check = |jobs| {
                let coverage = vec!["map".to_string()];
                let options = Options { jobs, coverage, ..options(strategy, 60) };
                check::run(&lab(jobs), &options, &|_| {}, &AtomicBool::new(false)).unwrap()
            };
            let one = check(1);
            assert!(one.workers == 1 && !one.findings.is_empty(), "{strategy}");
            for jobs in [2, 16] {
                let several = check(jobs);
                assert_eq!(account(&several), account(&one), "{strategy}, {jobs} jobs");
                assert!(several.workers >= 2, "{strategy}: {} workers", several.workers);
            }
        }
    }
}

#[test]
fn a_verification_does_not_depend_on_the_number_of_jobs() {
    let figures = |it: &Verification| {
        let history: Vec<_> = it.history.iter().map(|point| (point.executions, point.groups)).collect();
        let counts = (it.test_cases, it.left, it.groups, it.sampled, it.exhausted);
        (account(&it.check), counts, it.checked, it.spared, history)
    };
    for lab in [jittery as fn(usize) -> Lab, half_locked] {
        for executions in [20, 1000] {
            let verify = |jobs| {
                let options = Options { jobs, ..options("total", executions) };
                verify::run(&lab(jobs), &options, &|_| {}, &AtomicBool::new(false)).unwrap()
            };
            let one = verify(1);
            assert!(one.check.workers == 1 && !one.check.findings.is_empty());
            for jobs in [2, 16] {
                let several = verify(jobs);
                assert_eq!(figures(&several), figures(&one), "{jobs} jobs");
                // Executions at random run side by side; those that answer questions follow from each other.
                let is_sampled = several.sampled > 1;
                assert_eq!(several.check.workers > 1, is_sampled, "{} workers", several.check.workers);
            }
        }
    }
}
