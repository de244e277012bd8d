//! Looking for data races alone: executions are examined for accesses that nothing orders in them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use threadbare_detect::{Detector as _, Finding, HappensBefore};
use threadbare_target::Program;
use threadbare_trace::Event;

use crate::check::{Check, Examined};
use crate::detected::{Detected, Detectors};
use crate::drive::{examine, phase, servers};
use crate::error::ExploreError;
use crate::options::Options;
use crate::strategies::by_name;

/// Examines executions for data races. Each of those that it reports happened in the execution that is given with it.
pub fn races(program: &Program, options: &Options, stop: &Arc<AtomicBool>) -> Result<Check, ExploreError> {
    let mut strategy = by_name(options)?;
    let detectors = Arc::new(Detectors(|run| races_in(&run.events)));
    let mut detected = Detected::by(&detectors, options);
    let examining = phase(options.executions, detectors);
    let launch = servers(program, options, stop);
    let (mut check, ()) = examine(&launch, options, &|_| {}, stop, |drive| {
        drive.follow(strategy.as_mut(), &examining, &mut detected)
    })?;
    let happened = |(finding, run): (Finding, Arc<_>)| Examined {
        finding,
        confirmed: Some(Arc::clone(&run)),
        run,
        fails: false,
        follows_from: None,
    };
    check.warnings.extend(detected.warning());
    check.findings = detected.into_sorted().into_iter().map(happened).collect();
    Ok(check)
}

/// The accesses of an execution that nothing orders in it.
pub(crate) fn races_in(events: &[Event]) -> Vec<Finding> {
    let mut detector = HappensBefore::default();
    events.iter().enumerate().for_each(|(index, event)| detector.observe(index, event));
    Box::new(detector).findings()
}
