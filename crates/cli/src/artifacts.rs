//! The files that are kept of a failure.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use threadbare_trace::{Schedule, TraceFile};

use crate::error::CliError;
use crate::output::{self, readable_by_others};
use crate::trust;

/// What the names of trace files end in.
pub const TRACE: &str = "trace";
/// The same for the trace of a schedule as it was found, before it was made shorter.
pub const ORIGINAL: &str = "original.trace";
/// The same for that schedule itself, where its trace would be too long.
pub const LONG_ORIGINAL: &str = "original.schedule";
/// The same for what the program printed.
pub const OUTPUT: &str = "output";

/// What is kept of one failure or finding.
pub struct Artifacts<'a> {
    /// The schedule.
    pub schedule: &'a Schedule,
    /// What happens when it is followed.
    pub trace: &'a TraceFile,
    /// What happened before it was made shorter.
    pub original: Option<&'a TraceFile>,
    /// The schedule before it was made shorter, where what happened is too long.
    pub long_original: Option<&'a Schedule>,
    /// What the program printed.
    pub printed: &'a [u8],
}

/// Refuses a folder in which nothing can be kept, before any work is done that it would be needed for.
pub fn check_folder(folder: &Path) -> Result<(), CliError> {
    /// On a full disk an empty file can still be made.
    const BLOCK: [u8; 4096] = [0; 4096];
    let failed = |source| CliError::Write { path: folder.to_path_buf(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    let mut trial = tempfile::tempfile_in(folder).map_err(failed)?;
    trial.write_all(&BLOCK).map_err(failed)
}

/// Writes `NAME-N.schedule`, `NAME-N.trace` and `NAME-N.output` with the first free N, and returns
/// the first one's path; the others are found by their extensions. The schedule is what counts: with it, all else can be made again.
pub fn save(folder: &Path, name: &str, artifacts: &Artifacts<'_>) -> Result<PathBuf, CliError> {
    let path = save_schedule(folder, name, artifacts.schedule)?;
    let traces = [(TRACE, Some(artifacts.trace)), (ORIGINAL, artifacts.original)];
    let traces = traces.into_iter().filter_map(|(extension, trace)| Some((extension, trace?.to_bytes())));
    let long = artifacts.long_original.map(|it| (LONG_ORIGINAL, it.to_text().into_bytes()));
    for (extension, bytes) in traces.chain(long).chain([(OUTPUT, artifacts.printed.to_vec())]) {
        let beside = path.with_extension(extension);
        if let Err(source) = write_new(folder, &beside, &bytes) {
            output::say(&format!("warning: {}", CliError::Write { path: beside, source }));
        }
    }
    Ok(path)
}

/// Gives a schedule that is already in the folder the name `NAME-N.schedule` with the first free N.
pub fn adopt(folder: &Path, name: &str, schedule: &Path) -> Result<PathBuf, CliError> {
    let path = link(folder, name, schedule)?;
    // Two names are better than none.
    let _ = fs::remove_file(schedule);
    Ok(path)
}

/// Gives it that name as well.
pub fn link(folder: &Path, name: &str, schedule: &Path) -> Result<PathBuf, CliError> {
    for number in 1_u32.. {
        let path = folder.join(format!("{name}-{number}.schedule"));
        match fs::hard_link(schedule, &path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(CliError::Write { path, source }),
        }
    }
    Err(CliError::Write { path: folder.to_path_buf(), source: io::ErrorKind::AlreadyExists.into() })
}

/// Writes `NAME-N.schedule` with the first free N, and returns its path.
pub fn save_schedule(folder: &Path, name: &str, schedule: &Schedule) -> Result<PathBuf, CliError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source: io::Error| CliError::Write { path, source }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    for number in 1_u32.. {
        let path = folder.join(format!("{name}-{number}.schedule"));
        if path.exists() {
            continue;
        }
        // Another campaign may take the number at this moment: then the next one is tried.
        if write_schedule(folder, &path, schedule).map_err(failed(&path))? {
            trust::remember(schedule);
            return Ok(path);
        }
    }
    Err(failed(folder)(io::ErrorKind::AlreadyExists.into()))
}

/// Creates `NAME-N.EXTENSION` with the first free N.
pub fn create(folder: &Path, name: &str, extension: &str) -> Result<(PathBuf, File), CliError> {
    for number in 1_u32.. {
        let path = folder.join(format!("{name}-{number}.{extension}"));
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(CliError::Write { path, source }),
        }
    }
    Err(CliError::Write { path: folder.to_path_buf(), source: io::ErrorKind::AlreadyExists.into() })
}

/// Writes a schedule to a file that must not exist yet; `false` if it does.
fn write_schedule(folder: &Path, path: &Path, schedule: &Schedule) -> io::Result<bool> {
    write_new_with(folder, path, |file| {
        let mut buffered = BufWriter::new(file);
        schedule.write_to(&mut buffered)?;
        buffered.flush()
    })
}

/// Writes a file that must not exist yet; `false` if it does.
fn write_new(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<bool> {
    write_new_with(folder, path, |file| file.write_all(bytes))
}

fn write_new_with(
    folder: &Path,
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<bool> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    write(file.as_file_mut())?;
    readable_by_others(file.as_file())?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}

/// What a file is called in its folder.
pub fn file_name(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// A name for files, from the program's own.
pub fn file_stem(program: &Path) -> String {
    program.file_stem().map_or_else(|| "program".to_string(), |stem| stem.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_overwritten_and_nothing_temporary_stays() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let schedule = Schedule { program: "bank.c".into(), ..Schedule::default() };
        let trace = TraceFile::default();
        let (original, long_original) = (Some(&trace), None);
        let artifacts =
            |printed| Artifacts { schedule: &schedule, trace: &trace, original, long_original, printed };
        let first = save(folder.path(), "bank", &artifacts(b"one")).expect("kept");
        let second = save(folder.path(), "bank", &artifacts(b"two")).expect("kept");
        assert!(first.ends_with("bank-1.schedule") && second.ends_with("bank-2.schedule"));
        assert_eq!(fs::read(first.with_extension("output")).expect("written"), b"one");
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 8);
        let text = fs::read_to_string(second).expect("written");
        assert_eq!(Schedule::parse(&text), Ok(schedule));
    }

    #[test]
    fn a_folder_that_is_a_file_is_an_error() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let (schedule, trace) = (Schedule::default(), TraceFile::default());
        let (original, long_original, printed) = (None, None, &b""[..]);
        let artifacts = Artifacts { schedule: &schedule, trace: &trace, original, long_original, printed };
        assert!(save(file.path(), "bank", &artifacts).is_err());
    }
}
