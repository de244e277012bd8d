//! `threadbare generate`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use threadbare_diagnose::Conditions;
use threadbare_explore::generate::{Operations, Shape, Test, TestMaker, plain_source, reduce};
use threadbare_explore::{Campaign, Measuring, Options, hunt_measured};
use threadbare_report::{CampaignRecord, GeneratedReport, JsonReport, Verdict, failure_phrase};
use threadbare_target::{Program, compilers};

use crate::ending::Ending;
use crate::error::CliError;
use crate::failures::{self, Diagnosing, KeptFailure, Search};
use crate::generate_args::GenerateArgs;
use crate::progress::{Bar, Phase};
use crate::safekeeping::Safekeeping;
use crate::{artifacts, coverage, hunt as hunting, output, page, signals};

/// Executions of each test where nobody says how many.
const EXECUTIONS: u64 = 50;
/// How long a program may take to name its operations.
const PATIENCE: Duration = Duration::from_secs(10);

/// Makes tests for an object and runs them; returns the exit status.
pub fn run(args: &GenerateArgs) -> Result<u8, CliError> {
    let options = hunting::options(&args.hunt, EXECUTIONS)?;
    if !args.hunt.args.is_empty() {
        return Err(CliError::Usage(
            "the program's arguments are the tests; leave out what follows `--`".into(),
        ));
    }
    if args.hunt.coverage.until_saturated() || args.hunt.coverage.uncovered {
        return Err(CliError::Usage(
            "generate takes neither --until nor --uncovered: --tests and --executions say how much is done"
                .into(),
        ));
    }
    let stop = signals::stop_flag()?;
    let (program, cflags) = hunting::prepare(&args.hunt, &stop)?;
    let operations = operations(&program)?;
    let criteria = match options.coverage.is_empty() {
        true => vec!["map".to_string()],
        false => options.coverage.clone(),
    };
    let mut work = Work {
        args,
        program,
        operations,
        measuring: Measuring::by(&criteria, options.saturation)?,
        options,
        stop,
        begin: Instant::now(),
        account: Account::default(),
    };
    let failing = work.look()?;
    let failing = failing.map(|failing| work.keep(failing, cflags)).transpose()?;
    let mut ending = Ending::of(failing.is_some());
    if !args.hunt.output.json_on_stdout() {
        ending.note(output::print(&work.summary(failing.as_ref())));
    }
    let report = work.json(failing.as_ref());
    ending.note(output::write_json(&args.hunt.output, &report));
    let record =
        CampaignRecord { compilers: compilers(&work.program.executable), ..hunting::record(&report) };
    let html = args.hunt.html.as_deref();
    ending.note(page::save_record(&args.hunt.out, page::subject(&args.hunt), record, html));
    let results: Vec<_> = failing.iter().filter_map(|failing| failing.kept.sarif.clone()).collect();
    ending.note(output::write_sarif(&args.hunt.output, "generate", &results));
    ending.status()
}

/// Asks the program what it can do.
fn operations(program: &Program) -> Result<Operations, CliError> {
    let text = ask(program, &["--operations"]).unwrap_or_default();
    let operations = Operations::parse(&text).filter(|operations| !operations.all.is_empty());
    operations.ok_or_else(|| CliError::NoOperations(program.name.clone()))
}

/// Runs the program uncontrolled and takes what it prints; none if it fails or takes too long.
fn ask(program: &Program, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(&program.executable);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut printed = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(std::io::read_to_string(&mut printed)));
    let text = receiver.recv_timeout(PATIENCE);
    if text.is_err() {
        let _ = child.kill();
    }
    let succeeded = child.wait().is_ok_and(|status| status.success());
    let text = text.ok()?.ok()?;
    succeeded.then_some(text)
}

/// What was done so far.
#[derive(Default)]
struct Account {
    made: u64,
    /// Tests that covered what none before had covered.
    kept: Vec<String>,
    /// Tests that fail before any thread begins.
    skipped: u64,
    executions: u64,
    cut: u64,
    steps: u64,
    threads: u32,
    warnings: Vec<String>,
}

/// A test that fails, and how.
struct Failing {
    test: Test,
    campaign: Campaign,
}

/// The same with the files that were kept of it.
struct KeptTest {
    test: Test,
    kept: KeptFailure,
    source: String,
    /// None if it could not be written.
    file: Option<PathBuf>,
}

