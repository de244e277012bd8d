//! What is made of one failure: a second run, the files, and the words.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use threadbare_analysis::{Compared, cause, pending};
use threadbare_explore::{Found, is_preemption, is_same_failure};
use threadbare_report::{
    FailureReport, Interleaving, Look, SarifResult, cause_text, failure_result, failure_site, interleaving,
    name_addresses, record,
};
use threadbare_target::{Execution, Modules, Symbols, stable_hash};
use threadbare_trace::{FailureKind, Schedule, TraceFile};

use crate::error::CliError;
use crate::keep;
use crate::names::ExecutionNames;
use crate::rerun::{self, Others, Stage};

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
    /// What goes into a SARIF file.
    pub sarif: Option<SarifResult>,
}

/// The longest trace whose cause is looked for.
const LONGEST_COMPARED: usize = 20_000;

/// Where failures are kept, and under which name.
pub struct Shelf<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// What file names begin with.
    pub name: &'a str,
    /// Leave out the switches that the failure does not need.
    pub minimise: bool,
    /// The schedule file's head; switches and failure are filled in.
    pub head: Schedule,
}

/// Runs a failure's schedule once more, and keeps it.
///
/// The second run is what is shown: it is exactly what a replay will show.
pub fn keep(
    found: &Found,
    stage: Option<&mut Stage>,
    shelf: &Shelf<'_>,
    look: &Look,
) -> Result<Kept, CliError> {
    let nothing = Symbols::new(&Modules::default());
    let mut is_minimal = false;
    let mut others: Rc<Others> = Rc::default();
    let mut informed = None;
    let (again, symbols) = match stage {
        Some(stage) => {
            let again = stage.follow(&found.run.switches).ok();
            let again = again.filter(|again| rerun::same_failure(&again.outcome, &found.run.outcome));
            let shortest = again.map(|again| {
                // Every run of a hang takes as long as a hang does.
                if hangs(&again) || !shelf.minimise {
                    return again;
                }
                let (shortest, minimal) = stage.shorten(again);
                is_minimal = minimal;
                shortest
            });
            // Where the trace is long, so are the others, and no pattern is short enough to read.
            if let Some(run) = shortest.as_ref().filter(|run| run.events.len() <= LONGEST_COMPARED) {
                others = stage.others();
                informed = if hangs(run) { None } else { stage.follow_informed(run) };
            }
            (shortest, stage.symbols())
        }
        None => (None, &nothing),
    };
    let reproduced = again.is_some();
    let run = again.as_ref().unwrap_or(&found.run);
    let names = ExecutionNames::new(symbols, run);
    let (Some(mut report), Some(failure)) = (describe(run, &names, symbols), run.outcome.failure()) else {
        return Err(CliError::Uncontrolled("the failure has no description".into()));
    };
    let schedule = Schedule {
        execution: found.execution,
        failure: Some((failure.kind, report.message.clone())),
        switches: rerun::to_schedule(&run.switches, &names),
        ..shelf.head.clone()
    };
    report.cause = match &informed {
        Some(informed) => cause_of(informed, &others, &ExecutionNames::new(symbols, informed)),
        None => cause_of(run, &others, &names),
    };
    let trace = recorded(run, &names, &schedule);
    let path = keep::keep(shelf.folder, shelf.name, &schedule, &trace, &run.output)?;
    report.execution = found.execution;
    report.policy.clone_from(&found.policy);
    report.count = found.count;
    report.reproduced = reproduced;
    report.minimal = is_minimal;
    report.preemptions = run.switches.iter().filter(|switch| is_preemption(switch)).count() as u64;
    report.schedule = Some(path.display().to_string());
    report.trace = Some(path.with_extension(keep::TRACE).display().to_string());
    let sarif = sarif_result(&trace, &report);
    Ok(Kept { report, schedule: path, shown: show(run, &names, look), kind: failure.kind, sarif })
}

fn hangs(run: &Execution) -> bool {
    run.outcome.failure().is_some_and(|failure| failure.kind == FailureKind::Hang)
}

/// The pattern that tells a failing run from those that passed, in a sentence.
fn cause_of(run: &Execution, others: &Others, names: &ExecutionNames<'_>) -> Option<String> {
    let failure = run.outcome.failure()?;
    let is_same = |other: &&Execution| other.outcome.failure().is_some_and(|it| is_same_failure(it, failure));
    let examples = others.passing.iter().map(|run| &run.events[..]);
    // The later ones knew more of what is shared.
    let next = |run: &Execution| pending(&run.events, &run.switches, examples.clone().rev());
    let failing: Vec<_> = std::iter::once(run)
        .chain(others.failing.iter().filter(is_same))
        .map(|run| (&run.events, next(run)))
        .collect();
    let mut failing = failing.iter().map(|(events, pending)| Compared { events, pending });
    let passing = examples.clone().map(|events| Compared { events, pending: &[] });
    let cause = cause(&failing.next()?, failing, passing)?;
    // What most passing executions do as well explains nothing.
    (4 * cause.in_passing <= cause.passing).then(|| cause_text(&cause, names))
}

/// A run as a trace file has it. The schedule says which program it was.
pub fn recorded(run: &Execution, names: &ExecutionNames<'_>, schedule: &Schedule) -> TraceFile {
    let mut file = record(&story(run), &run.contexts, names);
    file.program.clone_from(&schedule.program);
    file.args.clone_from(&schedule.args);
    file.binary.clone_from(&schedule.binary);
    file
}

/// A failure as a SARIF file has it, with the files that were kept of it.
pub fn sarif_result(trace: &TraceFile, report: &FailureReport) -> Option<SarifResult> {
    let mut result = failure_result(trace)?;
    let files = [("schedule", &report.schedule), ("trace", &report.trace)];
    result.properties.extend(files.into_iter().filter_map(|(key, path)| Some((key, path.clone()?))));
    Some(result)
}

fn story(run: &Execution) -> Interleaving<'_> {
    Interleaving { events: &run.events, switches: &run.switches, outcome: &run.outcome }
}

/// The interleaving of a run as a person reads it.
pub fn show(run: &Execution, names: &ExecutionNames<'_>, look: &Look) -> String {
    interleaving(&story(run), names, look)
}

/// A failed run in the words of the JSON object; none for one that passed.
pub fn describe(run: &Execution, names: &ExecutionNames<'_>, symbols: &Symbols) -> Option<FailureReport> {
    let failure = run.outcome.failure()?;
    Some(FailureReport {
        kind: failure.kind.word(),
        message: name_addresses(&failure.message, names),
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
        cause: None,
    })
}

/// The hash of a run's trace, as it is written everywhere.
pub fn trace_hash(run: &Execution, symbols: &Symbols) -> String {
    format!("{:016x}", stable_hash(run, symbols))
}
