//! Looking at what could go wrong: executions are examined by the detectors, and what they predict
//! is driven to happen.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use threadbare_detect::{Detector as _, EitherOrder, Examination, Finding, FindingKind, Key};
use threadbare_sched::Rng;
use threadbare_target::{Execution, Modules, Program};
use threadbare_trace::Outcome;

use crate::campaign::given_up::{Ending, Heard, within};
use crate::campaign::observer::{Observed, Observer, Unexamined};
use crate::campaign::{Campaign, Found, Progress};
use crate::claims::Doubt;
use crate::coverage::Covered;
use crate::detected::{Detected, Detectors};
use crate::drive::{Drive, examine, phase, servers};
use crate::error::ExploreError;
use crate::finding_rank::rank;
use crate::history::History;
use crate::options::Options;
use crate::runner::Launch;
use crate::strategies::by_name;
use crate::strategies::sampled::RoundRobin;
use crate::strategy::{Plan, Strategy};

/// The longest trace in which accesses are looked for that may come in either order.
const LONGEST_TURNED: usize = 20_000;

/// How much of the time may be spent when no more executions are examined, in percent, and when no more findings are driven to happen. The rest is
/// for reports.
const SEARCHING: u32 = 60;
pub(crate) const CONFIRMING: u32 = 85;

/// How many executions are tried until there are this many that pass.
const TRIES: u64 = 200;
const WANTED: usize = 8;

/// A finding, with the execution that it is to be shown on.
#[derive(Clone, Debug)]
pub struct Examined {
    /// What was found. Event numbers are those of `run`.
    pub finding: Finding,
    /// The execution to show it on.
    pub run: Arc<Execution>,
    /// An execution in which it happened.
    pub confirmed: Option<Arc<Execution>>,
    /// It makes the program fail: it fails with it, and does not with only that prevented.
    pub fails: bool,
    /// The place of the finding without which this one would not be, as its memory is reached by what that one is
    /// about.
    pub follows_from: Option<usize>,
}

impl Examined {
    /// Whether it is a fault beyond doubt. That two accesses were enabled at the same time, or that threads waited for each other, is one;
    /// an order of accesses is one if the program fails because of it.
    pub fn is_confirmed(&self) -> bool {
        match self.finding.kind {
            FindingKind::Race | FindingKind::Deadlock => self.confirmed.is_some(),
            FindingKind::Atomicity | FindingKind::Order | FindingKind::LockDiscipline => self.fails,
        }
    }
}

/// A failure that was met.
pub struct Met {
    /// The number of the first execution that failed in this way.
    pub execution: u64,
    /// That execution.
    pub run: Arc<Execution>,
    /// How many executions failed in this way.
    pub count: u64,
}

impl Examined {
    /// What was predicted from an execution, and not tried yet.
    pub(crate) fn predicted(finding: Finding, run: Arc<Execution>) -> Examined {
        Examined { finding, run, confirmed: None, fails: false, follows_from: None }
    }
}

impl Met {
    /// The same as a campaign finds it under this policy.
    pub fn as_found(&self, policy: &str) -> Found {
        let Met { execution, ref run, count } = *self;
        Found { execution, policy: policy.to_string(), run: Arc::clone(run), count }
    }
}

/// The account of a check.
#[derive(Default)]
pub struct Check {
    /// What is reported, surest first.
    pub findings: Vec<Examined>,
    /// Failures met on the way.
    pub failures: Vec<Met>,
    /// Executions that passed, to compare with those that failed.
    pub passing: Vec<Arc<Execution>>,
    /// Executions made, attempts to confirm included.
    pub executions: u64,
    /// Visible steps of all of them.
    pub steps: u64,
    /// The largest number of threads in one execution, main included.
    pub threads: u32,
    /// How long it took.
    pub elapsed: Duration,
    /// How many executions were cut at their limit of steps or time.
    pub cut: u64,
    /// What speaks against a claim that nothing is left, or what it rests on.
    pub doubts: Vec<Doubt>,
    /// What the user should know; doubts are said here as well.
    pub warnings: Vec<String>,
    /// Findings for which there was not enough time to try all that makes them happen.
    pub untried: Vec<Key>,
    /// A signal ended it early.
    pub interrupted: bool,
    /// Executions were cut so often for want of steps that nothing more was tried.
    pub given_up: bool,
    /// What was covered, by the criteria asked for.
    pub coverage: Vec<Covered>,
    /// No more executions were examined because all that was measured was saturated.
    pub saturated: bool,
    /// How many workers ran executions side by side. Nothing else depends on it but the time.
    pub workers: u64,
    /// What is loaded where, for names of the places that coverage is about.
    pub modules: Arc<Modules>,
}

