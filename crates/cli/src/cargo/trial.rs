//! One test: hunted in, examined for races, and reported.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use threadbare_diagnose::Conditions;
use threadbare_explore::{
    Campaign, Check, ExploreError, MAX_STEPS, MAX_STEPS_OF_TRACES, Options, hunt, races,
};
use threadbare_report::{JsonReport, SarifResult, TestReport, TestStatus, TextFormat, failure_phrase};
use threadbare_target::{Program, StartError};

use super::args::TestArgs;
use super::listing::Test;
use crate::clock::Clock;
use crate::error::CliError;
use crate::failures::{Diagnosing, Search};
use crate::findings::{Findings, ReportedFinding, texts};
use crate::hunt::{about, schedule_head};
use crate::progress::Phase;
use crate::safekeeping::Safekeeping;
use crate::{check, output};

/// The most executions that are examined for races: a race shows in nearly every order of its accesses.
const EXAMINED: u64 = 60;
/// The most executions of a test that asks for none, where nobody says otherwise.
pub const EXECUTIONS: u64 = 1000;

/// Fewer executions than this are few.
const FEW: u64 = 100;

/// How tests are run.
pub struct Trials<'a> {
    /// What the user wants.
    pub args: &'a TestArgs,
    /// The most time for a test.
    pub time: Duration,
    /// Decides every random choice.
    pub seed: u64,
    /// Where schedules are kept.
    pub folder: &'a Path,
    /// How texts for people look.
    pub format: TextFormat,
    /// Raised when the user wants it to end.
    pub stop: &'a Arc<AtomicBool>,
}

/// What came of one test.
pub struct Outcome {
    /// What is written about it.
    pub report: TestReport,
    /// The same for a SARIF file.
    pub sarif: Vec<SarifResult>,
    /// What the user should know besides.
    pub warnings: Vec<String>,
}

