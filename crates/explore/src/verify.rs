//! Trying out every way that threads can go, and saying so when that is done.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use threadbare_analysis::total::Checks;
use threadbare_analysis::{Examination, Finding, FindingKind, Key};
use threadbare_target::{Execution, Program};

use crate::campaign::{Options, Progress};
use crate::check::{Check, Examined};
use crate::drive::Drive;
use crate::error::ExploreError;
use crate::happening::{happens, settle_in};
use crate::strategy::Strategy as _;
use crate::total::{Graphs, Total};

/// The account of a verification.
pub struct Verification {
    /// What was found and what it took. Races and failures have all happened.
    pub check: Check,
    /// Executions that were made to see another way, the first one included. Those that only looked for shared memory
    /// do not count.
    pub test_cases: u64,
    /// How many questions were left when it ended.
    pub left: u64,
    /// How many race-equivalent groups the executions were of.
    pub groups: u64,
    /// How many pairs of access-manners could meet that had not been seen to before, and how many had.
    pub checks: (u64, u64),
    /// What decides how threads go.
    pub graphs: Graphs,
    /// Every way that threads can go has been tried.
    pub exhausted: bool,
}

/// Tries out every way that threads can go.
pub fn verify(
    program: &Program,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &Arc<AtomicBool>,
) -> Result<Verification, ExploreError> {
    let mut drive = Drive::start(program, options, stop)?;
    let mut total = Total::new(options.seed, options.jobs, false);
    let mut met: HashSet<Key> = HashSet::new();
    let mut checks = Checks::default();
    while drive.check.executions < options.executions && !drive.is_over() {
        let plans = total.plan(drive.check.executions + 1, 1, &drive.history);
        let Some(plan) = plans.first() else { break };
        let Some(run) = drive.run(plan)? else { break };
        let news = !run.discovered.is_empty();
        total.learn(&[(plan, &run)], news, &|| drive.is_over())?;
        // What was done to memory before it was found to be shared is not in the trace.
        if !news {
            checks.still_to_check(&run.events);
            let races = races(&run).into_iter().filter(|race| met.insert(race.key()));
            drive.check.findings.extend(races.map(|race| happened(race, &run)));
        } else {
            checks = Checks::default();
        }
        drive.tell(progress);
    }
    let exhausted = total.exhausted();
    let mut check = drive.end();
    check.warnings.extend(total.warnings());
    Ok(Verification {
        check,
        test_cases: total.test_cases(),
        left: total.left(),
        groups: checks.groups() as u64,
        checks: (checks.made(), checks.saved()),
        graphs: total.graphs(),
        exhausted,
    })
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
