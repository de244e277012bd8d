//! What a suite came to: findings with the inputs that show them, failures, and the JSON object.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use threadbare_report::{
    CfpReport, Coverage, CoverageStep, FailureReport, InputReport, JsonReport, SarifResult, SuiteReport,
    Verdict,
};
use threadbare_trace::TraceFile;

use super::record::{DrivenRecord, FailureRecord, OutcomeRecord, ReportedRecord};
use super::uncovered::UncoveredPairs;
use super::work::Suite;
use super::{Results, tally};
use crate::failures;
use crate::findings::{Findings, ReportedFinding};
use crate::suppressions::Suppressions;

/// What is reported in the end.
pub struct Account {
    /// What was found.
    pub findings: Findings,
    /// What went wrong.
    pub failures: Vec<FailureReport>,
    /// What no input shows.
    pub uncovered: UncoveredPairs,
    /// The JSON object.
    pub report: JsonReport,
}

impl Account {
    /// Puts everything together.
    pub fn of(suite: &Suite, results: &Results, suppressions: &Suppressions, elapsed: Duration) -> Account {
        let (findings, failures) = reported(suite, results, suppressions);
        let uncovered = UncoveredPairs::of(suite, results);
        let mut report = json(suite, results, &findings, &failures, elapsed);
        if let (Some(cfp), true) = (&mut report.coverage.cfp, suite.args.uncovered) {
            cfp["uncovered"] = serde_json::json!(uncovered.requirements());
        }
        Account { findings, failures, uncovered, report }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty() && self.failures.is_empty()
    }

    /// What goes into a SARIF file.
    pub fn sarif(&self) -> Vec<SarifResult> {
        let of_failure = |failure: &FailureReport| {
            let bytes = std::fs::read(failure.trace.as_deref()?).ok()?;
            failures::sarif_result(&TraceFile::read(&bytes).ok()?, failure)
        };
        self.findings.sarif().into_iter().chain(self.failures.iter().filter_map(of_failure)).collect()
    }
}

/// Under which inputs each finding was seen, by its identity.
fn inputs_by_identity(suite: &Suite, results: &Results) -> BTreeMap<String, Vec<String>> {
    let mut seen: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (input, record) in results.detected() {
        for found in &record.findings {
            seen.entry(found.identity.clone()).or_default().insert(input);
        }
    }
    let names = |inputs: BTreeSet<usize>| inputs.iter().map(|input| suite.name(*input).to_string()).collect();
    seen.into_iter().map(|(identity, inputs)| (identity, names(inputs))).collect()
}

fn reported(suite: &Suite, results: &Results, suppressions: &Suppressions) -> (Findings, Vec<FailureReport>) {
    let inputs = inputs_by_identity(suite, results);
    let driven: BTreeSet<&String> = results.driven.iter().flat_map(|it| &it.identities).collect();
    let mut all: Vec<ReportedRecord> = results.driven.iter().flat_map(|it| it.findings.clone()).collect();
    let mut seen: BTreeSet<&String> = BTreeSet::new();
    for found in results.detected().flat_map(|(_, record)| &record.findings) {
        if seen.insert(&found.identity) && !driven.contains(&found.identity) && !found.suspicion {
            all.push(ReportedRecord {
                identity: found.identity.clone(),
                text: found.text.clone(),
                confirmed: false,
                seen: Some(false),
                schedule: None,
                fails: false,
                count: found.count,
                follows_from: None,
            });
        }
    }
    all.sort_by_key(|it| (!it.fails, it.follows_from.is_some(), !it.confirmed, it.schedule.is_none()));
    let mut findings = Findings::default();
    for record in all {
        // What another suite with the same program found is not reported here.
        let Some(inputs) = inputs.get(&record.identity) else { continue };
        let text = record.text.text();
        if suppressions.silence(&text) {
            findings.silenced += 1;
        } else if !findings.count_again(&text, record.count, inputs) {
            findings.add(ReportedFinding {
                text,
                // Records of earlier versions say it by the schedule alone.
                confirmed: record.confirmed || record.seen.is_none() && record.schedule.is_some(),
                seen: record.seen.unwrap_or(record.confirmed) || record.schedule.is_some(),
                schedule: record.schedule,
                fails: record.fails,
                is_cause: false,
                count: record.count,
                follows_from: record.follows_from,
                inputs: inputs.clone(),
            });
        }
    }
    let mut failures = Vec::new();
    for (failure, inputs) in failures_of(suite, results) {
        if let Some(cause) = &failure.cause_text {
            let schedule = failure.schedule.as_deref().map(Path::new);
            let cause = cause.text();
            if suppressions.silence(&cause) {
                findings.silenced += 1;
            } else {
                findings.add_cause(&cause, schedule, failure.count, failure.is_sure, &inputs);
            }
        }
        failures.push(failure.report(inputs));
    }
    (findings, failures)
}

