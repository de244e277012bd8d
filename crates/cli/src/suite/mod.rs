//! `threadbare suite`: measure every input, select, look for findings only there, drive each to happen once.

mod account;
mod build;
mod drive;
mod matrix;
mod record;
mod store;
mod summary;
mod tally;
mod uncovered;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use threadbare_coverage::cfp::{FunctionPair, Selected, select};
use threadbare_report::CampaignRecord;
use threadbare_target::compilers;

use self::account::Account;
use self::drive::{Wanted, drive};
use self::record::{DetectedRecord, DrivenRecord, MeasuredRecord};
use self::work::{Suite, Task, side_by_side};
use crate::ending::Ending;
use crate::error::CliError;
use crate::progress::Bar;
use crate::suite_args::SuiteArgs;
use crate::suppressions::Suppressions;
use crate::{artifacts, hunt, output, page, signals};

/// All that is known of a suite.
#[derive(Default)]
pub struct Results {
    /// What was measured, by input.
    pub measured: BTreeMap<usize, MeasuredRecord>,
    /// What was selected, in this order.
    pub selected: Vec<Selected>,
    /// How long selecting took.
    pub selecting: Duration,
    /// What was found in what was selected.
    pub guided: BTreeMap<usize, DetectedRecord>,
    /// What was found by looking at everything.
    pub full: BTreeMap<usize, DetectedRecord>,
    /// What came of driving findings to happen.
    pub driven: Vec<DrivenRecord>,
    /// Inputs that could not be run, and why.
    pub troubles: BTreeMap<usize, String>,
    /// How many results of each kind were made now, and how many were there: measured, detected, driven.
    pub made: [usize; 3],
    /// How many were there.
    pub known: [usize; 3],
}

impl Results {
    /// The pairs of all inputs together.
    pub fn aggregated(&self) -> BTreeSet<FunctionPair> {
        self.measured.values().flat_map(MeasuredRecord::pairs).collect()
    }

    /// The records in which a finding can be, those of guided detection first.
    pub fn detected(&self) -> impl Iterator<Item = (usize, &DetectedRecord)> {
        self.guided.iter().chain(&self.full).map(|(input, record)| (*input, record))
    }
}

/// Works on a suite; returns the exit status.
pub fn run(args: &SuiteArgs) -> Result<u8, CliError> {
    let begin = Instant::now();
    let json = args.json.as_deref().filter(|_| !args.json_on_stdout());
    json.into_iter().chain(args.sarif.as_deref()).try_for_each(output::check_target)?;
    output::check_html(args.html.as_deref())?;
    let suppressions = Suppressions::read(args.suppressions.as_deref())?;
    if args.suite.exists() {
        artifacts::check_folder(&args.out)?;
    }
    let suite = Arc::new(Suite::prepare(args, signals::stop_flag()?)?);
    let mut results = Results::default();
    measure_all(&suite, &mut results)?;
    select_inputs(&mut results);
    detect_all(&suite, &mut results)?;
    drive_all(&suite, &mut results)?;
    if !suite.is_stopped() && results.measured.is_empty() {
        let first = results.troubles.values().next().cloned().unwrap_or_default();
        return Err(CliError::NoInput { path: args.suite.clone(), first });
    }
    let account = Account::of(&suite, &results, &suppressions, begin.elapsed());
    if account.is_empty() && results.measured.values().all(|it| it.single_threaded) && !suite.is_stopped() {
        return Err(CliError::NoThreads { path: args.suite.clone() });
    }
    let mut ending = Ending::of(!account.is_empty());
    if !args.json_on_stdout() {
        ending.note(output::print(&summary::text(&suite, &results, &account)));
    }
    ending.note(output::write_text(args.json.as_deref(), || account.report.to_text()));
    let sarif = || threadbare_report::sarif(&account.sarif(), env!("CARGO_PKG_VERSION"), "suite");
    ending.note(output::write_text(args.sarif.as_deref(), sarif));
    let record = CampaignRecord {
        compilers: suite.programs.first().map_or_else(Vec::new, |it| compilers(&it.executable)),
        findings: account.findings.cards(),
        matrix: Some(matrix::matrix(&suite, &results)),
        uncovered: vec![account.uncovered.card()],
        ..hunt::record(&account.report)
    };
    let subject = page::suite_subject(&args.suite, &account.report.program);
    ending.note(page::save_record(&args.out, subject, record, args.html.as_deref()));
    ending.status()
}

/// Measures the inputs that were not measured before.
fn measure_all(suite: &Arc<Suite>, results: &mut Results) -> Result<(), CliError> {
    let mut missing = Vec::new();
    for (input, id) in suite.ids.iter().enumerate() {
        match suite.store.measured(id, suite.optimizations()) {
            Some(record) => {
                results.measured.insert(input, record);
            }
            None => missing.push(input),
        }
    }
    results.known[0] = results.measured.len();
    let bar = Bar::of_inputs(missing.len() as u64, suite.args.quiet);
    bar.say("measuring");
    let (own, inputs) = (Arc::clone(suite), missing.clone());
    let work = move |place: usize| own.measure(inputs[place]);
    side_by_side(missing.len(), suite.args.jobs, &suite.stop, work, |place, result| {
        let input = missing[place];
        bar.step("measuring");
        if let Some(record) = taken(suite, results, input, result) {
            warn_if_lost(suite.store.keep_measured(&suite.ids[input], suite.optimizations(), &record));
            results.made[0] += 1;
            results.measured.insert(input, record);
        }
        Ok(())
    })
}

/// A result that cannot be kept is still reported; only the next suite has to make it again.
fn warn_if_lost(kept: Result<(), CliError>) {
    if let Err(error) = kept {
        output::say(&format!("warning: {error}"));
    }
}