impl Check {
    /// The account of a check that was given up.
    pub(crate) fn given_up(heard: Heard) -> Check {
        let warnings = vec![heard.warning()];
        let mut findings = heard.found.clone();
        rank(&mut findings);
        let account = Campaign::given_up(heard);
        let Campaign { executions, steps, threads, elapsed, interrupted, modules, found, .. } = account;
        let failures =
            found.into_iter().map(|Found { execution, run, count, .. }| Met { execution, run, count });
        Check {
            findings,
            failures: failures.collect(),
            executions,
            steps,
            threads,
            elapsed,
            interrupted,
            modules,
            doubts: Vec::new(),
            warnings,
            ..Check::default()
        }
    }
}

/// Examines executions of a program and tries to confirm what is found.
pub fn check(
    program: &Program,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &Arc<AtomicBool>,
) -> Result<Check, ExploreError> {
    let (program, own, stopped) = (program.clone(), options.clone(), Arc::clone(stop));
    let campaign =
        move |progress: &dyn Fn(&Progress)| run(&servers(&program, &own, &stopped), &own, progress, &stopped);
    match within(options.time, stop, true, progress, campaign)? {
        Ending::Whole(result) => result,
        Ending::GivenUp(heard) => Ok(Check::given_up(heard)),
    }
}

/// The same on whatever the launcher starts.
pub(crate) fn run<L: Launch>(
    launch: &L,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &AtomicBool,
) -> Result<Check, ExploreError> {
    let mut strategy = by_name(options)?;
    let detectors = Arc::new(Detectors(all_detectors));
    let mut detected = Detected::by(&detectors, options);
    let examining = phase(options.executions, detectors);
    let (check, ()) = examine(launch, options, progress, stop, |drive| {
        drive.spend_until(SEARCHING);
        drive.follow_until_saturated(strategy.as_mut(), &examining, &mut detected)?;
        drive.spend_until(CONFIRMING);
        drive.account.check.warnings.extend(detected.warning());
        if !drive.account.check.failures.is_empty() {
            look_for_passing(drive)?;
        }
        drive.confirm_all(detected.into_sorted())
    })?;
    Ok(check)
}

fn all_detectors(run: &Execution) -> Vec<Finding> {
    let mut found = Examination::of(&run.events);
    if run.events.len() <= LONGEST_TURNED {
        let mut either = Box::<EitherOrder>::default();
        run.events.iter().enumerate().for_each(|(index, event)| either.observe(index, event));
        found.extend(either.findings());
    }
    found
}

/// A program that fails nearly always may still pass under a policy that was not tried yet.
fn look_for_passing(drive: &mut Drive<'_, '_>) -> Result<(), ExploreError> {
    let missing = WANTED.saturating_sub(drive.account.check.passing.len());
    if missing == 0 {
        return Ok(());
    }
    let options = drive.options();
    let auto = by_name(&Options { strategy: "auto".into(), ..options.clone() })?;
    let mut others = Others { auto, seed: options.seed, after: options.executions, number: 0 };
    drive.follow(&mut others, &phase(TRIES, Arc::new(Unexamined)), &mut UntilPassing { missing })
}

/// Plans that the strategy of a check has not made: `auto` continues after as many executions, and threads take turns.
struct Others {
    auto: Box<dyn Strategy>,
    seed: u64,
    after: u64,
    number: u64,
}

impl Strategy for Others {
    fn plan(&mut self, _first: u64, count: usize, history: &History) -> Vec<Plan> {
        let plan = |_| {
            self.number += 1;
            match self.number % 4 {
                0 => Some(RoundRobin::plan(Rng::derive(self.seed, self.number), (self.number / 4) as u32)),
                _ => self.auto.plan(self.after + self.number, 1, history).pop(),
            }
        };
        (0..count).map_while(plan).collect()
    }
}

/// Asks for the end when so many executions have passed.
struct UntilPassing {
    missing: usize,
}

impl Observer for UntilPassing {
    fn observe(&mut self, seen: &Observed<'_>) -> ControlFlow<()> {
        self.missing -= usize::from(matches!(seen.run.outcome, Outcome::Passed));
        if self.missing == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