impl Trials<'_> {
    /// Runs a test within its budget.
    pub fn run(&self, test: &Test) -> Outcome {
        let begin = Instant::now();
        let options = self.options();
        let conditions = Conditions::of(&options, &test.program);
        let head = schedule_head(&test.program, Vec::new(), &conditions, &options);
        let name = file_name(test);
        let safe = Safekeeping::new(self.folder, &name, &head, None);
        let mut outcome = match hunt(&test.program, &options, &|progress| safe.observe(progress), self.stop) {
            Ok(campaign) => {
                // What the test wants is no failure in a replay either.
                let mut test = test.clone();
                test.program.wanted_panics.clone_from(&campaign.wanted_panics);
                let conditions = Conditions::of(&options, &test.program);
                let head = schedule_head(&test.program, Vec::new(), &conditions, &options);
                self.judge(&test, &campaign, &safe.under(&head)).unwrap_or_else(|error| {
                    let mut outcome = Outcome::plain(&test, TestStatus::Unable);
                    outcome.report.message = Some(error.to_string());
                    outcome
                })
            }
            Err(_) if self.is_stopped() => Outcome::plain(test, TestStatus::Interrupted),
            Err(error) => without_threads(test, &error),
        };
        outcome.report.elapsed_s = JsonReport::seconds(begin.elapsed());
        outcome
    }

    /// Whether a test passed, and could have shown little: its time was over after a few executions.
    pub fn is_short(&self, outcome: &Outcome) -> bool {
        let TestReport { status, executions, exhausted, elapsed_s, .. } = outcome.report;
        let wanted = self.args.executions.unwrap_or(EXECUTIONS).min(FEW);
        status == TestStatus::Passed
            && !exhausted
            && executions < wanted
            && elapsed_s >= self.time.as_secs_f64()
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn options(&self) -> Options {
        let args = self.args;
        Options {
            strategy: args.strategy.clone(),
            seed: self.seed,
            executions: args.executions.unwrap_or(EXECUTIONS),
            heeds_wishes: args.executions.is_none(),
            time: Some(self.time),
            max_steps: args.max_steps.unwrap_or(MAX_STEPS),
            measures_length: args.max_steps.is_none(),
            stall: args.stall,
            timers: Some(args.timers.into()),
            spurious: args.spurious,
            ..Options::default()
        }
    }

    fn judge(&self, test: &Test, campaign: &Campaign, safe: &Safekeeping<'_>) -> Result<Outcome, CliError> {
        let mut outcome = Outcome::plain(test, TestStatus::Passed);
        outcome.warnings.clone_from(&campaign.warnings);
        let report = &mut outcome.report;
        report.executions = campaign.executions;
        report.cut = campaign.cut;
        report.steps = campaign.steps;
        report.threads = campaign.threads;
        report.exhausted = campaign.exhausted;
        if campaign.found.is_empty() {
            safe.clear_except(std::iter::empty());
        }
        if !campaign.found.is_empty() {
            self.report_failure(test, campaign, safe, &mut outcome);
        } else if campaign.interrupted {
            outcome.report.status = TestStatus::Interrupted;
        } else if campaign.threads < 2 {
            outcome.report.status = TestStatus::NothingToExplore;
        } else if !self.args.no_races {
            let limit = self.time.saturating_sub(campaign.elapsed).max(campaign.elapsed / 2);
            let clock = Clock::start(self.time, self.stop);
            match self.examine(&test.program, limit.max(Duration::from_secs(1))) {
                Ok(examined) => self.report_races(test, &examined, &clock, &mut outcome)?,
                Err(_) if self.is_stopped() => outcome.report.status = TestStatus::Interrupted,
                Err(CliError::Explore(ExploreError::AllCut { why, .. })) => {
                    outcome.warnings.push(format!("it was not examined for data races: {why}"));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(outcome)
    }

    fn examine(&self, program: &Program, time: Duration) -> Result<Check, CliError> {
        let options = self.options();
        let executions = options.executions.min(EXAMINED);
        let max_steps = self.args.max_steps.unwrap_or(MAX_STEPS_OF_TRACES);
        Ok(races(program, &Options { executions, time: Some(time), max_steps, ..options }, self.stop)?)
    }

    fn report_failure(
        &self,
        test: &Test,
        campaign: &Campaign,
        safe: &Safekeeping<'_>,
        outcome: &mut Outcome,
    ) {
        let options = self.options();
        let conditions = Conditions::of(&options, &test.program);
        let phase = Phase::new(true);
        let Campaign { executions, steps, elapsed, .. } = *campaign;
        let diagnosing = Diagnosing {
            program: &test.program,
            conditions: &conditions,
            minimise: !self.args.no_minimise,
            explain: !self.args.no_explain,
            phase: &phase,
            safe,
            search: Search { executions, steps, elapsed, passing: &[] },
            time: Some(self.time),
            explain_time: None,
            stop: self.stop,
        };
        let Some(first) = campaign.found.first() else { return };
        outcome.report.status = TestStatus::Failed;
        let first = std::slice::from_ref(first);
        let kept = diagnosing.keep_all(first, &self.format).pop();
        // Where it has no description, a warning has said so.
        let Some(kept) = kept else { return };
        let text = about(&kept, options.seed, true);
        let report = &mut outcome.report;
        report.message =
            Some(format!("{}: {}", failure_phrase(kept.kind, &kept.report.message), kept.report.message));
        report.text = if self.args.output.quiet { text } else { format!("{}\n{text}", kept.shown) };
        report.failure = Some(kept.report);
        outcome.sarif.extend(kept.sarif);
    }

    fn report_races(
        &self,
        test: &Test,
        examined: &Check,
        clock: &Clock,
        outcome: &mut Outcome,
    ) -> Result<(), CliError> {
        outcome.report.executions += examined.executions;
        outcome.report.cut += examined.cut;
        outcome.report.steps += examined.steps;
        if examined.findings.is_empty() {
            // What was looked at was not all that should have been.
            if examined.interrupted {
                outcome.report.status = TestStatus::Interrupted;
            }
            return Ok(());
        }
        let options = self.options();
        let conditions = Conditions::of(&options, &test.program);
        let head = schedule_head(&test.program, Vec::new(), &conditions, &options);
        let symbols = threadbare_target::Symbols::new(&examined.modules);
        let mut findings = Findings::default();
        for (race, text) in examined.findings.iter().zip(texts(&examined.findings, &symbols)) {
            let count = race.finding.count;
            if findings.count_again(&text, count, &[]) {
                continue;
            }
            let name = file_name(test);
            let schedule =
                check::keep_schedule(self.folder, &name, race, &text.sentence, &symbols, &head, clock);
            let inputs = Vec::new();
            findings.add(ReportedFinding {
                text,
                confirmed: true,
                seen: true,
                schedule,
                fails: false,
                is_cause: false,
                count,
                follows_from: None,
                inputs,
            });
        }
        let report = &mut outcome.report;
        report.status = TestStatus::Failed;
        report.message = Some(output::counted(findings.len(), "data race"));
        let output = &self.args.output;
        report.text =
            if output.quiet { findings.briefly() } else { findings.numbered_list(output.full, "--full") };
        report.findings = findings.json();
        outcome.sarif.extend(findings.sarif());
        Ok(())
    }
}

/// What there is to say of a test that did not come to its first thread.
fn without_threads(test: &Test, error: &ExploreError) -> Outcome {
    let (status, message, text) = match error {
        ExploreError::Start(StartError::NoThreads { .. })
        | ExploreError::NoSchedulingPoint { threads: ..2 } => {
            (TestStatus::NothingToExplore, None, String::new())
        }
        ExploreError::Start(StartError::EndedEarly { why, output, .. }) => {
            let message = "it fails without a second thread, as it would in `cargo test`".to_string();
            match why {
                Some(why) => (TestStatus::Failed, Some(format!("{message}: {why}")), String::new()),
                None => (TestStatus::Failed, Some(message), format!("{output}\n")),
            }
        }
        ExploreError::Start(StartError::TooSlow { seconds, output, .. }) => {
            let message =
                format!("it started no thread within {seconds} s; --stall SECONDS gives it more time");
            (TestStatus::Long, Some(message), format!("{output}\n"))
        }
        error @ ExploreError::AllCut { .. } => (TestStatus::Long, Some(error.to_string()), String::new()),
        error => (TestStatus::Unable, Some(error.to_string()), String::new()),
    };
    let mut outcome = Outcome::plain(test, status);
    outcome.report.message = message;
    outcome.report.text = text;
    outcome
}

impl Outcome {
    /// The test was run again, in other executions.
    pub fn and_then(self, mut later: Outcome) -> Outcome {
        if later.report.status == TestStatus::Interrupted {
            return self;
        }
        let earlier = &self.report;
        later.report.executions += earlier.executions;
        later.report.cut += earlier.cut;
        later.report.steps += earlier.steps;
        later.report.threads = later.report.threads.max(earlier.threads);
        later.report.elapsed_s += earlier.elapsed_s;
        if later.report.status != TestStatus::Failed {
            later.report.status = earlier.status;
        }
        later.warnings.extend(self.warnings);
        later.warnings.sort();
        later.warnings.dedup();
        later
    }

    /// A test that was not run.
    pub fn plain(test: &Test, status: TestStatus) -> Outcome {
        let report = TestReport {
            executable: test.id.clone(),
            name: test.name.clone(),
            status,
            executions: 0,
            cut: 0,
            steps: 0,
            threads: 0,
            elapsed_s: 0.0,
            exhausted: false,
            failure: None,
            findings: Vec::new(),
            message: None,
            text: String::new(),
        };
        Outcome { report, sarif: Vec::new(), warnings: Vec::new() }
    }
}

/// What the names of the test's files begin with.
fn file_name(test: &Test) -> String {
    let fit = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    format!("{}-{}", test.id, test.name).replace("::", "-").chars().map(fit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(status: TestStatus, executions: u64) -> Outcome {
        let report = TestReport {
            executable: "queue".into(),
            name: "slow".into(),
            status,
            executions,
            cut: 0,
            steps: 10 * executions,
            threads: 2,
            elapsed_s: 10.0,
            exhausted: false,
            failure: None,
            findings: Vec::new(),
            message: None,
            text: String::new(),
        };
        Outcome { report, sarif: Vec::new(), warnings: vec!["one".into()] }
    }

    #[test]
    fn what_is_run_again_counts_as_a_whole_and_a_failure_stays_one() {
        for (again, whole, executions) in [
            (TestStatus::Passed, TestStatus::Passed, 12),
            (TestStatus::Failed, TestStatus::Failed, 12),
            (TestStatus::Long, TestStatus::Passed, 12),
            (TestStatus::Interrupted, TestStatus::Passed, 5),
        ] {
            let all = outcome(TestStatus::Passed, 5).and_then(outcome(again, 7));
            assert_eq!((all.report.status, all.report.executions), (whole, executions));
            assert_eq!((all.report.steps, all.warnings.len()), (10 * executions, 1));
        }
    }
}