/// How an input ended, in detection if that says more than measuring.
fn outcome(results: &Results, input: usize) -> Option<&OutcomeRecord> {
    let detected = [&results.guided, &results.full].into_iter().filter_map(|records| records.get(&input));
    let mut outcomes =
        results.measured.get(&input).map(|it| &it.outcome).into_iter().chain(detected.map(|it| &it.outcome));
    let first = outcomes.clone().next();
    outcomes.find(|outcome| outcome.failure().is_some()).or(first)
}

/// The failures with the inputs that show them. An input that failed as another one did is not driven by itself.
fn failures_of(suite: &Suite, results: &Results) -> Vec<(FailureRecord, Vec<String>)> {
    let mut failures: Vec<(FailureRecord, Vec<String>)> = Vec::new();
    let is_of = |record: &&DrivenRecord, input: usize| record.input == suite.ids[input].0;
    for input in 0..suite.ids.len() {
        let name = suite.name(input).to_string();
        let mut met: Vec<FailureRecord> =
            results.driven.iter().filter(|it| is_of(it, input)).flat_map(|it| it.failures.clone()).collect();
        if met.is_empty() {
            met.extend(outcome(results, input).and_then(FailureRecord::without_schedule));
        }
        for failure in met {
            let same = |known: &FailureRecord| {
                known.kind == failure.kind
                    && (known.message == failure.message
                        || known.site.is_some() && known.site == failure.site)
            };
            match failures.iter_mut().find(|(known, _)| same(known)) {
                Some((_, inputs)) if inputs.contains(&name) => {}
                Some((_, inputs)) => inputs.push(name.clone()),
                None => failures.push((failure, vec![name.clone()])),
            }
        }
    }
    failures
}

fn json(
    suite: &Suite,
    results: &Results,
    findings: &Findings,
    failures: &[FailureReport],
    elapsed: Duration,
) -> JsonReport {
    let detected = || results.detected().map(|(_, record)| record);
    let executions = results.measured.values().map(|it| it.executions).sum::<u64>()
        + detected().map(|it| it.executions).sum::<u64>()
        + results.driven.iter().map(|it| it.executions).sum::<u64>();
    let steps = results.measured.values().map(|it| it.steps).sum::<u64>()
        + detected().map(|it| it.steps).sum::<u64>()
        + results.driven.iter().map(|it| it.steps).sum::<u64>();
    let threads = results.measured.values().map(|it| it.threads).chain(detected().map(|it| it.threads)).max();
    let trouble = |(input, why): (&usize, &String)| format!("input `{}`: {why}", suite.name(*input));
    let suite_report = report(suite, results, findings);
    let aggregated = suite_report.cfp.aggregated;
    JsonReport {
        tool: "threadbare",
        version: env!("CARGO_PKG_VERSION"),
        command: "suite",
        program: suite.programs.first().map_or_else(String::new, |program| program.name.clone()),
        strategy: "suite".into(),
        seed: suite.args.seed,
        verdict: Verdict::of(!failures.is_empty(), !findings.is_empty(), suite.is_stopped()),
        executions,
        cut: results.measured.values().filter(|it| it.outcome.word == "cut").count() as u64
            + detected().filter(|it| it.outcome.word == "cut").count() as u64,
        steps,
        threads: threads.unwrap_or(1),
        elapsed_s: JsonReport::seconds(elapsed),
        executions_per_s: JsonReport::rate(executions, elapsed),
        snapshots: 0,
        failure: failures.first().cloned(),
        findings: findings.json(),
        coverage: Coverage {
            cfp: Some(serde_json::json!({ "pairs": aggregated, "history": history(results) })),
            ..Coverage::default()
        },
        exhausted: false,
        memory_model: Default::default(),
        saturated: false,
        interrupted: suite.is_stopped(),
        failed_executions: threadbare_report::failed_executions(failures),
        failures: failures.to_vec(),
        replay: None,
        generated: None,
        suite: Some(suite_report),
        total: None,
        doubts: Vec::new(),
        warnings: results.troubles.iter().map(trouble).collect(),
    }
}

