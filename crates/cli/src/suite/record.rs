//! What is kept of a suite: plain records, so that a later call continues from them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use threadbare_coverage::cfp::{FunctionAddress, FunctionPair};
use threadbare_detect::FindingKind;
use threadbare_diagnose::ExecutionNames;
use threadbare_explore::suite::{Detected, InputOutcome, Measured};
use threadbare_report::{AccessText, FailureReport, FindingText, SourcePlace, name_addresses};
use threadbare_target::{Modules, Symbols};
use threadbare_trace::{FailureKind, Outcome};

/// How an input ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OutcomeRecord {
    /// `passed`, `cut`, `uncontrolled`, or the word of a failure.
    pub word: String,
    /// What went wrong.
    pub message: String,
}

impl OutcomeRecord {
    /// The record of how an input ended.
    pub fn of(ending: &InputOutcome, modules: &Modules) -> OutcomeRecord {
        let (word, message) = match &ending.outcome {
            Outcome::Passed => ("passed", String::new()),
            Outcome::Failed(failure) => {
                let symbols = Symbols::new(modules);
                let names = ExecutionNames::of_the_program(&symbols, &ending.contexts);
                (failure.kind.word(), name_addresses(&failure.message, &names))
            }
            Outcome::Cut(why) => ("cut", why.clone()),
            Outcome::Uncontrolled(why) => ("uncontrolled", why.clone()),
        };
        OutcomeRecord { word: word.to_string(), message }
    }

    /// Whether the program came to an end.
    pub fn has_end(&self) -> bool {
        self.word != "cut" && self.failure() != Some(FailureKind::Hang)
    }

    /// The kind of failure, if it is one.
    pub fn failure(&self) -> Option<FailureKind> {
        FailureKind::from_word(&self.word)
    }
}

/// What was measured of an input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeasuredRecord {
    /// The pairs, each as two addresses in the executable.
    pub pairs: Vec<[FunctionAddress; 2]>,
    /// The functions that ran.
    pub executed: Vec<FunctionAddress>,
    /// How many kinds of calls were written down.
    pub kinds: usize,
    /// How it ended.
    pub outcome: OutcomeRecord,
    /// It waits for memory to change without synchronization.
    pub with_accesses: bool,
    /// It started no second thread.
    pub single_threaded: bool,
    /// Executions that were made.
    pub executions: u64,
    /// Steps that were made.
    pub steps: u64,
    /// Threads that were created.
    pub threads: u32,
    /// How long it took.
    pub seconds: f64,
}

impl MeasuredRecord {
    /// The record of a measurement.
    pub fn of(measured: &Measured) -> MeasuredRecord {
        MeasuredRecord {
            pairs: measured.pairs.iter().map(|pair| pair.functions()).collect(),
            executed: measured.executed.iter().copied().collect(),
            kinds: measured.kinds,
            outcome: OutcomeRecord::of(&measured.ending, &measured.modules),
            with_accesses: measured.with_accesses,
            single_threaded: measured.single_threaded,
            executions: measured.executions,
            steps: measured.steps,
            threads: measured.threads,
            seconds: measured.elapsed.as_secs_f64(),
        }
    }

    /// The pairs as a set.
    pub fn pairs(&self) -> BTreeSet<FunctionPair> {
        self.pairs.iter().map(|[one, other]| FunctionPair::of(*one, *other)).collect()
    }
}

/// What was found under an input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DetectedRecord {
    /// The pairs that were looked for; none for all that there is.
    pub pairs: Option<Vec<[FunctionAddress; 2]>>,
    /// The findings, surest first.
    pub findings: Vec<FoundRecord>,
    /// Steps shown to the detectors.
    pub events: u64,
    /// Executions that were made.
    pub executions: u64,
    /// Their steps.
    pub steps: u64,
    /// The largest number of threads.
    pub threads: u32,
    /// How it ended.
    pub outcome: OutcomeRecord,
    /// All functions were looked at, as the input hangs otherwise.
    pub unguided: bool,
    /// Seconds of running, of looking for races, and of looking for atomicity violations.
    pub running_s: f64,
    /// Seconds of looking for races.
    pub races_s: f64,
    /// Seconds of looking for atomicity violations.
    pub atomicity_s: f64,
}

impl DetectedRecord {
    /// The record of what was detected, with the texts of its findings.
    pub fn of(
        pairs: Option<&BTreeSet<FunctionPair>>,
        findings: Vec<FoundRecord>,
        detected: &Detected,
    ) -> DetectedRecord {
        DetectedRecord {
            pairs: pairs.map(|pairs| pairs.iter().map(|pair| pair.functions()).collect()),
            findings,
            events: detected.events,
            executions: detected.executions,
            steps: detected.steps,
            threads: detected.threads,
            outcome: OutcomeRecord::of(&detected.ending, &detected.modules),
            unguided: detected.unguided,
            running_s: detected.running.as_secs_f64(),
            races_s: detected.races.as_secs_f64(),
            atomicity_s: detected.atomicity.as_secs_f64(),
        }
    }

    /// The pairs as a set.
    pub fn pairs(&self) -> Option<BTreeSet<FunctionPair>> {
        let pairs = self.pairs.as_ref()?.iter();
        Some(pairs.map(|[one, other]| FunctionPair::of(*one, *other)).collect())
    }

    /// Seconds that all of it took.
    pub fn seconds(&self) -> f64 {
        self.running_s + self.races_s + self.atomicity_s
    }
}

