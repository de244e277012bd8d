//! Looking at what could go wrong: executions are examined by the detectors, and what they predict
//! is driven to happen.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use threadbare_detect::{Detector as _, EitherOrder, Examination, Finding, FindingSet, Key};
use threadbare_sched::Rng;
use threadbare_target::{Execution, Modules, Program};

use crate::campaign::Progress;
use crate::coverage::Covered;
use crate::drive::Drive;
use crate::error::ExploreError;
use crate::options::Options;
use crate::strategies::by_name;
use crate::strategies::sampled::RoundRobin;

/// The longest trace in which accesses are looked for that may come in either order.
const LONGEST_TURNED: usize = 20_000;

/// How many executions are tried until there are this many that pass.
const TRIES: u64 = 200;
const WANTED: usize = 8;

/// A finding, with the execution that it is to be shown on.
pub struct Examined {
    /// What was found. Event numbers are those of `run`.
    pub finding: Finding,
    /// The execution to show it on.
    pub run: Rc<Execution>,
    /// An execution in which it happened.
    pub confirmed: Option<Rc<Execution>>,
    /// The program failed when it happened, and hardly ever passes when it does.
    pub fails: bool,
    /// The place of the finding without which this one would not be, as its memory is reached by what that one is
    /// about.
    pub follows_from: Option<usize>,
}

/// A failure that was met.
pub struct Met {
    /// The number of the first execution that failed in this way.
    pub execution: u64,
    /// That execution.
    pub run: Execution,
    /// How many executions failed in this way.
    pub count: u64,
}

/// The account of a check.
#[derive(Default)]
pub struct Check {
    /// What is worth telling, surest first.
    pub findings: Vec<Examined>,
    /// Failures met on the way.
    pub failures: Vec<Met>,
    /// Executions that passed, to compare with those that failed.
    pub passing: Vec<Rc<Execution>>,
    /// Executions made, attempts to confirm included.
    pub executions: u64,
    /// Visible steps of all of them.
    pub steps: u64,
    /// The largest number of threads in one execution, main included.
    pub threads: u32,
    /// How long it took.
    pub elapsed: Duration,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Findings for which there was not enough time to try all that makes them happen.
    pub untried: Vec<Key>,
    /// A signal ended it early.
    pub interrupted: bool,
    /// The same hang was met so often that nothing more was tried.
    pub given_up: bool,
    /// What was covered, by the criteria asked for.
    pub coverage: Vec<Covered>,
    /// No more executions were examined because all that was measured was saturated.
    pub saturated: bool,
    /// What is loaded where, for names of the places that coverage is about.
    pub modules: Arc<Modules>,
}

/// Examines executions of a program and tries to confirm what is found.
pub fn check(
    program: &Program,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &Arc<AtomicBool>,
) -> Result<Check, ExploreError> {
    let drive = Drive::start(program, options, stop)?;
    let mut checking = Checking { drive, options, set: FindingSet::default(), shown: Vec::new() };
    checking.examine(progress)?;
    if !checking.drive.check.failures.is_empty() {
        checking.look_for_passing()?;
    }
    let Checking { mut drive, set, shown, .. } = checking;
    let seen = |finding: Finding| {
        let (_, run) = shown.iter().find(|(known, _)| *known == finding.key())?;
        Some((finding, Rc::clone(run)))
    };
    drive.confirm_all(set.into_sorted().into_iter().filter_map(seen).collect(), progress)?;
    Ok(drive.end())
}

struct Checking<'a> {
    drive: Drive<'a>,
    options: &'a Options,
    set: FindingSet,
    /// The execution in which each finding was first seen.
    shown: Vec<(Key, Rc<Execution>)>,
}

impl Checking<'_> {
    /// Runs the strategy's plans and shows every execution to the detectors.
    fn examine(&mut self, progress: &dyn Fn(&Progress)) -> Result<(), ExploreError> {
        let mut strategy = by_name(self.options)?;
        let mut skipped = 0;
        while self.drive.check.executions < self.options.executions && !self.drive.is_over() {
            if self.options.until_saturated && self.drive.is_saturated() {
                self.drive.check.saturated = true;
                break;
            }
            let plans = strategy.plan(self.drive.check.executions + 1, 1, &self.drive.history);
            let Some(plan) = plans.first() else { break };
            let Some(run) = self.drive.run(plan)? else { break };
            strategy.learn(&[(plan, &run)], !run.discovered.is_empty(), &|| self.drive.is_over())?;
            // What was done to memory before it was found to be shared is not in the trace, and a lock that
            // nobody was seen to take protects nothing. Later executions show all of it.
            if !run.discovered.is_empty() && skipped < self.options.executions / 2 {
                skipped += 1;
                continue;
            }
            let mut found = Examination::of(&run.events);
            if run.events.len() <= LONGEST_TURNED {
                let mut either = Box::<EitherOrder>::default();
                run.events.iter().enumerate().for_each(|(index, event)| either.observe(index, event));
                found.extend(either.findings());
            }
            for finding in found {
                let key = finding.key();
                let surer = self.set.iter().find(|known| known.key() == key);
                if surer.is_none_or(|known| finding.certainty > known.certainty) {
                    self.shown.retain(|(known, _)| *known != key);
                    self.shown.push((key, Rc::clone(&run)));
                }
                self.set.add(finding);
            }
            self.drive.tell(progress);
        }
        Ok(())
    }

    /// A program that fails nearly always may still pass under a policy that was not tried yet.
    fn look_for_passing(&mut self) -> Result<(), ExploreError> {
        let options = Options { strategy: "auto".into(), ..self.options.clone() };
        let mut strategy = by_name(&options)?;
        for number in 1..=TRIES {
            if self.drive.check.passing.len() >= WANTED || self.drive.is_over() {
                break;
            }
            let plan = match number % 4 {
                0 => RoundRobin::plan(Rng::derive(self.options.seed, number), (number / 4) as u32),
                _ => match strategy.plan(self.options.executions + number, 1, &self.drive.history).pop() {
                    Some(plan) => plan,
                    None => break,
                },
            };
            if self.drive.run(&plan)?.is_none() {
                break;
            }
        }
        Ok(())
    }
}
