//! What is made of one failure: a second run, the files, and the words.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use threadbare_diagnose::{
    DiagnoseError, ExecutionNames, Original, Replayer, explain, interleaving_of, recorded, same_failure,
    to_schedule,
};
use threadbare_explore::{Found, is_preemption, pointed_out};
use threadbare_report::{
    FailureReport, Finding, FindingText, Look, SarifResult, failure_result, failure_site, interleaving,
    name_addresses,
};
use threadbare_target::{Execution, Modules, Symbols, own_words, stable_hash};
use threadbare_trace::{FailureKind, Schedule, Shown, TraceFile};

use crate::error::CliError;
use crate::keep::{self, Papers};
use crate::progress::Phase;

/// A failure that was run again and kept.
pub struct Kept {
    /// What goes into the JSON object.
    pub report: FailureReport,
    /// The schedule file.
    pub schedule: PathBuf,
    /// The interleaving as a person reads it.
    pub shown: String,
    /// What went wrong.
    pub kind: FailureKind,
    /// The cause as a finding.
    pub cause: Option<FindingText>,
    /// No passing execution shows the cause.
    pub is_sure: bool,
    /// What was left out for lack of time, in whole sentences.
    pub left_out: Vec<&'static str>,
    /// What goes into a SARIF file.
    pub sarif: Option<SarifResult>,
}

/// Other executions are made only if they do not take long, as those of a program that hangs do.
const LONGEST_COMPARED: Duration = Duration::from_secs(1);

const NOT_SHORTENED: &str = "There was no time to leave out every preemption that it does not need.";
const NOT_EXPLAINED: &str = "Every run takes so long that no cause was looked for.";
const NOT_COMPARED: &str =
    "There was no time to compare it with more executions: the cause may be another one.";

/// Where failures are kept, and under which name.
pub struct Shelf<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// What file names begin with.
    pub name: &'a str,
    /// Leave out the switches that the failure does not need.
    pub minimise: bool,
    /// Look for the cause.
    pub explain: bool,
    /// Where it is told what goes on.
    pub phase: &'a Phase,
    /// The schedule file's head; switches and failure are filled in.
    pub head: Schedule,
}

/// Runs a failure's schedule once more, and keeps it.
///
/// The second run is what is shown: it is exactly what a replay will show.
pub fn keep(
    found: &Found,
    replayer: Option<&mut Replayer>,
    shelf: &Shelf<'_>,
    look: &Look,
) -> Result<Kept, CliError> {
    let mut is_minimal = false;
    let mut again = None;
    let mut symbols = Rc::new(Symbols::new(&Modules::default()));
    let mut comparisons = None;
    let mut left_out = Vec::new();
    let mut original = None;
    if let Some(replayer) = replayer {
        let begin = Instant::now();
        let same = replayer.follow(&found.run.switches).ok();
        let takes_long = begin.elapsed() > LONGEST_COMPARED;
        let same = same.filter(|again| same_failure(&again.outcome, &found.run.outcome));
        again = same.map(|same| {
            // Every run of a hang takes as long as the hang does, unless it shows early.
            if hangs_long(&same) || !shelf.minimise {
                return same;
            }
            shelf.phase.show("minimising the failing schedule…");
            let found = Original::of(&same, replayer.symbols());
            let (shortest, minimal) = replayer.shorten(same);
            is_minimal = minimal;
            left_out.extend((!minimal).then_some(NOT_SHORTENED));
            original = Some(found).filter(|found| found.differs_from(&shortest.switches));
            shortest
        });
        symbols = Rc::clone(replayer.symbols());
        comparisons = (!takes_long).then(|| replayer.comparisons());
        left_out.extend(takes_long.then_some(NOT_EXPLAINED));
    }
    let reproduced = again.is_some();
    let run = again.as_ref().unwrap_or(&found.run);
    let names = ExecutionNames::new(&symbols, run);
    let (Some(mut report), Some(failure)) = (describe(run, &names, &symbols), run.outcome.failure()) else {
        return Err(DiagnoseError::Uncontrolled("the failure has no description".into()).into());
    };
    let mut schedule = Schedule {
        execution: found.execution,
        failure: Some((failure.kind, report.message.clone())),
        switches: to_schedule(&run.switches, &names),
        ..shelf.head.clone()
    };
    shelf.phase.show("looking for the cause…");
    let mut comparisons = comparisons.filter(|_| reproduced);
    let explanation =
        if shelf.explain { explain(run, comparisons.as_deref_mut(), &symbols, &names) } else { None };
    let is_told = explanation.as_ref().is_some_and(|it| it.sentence.is_some());
    left_out.extend(
        comparisons.is_some_and(|comparisons| comparisons.was_cut() && is_told).then_some(NOT_COMPARED),
    );
    let is_sure = explanation.as_ref().is_some_and(|it| it.sure);
    let (sentence, cause, shown) =
        explanation.map_or((None, None, None), |it| (it.sentence, it.finding, it.shown));
    report.cause = sentence;
    let cause_of = |shown: Shown| Shown { is_cause: true, ..shown };
    schedule.shows = shown.filter(|shown| !shown.steps.is_empty()).map(cause_of);
    let marked = schedule.shows.as_ref().map_or_else(Vec::new, |shown| pointed_out(shown, &run.events));
    let trace = recorded(run, &names, &schedule);
    report.original_events = original.as_ref().and_then(Original::long_events);
    let (original, long) = original.map_or((None, None), |it| it.files(&symbols, &schedule));
    let papers = Papers {
        schedule: &schedule,
        trace: &trace,
        original: original.as_ref(),
        long_original: long.as_ref(),
        printed: &run.output[..],
    };
    let path = keep::keep(shelf.folder, shelf.name, &papers)?;
    report.execution = found.execution;
    report.policy.clone_from(&found.policy);
    report.count = found.count;
    report.reproduced = reproduced;
    report.minimal = is_minimal;
    report.preemptions = run.switches.iter().filter(|switch| is_preemption(switch)).count() as u64;
    report.schedule = Some(path.display().to_string());
    report.trace = Some(path.with_extension(keep::TRACE).display().to_string());
    report.cause_finding = cause.as_ref().map(|cause| Finding {
        kind: cause.kind,
        object: cause.object.clone(),
        sites: cause.sites.clone(),
        pattern: cause.pattern.map(u32::from),
        confirmed: true,
        message: cause.sentence.clone(),
        schedule: report.schedule.clone(),
        count: found.count,
        inputs: Vec::new(),
    });
    let sarif = sarif_result(&trace, &report);
    Ok(Kept {
        report,
        schedule: path,
        shown: show(run, &marked, &names, look),
        kind: failure.kind,
        cause,
        is_sure,
        left_out,
        sarif,
    })
}