/// What came of an input. An input that cannot be run does not stop the others.
fn taken<T>(suite: &Suite, results: &mut Results, input: usize, result: Result<T, CliError>) -> Option<T> {
    match result {
        Ok(result) => Some(result),
        Err(_) if suite.is_stopped() => None,
        Err(error) => {
            results.troubles.insert(input, error.to_string());
            None
        }
    }
}

fn select_inputs(results: &mut Results) {
    let begin = Instant::now();
    let inputs = results.measured.keys().next_back().map_or(0, |last| last + 1);
    let pairs = |input| results.measured.get(&input).map_or_else(BTreeSet::new, MeasuredRecord::pairs);
    results.selected = select(&(0..inputs).map(pairs).collect::<Vec<_>>());
    results.selecting = begin.elapsed();
}

/// Looks for findings where that was not done before.
fn detect_all(suite: &Arc<Suite>, results: &mut Results) -> Result<(), CliError> {
    let mut tasks: Vec<Task> = Vec::new();
    if !suite.args.full {
        let task = |it: &Selected| Task { input: it.input, pairs: Some(it.pairs.clone()) };
        tasks.extend(results.selected.iter().map(task));
    }
    if suite.args.full || suite.args.against_full {
        tasks.extend(results.measured.keys().map(|input| Task { input: *input, pairs: None }));
    }
    let mut missing = Vec::new();
    for task in tasks {
        let id = &suite.ids[task.input];
        match suite.store.detected(id, &suite.detection(task.input), task.pairs.as_ref()) {
            Some(record) => {
                results.known[1] += 1;
                insert(results, &task, record);
            }
            None => missing.push(task),
        }
    }
    let bar = Bar::of_inputs(missing.len() as u64, suite.args.quiet);
    bar.say("looking for findings");
    let wholes: Vec<bool> = missing
        .iter()
        .map(|task| results.measured.get(&task.input).is_some_and(|it| it.with_accesses))
        .collect();
    let missing = Arc::new(missing);
    let (own, tasks) = (Arc::clone(suite), Arc::clone(&missing));
    let work = move |place: usize| own.detect(&tasks[place], wholes[place]);
    side_by_side(missing.len(), suite.args.jobs, &suite.stop, work, |place, result| {
        let task = &missing[place];
        bar.step("looking for findings");
        if let Some(record) = taken(suite, results, task.input, result) {
            let detection = suite.detection(task.input);
            warn_if_lost(suite.store.keep_detected(&suite.ids[task.input], &detection, &record));
            results.made[1] += 1;
            insert(results, task, record);
        }
        Ok(())
    })
}

fn insert(results: &mut Results, task: &Task, record: DetectedRecord) {
    let records = if task.pairs.is_some() { &mut results.guided } else { &mut results.full };
    records.insert(task.input, record);
}

/// Drives each finding to happen that was not driven before, under the first input that shows it.
fn drive_all(suite: &Arc<Suite>, results: &mut Results) -> Result<(), CliError> {
    results.driven = suite.store.driven(suite.args.seed);
    results.known[2] = results.driven.len();
    if suite.args.no_confirm {
        return Ok(());
    }
    let wanted = Arc::new(wanted(suite, results));
    let bar = Bar::of_inputs(wanted.len() as u64, suite.args.quiet);
    bar.say("driving findings to happen");
    let (own, all) = (Arc::clone(suite), Arc::clone(&wanted));
    let work = move |place: usize| drive(&own, &all[place]);
    side_by_side(wanted.len(), suite.args.jobs, &suite.stop, work, |place, result| {
        let input = wanted[place].task.input;
        bar.step("driving findings to happen");
        if let Some(record) = taken(suite, results, input, result) {
            // What was cut short is kept for this report, but driven again the next time.
            if !suite.is_stopped() {
                warn_if_lost(suite.store.keep_driven(suite.args.seed, &record));
            }
            results.made[2] += 1;
            results.driven.push(record);
        }
        Ok(())
    })?;
    // The order in which they came depends on how many run side by side.
    let place = |record: &DrivenRecord| suite.ids.iter().position(|id| id.0 == record.input);
    results.driven.sort_by(|a, b| (place(a), &a.identities).cmp(&(place(b), &b.identities)));
    Ok(())
}

/// What is left to be driven: findings by input, and inputs that failed in a way that no other one did.
fn wanted(suite: &Suite, results: &Results) -> Vec<Wanted> {
    let mut done: BTreeSet<&str> =
        results.driven.iter().flat_map(|it| &it.identities).map(String::as_str).collect();
    let mut wanted: Vec<Wanted> = Vec::new();
    let mut failures = BTreeSet::new();
    for (input, record) in results.detected() {
        let new = record.findings.iter().filter(|it| !done.contains(it.identity.as_str()));
        let identities: BTreeSet<String> = new.map(|it| it.identity.clone()).collect();
        done.extend(record.findings.iter().map(|it| it.identity.as_str()));
        let outcome = &record.outcome;
        let is_new_failure =
            outcome.failure().is_some() && failures.insert((outcome.word.as_str(), outcome.message.as_str()));
        let was_driven = results.driven.iter().any(|it| it.input == suite.ids[input].0);
        // What fails before its first thread has no interleaving to show, and what does not end in the simplest one does
        // not in others either, each time for as long as that takes.
        let is_worth_it =
            results.measured.get(&input).is_none_or(|it| !it.single_threaded && it.outcome.has_end());
        if !identities.is_empty() || is_new_failure && !was_driven && is_worth_it {
            let task = Task { input, pairs: record.pairs() };
            wanted.push(Wanted { task, is_whole: record.unguided, identities });
        }
    }
    wanted
}
