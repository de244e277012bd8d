//! What is kept of one failure: its diagnosis in files, and as a person reads it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use threadbare_diagnose::{
    Conditions, Diagnosis, DiagnosisOptions, DiagnosisPhase, ExecutionNames, LeftOut, Replayer,
    describe_failure, diagnose, interleaving_of, recorded,
};
use threadbare_explore::{Found, is_preemption};
use threadbare_report::{
    FailureReport, FindingReport, FindingText, SarifResult, TextFormat, failure_result, interleaving,
};
use threadbare_target::{Execution, Program, Symbols};
use threadbare_trace::{FailureKind, Schedule, TraceFile};

use crate::artifacts::{self, Artifacts};
use crate::clock::LONG;
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

/// What is to be done about the failures of a search.
pub struct Diagnosing<'a> {
    /// The program.
    pub program: &'a Program,
    /// How it was run.
    pub conditions: &'a Conditions,
    /// Leave out the switches that a failure does not need.
    pub minimise: bool,
    /// Look for causes.
    pub explain: bool,
    /// Where progress is shown.
    pub phase: &'a Phase,
    /// What was written when they were found, and where everything else goes.
    pub safe: &'a Safekeeping<'a>,
    /// What the search took.
    pub search: Search<'a>,
    /// How long it may take together with the search.
    pub time: Option<Duration>,
    /// How long it may take, if somebody has asked for that.
    pub explain_time: Option<Duration>,
    /// Raised when the user wants it to end.
    pub stop: &'a Arc<AtomicBool>,
}

/// What a search took, and what else it knows.
pub struct Search<'a> {
    /// Its executions.
    pub executions: u64,
    /// Their steps.
    pub steps: u64,
    /// The time.
    pub elapsed: Duration,
    /// Executions that passed, to compare with those that failed.
    pub passing: &'a [Arc<Execution>],
}

/// The longest that a diagnosis takes where nobody asks for more. What it does is counted besides, so that this seldom decides.
const LONGEST: Duration = Duration::from_secs(10);
/// How long it may go on after the time for all is up, and how long it may take at least, after a signal as well: all has to be said within a
/// second.
const OVERTIME: Duration = Duration::from_millis(600);
const LEAST: Duration = Duration::from_millis(250);
/// How long it may take to see that it is over.
const GRACE: Duration = Duration::from_millis(100);

impl Diagnosing<'_> {
    /// How long it may take from now on.
    fn limit(&self) -> Duration {
        if self.stop.load(Ordering::SeqCst) {
            return LEAST;
        }
        let left = self.time.map(|time| (time + OVERTIME).saturating_sub(self.search.elapsed).max(LEAST));
        self.explain_time.unwrap_or_else(|| left.map_or(LONGEST, |left| left.min(LONGEST)))
    }

    /// Diagnoses failures, and writes the files that are kept of them instead of those that were written at once.
    ///
    /// This is done on a thread of its own. Where it is not through in time, it is left alone, and the failures are described as they were
    /// found.
    pub fn keep_all(&self, found: &[Found], format: &TextFormat) -> Vec<KeptFailure> {
        if found.is_empty() {
            self.safe.clear_except(std::iter::empty());
            return Vec::new();
        }
        let given_up = Arc::new(AtomicBool::new(false));
        let (sender, kept) = channel();
        let limit = self.limit();
        let end = Instant::now() + limit;
        let work = self.in_time(found, end, &given_up, *format);
        let work = move || work(&|place, kept| sender.send((place, kept)).is_ok());
        if let Err(error) = thread::Builder::new().name("diagnosis".into()).spawn(work) {
            output::say(&format!("warning: nothing was run again: no thread can be started: {error}"));
        }
        let mut all: Vec<Option<KeptFailure>> = found.iter().map(|_| None).collect();
        let mut interrupted: Option<Instant> = None;
        loop {
            let end = interrupted.map_or(end, |since| end.min(since + LEAST)) + GRACE;
            match kept.recv_timeout(LOOK) {
                Ok((place, kept)) => all[place] = Some(kept),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if Instant::now() >= end => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.stop.load(Ordering::SeqCst) {
                interrupted.get_or_insert_with(Instant::now);
            }
        }
        given_up.store(true, Ordering::SeqCst);
        // What came just before counts.
        kept.try_iter().for_each(|(place, kept)| all[place] = Some(kept));
        let as_found = Keeping { minimise: false, explain: false, ..self.keeping(&Arc::default()) };
        let mut failures = Vec::new();
        let mut undescribed = Vec::new();
        for (found, kept) in found.iter().zip(all) {
            let as_found = || as_found.keep_briefly(found, format, self.safe.of(found.execution));
            match kept.map_or_else(as_found, Ok) {
                Ok(kept) => failures.push(kept),
                Err(error) => {
                    output::say(&format!("warning: {error}"));
                    undescribed.extend(self.safe.of(found.execution));
                }
            }
        }
        let schedules = failures.iter().filter_map(|kept| kept.schedule.as_deref());
        self.safe.clear_except(schedules.chain(undescribed.iter().map(PathBuf::as_path)));
        failures
    }

    fn keeping(&self, given_up: &Arc<AtomicBool>) -> Keeping {
        Keeping {
            folder: self.safe.folder.to_path_buf(),
            name: self.safe.name.to_string(),
            head: self.safe.head.clone(),
            minimise: self.minimise,
            explain: self.explain,
            phase: self.phase.clone(),
            given_up: Arc::clone(given_up),
        }
    }

    /// The work, with all that it needs.
    fn in_time(
        &self,
        found: &[Found],
        end: Instant,
        given_up: &Arc<AtomicBool>,
        format: TextFormat,
    ) -> impl FnOnce(&dyn Fn(usize, KeptFailure) -> bool) + Send + use<> {
        let (program, conditions, stop) =
            (self.program.clone(), self.conditions.clone(), Arc::clone(self.stop));
        let (executions, steps) = (self.search.executions, self.search.steps);
        let passing = self.search.passing.to_vec();
        let keeping = self.keeping(given_up);
        let safe: Vec<Option<PathBuf>> = found.iter().map(|found| self.safe.of(found.execution)).collect();
        let found = found.to_vec();
        move |kept| {
            let mut replayer = Replayer::start(&program, &conditions, &stop, Some(end))
                .inspect_err(|error| output::say(&format!("warning: the failure was not run again: {error}")))
                .ok();
            if let Some(replayer) = &mut replayer {
                replayer.spend_no_more_than(executions, steps);
                replayer.comparisons().know(&passing, executions);
            }
            for (place, (found, safe)) in found.iter().zip(safe).enumerate() {
                // What cannot be described at all is said at the end.
                let Ok(failure) = keeping.keep(found, replayer.as_mut(), &format, safe) else { continue };
                if !kept(place, failure) {
                    break;
                }
            }
        }
    }
}