/// How the number of pairs grew from input to input.
fn history(results: &Results) -> Vec<CoverageStep> {
    let mut known = BTreeSet::new();
    let mut steps: Vec<CoverageStep> = Vec::new();
    let (mut executions, mut seconds) = (0, 0.0);
    for record in results.measured.values() {
        executions += record.executions;
        seconds += record.seconds;
        known.extend(record.pairs());
        let covered = known.len() as u64;
        if steps.last().is_none_or(|last| last.covered < covered) {
            steps.push(CoverageStep { executions, elapsed_s: (seconds * 1e6).round() / 1e6, covered });
        }
    }
    steps
}

fn report(suite: &Suite, results: &Results, findings: &Findings) -> SuiteReport {
    let functions: BTreeSet<u64> = results.measured.values().flat_map(|it| it.executed.clone()).collect();
    let looked = if suite.args.full { &results.full } else { &results.guided };
    let rounded = |seconds: f64| (seconds * 1e6).round() / 1e6;
    SuiteReport {
        cfp: CfpReport {
            aggregated: results.aggregated().len() as u64,
            functions: functions.len() as u64,
            functions_inherited: suite.watch.inherited() as u64,
            measuring_s: rounded(results.measured.values().map(|it| it.seconds).sum()),
            selecting_s: rounded(results.selecting.as_secs_f64()),
            detecting_s: rounded(looked.values().map(|it| it.seconds()).sum()),
        },
        inputs: (0..suite.ids.len()).map(|input| input_report(suite, results, findings, input)).collect(),
        full: suite.args.against_full.then(|| tally::against(results, suite.args.only)).flatten(),
    }
}

fn input_report(suite: &Suite, results: &Results, findings: &Findings, input: usize) -> InputReport {
    let measured = results.measured.get(&input);
    let place = results.selected.iter().position(|it| it.input == input);
    let selected = place.map(|place| &results.selected[place]);
    let looked = if suite.args.full { results.full.get(&input) } else { results.guided.get(&input) };
    let executed = measured.map_or(0, |it| it.executed.len() as u64);
    let new_pairs = place.map_or(0, |place| {
        let earlier = results.selected[..place].iter().filter_map(|it| results.measured.get(&it.input));
        let covered: BTreeSet<_> = earlier.flat_map(|it| it.pairs()).collect();
        measured.map_or(0, |it| it.pairs().difference(&covered).count() as u64)
    });
    let outcome = outcome(results, input);
    let trouble = results.troubles.get(&input);
    let word = match (measured, outcome) {
        _ if trouble.is_some() => "uncontrolled",
        (None, _) | (_, None) => "not run",
        (Some(measured), Some(outcome)) if outcome.word == "passed" && measured.single_threaded => {
            "single-threaded"
        }
        (_, Some(outcome)) => outcome.word.as_str(),
    };
    let message = outcome.map(|it| it.message.clone()).filter(|message| !message.is_empty());
    InputReport {
        name: suite.name(input).to_string(),
        pairs: measured.map_or(0, |it| it.pairs.len() as u64),
        new_pairs,
        selected: suite.args.full || selected.is_some(),
        functions_selected: match selected {
            _ if suite.args.full => executed,
            selected => selected.map_or(0, |it| it.functions().len() as u64),
        },
        functions_executed: executed,
        outcome: word.to_string(),
        message: trouble.cloned().or(message),
        measuring_s: measured.map(|it| it.seconds),
        detecting_s: looked.map(|it| it.seconds()),
        events: looked.map(|it| it.events),
        // What detectors suspected and is not reported, or is reported as one with another, counts nowhere.
        findings: looked.map(|_| findings.under(suite.name(input))),
        unguided: looked.is_some_and(|it| it.unguided),
    }
}
