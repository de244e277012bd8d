//! Driving findings of one input to happen, and keeping the schedules of those that did.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use threadbare_detect::Key;
use threadbare_diagnose::Conditions;
use threadbare_explore::suite::drive_to_happen;
use threadbare_explore::{Check, Examined, Found, Options};
use threadbare_target::{Program, Symbols};
use threadbare_trace::Schedule;

use super::record::{DrivenRecord, FailureRecord, ReportedRecord, TextRecord};
use super::work::{Suite, Task};
use crate::clock::Clock;
use crate::error::CliError;
use crate::failures::{Diagnosing, Search};
use crate::findings::{Identity, texts};
use crate::progress::Phase;
use crate::safekeeping::Safekeeping;
use crate::{check, hunt, output};

/// The findings of one input that are to be driven to happen.
pub struct Wanted {
    /// How they were looked for.
    pub task: Task,
    /// They were looked for in the whole program.
    pub is_whole: bool,
    /// Which ones; none if only the input's failure is wanted.
    pub identities: BTreeSet<String>,
}

/// Drives findings to happen.
pub fn drive(suite: &Suite, wanted: &Wanted) -> Result<DrivenRecord, CliError> {
    let input = wanted.task.input;
    let program = &suite.programs[input];
    let limits = suite.limits(input);
    let options = Options {
        strategy: "suite".into(),
        seed: suite.args.seed,
        time: Some(suite.args.time),
        max_steps: limits.max_steps,
        any_exit: limits.any_exit,
        stall: limits.stall,
        ..Options::default()
    };
    // The executions in which they were seen are made again: the same seeds give the same ones.
    let mut findings = Vec::new();
    let mut identities = Vec::new();
    if !wanted.identities.is_empty() {
        let detected = suite.look(&wanted.task, wanted.is_whole)?;
        for sighting in detected.sightings.into_iter().filter(|it| wanted.identities.contains(&it.identity)) {
            identities.push((sighting.finding.key(), sighting.identity));
            findings.push((sighting.finding, sighting.run));
        }
    }
    let clock = Clock::start(suite.args.time, &suite.stop);
    let result = drive_to_happen(program, findings, &options, &|_| {}, &suite.stop)?;
    let conditions = Conditions::of(&options, program);
    let head = hunt::schedule_head(program, suite.file.cflags.clone(), &conditions, &options);
    // What time did not suffice for is tried again the next time, and reported as predicted until then.
    let is_untried = |key: &Key| result.untried.contains(key);
    let untried: BTreeSet<String> =
        identities.iter().filter(|(key, _)| is_untried(key)).map(|(_, identity)| identity.clone()).collect();
    let identity = |examined: &Examined| {
        let key = examined.finding.key();
        if is_untried(&key) {
            return None;
        }
        identities.iter().find(|(known, _)| *known == key).map(|(_, identity)| identity.clone())
    };
    let symbols = Symbols::new(&result.modules);
    let reported = record_all(suite, &result, &identity, &symbols, &head, &clock);
    Ok(DrivenRecord {
        input: suite.ids[input].0.clone(),
        identities: wanted.identities.difference(&untried).cloned().collect(),
        findings: reported,
        failures: keep_failures(suite, &result, program, &conditions, &head),
        executions: result.executions,
        steps: result.steps,
        threads: result.threads,
    })
}

fn record_all(
    suite: &Suite,
    result: &Check,
    identity: &dyn Fn(&Examined) -> Option<String>,
    symbols: &Symbols,
    head: &Schedule,
    clock: &Clock,
) -> Vec<ReportedRecord> {
    let mut reported: Vec<ReportedRecord> = Vec::new();
    let texts = texts(&result.findings, symbols);
    let mut schedules: HashMap<Identity, Option<PathBuf>> = HashMap::new();
    for (examined, text) in result.findings.iter().zip(&texts) {
        // One schedule is enough for what people take for the same.
        let schedule = schedules.entry(Identity::of(text)).or_insert_with(|| {
            let (out, stem) = (&suite.args.out, suite.stem());
            check::keep_schedule(out, &stem, examined, &text.sentence, symbols, head, clock)
        });
        let origin = examined.follows_from.and_then(|place| texts.get(place));
        let follows_from = origin.map(|text| text.heading.clone());
        reported.extend(identity(examined).map(|identity| ReportedRecord {
            identity,
            text: TextRecord::of(text),
            confirmed: examined.is_confirmed(),
            seen: Some(examined.confirmed.is_some()),
            schedule: schedule.clone(),
            fails: examined.fails,
            count: examined.finding.count,
            follows_from,
        }));
    }
    reported
}

fn keep_failures(
    suite: &Suite,
    result: &Check,
    program: &Program,
    conditions: &Conditions,
    head: &Schedule,
) -> Vec<FailureRecord> {
    let name = suite.stem();
    let phase = Phase::new(true);
    let folder = &suite.args.out;
    let safe = Safekeeping::new(folder, &name, head, None);
    let Check { executions, steps, elapsed, ref passing, .. } = *result;
    let diagnosing = Diagnosing {
        program,
        conditions,
        minimise: true,
        explain: true,
        phase: &phase,
        safe: &safe,
        search: Search { executions, steps, elapsed, passing },
        time: Some(suite.args.time),
        explain_time: None,
        stop: &suite.stop,
    };
    let format = output::text_format_for(false, false);
    let found: Vec<Found> = result.failures.iter().map(|met| met.as_found("suite")).collect();
    let kept = diagnosing.keep_all(&found, &format);
    kept.iter().map(|kept| FailureRecord::of(&kept.report, kept.cause.as_ref(), kept.is_sure)).collect()
}