/// A finding of one input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FoundRecord {
    /// What makes it the same under another input.
    pub identity: String,
    /// It is worth reporting only if it does harm.
    pub suspicion: bool,
    /// How often it was found.
    pub count: u64,
    /// What it is.
    pub text: TextRecord,
}

/// What came of driving findings of one input to happen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DrivenRecord {
    /// The fingerprint of the input.
    pub input: String,
    /// The findings that were driven.
    pub identities: Vec<String>,
    /// What is to be reported of them, the most important first.
    pub findings: Vec<ReportedRecord>,
    /// Failures that were found.
    pub failures: Vec<FailureRecord>,
    /// Executions that were made.
    pub executions: u64,
    /// Their steps.
    pub steps: u64,
    /// The largest number of threads.
    pub threads: u32,
}

/// A finding after it was driven to happen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReportedRecord {
    /// What makes it the same under another input.
    pub identity: String,
    /// What it is.
    pub text: TextRecord,
    /// It is a fault beyond doubt.
    #[serde(default)]
    pub confirmed: bool,
    /// It was made to happen, or did; nothing in records of earlier versions.
    #[serde(default)]
    pub seen: Option<bool>,
    /// The schedule of a run that shows it.
    pub schedule: Option<PathBuf>,
    /// It makes the program fail.
    pub fails: bool,
    /// How often it was found.
    pub count: u64,
    /// The heading of the finding without which this one would not be.
    pub follows_from: Option<String>,
}

/// A failure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FailureRecord {
    /// Its word.
    pub kind: String,
    /// What the program said.
    pub message: String,
    /// Where.
    pub site: Option<String>,
    /// The execution that showed it.
    pub execution: u64,
    /// The schedule that shows it.
    pub schedule: Option<String>,
    /// The trace that shows it.
    pub trace: Option<String>,
    /// The hash of the trace.
    pub trace_hash: String,
    /// How many executions failed so.
    pub count: u64,
    /// Whether the schedule failed again.
    pub reproduced: bool,
    /// Whether no preemption can be left out.
    pub minimal: bool,
    /// Its preemptions.
    pub preemptions: u64,
    /// The cause in one sentence.
    pub cause: Option<String>,
    /// The cause as a finding.
    pub cause_text: Option<TextRecord>,
    /// No passing execution shows the cause.
    pub is_sure: bool,
}

impl FailureRecord {
    /// The record of a failure that was kept.
    pub fn of(report: &FailureReport, cause: Option<&FindingText>, is_sure: bool) -> FailureRecord {
        FailureRecord {
            kind: report.kind.to_string(),
            message: report.message.clone(),
            site: report.site.clone(),
            execution: report.execution,
            schedule: report.schedule.clone(),
            trace: report.trace.clone(),
            trace_hash: report.trace_hash.clone(),
            count: report.count,
            reproduced: report.reproduced,
            minimal: report.minimal,
            preemptions: report.preemptions,
            cause: report.cause.clone(),
            cause_text: cause.map(TextRecord::of),
            is_sure,
        }
    }

    /// A failure of which there is no schedule; none if the outcome is no failure.
    pub fn without_schedule(outcome: &OutcomeRecord) -> Option<FailureRecord> {
        outcome.failure().map(|kind| FailureRecord {
            kind: kind.word().to_string(),
            message: outcome.message.clone(),
            site: None,
            execution: 1,
            schedule: None,
            trace: None,
            trace_hash: String::new(),
            count: 1,
            reproduced: false,
            minimal: false,
            preemptions: 0,
            cause: None,
            cause_text: None,
            is_sure: false,
        })
    }

    /// What goes into the JSON object.
    pub fn report(&self, inputs: Vec<String>) -> FailureReport {
        FailureReport {
            kind: FailureKind::from_word(&self.kind).map_or("failure", FailureKind::word),
            message: self.message.clone(),
            site: self.site.clone(),
            execution: self.execution,
            schedule: self.schedule.clone(),
            policy: "suite".into(),
            trace_hash: self.trace_hash.clone(),
            count: self.count,
            reproduced: self.reproduced,
            cause: self.cause.clone(),
            cause_finding: None,
            original_events: None,
            delay: None,
            preemptions: self.preemptions,
            minimal: self.minimal,
            trace: self.trace.clone(),
            inputs,
        }
    }
}

/// The text of a finding.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TextRecord {
    kind: String,
    heading: String,
    sentence: String,
    object: String,
    sites: Vec<String>,
    places: Vec<SourcePlace>,
    sources: Vec<(String, String)>,
    pattern: Option<u8>,
    #[serde(default)]
    accesses: Vec<AccessText>,
}

impl TextRecord {
    /// The record of a text.
    pub fn of(text: &FindingText) -> TextRecord {
        TextRecord {
            kind: text.kind.to_string(),
            heading: text.heading.clone(),
            sentence: text.sentence.clone(),
            object: text.object.clone(),
            sites: text.sites.clone(),
            places: text.places.clone(),
            sources: text.sources.clone(),
            pattern: text.pattern,
            accesses: text.accesses.clone(),
        }
    }

    /// The text again.
    pub fn text(&self) -> FindingText {
        FindingText {
            kind: FindingKind::from_word(&self.kind).map_or("finding", FindingKind::word),
            heading: self.heading.clone(),
            sentence: self.sentence.clone(),
            object: self.object.clone(),
            sites: self.sites.clone(),
            places: self.places.clone(),
            sources: self.sources.clone(),
            pattern: self.pattern,
            accesses: self.accesses.clone(),
        }
    }
}
