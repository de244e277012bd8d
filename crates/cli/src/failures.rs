//! What is kept of one failure: its diagnosis in files, and as a person reads it.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use threadbare_diagnose::{
    Conditions, Diagnosis, DiagnosisOptions, DiagnosisPhase, ExecutionNames, LeftOut, Replayer, diagnose,
    interleaving_of,
};
use threadbare_explore::Found;
use threadbare_report::{
    FailureReport, FindingReport, FindingText, SarifResult, TextFormat, failure_result, interleaving,
};
use threadbare_target::{Execution, Modules, Program, Symbols};
use threadbare_trace::{FailureKind, Schedule, TraceFile};

use crate::artifacts::{self, Artifacts};
use crate::error::CliError;
use crate::output;
use crate::progress::Phase;
use crate::safekeeping::Safekeeping;

/// A failure that was run again and kept.
pub struct KeptFailure {
    /// What goes into the JSON object.
    pub report: FailureReport,
    /// The schedule file; none if it could not be written.
    pub schedule: Option<PathBuf>,
    /// The interleaving as a person reads it.
    pub shown: String,
    /// What went wrong.
    pub kind: FailureKind,
    /// The cause as a finding.
    pub cause: Option<FindingText>,
    /// No passing execution shows the cause.
    pub is_sure: bool,
    /// What was left out for lack of time.
    pub left_out: Vec<LeftOut>,
    /// What goes into a SARIF file.
    pub sarif: Option<SarifResult>,
}

/// How failures are kept, and where.
pub struct Destination<'a> {
    /// Leave out the switches that the failure does not need.
    pub minimise: bool,
    /// Look for the cause.
    pub explain: bool,
    /// Where progress is shown.
    pub phase: &'a Phase,
    /// What was written when they were found, and where everything else goes.
    pub safe: &'a Safekeeping<'a>,
}

/// Diagnoses failures, and writes the files that are kept of them instead of those that were written at once.
pub fn keep_all(
    found: &[Found],
    mut replayer: Option<&mut Replayer>,
    destination: &Destination<'_>,
    format: &TextFormat,
) -> Vec<KeptFailure> {
    let mut kept = Vec::new();
    let mut undescribed = Vec::new();
    for found in found {
        match keep(found, replayer.as_deref_mut(), destination, format) {
            Ok(failure) => kept.push(failure),
            Err(error) => {
                output::say(&format!("warning: {error}"));
                undescribed.extend(destination.safe.of(found.execution));
            }
        }
    }
    let schedules = kept.iter().filter_map(|kept| kept.schedule.as_deref());
    destination.safe.clear_except(schedules.chain(undescribed.iter().map(PathBuf::as_path)));
    kept
}

/// Diagnoses a failure, and writes the files that are kept of it.
pub fn keep(
    found: &Found,
    replayer: Option<&mut Replayer>,
    destination: &Destination<'_>,
    format: &TextFormat,
) -> Result<KeptFailure, CliError> {
    let on_phase = |phase| {
        destination.phase.show(match phase {
            DiagnosisPhase::Minimising => "minimising the failing schedule…",
            DiagnosisPhase::Explaining => "looking for the cause…",
        });
    };
    let options = DiagnosisOptions {
        minimise: destination.minimise,
        explain: destination.explain,
        head: destination.safe.head.clone(),
        on_phase: &on_phase,
    };
    let diagnosis = diagnose(found, replayer, &options)?;
    let artifacts = Artifacts {
        schedule: &diagnosis.schedule,
        trace: &diagnosis.trace,
        original: diagnosis.original.as_ref(),
        long_original: diagnosis.long_original.as_ref(),
        printed: &diagnosis.run.output[..],
    };
    let safe = destination.safe;
    let path = match artifacts::save(safe.folder, safe.name, &artifacts) {
        Ok(path) => Some(path),
        Err(error) => safe.of(found.execution).or_else(|| {
            print_instead(&error, &diagnosis.schedule);
            None
        }),
    };
    let names = ExecutionNames::new(&diagnosis.symbols, &diagnosis.run);
    let shown = show(&diagnosis.run, &diagnosis.marked, &names, format);
    let Diagnosis { mut report, trace, kind, cause, is_sure, left_out, .. } = diagnosis;
    report.schedule = path.as_ref().map(|path| path.display().to_string());
    let trace_file = path.as_ref().map(|path| path.with_extension(artifacts::TRACE));
    report.trace = trace_file.filter(|path| path.exists()).map(|path| path.display().to_string());
    report.cause_finding = cause.as_ref().map(|cause| FindingReport {
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
    Ok(KeptFailure { report, schedule: path, shown, kind, cause, is_sure, left_out, sarif })
}

/// A fresh start of the program, and its symbols. What was found is kept even if it cannot be started a second time.
pub fn replayer(
    program: &Program,
    conditions: &Conditions,
    modules: &Modules,
    stop: &Arc<AtomicBool>,
) -> (Option<Replayer>, Rc<Symbols>) {
    let replayer = Replayer::start(program, conditions, stop)
        .inspect_err(|error| output::say(&format!("warning: nothing was run again: {error}")))
        .ok();
    let symbols = replayer.as_ref().map(|replayer| Rc::clone(replayer.symbols()));
    (replayer, symbols.unwrap_or_else(|| Rc::new(Symbols::new(modules))))
}

/// Prints a schedule that cannot be written: who reads it can make the file himself.
pub fn print_instead(error: &CliError, schedule: &Schedule) {
    output::say(&format!(
        "warning: {error}\nthe schedule that could not be written is:\n{}",
        schedule.to_text()
    ));
}

/// How a schedule is run again.
pub fn again(schedule: Option<&Path>) -> String {
    schedule.map_or_else(
        || "with the schedule that is printed above, as it could not be written".to_string(),
        output::replay_command,
    )
}

/// A failure as a SARIF file has it, with the files that were kept of it.
pub fn sarif_result(trace: &TraceFile, report: &FailureReport) -> Option<SarifResult> {
    let mut result = failure_result(trace)?;
    let files = [("schedule", &report.schedule), ("trace", &report.trace)];
    result.properties.extend(files.into_iter().filter_map(|(key, path)| Some((key, path.clone()?))));
    Some(result)
}

/// The interleaving of a run as a person reads it, with some of its events pointed out.
pub fn show(run: &Execution, marked: &[usize], names: &ExecutionNames<'_>, format: &TextFormat) -> String {
    interleaving(&interleaving_of(run, marked), names, format)
}