/// How often it is looked whether a diagnosis is through.
const LOOK: Duration = Duration::from_millis(20);

/// How a failure is kept.
#[derive(Clone)]
struct Keeping {
    folder: PathBuf,
    /// What file names begin with.
    name: String,
    /// The schedule files' head; switches and failure are filled in.
    head: Schedule,
    minimise: bool,
    explain: bool,
    phase: Phase,
    /// Nobody waits for it any more.
    given_up: Arc<AtomicBool>,
}

impl Keeping {
    /// Keeps a failure as it was found. Of a long execution there is no time to write down more than how it is run again.
    fn keep_briefly(
        &self,
        found: &Found,
        format: &TextFormat,
        safe: Option<PathBuf>,
    ) -> Result<KeptFailure, CliError> {
        let Some(safe) = safe.filter(|_| found.run.events.len() > LONG) else {
            return self.keep(found, None, format, None);
        };
        let schedule = artifacts::adopt(&self.folder, &self.name, &safe)
            .inspect_err(|error| output::say(&format!("warning: {error}")))
            .unwrap_or(safe);
        let run = Execution { switches: Vec::new(), ..found.run.without_events() };
        let symbols = Symbols::new(&run.modules);
        let names = ExecutionNames::new(&symbols, &run);
        let Some((mut report, failure)) = describe_failure(&run, &names, &symbols).zip(run.outcome.failure())
        else {
            return Err(CliError::GivenUp);
        };
        report.execution = found.execution;
        report.policy.clone_from(&found.policy);
        report.count = found.count;
        report.reproduced = false;
        report.preemptions = found.run.switches.iter().filter(|switch| is_preemption(switch)).count() as u64;
        report.schedule = Some(schedule.display().to_string());
        let sarif = sarif_result(&recorded(&run, &names, &self.head), &report);
        Ok(KeptFailure {
            kind: failure.kind,
            report,
            schedule: Some(schedule),
            shown: String::new(),
            cause: None,
            is_sure: false,
            left_out: vec![LeftOut::RunningAgain],
            sarif,
        })
    }

    /// Diagnoses a failure, and writes the files that are kept of it.
    fn keep(
        &self,
        found: &Found,
        replayer: Option<&mut Replayer>,
        format: &TextFormat,
        safe: Option<PathBuf>,
    ) -> Result<KeptFailure, CliError> {
        let on_phase = |phase| {
            self.phase.show(match phase {
                DiagnosisPhase::Minimising => "minimising the failing schedule…",
                DiagnosisPhase::Explaining => "looking for the cause…",
            });
        };
        let options = DiagnosisOptions {
            minimise: self.minimise,
            explain: self.explain,
            head: self.head.clone(),
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
        if self.given_up.load(Ordering::SeqCst) {
            return Err(CliError::GivenUp);
        }
        let path = match artifacts::save(&self.folder, &self.name, &artifacts) {
            Ok(path) => Some(path),
            Err(error) => safe.or_else(|| {
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
            confirmed: is_sure,
            seen: true,
            message: cause.sentence.clone(),
            schedule: report.schedule.clone(),
            count: found.count,
            inputs: Vec::new(),
        });
        let sarif = sarif_result(&trace, &report);
        Ok(KeptFailure { report, schedule: path, shown, kind, cause, is_sure, left_out, sarif })
    }
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
