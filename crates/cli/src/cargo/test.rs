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
    let format = output::text_format(&args.output);
    let trials = Trials { args, time: args.time, seed: args.seed, folder: &folder, format, stop: &stop };
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

/// Less time than this is not worth another start.
const LEAST_MORE: Duration = Duration::from_secs(1);
/// How many times its own time a test may be given of what others have left.
const MOST_MORE: u32 = 5;

/// Runs tests side by side; reports each as it ends, and returns all in the order of the tests. Those that few executions fit into get what the
/// others have left of their time.
fn run_all(
    trials: &Trials<'_>,
    tests: &[Test],
    show: &dyn Fn(&Outcome) -> Result<(), CliError>,
) -> Result<Vec<Outcome>, CliError> {
    let wants_ignored = |word: &str| trials.args.args.iter().any(|given| given == word);
    let runs_ignored = trials.args.ignored
        || trials.args.include_ignored
        || wants_ignored("--ignored")
        || wants_ignored("--include-ignored");
    let mut outcomes: Vec<Option<Outcome>> = tests.iter().map(|_| None).collect();
    let mut short: Vec<(usize, Outcome)> = Vec::new();
    let mut left = Duration::ZERO;
    let all: Vec<usize> = (0..tests.len()).collect();
    let run = |place: usize| {
        let test = &tests[place];
        if test.is_ignored && !runs_ignored {
            Outcome::plain(test, TestStatus::Ignored)
        } else if trials.stop.load(Ordering::Relaxed) {
            Outcome::plain(test, TestStatus::Interrupted)
        } else {
            trials.run(test)
        }
    };
    side_by_side(trials, &all, &run, &mut |place, outcome| {
        if outcome.report.status != TestStatus::Ignored {
            left += trials.time.saturating_sub(Duration::from_secs_f64(outcome.report.elapsed_s));
        }
        if trials.is_short(&outcome) {
            short.push((place, outcome));
        } else {
            show(&outcome)?;
            outcomes[place] = Some(outcome);
        }
        Ok(())
    })?;
    let share = (left / u32::try_from(short.len()).unwrap_or(u32::MAX).max(1)).min(trials.time * MOST_MORE);
    let more = Trials { time: share, seed: trials.seed.wrapping_add(1), ..*trials };
    let places: Vec<usize> = short.iter().map(|(place, _)| *place).collect();
    let again = |place: usize| match share < LEAST_MORE || trials.stop.load(Ordering::Relaxed) {
        true => Outcome::plain(&tests[place], TestStatus::Interrupted),
        false => more.run(&tests[place]),
    };
    side_by_side(trials, &places, &again, &mut |place, later| {
        let earlier = short.iter().position(|(short, _)| *short == place).map(|at| short.swap_remove(at).1);
        let outcome = match earlier {
            Some(earlier) => earlier.and_then(later),
            None => later,
        };
        show(&outcome)?;
        outcomes[place] = Some(outcome);
        Ok(())
    })?;
    Ok(outcomes.into_iter().flatten().collect())
}

/// Runs tests of these numbers side by side, and takes what comes of each as it ends.
fn side_by_side(
    trials: &Trials<'_>,
    places: &[usize],
    run: &(dyn Fn(usize) -> Outcome + Sync),
    take: &mut dyn FnMut(usize, Outcome) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let jobs = trials.args.jobs.unwrap_or_else(cores).clamp(1, places.len().max(1));
    let next = AtomicUsize::new(0);
    let (report, reports) = channel();
    thread::scope(|scope| {
        for _ in 0..jobs {
            let (report, next) = (report.clone(), &next);
            scope.spawn(move || {
                while let Some(place) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if report.send((*place, run(*place))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(report);
        reports.into_iter().try_for_each(|(place, outcome)| take(place, outcome))
    })
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
