//! Looking for data races alone: executions are examined for accesses that nothing kept apart in them.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use threadbare_detect::{Detector as _, Finding, FindingSet, HappensBefore};
use threadbare_target::Program;
use threadbare_trace::Event;

use crate::check::{Check, Examined};
use crate::drive::Drive;
use crate::error::ExploreError;
use crate::options::Options;
use crate::strategies::by_name;

/// Examines executions for data races. Each of those that it tells of happened in the execution that is given with it.
pub fn races(program: &Program, options: &Options, stop: &Arc<AtomicBool>) -> Result<Check, ExploreError> {
    let mut drive = Drive::start(program, options, stop)?;
    let mut strategy = by_name(options)?;
    let mut set = FindingSet::default();
    let mut shown = Vec::new();
    let mut skipped = 0;
    while drive.check.executions < options.executions && !drive.is_over() {
        let plans = strategy.plan(drive.check.executions + 1, 1, &drive.history);
        let Some(plan) = plans.first() else { break };
        let Some(run) = drive.run(plan)? else { break };
        strategy.learn(&[(plan, &run)], !run.discovered.is_empty(), &|| drive.is_over())?;
        // What was done to memory before it was found to be shared is not in the trace.
        if !run.discovered.is_empty() && skipped < options.executions / 2 {
            skipped += 1;
            continue;
        }
        for finding in races_in(&run.events) {
            if !set.iter().any(|known| known.key() == finding.key()) {
                shown.push((finding.key(), Rc::clone(&run)));
            }
            set.add(finding);
        }
    }
    for finding in set.into_sorted() {
        if let Some((_, run)) = shown.iter().find(|(key, _)| *key == finding.key()) {
            let (run, confirmed) = (Rc::clone(run), Some(Rc::clone(run)));
            drive.check.findings.push(Examined { finding, run, confirmed, fails: false, follows_from: None });
        }
    }
    Ok(drive.end())
}

/// The accesses of an execution that nothing kept apart in it.
pub(crate) fn races_in(events: &[Event]) -> Vec<Finding> {
    let mut detector = HappensBefore::default();
    events.iter().enumerate().for_each(|(index, event)| detector.observe(index, event));
    Box::new(detector).findings()
}
