//! Standard output, standard error and result files.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use threadbare_report::{JsonReport, Look};

use crate::args::OutputArgs;
use crate::error::CliError;

/// Where no terminal says otherwise.
const WIDTH_OF_A_PIPE: usize = 110;
/// Below this a table is unreadable anyway.
const NARROWEST: usize = 40;

/// How texts for people should look, from the options and what standard output is.
pub fn look(options: &OutputArgs) -> Look {
    let terminal = io::stdout().is_terminal();
    let width = match terminal_size::terminal_size_of(io::stdout()) {
        Some((terminal_size::Width(columns), _)) => usize::from(columns).max(NARROWEST),
        None => WIDTH_OF_A_PIPE,
    };
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    Look { width, colour: terminal && !refused, verbose: options.verbose, full: options.full }
}

/// Writes results. A reader that went away (`| head`) is no reason to complain.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Stdout(error)),
        _ => Ok(()),
    }
}

/// Says something beside the results. Nobody can be told if standard error is gone.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "threadbare: {text}");
}

/// Writes the JSON object where the options ask for it.
pub fn write_json(options: &OutputArgs, report: &JsonReport) -> Result<(), CliError> {
    match options.json.as_deref() {
        None => Ok(()),
        Some(_) if options.json_on_stdout() => print(&report.to_text()),
        Some(path) => write_whole(path, report.to_text().as_bytes()),
    }
}

/// Writes a file so that a reader sees all of it or the old one.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let failed = |source| CliError::Write { path: path.to_path_buf(), source };
    // A device or pipe is written as it is: there is nothing to replace.
    if path.exists() && !path.is_file() {
        return std::fs::write(path, bytes).map_err(failed);
    }
    let mut file = tempfile::NamedTempFile::new_in(folder_of(path)).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    readable_by_others(file.as_file()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Refuses a result file that cannot be written before any work is done for it.
pub fn check_json(options: &OutputArgs) -> Result<(), CliError> {
    let Some(path) = options.json.as_deref().filter(|_| !options.json_on_stdout()) else { return Ok(()) };
    let problem = if path.is_dir() {
        io::ErrorKind::IsADirectory
    } else if !folder_of(path).is_dir() {
        io::ErrorKind::NotFound
    } else {
        return Ok(());
    };
    Err(CliError::Write { path: path.to_path_buf(), source: problem.into() })
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Temporary files are private; results are for whoever may read the folder.
pub fn readable_by_others(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}
