//! What is kept of one failure: its diagnosis in files, and as a person reads it.

use std::path::{Path, PathBuf};

use threadbare_diagnose::{
    Diagnosis, DiagnosisOptions, DiagnosisPhase, ExecutionNames, LeftOut, Replayer, diagnose, interleaving_of,
};
use threadbare_explore::Found;
use threadbare_report::{
    FailureReport, FindingReport, FindingText, SarifResult, TextFormat, failure_result, interleaving,
};
use threadbare_target::Execution;
use threadbare_trace::{FailureKind, Schedule, TraceFile};

use crate::artifacts::{self, Artifacts};
use crate::error::CliError;
use crate::progress::Phase;

/// A failure that was run again and kept.
pub struct KeptFailure {
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
    /// What was left out for lack of time.
    pub left_out: Vec<LeftOut>,
    /// What goes into a SARIF file.
    pub sarif: Option<SarifResult>,
}

/// Where failures are kept, and under which name.
pub struct Destination<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// What file names begin with.
    pub name: &'a str,
    /// Leave out the switches that the failure does not need.
    pub minimise: bool,
    /// Look for the cause.
    pub explain: bool,
    /// Where progress is shown.
    pub phase: &'a Phase,
    /// The schedule file's head; switches and failure are filled in.
    pub head: Schedule,
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
        head: destination.head.clone(),
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
    let path = artifacts::save(destination.folder, destination.name, &artifacts)?;
    let names = ExecutionNames::new(&diagnosis.symbols, &diagnosis.run);
    let shown = show(&diagnosis.run, &diagnosis.marked, &names, format);
    let Diagnosis { mut report, trace, kind, cause, is_sure, left_out, .. } = diagnosis;
    report.schedule = Some(path.display().to_string());
    report.trace = Some(path.with_extension(artifacts::TRACE).display().to_string());
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
