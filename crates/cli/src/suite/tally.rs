//! Guided detection compared with looking at everything.

use std::collections::{BTreeMap, BTreeSet};

use threadbare_report::{AgainstReport, FullReport};

use super::Results;
use super::record::{DetectedRecord, FoundRecord};
use crate::suite_args::Only;

/// The comparison; none if it was not made under all inputs.
pub fn against(results: &Results, only: Only) -> Option<FullReport> {
    let is_whole =
        results.full.len() == results.measured.len() && results.guided.len() == results.selected.len();
    if !is_whole || results.full.is_empty() {
        return None;
    }
    let events =
        |records: &BTreeMap<usize, DetectedRecord>| records.values().map(|it| it.events).sum::<u64>();
    let (full, guided) = (events(&results.full), events(&results.guided));
    let executed = results.measured.values().map(|it| it.executed.len() as u64).sum();
    let selected = results.selected.iter().map(|it| it.functions().len() as u64).sum();
    Some(FullReport {
        races: only.races().then(|| kind(results, "race")),
        atomicity: only.atomicity().then(|| kind(results, "atomicity")),
        events: full,
        guided_events: guided,
        trace_reduction: if full == 0 { 0.0 } else { 1.0 - guided as f64 / full as f64 },
        functions: executed,
        guided_functions: selected,
    })
}

/// Seconds that detection of one kind takes.
fn seconds(record: &DetectedRecord, word: &str) -> f64 {
    record.running_s + if word == "race" { record.races_s } else { record.atomicity_s }
}

fn kind(results: &Results, word: &str) -> AgainstReport {
    let is_kind = |found: &&FoundRecord| found.identity.starts_with(word);
    let reports = |records: &BTreeMap<usize, DetectedRecord>| -> Vec<String> {
        let findings = records.values().flat_map(|record| &record.findings);
        findings.filter(is_kind).map(|found| found.identity.clone()).collect()
    };
    let (all, few) = (reports(&results.full), reports(&results.guided));
    let unique = |reports: &[String]| reports.iter().cloned().collect::<BTreeSet<String>>();
    let (full, guided) = (unique(&all), unique(&few));
    let failing = results.driven.iter().flat_map(|it| &it.findings).filter(|reported| reported.fails);
    let failing: BTreeSet<String> = failing
        .map(|reported| reported.identity.clone())
        .filter(|it| full.contains(it) || guided.contains(it))
        .collect();
    let spent =
        |records: &BTreeMap<usize, DetectedRecord>| records.values().map(|it| seconds(it, word)).sum::<f64>();
    let full_s = spent(&results.full);
    let measuring: f64 = results.measured.values().map(|it| it.seconds).sum();
    let guided_s = measuring + results.selecting.as_secs_f64() + spent(&results.guided);
    AgainstReport {
        full_s,
        guided_s,
        speedup: full_s / guided_s.max(1e-9),
        full_reports: all.len() as u64,
        full_unique: full.len() as u64,
        full_duplication: ratio(all.len(), full.len()),
        reports: few.len() as u64,
        unique: guided.len() as u64,
        duplication: ratio(few.len(), guided.len()),
        missed: full.difference(&guided).count() as u64,
        failing: failing.len() as u64,
        failing_missed: failing.difference(&guided).count() as u64,
    }
}

fn ratio(all: usize, unique: usize) -> f64 {
    if unique == 0 { 0.0 } else { all as f64 / unique as f64 }
}
