//! Failures and findings that are written the moment they are found.
//!
//! What is kept of a failure in the end is minimised and explained, which takes time, and a campaign that goes on after a failure may go
//! on for long. A tool that is killed meanwhile must not have lost it: so its schedule is written at once, under a name of its own, and
//! removed when there is something better.
//!
//! Findings are tried, ranked and put together in the end. Meanwhile each has a line in a file of its own, as the JSON object will have it,
//! with the schedule of the execution that it was seen in; both are removed when the results are out.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use threadbare_diagnose::{Conditions, ExecutionNames, SaidOfFailure, said_of_failure, to_schedule};
use threadbare_explore::{Examined, FailedJustNow, Progress, shown};
use threadbare_report::failure_phrase;
use threadbare_target::{Execution, Symbols};
use threadbare_trace::Schedule;

use crate::args::OutputArgs;
use crate::clock::Clock;
use crate::error::CliError;
use crate::findings::{Identity, on_the_way, texts};
use crate::progress::Bar;
use crate::{artifacts, output};

/// How many findings are announced; a program can have thousands.
const ANNOUNCED: usize = 20;
/// How many switches are written down altogether in the schedules of executions that show findings: some seconds' worth at most.
const SWITCHES: usize = 4_000_000;

/// The schedules of a campaign's failures, as they were found.
pub struct Safekeeping<'a> {
    /// The folder that everything is kept in.
    pub folder: &'a Path,
    /// What file names begin with.
    pub name: &'a str,
    /// The schedules' head; switches and failure are filled in.
    pub head: &'a Schedule,
    /// Where failures are announced; nowhere if nobody wants to read it.
    announce: Option<&'a Bar>,
    symbols: OnceCell<Symbols>,
    written: RefCell<BTreeMap<u64, PathBuf>>,
    findings: RefCell<Journal>,
}

/// What was written of findings.
#[derive(Default)]
struct Journal {
    /// The file with a line for each; none before the first one, and where it cannot be written.
    file: Option<(PathBuf, File)>,
    /// Whether what people take for the same is known already to have happened.
    known: HashMap<Identity, bool>,
    /// The schedules of the executions that showed them. Holding the executions, no other one can take their place in memory.
    schedules: Vec<(Arc<Execution>, Option<PathBuf>)>,
    /// The switches in them.
    switches: usize,
    /// Nothing can be written, which was said.
    is_broken: bool,
}

impl<'a> Safekeeping<'a> {
    /// For the failures of a campaign.
    pub fn new(folder: &'a Path, name: &'a str, head: &'a Schedule, announce: Option<&'a Bar>) -> Self {
        let (symbols, written, findings) = (OnceCell::new(), RefCell::default(), RefCell::default());
        Safekeeping { folder, name, head, announce, symbols, written, findings }
    }

    /// The same for schedules with another head.
    pub fn under(self, head: &'a Schedule) -> Self {
        Safekeeping { head, ..self }
    }

    /// Writes and announces a failure, if there is one.
    pub fn observe(&self, progress: &Progress) {
        if let Some(failed) = &progress.failed {
            self.keep(failed);
        }
    }

    fn keep(&self, FailedJustNow { execution, run }: &FailedJustNow) {
        let symbols = self.symbols.get_or_init(|| Symbols::new(&run.modules));
        let names = ExecutionNames::new(symbols, run);
        let Some(SaidOfFailure { kind, message, site }) = said_of_failure(run, &names) else { return };
        let schedule = Schedule {
            execution: *execution,
            failure: Some((kind, message.clone())),
            switches: to_schedule(&run.switches, &names),
            ..self.head.clone()
        };
        let phrase = failure_phrase(kind, &message);
        let site = site.map_or_else(String::new, |site| format!(" at {site}"));
        let found = format!("found {phrase}{site} in execution {execution}");
        match artifacts::save_schedule(self.folder, &format!("{}-found", self.name), &schedule) {
            Ok(path) => {
                self.announce(&found);
                self.written.borrow_mut().insert(*execution, path);
            }
            // It is tried again at the end, when there may be room.
            Err(error) => {
                self.announce(&found);
                let warn = || output::say(&format!("warning: {error}"));
                self.announce.map_or_else(warn, |bar| bar.suspend(warn));
            }
        }
    }

    /// Whether what is found is announced. Nothing but the summary goes into a pipe, unless it is long in coming.
    pub fn announces(options: &OutputArgs, keep_going: bool) -> bool {
        !options.quiet && (keep_going || std::io::stderr().is_terminal())
    }

