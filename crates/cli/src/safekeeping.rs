//! Failures that are written the moment they are found.
//!
//! What is kept of a failure in the end is minimised and explained, which takes time, and a campaign that goes on after a failure may go
//! on for long. A tool that is killed meanwhile must not have lost it: so its schedule is written at once, under a name of its own, and
//! removed when there is something better.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use threadbare_diagnose::{ExecutionNames, SaidOfFailure, said_of_failure, to_schedule};
use threadbare_explore::{FailedJustNow, Progress};
use threadbare_report::failure_phrase;
use threadbare_target::Symbols;
use threadbare_trace::Schedule;

use crate::progress::Bar;
use crate::{artifacts, output};

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
}

impl<'a> Safekeeping<'a> {
    /// For the failures of a campaign.
    pub fn new(folder: &'a Path, name: &'a str, head: &'a Schedule, announce: Option<&'a Bar>) -> Self {
        let (symbols, written) = (OnceCell::new(), RefCell::default());
        Safekeeping { folder, name, head, announce, symbols, written }
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
