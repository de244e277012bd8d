//! What is done under each input: measuring, and looking for findings.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use threadbare_code::Code;
use threadbare_coverage::cfp::FunctionPair;
use threadbare_diagnose::ExecutionNames;
use threadbare_explore::suite::{
    Detected, Detection, Optimizations, RunLimits, SuiteFile, Watch, detect, measure,
};
use threadbare_explore::{ExploreError, is_suspicion};
use threadbare_report::finding_text;
use threadbare_target::{Program, Symbols, fingerprint};

use super::build;
use super::record::{DetectedRecord, FoundRecord, MeasuredRecord, TextRecord};
use super::store::{InputId, Store};
use crate::error::CliError;
use crate::suite_args::SuiteArgs;

/// A suite that is ready to be worked on.
pub struct Suite {
    /// The options.
    pub args: SuiteArgs,
    /// The suite file.
    pub file: SuiteFile,
    /// What each input is known by.
    pub ids: Vec<InputId>,
    /// The program with each input.
    pub programs: Vec<Program>,
    /// How its executable is watched.
    pub watch: Watch,
    /// Where results are kept.
    pub store: Store,
    /// Raised when the user wants it to end.
    pub stop: Arc<AtomicBool>,
}

/// Under one input, the pairs of functions to look for; none for all that there is.
pub struct Task {
    /// The place of the input.
    pub input: usize,
    /// The pairs.
    pub pairs: Option<BTreeSet<FunctionPair>>,
}

impl Suite {
    /// Builds the program and finds out what there is to do.
    pub fn prepare(args: &SuiteArgs, stop: Arc<AtomicBool>) -> Result<Suite, CliError> {
        let file = SuiteFile::read(&args.suite)?;
        let program = build::program(&file, &args.out, &stop)?;
        let code = Code::read(&program.executable)?;
        let unreadable = |source| CliError::Read { path: program.executable.clone(), source };
        let store = Store::open(&args.out, &fingerprint(&program.executable).map_err(unreadable)?)?;
        let folder = file.folder.canonicalize().unwrap_or_else(|_| file.folder.clone());
        let mut suite = Suite {
            args: args.clone(),
            ids: Vec::new(),
            programs: Vec::new(),
            watch: Watch::new(code, optimizations(args)),
            store,
            stop,
            file,
        };
        for input in &suite.file.inputs {
            let id = Store::identify(input, &suite.file.folder)?;
            let stdin = input.stdin.as_deref().map(|text| suite.store.stdin(&id, text)).transpose()?;
            suite.programs.push(Program {
                args: input.args.clone(),
                stdin,
                env: input.env.clone().into_iter().collect(),
                folder: Some(folder.clone()),
                start_limit: input.start_limit,
                ..program.clone()
            });
            suite.ids.push(id);
        }
        Ok(suite)
    }

    /// What is not looked at when measuring.
    pub fn optimizations(&self) -> Optimizations {
        optimizations(&self.args)
    }

    /// Whether the user wants it to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What holds for executions of an input.
    pub fn limits(&self, input: usize) -> RunLimits {
        let stall = self.file.inputs[input].stall;
        RunLimits { stall, max_steps: self.args.max_steps, any_exit: self.args.any_exit }
    }

    /// How findings are looked for under an input.
    pub fn detection(&self, input: usize) -> Detection {
        let (races, atomicity) = (self.args.only.races(), self.args.only.atomicity());
        let (runs, seed) = (self.args.runs, self.args.seed);
        Detection { races, atomicity, runs, seed, limits: self.limits(input) }
    }

    /// Measures an input.
    pub fn measure(&self, input: usize) -> Result<MeasuredRecord, CliError> {
        let measured = measure(&self.watch, &self.programs[input], &self.limits(input), &self.stop)?;
        Ok(MeasuredRecord::of(&measured))
    }

    /// Looks for findings under an input. One that waits for memory to change is looked at as a whole.
    pub fn look(&self, task: &Task, is_whole: bool) -> Result<Detected, CliError> {
        let pairs = task.pairs.as_ref().filter(|_| !is_whole);
        let program = &self.programs[task.input];
        let detected = detect(&self.watch, program, pairs, &self.detection(task.input), &self.stop)?;
        Ok(Detected { unguided: detected.unguided || is_whole && task.pairs.is_some(), ..detected })
    }