struct Work<'a> {
    args: &'a GenerateArgs,
    program: Program,
    operations: Operations,
    options: Options,
    stop: Arc<AtomicBool>,
    begin: Instant,
    account: Account,
    /// What all tests together have covered.
    measuring: Measuring,
}

impl Work<'_> {
    fn is_over(&self) -> bool {
        let limit = self.options.time.unwrap_or(Duration::MAX);
        self.stop.load(Ordering::Relaxed) || self.begin.elapsed() >= limit
    }

    /// Makes tests until one fails or the budget is spent.
    fn look(&mut self) -> Result<Option<Failing>, CliError> {
        let shape = Shape { threads: self.args.suffixes, prefix: self.args.prefix, suffix: self.args.calls };
        let mut maker = TestMaker::new(self.operations.clone(), shape, self.options.seed);
        let bar = Bar::of_tests(self.args.tests, self.args.hunt.output.quiet);
        for number in 1..=self.args.tests {
            if self.is_over() {
                break;
            }
            let test = maker.next_test();
            self.account.made += 1;
            let before = self.measuring.covered();
            let failing = self.fails(&test)?;
            if self.measuring.covered() > before {
                self.account.kept.push(test.to_string());
            }
            bar.show_tests(number, self.account.executions);
            if let Some(failing) = failing {
                let mut shortest = failing;
                reduce(test, &mut |shorter| match self.is_over() {
                    true => false,
                    false => match self.fails(shorter) {
                        Ok(Some(failing)) => {
                            shortest = failing;
                            true
                        }
                        _ => false,
                    },
                });
                return Ok(Some(shortest));
            }
        }
        Ok(None)
    }

    /// The program with a test as its argument.
    fn with(&self, test: &Test) -> Program {
        let mut args = vec![test.to_string()];
        args.extend(self.args.linearizable.then(|| "--linearizable".to_string()));
        Program { args, ..self.program.clone() }
    }

    /// Runs one test.
    fn fails(&mut self, test: &Test) -> Result<Option<Failing>, CliError> {
        let left = self.options.time.map(|time| time.saturating_sub(self.begin.elapsed()));
        let options = Options { time: left, keep_going: false, ..self.options.clone() };
        let campaign =
            match hunt_measured(&self.with(test), &options, &mut self.measuring, &|_| {}, &self.stop) {
                Ok(campaign) => campaign,
                Err(_) if self.stop.load(Ordering::Relaxed) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
        let account = &mut self.account;
        account.executions += campaign.executions;
        account.cut += campaign.cut;
        account.steps += campaign.steps;
        account.threads = account.threads.max(campaign.threads);
        for warning in &campaign.warnings {
            if !account.warnings.contains(warning) {
                account.warnings.push(warning.clone());
            }
        }
        let Some(found) = campaign.found.first() else { return Ok(None) };
        // What fails before there is a second thread has nothing to do with threads.
        if found.run.events.is_empty() {
            account.skipped += 1;
            return Ok(None);
        }
        Ok(Some(Failing { test: test.clone(), campaign }))
    }

    /// Keeps the schedule of a failing test, and the test as a program of its own.
    fn keep(&mut self, failing: Failing, cflags: Vec<String>) -> Result<KeptTest, CliError> {
        let hunt = &self.args.hunt;
        let program = self.with(&failing.test);
        let conditions = Conditions::of(&self.options, &program);
        let head = hunting::schedule_head(&program, cflags, &conditions, &self.options);
        let name = artifacts::file_stem(&hunt.program);
        let phase = Phase::new(hunt.output.quiet);
        let minimise = !hunt.no_minimise;
        let safe = Safekeeping::new(&hunt.out, &name, &head, None);
        let Account { executions, steps, .. } = self.account;
        let diagnosing = Diagnosing {
            program: &program,
            conditions: &conditions,
            minimise,
            explain: true,
            phase: &phase,
            safe: &safe,
            search: Search { executions, steps, elapsed: self.begin.elapsed(), passing: &[] },
            time: self.options.time,
            explain_time: hunt.explain_time,
            stop: &self.stop,
        };
        let format = output::text_format(&hunt.output);
        let found = &failing.campaign.found[..1];
        let kept = diagnosing.keep_all(found, &format).pop().ok_or(CliError::GivenUp)?;
        phase.finish();
        let source = self.source(&failing.test);
        let extension = hunt.program.extension().unwrap_or("c".as_ref()).to_string_lossy();
        let file = kept.schedule.as_ref().map(|path| path.with_extension(format!("test.{extension}")));
        let file = file.filter(|file| {
            let written = output::write_whole(file, source.as_bytes());
            written.inspect_err(|error| output::say(&format!("warning: {error}"))).is_ok()
        });
        Ok(KeptTest { test: failing.test, kept, source, file })
    }

    fn source(&self, test: &Test) -> String {
        let include = std::path::absolute(&self.args.hunt.program);
        let include = include.as_deref().unwrap_or(Path::new(&self.args.hunt.program)).display().to_string();
        let results = self.args.linearizable.then(|| ask(&self.program, &[&test.to_string(), "--results"]));
        let allowed: Vec<Vec<i64>> = (results.flatten().unwrap_or_default().lines())
            .map(|line| line.split_whitespace().filter_map(|word| word.parse().ok()).collect())
            .collect();
        plain_source(test, &self.operations, &include, &allowed)
    }

    /// What a person reads.
    fn summary(&self, failing: Option<&KeptTest>) -> String {
        let account = &self.account;
        let mut text = String::new();
        for warning in &account.warnings {
            output::say(&format!("warning: {warning}"));
        }
        if let Some(failing) = failing {
            let report = &failing.kept.report;
            if !self.args.hunt.output.quiet {
                text.push_str(&format!("{}\n{}\n", failing.kept.shown, failing.source));
            }
            let site = report.site.as_ref().map_or_else(String::new, |site| format!(" at {site}"));
            let what = failure_phrase(failing.kept.kind, &report.message);
            text.push_str(&format!("Found {what}{site} with the test\n    {}\n", failing.test));
            report.message.lines().skip(1).for_each(|line| text.push_str(&format!("  {line}\n")));
            if let Some(cause) = &report.cause {
                text.push_str(&format!("Cause: {cause}.\n"));
            }
            text.push_str(&format!("Again: {}\n", failures::again(failing.kept.schedule.as_deref())));
            if let Some(file) = &failing.file {
                text.push_str(&format!("As a program of its own: {}\n", file.display()));
            }
        } else {
            let name = self.args.hunt.program.display();
            text.push_str(&format!("No test of {name} failed. Other tests and interleavings may be left.\n"));
        }
        if account.skipped > 0 {
            let left_out = match account.skipped {
                1 => "1 test fails without any thread and was left out.\n".to_string(),
                many => format!("{many} tests fail without any thread and were left out.\n"),
            };
            text.push_str(&left_out);
        }
        let kept = account.kept.len();
        let counted = |number: u64, what: &str| output::counted(number as usize, what);
        text.push_str(&format!(
            "{} ({kept} added coverage), {}, {}, up to {}, {:.2} s.\n",
            counted(account.made, "test"),
            counted(account.executions, "execution"),
            counted(account.steps, "step"),
            counted(u64::from(account.threads), "thread"),
            self.begin.elapsed().as_secs_f64()
        ));
        text.push_str(&coverage::Account::plain(&self.measuring.account()).sentences());
        text
    }

    fn json(&self, failing: Option<&KeptTest>) -> JsonReport {
        let elapsed = self.begin.elapsed();
        let account = &self.account;
        let failure = failing.map(|failing| failing.kept.report.clone());
        JsonReport {
            tool: "threadbare",
            version: env!("CARGO_PKG_VERSION"),
            command: "generate",
            program: self.program.name.clone(),
            strategy: self.options.strategy.clone(),
            seed: self.options.seed,
            verdict: Verdict::of(failing.is_some(), false, self.stop.load(Ordering::Relaxed)),
            executions: account.executions,
            cut: account.cut,
            steps: account.steps,
            threads: account.threads,
            elapsed_s: JsonReport::seconds(elapsed),
            executions_per_s: JsonReport::rate(account.executions, elapsed),
            snapshots: 0,
            failed_executions: failure.iter().map(|failure| (failure.kind, 1)).collect(),
            failures: failure.iter().cloned().collect(),
            failure,
            findings: Vec::new(),
            coverage: coverage::Account::plain(&self.measuring.account()).json(),
            saturated: false,
            exhausted: false,
            memory_model: Default::default(),
            interrupted: self.stop.load(Ordering::Relaxed),
            replay: None,
            generated: Some(GeneratedReport {
                made: account.made,
                kept: account.kept.clone(),
                skipped: account.skipped,
                failing: failing.map(|failing| failing.test.to_string()),
                source: failing.and_then(|it| it.file.as_ref()).map(|file| file.display().to_string()),
            }),
            suite: None,
            total: None,
            doubts: Vec::new(),
            warnings: account.warnings.clone(),
        }
    }
}