fn hangs_long(run: &Execution) -> bool {
    const MANY_STEPS: u64 = 20_000;
    let hangs = run.outcome.failure().is_some_and(|failure| failure.kind == FailureKind::Hang);
    hangs && (run.stalled || run.steps > MANY_STEPS)
}

/// A failure as a SARIF file has it, with the files that were kept of it.
pub fn sarif_result(trace: &TraceFile, report: &FailureReport) -> Option<SarifResult> {
    let mut result = failure_result(trace)?;
    let files = [("schedule", &report.schedule), ("trace", &report.trace)];
    result.properties.extend(files.into_iter().filter_map(|(key, path)| Some((key, path.clone()?))));
    Some(result)
}

/// The interleaving of a run as a person reads it, with some of its events pointed out.
pub fn show(run: &Execution, marked: &[usize], names: &ExecutionNames<'_>, look: &Look) -> String {
    interleaving(&interleaving_of(run, marked), names, look)
}

/// A failed run in the words of the JSON object; none for one that passed.
pub fn describe(run: &Execution, names: &ExecutionNames<'_>, symbols: &Symbols) -> Option<FailureReport> {
    let failure = run.outcome.failure()?;
    let mut message = name_addresses(&failure.message, names);
    // Who calls `abort` says why beforehand.
    if failure.kind == FailureKind::Abort && !message.contains('\n') {
        last_lines(&run.output).iter().for_each(|line| message.push_str(&format!("\n{line}")));
    }
    Some(FailureReport {
        kind: failure.kind.word(),
        message,
        site: failure_site(failure, names).map(|site| site.to_string()),
        execution: 1,
        schedule: None,
        policy: "replay".into(),
        trace_hash: trace_hash(run, symbols),
        count: 1,
        reproduced: true,
        minimal: false,
        preemptions: 0,
        trace: None,
        inputs: Vec::new(),
        cause: None,
        cause_finding: None,
        original_events: None,
    })
}

/// The end of what a program printed.
fn last_lines(output: &[u8]) -> Vec<String> {
    const MOST_LINES: usize = 10;
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = own_words(&text).lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(MOST_LINES)..].iter().map(|line| line.to_string()).collect()
}

/// The hash of a run's trace, as it is written everywhere.
pub fn trace_hash(run: &Execution, symbols: &Symbols) -> String {
    format!("{:016x}", stable_hash(run, symbols))
}
