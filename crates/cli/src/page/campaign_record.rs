//! The record that a command leaves of its campaign.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use threadbare_report::{
    CampaignRecord, FailureFiles, FailureReport, LongOriginal, RECORD_EXTENSION, RECORD_VERSION, Subject,
    excerpts, printable,
};
use threadbare_trace::TraceFile;

use super::subject::quoted;
use crate::error::CliError;
use crate::{artifacts, output, regular};

/// A trace file that takes so long to read that only the places of findings are looked up.
const LONG_TRACE: u64 = 1_000_000;

/// Keeps the record of a campaign, and writes its page where one is wanted. Of a program with the same arguments and input, a
/// command and a strategy the last campaign is kept.
///
/// A result is no worse for not being kept, so that is only a warning; a page that was asked for is another matter.
pub fn save_record(
    folder: &Path,
    subject: Subject,
    mut record: CampaignRecord,
    html: Option<&Path>,
) -> Result<(), CliError> {
    record.record = RECORD_VERSION;
    record.command_line = command_line();
    record.sources = sources(&record, folder);
    let command = record.report["command"].as_str().unwrap_or("campaign").to_string();
    let strategy = record.report["strategy"].as_str().map(String::from);
    let strategy = strategy.filter(|strategy| !["", command.as_str()].contains(&strategy.as_str()));
    let strategy = strategy.as_deref();
    let suffix = strategy.map_or_else(String::new, |strategy| format!("-{strategy}"));
    let path = free(folder, &format!("{}-{command}{suffix}", subject.name), &subject);
    let without_strategy = folder.join(format!("{}-{command}.{RECORD_EXTENSION}", subject.name));
    record.subject = Some(subject);
    match write(&record, folder, &path) {
        Ok(()) if strategy.is_some() => {
            remove_older(&without_strategy, strategy);
        }
        Ok(()) => {}
        Err(error) => output::say(&format!("warning: {error}")),
    }
    html.map_or(Ok(()), |html| super::write(&record, folder, html))
}

/// Where the record of a subject goes: what is kept of another one stays.
fn free(folder: &Path, name: &str, subject: &Subject) -> PathBuf {
    let is_of_another = |path: &PathBuf| {
        let known = known_record(path);
        known.and_then(|record| record.subject).is_some_and(|known| known != *subject)
    };
    let first = folder.join(format!("{name}.{RECORD_EXTENSION}"));
    let further = (2_u32..).map(|number| folder.join(format!("{name}-{number}.{RECORD_EXTENSION}")));
    let mut all = std::iter::once(first.clone()).chain(further);
    all.find(|path| !is_of_another(path)).unwrap_or(first)
}

fn write(record: &CampaignRecord, folder: &Path, path: &Path) -> Result<(), CliError> {
    let failed = |source| CliError::Write { path: path.to_path_buf(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    let bytes = record.to_bytes().map_err(|error| failed(error.into()))?;
    output::write_whole(path, &bytes)
}

/// The record that lies here.
fn known_record(path: &Path) -> Option<CampaignRecord> {
    let bytes = regular::read(path.parent()?, path.file_name()?.to_str()?).ok()?;
    CampaignRecord::read(&bytes).ok()
}

/// Removes the record of an earlier campaign with this strategy: names were without strategies once.
fn remove_older(path: &Path, strategy: Option<&str>) {
    let older = known_record(path);
    if older.is_some_and(|older| older.report["strategy"].as_str() == strategy) {
        // Whoever cannot remove it sees both on the page.
        let _ = fs::remove_file(path);
    }
}

/// What was typed, as it can be typed again.
pub fn command_line() -> String {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).peekable();
    let name = words.next().unwrap_or_default();
    // Cargo starts its subcommand with the subcommand's name.
    let is_cargo = Path::new(&name).file_stem().is_some_and(|name| name == "cargo-threadbare");
    if is_cargo {
        words.next_if_eq("threadbare");
    }
    let quoted = words.map(|word| quoted(&word));
    let tool = if is_cargo { "cargo threadbare" } else { "threadbare" };
    printable(&std::iter::once(tool.to_string()).chain(quoted).collect::<Vec<_>>().join(" ")).into_owned()
}

/// The files that were kept of a failure, as they are called in the folder.
pub fn failure_files(report: &FailureReport) -> FailureFiles {
    let Some(schedule) = report.schedule.as_deref().map(Path::new) else { return FailureFiles::default() };
    let beside = |extension| {
        let path = schedule.with_extension(extension);
        path.exists().then(|| artifacts::file_name(&path)).flatten()
    };
    let long = schedule.with_extension(artifacts::LONG_ORIGINAL);
    let long_original = report.original_events.filter(|_| long.exists());
    FailureFiles {
        replay: Some(output::replay_command(schedule)),
        schedule: artifacts::file_name(schedule),
        trace: artifacts::file_name(&schedule.with_extension(artifacts::TRACE)),
        original: beside(artifacts::ORIGINAL),
        long_original: long_original
            .map(|events| LongOriginal { events, replay: output::replay_command(&long) }),
        output: beside(artifacts::OUTPUT),
    }
}

/// The lines of source around all places that the page will name. They are kept now: the program may change.
fn sources(record: &CampaignRecord, folder: &Path) -> BTreeMap<String, Vec<threadbare_report::Excerpt>> {
    let mut wanted: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    let mut want = |file: Option<&str>, line: Option<u32>| {
        if let (Some(file), Some(line)) = (file, line) {
            wanted.entry(file.to_string()).or_default().insert(line);
        }
    };
    record.places().for_each(|place| want(place.file.as_deref(), place.line));
    let of_failures = record.failures.iter().flat_map(|it| [&it.trace, &it.original]).flatten();
    for name in of_failures.chain(record.findings.iter().filter_map(|it| it.trace.as_ref())) {
        let is_short = fs::metadata(folder.join(name)).is_ok_and(|about| about.len() <= LONG_TRACE);
        let bytes = is_short.then(|| regular::read(folder, name).ok()).flatten();
        let Some(trace) = bytes.and_then(|bytes| TraceFile::read(&bytes).ok()) else { continue };
        let own = trace.sites().filter(|site| !site.in_system);
        own.for_each(|site| want(site.file.as_deref(), site.line));
    }
    excerpts(&wanted, |file| fs::read(file).ok())
}