    /// The same, with the texts of the findings.
    pub fn detect(&self, task: &Task, is_whole: bool) -> Result<DetectedRecord, CliError> {
        let detected = self.look(task, is_whole)?;
        let findings = finding_records(&detected);
        Ok(DetectedRecord::of(task.pairs.as_ref(), findings, &detected))
    }

    /// The name of an input.
    pub fn name(&self, input: usize) -> &str {
        &self.file.inputs[input].name
    }

    /// What the program is called in file names.
    pub fn stem(&self) -> String {
        self.programs.first().map_or_else(String::new, |it| crate::artifacts::file_stem(Path::new(&it.name)))
    }
}

fn optimizations(args: &SuiteArgs) -> Optimizations {
    Optimizations { skip_stack_only: !args.no_stack_only, skip_inherited: !args.no_inherited }
}

/// The findings as text. They are named in the order of the trace, since what an address means changes on the way.
fn finding_records(detected: &Detected) -> Vec<FoundRecord> {
    let symbols = Symbols::new(&detected.modules);
    let sightings = &detected.sightings;
    let mut order: Vec<usize> = (0..sightings.len()).collect();
    order.sort_by_key(|at| (Arc::as_ptr(&sightings[*at].run), sightings[*at].finding.at));
    let mut records: Vec<(usize, FoundRecord)> = Vec::new();
    for same_run in order.chunk_by(|a, b| Arc::ptr_eq(&sightings[*a].run, &sightings[*b].run)) {
        let names = ExecutionNames::new(&symbols, &sightings[same_run[0]].run);
        records.extend(same_run.iter().map(|at| {
            let sighting = &sightings[*at];
            let record = FoundRecord {
                identity: sighting.identity.clone(),
                suspicion: is_suspicion(&sighting.finding),
                count: sighting.finding.count,
                text: TextRecord::of(&finding_text(&sighting.finding, &names, false)),
            };
            (*at, record)
        }));
    }
    records.sort_by_key(|(at, _)| *at);
    records.into_iter().map(|(_, record)| record).collect()
}

/// How long what is under way may take to end after a signal: together with the results, a second.
const GRACE: Duration = Duration::from_millis(600);
/// How often it is looked whether there was one.
const LOOK: Duration = Duration::from_millis(20);

/// Does something for each place, several at a time, and hands over each result as it comes. What does not end soon after a signal is left
/// alone.
pub fn side_by_side<T: Send + 'static>(
    count: usize,
    jobs: usize,
    stop: &Arc<AtomicBool>,
    work: impl Fn(usize) -> T + Send + Sync + 'static,
    mut done: impl FnMut(usize, T) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let (sender, results) = channel();
    let shared = Arc::new((work, AtomicUsize::new(0)));
    let mut threads = Vec::new();
    for number in 0..jobs.min(count) {
        let (sender, shared, stop) = (sender.clone(), Arc::clone(&shared), Arc::clone(stop));
        let one_by_one = move || {
            let (work, next) = &*shared;
            while !stop.load(Ordering::Relaxed) {
                let place = next.fetch_add(1, Ordering::Relaxed);
                if place >= count || sender.send((place, work(place))).is_err() {
                    break;
                }
            }
        };
        match Builder::new().name("input".into()).spawn(one_by_one) {
            Ok(thread) => threads.push(thread),
            Err(error) if number == 0 => return Err(ExploreError::NoThread(error).into()),
            // Fewer than were asked for do the same, only more slowly.
            Err(_) => break,
        }
    }
    drop(sender);
    let mut stopped: Option<Instant> = None;
    loop {
        match results.recv_timeout(LOOK) {
            Ok((place, result)) => done(place, result)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if stop.load(Ordering::Relaxed) && stopped.get_or_insert_with(Instant::now).elapsed() >= GRACE {
            return Ok(());
        }
    }
    for thread in threads {
        thread.join().unwrap_or_else(|panic| resume_unwind(panic));
    }
    Ok(())
}
