//! `cargo threadbare test`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use threadbare_explore::strategies;
use threadbare_report::{TestStatus, junit};

use super::args::TestArgs;
use super::build::{Built, Wanted, Workspace};
use super::error::CargoError;
use super::listing::{self, Test};
use super::summary;
use super::trial::{Outcome, Trials};
use crate::ending::Ending;
use crate::error::CliError;
use crate::{artifacts, output, signals};

/// Runs a crate's tests; returns the exit status.
pub fn run(args: &TestArgs) -> Result<u8, CliError> {
    strategies::find(&args.strategy)?;
    output::check_json(&args.output)?;
    args.junit.as_deref().map_or(Ok(()), output::check_target)?;
    let stop = signals::stop_flag()?;
    let workspace = Workspace::find(&args.build)?;
    let built = workspace.build(&args.build, Wanted::Tests(&args.targets))?;
    if stop.load(Ordering::Relaxed) {
        return Err(CliError::InterruptedEarly);
    }
    let tests = tests(args, &built)?;
    if args.list {
        output::print(&tests.iter().map(|test| format!("{}\n", test.shown())).collect::<String>())?;
        return Ok(crate::NOTHING);
    }
    let folder = args.out.clone().unwrap_or_else(|| workspace.folder().join("found"));
    let here = std::env::current_dir().unwrap_or_default();
    let folder = folder.strip_prefix(&here).map_or_else(|_| folder.clone(), |path| path.to_path_buf());
    artifacts::check_folder(&folder)?;
    let trials = Trials { args, folder: &folder, format: output::text_format(&args.output), stop: &stop };
    let begin = Instant::now();
    let speaks = !args.output.json_on_stdout();
    if speaks && !args.output.quiet {
        output::print(&summary::head(&tests, &built, args))?;
    }
    let outcomes = run_all(&trials, &tests, &|outcome| match speaks && !args.output.quiet {
        true => output::print(&summary::line(&outcome.report, &trials.format)),
        false => Ok(()),
    })?;
    finish(args, &outcomes, begin.elapsed(), speaks)
}

/// The tests that are selected.
fn tests(args: &TestArgs, built: &Built) -> Result<Vec<Test>, CliError> {
    let mut selection: Vec<String> = args.filter.iter().cloned().collect();
    selection.extend(args.ignored.then(|| "--ignored".to_string()));
    selection.extend(args.include_ignored.then(|| "--include-ignored".to_string()));
    selection.extend(args.args.iter().cloned());
    let mut tests = Vec::new();
    for executable in &built.executables {
        match listing::tests(executable, &selection) {
            Ok(listed) => tests.extend(listed),
            // The others may well be run.
            Err(problem) => output::say(&format!("warning: {problem}; its tests are left out")),
        }
    }
    if tests.is_empty() { Err(CargoError::NoTests.into()) } else { Ok(tests) }
}

/// Runs tests side by side; reports each as it ends, and returns all in the order of the tests.
fn run_all(
    trials: &Trials<'_>,
    tests: &[Test],
    show: &dyn Fn(&Outcome) -> Result<(), CliError>,
) -> Result<Vec<Outcome>, CliError> {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let jobs = trials.args.jobs.unwrap_or_else(cores).clamp(1, tests.len().max(1));
    let wants_ignored = |word: &str| trials.args.args.iter().any(|given| given == word);
    let runs_ignored = trials.args.ignored
        || trials.args.include_ignored
        || wants_ignored("--ignored")
        || wants_ignored("--include-ignored");
    let next = AtomicUsize::new(0);
    let (report, reports) = channel();
    let mut outcomes: Vec<Option<Outcome>> = tests.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for _ in 0..jobs {
            let (report, next) = (report.clone(), &next);
            scope.spawn(move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(test) = tests.get(place) else { break };
                    let outcome = if test.is_ignored && !runs_ignored {
                        Outcome::plain(test, TestStatus::Ignored)
                    } else if trials.stop.load(Ordering::Relaxed) {
                        Outcome::plain(test, TestStatus::Interrupted)
                    } else {
                        trials.run(test)
                    };
                    if report.send((place, outcome)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(report);
        for (place, outcome) in reports {
            show(&outcome)?;
            outcomes[place] = Some(outcome);
        }
        Ok(())
    })
    .map(|()| outcomes.into_iter().flatten().collect())
}

/// Prints the results, and writes the files.
fn finish(args: &TestArgs, outcomes: &[Outcome], elapsed: Duration, speaks: bool) -> Result<u8, CliError> {
    for warning in summary::warnings(outcomes) {
        output::say(&format!("warning: {warning}"));
    }
    let reports: Vec<_> = outcomes.iter().map(|outcome| outcome.report.clone()).collect();
    let has = |status: TestStatus| reports.iter().any(|report| report.status == status);
    let mut ending = Ending::of(has(TestStatus::Failed));
    if speaks {
        ending.note(output::print(&summary::failures(&reports, &output::text_format(&args.output))));
        ending.note(output::print(&summary::summary(&reports, elapsed)));
    }
    if let Some(path) = &args.junit {
        let text = junit("threadbare", elapsed, &reports);
        let text = text.map_err(|error| CliError::Write {
            path: path.clone(),
            source: std::io::Error::other(error.to_string()),
        });
        ending.note(text.and_then(|text| output::write_whole(path, text.as_bytes())));
    }
    let json = || summary::json(args, outcomes, elapsed).to_text();
    ending.note(output::write_text(args.output.json.as_deref(), json));
    let results: Vec<_> = outcomes.iter().flat_map(|outcome| outcome.sarif.clone()).collect();
    ending.note(output::write_sarif(&args.output, "test", &results));
    let status = ending.status()?;
    if status == crate::FOUND {
        return Ok(status);
    }
    if has(TestStatus::Unable) || has(TestStatus::Interrupted) {
        return Ok(crate::UNABLE);
    }
    if !has(TestStatus::Passed) {
        return Err(CargoError::NothingExplored.into());
    }
    Ok(crate::NOTHING)
}
