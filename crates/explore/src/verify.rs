//! Trying out every way that threads can go, and saying so when that is done.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use threadbare_detect::{Examination, Finding, FindingKind, Key};
use threadbare_models::Checks;
use threadbare_target::{Execution, Program};

use crate::campaign::Progress;
use crate::check::{Check, Examined};
use crate::checkpoints::Spared;
use crate::confirm::{happens, settle_in};
use crate::drive::Drive;
use crate::error::ExploreError;
use crate::options::Options;
use crate::strategies::mcr::OpenQuestion;
use crate::strategies::total::{Graphs, Total};
use crate::strategies::{DEFAULT, OF_VERIFY, by_name};
use crate::strategy::Strategy;

/// The account of a verification.
pub struct Verification {
    /// What was found and what it took. Races and failures have all happened.
    pub check: Check,
    /// Executions that were made to see another way, the first one included. Those that only looked for shared memory
    /// do not count.
    pub test_cases: u64,
    /// How many questions were left when it ended.
    pub left: u64,
    /// What they were about.
    pub open: Vec<OpenQuestion>,
    /// How many race-equivalent groups the executions were of.
    pub groups: u64,
    /// What had to be checked for races.
    pub checked: Checked,
    /// How many groups were known after so many executions: a point for each that showed a new one.
    pub history: Vec<GroupsPoint>,
    /// What decides how threads go.
    pub graphs: Graphs,
    /// Every way that threads can go has been tried.
    pub exhausted: bool,
    /// What going on from checkpoints saved.
    pub spared: Spared,
    /// How many executions were made by chance because that cannot be said.
    pub sampled: u64,
}

/// How many groups were known at some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupsPoint {
    /// After this many executions.
    pub executions: u64,
    /// And after this time.
    pub elapsed: Duration,
    /// This many groups were known.
    pub groups: u64,
}

/// What had to be checked for races (§5.4 of the thesis).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checked {
    /// Pairs of access-manners that can come at the same time.
    pub pairs: u64,
    /// How often such a pair came again in another execution, so that the answer was known.
    pub known: u64,
    /// Executions that no race detector had to look at, since none of their pairs can race.
    pub cleared: u64,
}

/// How many executions are made by chance where nothing can be claimed.
const SAMPLES: u64 = 200;

/// Tries out every way that threads can go.
pub fn verify(
    program: &Program,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &Arc<AtomicBool>,
) -> Result<Verification, ExploreError> {
    let mut verifying = Verifying {
        drive: Drive::start(program, options, stop)?,
        met: HashSet::new(),
        checks: Checks::default(),
        history: Vec::new(),
    };
    let mut total = Total::new(OF_VERIFY, options.seed, options.jobs, false);
    verifying.follow(&mut total, options.executions, progress)?;
    let mut sampled = 0;
    if !total.exhausted() {
        // What could not be worked out may still show by chance.
        let before = verifying.drive.check.executions;
        let random = Options { strategy: DEFAULT.to_string(), ..options.clone() };
        let most = options.executions.min(before + SAMPLES);
        verifying.follow(by_name(&random)?.as_mut(), most, progress)?;
        sampled = verifying.drive.check.executions - before;
    }
    let Verifying { drive, checks, history, .. } = verifying;
    let exhausted = total.exhausted();
    let spared = drive.spared();
    let mut check = drive.end();
    check.warnings.extend(total.warnings("verify"));
    Ok(Verification {
        check,
        test_cases: total.test_cases(),
        left: total.left(),
        open: total.open(),
        groups: checks.groups() as u64,
        checked: Checked { pairs: checks.made(), known: checks.saved(), cleared: checks.cleared() },
        history,
        graphs: total.graphs(),
        exhausted,
        spared,
        sampled,
    })
}

struct Verifying<'a> {
    drive: Drive<'a>,
    /// The races that happened.
    met: HashSet<Key>,
    checks: Checks,
    history: Vec<GroupsPoint>,
}

impl Verifying<'_> {
    /// Runs what a strategy plans, until there is nothing more or so many executions have been made.
    fn follow(
        &mut self,
        strategy: &mut dyn Strategy,
        most: u64,
        progress: &dyn Fn(&Progress),
    ) -> Result<(), ExploreError> {
        let drive = &mut self.drive;
        while drive.check.executions < most && !drive.is_over() {
            let plans = strategy.plan(drive.check.executions + 1, 1, &drive.history);
            let Some(plan) = plans.first() else { break };
            let Some(run) = drive.run(plan)? else { break };
            let news = !run.discovered.is_empty();
            strategy.learn(&[(plan, &run)], news, &|| drive.is_over())?;
            // What was done to memory before it was found to be shared is not in the trace.
            if news {
                self.checks = Checks::default();
                self.history.clear();
            } else {
                let found = if self.checks.need_a_look(&run.events) { races(&run) } else { Vec::new() };
                let groups = self.checks.groups() as u64;
                if self.history.last().is_none_or(|last| last.groups < groups) {
                    let (executions, elapsed) = (drive.check.executions, drive.begin.elapsed());
                    self.history.push(GroupsPoint { executions, elapsed, groups });
                }
                let races = found.into_iter().filter(|race| self.met.insert(race.key()));
                drive.check.findings.extend(races.map(|race| happened(race, &run)));
            }
            drive.tell(progress);
        }
        Ok(())
    }
}

/// The races that happened in an execution: both accesses came at once.
pub(crate) fn races(run: &Execution) -> Vec<Finding> {
    let found = Examination::of(&run.events);
    found.into_iter().filter(|finding| finding.kind == FindingKind::Race && happens(finding, run)).collect()
}

fn happened(mut finding: Finding, run: &Rc<Execution>) -> Examined {
    settle_in(&mut finding, &run.events);
    let fails = false;
    Examined { finding, run: Rc::clone(run), confirmed: Some(Rc::clone(run)), fails, follows_from: None }
}