    /// Writes what was just found in executions that may have passed, and announces it if that is wanted. Once there is no time left, all that
    /// is known is about to be reported anyway.
    pub fn observe_findings(&self, progress: &Progress, announces: bool, clock: &Clock) {
        let Some(first) = progress.found.first().filter(|_| !clock.is_over()) else { return };
        let symbols = self.symbols.get_or_init(|| Symbols::new(&first.run.modules));
        let journal = &mut *self.findings.borrow_mut();
        for (examined, text) in progress.found.iter().zip(texts(&progress.found, symbols)) {
            if clock.is_over() {
                break;
            }
            let happened = examined.confirmed.is_some();
            let identity = Identity::of(&text);
            if journal.known.get(&identity).is_some_and(|known| *known || !happened) {
                continue;
            }
            let is_new = journal.known.insert(identity, happened).is_none();
            let schedule = self.schedule_of(journal, examined, &text.sentence, symbols);
            let report = on_the_way(&text, examined, schedule.as_deref());
            let line = serde_json::to_string(&report).unwrap_or_default();
            self.write_line(journal, &line);
            if !announces || !is_new || journal.known.len() > ANNOUNCED + 1 {
                continue;
            }
            match (journal.known.len() > ANNOUNCED, &journal.file) {
                (false, _) => self.announce(&format!("found: {}", text.heading)),
                (true, Some((path, _))) => self.announce(&format!("found more, see {}", path.display())),
                (true, None) => self.announce("found more"),
            }
        }
    }

    /// The schedule of the execution that shows a finding. It points to the first finding that happened there.
    fn schedule_of(
        &self,
        journal: &mut Journal,
        examined: &Examined,
        sentence: &str,
        symbols: &Symbols,
    ) -> Option<PathBuf> {
        let run = examined.confirmed.as_ref().unwrap_or(&examined.run);
        if let Some((_, path)) = journal.schedules.iter().find(|(known, _)| Arc::ptr_eq(known, run)) {
            return path.clone();
        }
        journal.switches = journal.switches.saturating_add(run.switches.len());
        let path = (journal.switches <= SWITCHES && !journal.is_broken).then(|| {
            let names = ExecutionNames::new(symbols, run);
            let failure = run.outcome.failure().map(|failure| (failure.kind, failure.message.clone()));
            let switches = to_schedule(&run.switches, &names);
            let is_settled = examined.confirmed.is_some() && Arc::ptr_eq(run, &examined.run);
            let shows = is_settled.then(|| shown(&examined.finding, &run.events, sentence));
            let mut schedule = Schedule { failure, shows, switches, ..self.head.clone() };
            Conditions::note_manner(&mut schedule.options, run);
            artifacts::save_schedule(self.folder, &format!("{}-found", self.name), &schedule).ok()
        });
        let path = path.flatten();
        journal.schedules.push((Arc::clone(run), path.clone()));
        path
    }

    /// The schedule that was written of an execution that showed a finding.
    pub fn of_run(&self, run: &Arc<Execution>) -> Option<PathBuf> {
        let journal = self.findings.borrow();
        journal.schedules.iter().find(|(known, _)| Arc::ptr_eq(known, run))?.1.clone()
    }

    fn write_line(&self, journal: &mut Journal, line: &str) {
        if journal.is_broken {
            return;
        }
        let written = match &mut journal.file {
            Some((_, file)) => writeln!(file, "{line}").map_err(|source| self.cannot_write(source)),
            none => artifacts::create(self.folder, &format!("{}-found", self.name), "findings").and_then(
                |(path, file)| {
                    let (_, file) = none.insert((path, file));
                    writeln!(file, "{line}").map_err(|source| self.cannot_write(source))
                },
            ),
        };
        if let Err(error) = written {
            journal.is_broken = true;
            let warn = || output::say(&format!("warning: {error}"));
            self.announce.map_or_else(warn, |bar| bar.suspend(warn));
        }
    }

    fn cannot_write(&self, source: std::io::Error) -> CliError {
        CliError::Write { path: self.folder.to_path_buf(), source }
    }

    /// Removes what was written of findings: the results are out.
    pub fn clear_findings(&self) {
        let Journal { file, schedules, .. } = std::mem::take(&mut *self.findings.borrow_mut());
        let schedules = schedules.into_iter().filter_map(|(_, path)| path);
        for path in file.map(|(path, _)| path).into_iter().chain(schedules) {
            let _ = fs::remove_file(path);
        }
    }

    fn announce(&self, text: &str) {
        if let Some(bar) = self.announce {
            bar.suspend(|| output::say(text));
        }
    }

    /// The schedule of a failure as it was found.
    pub fn of(&self, execution: u64) -> Option<PathBuf> {
        self.written.borrow().get(&execution).cloned()
    }

    /// Removes what was written at once, but for these files: something better is kept, or the execution turned out not to count.
    pub fn clear_except<'p>(&self, still_needed: impl Iterator<Item = &'p Path>) {
        let still_needed: Vec<&Path> = still_needed.collect();
        for path in std::mem::take(&mut *self.written.borrow_mut()).into_values() {
            if !still_needed.contains(&path.as_path()) {
                // Whoever cannot remove it has one schedule too many, which harms nobody.
                let _ = fs::remove_file(path);
            }
        }
    }
}
