//! Standard output, standard error and result files.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use threadbare_report::{JsonReport, SarifResult, TextFormat, printable, sarif};

use crate::args::OutputArgs;
use crate::error::CliError;

/// Where no terminal says otherwise.
const WIDTH_OF_A_PIPE: usize = 120;
/// Below this a table is unreadable anyway.
const NARROWEST: usize = 40;

/// How texts for people should look, from the options and what standard output is.
pub fn text_format(options: &OutputArgs) -> TextFormat {
    text_format_for(options.verbose, options.full)
}

/// The same where only these two can be chosen.
pub fn text_format_for(verbose: bool, full: bool) -> TextFormat {
    let terminal = io::stdout().is_terminal();
    let width = match terminal_size::terminal_size_of(io::stdout()) {
        Some((terminal_size::Width(columns), _)) => usize::from(columns).max(NARROWEST),
        None => WIDTH_OF_A_PIPE,
    };
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    TextFormat { width, colour: terminal && !refused, verbose, full }
}

/// Writes what people read. A reader that went away (`| head`) is no reason to complain.
pub fn print(text: &str) -> Result<(), CliError> {
    print_bytes(without_orders(text).as_bytes())
}

/// The text without orders to a terminal, which a file name or a program's message may contain; colours stay.
fn without_orders(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("\u{1b}[") {
        let after = &rest[start + 2..];
        let length =
            after.find(|letter: char| !letter.is_ascii_digit() && letter != ';').unwrap_or(after.len());
        let is_colour = after[length..].starts_with('m');
        let end = start + 2 + if is_colour { length + 1 } else { 0 };
        harmless.push_str(&printable(&rest[..start]));
        harmless.push_str(&if is_colour { rest[start..end].into() } else { printable(&rest[start..end]) });
        rest = &rest[end..];
    }
    harmless.push_str(&printable(rest));
    harmless
}

/// The same for what need not be text.
pub fn print_bytes(bytes: &[u8]) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Stdout(error)),
        _ => Ok(()),
    }
}

/// Says something beside the results. Nothing can be reported if standard error is gone.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "threadbare: {}", printable(text));
}

/// Writes the JSON object where the options ask for it.
pub fn write_json(options: &OutputArgs, report: &JsonReport) -> Result<(), CliError> {
    write_text(options.json.as_deref(), || report.to_text())
}

/// Writes a text to a file, or to standard output for `-`, if it is asked for.
pub fn write_text(path: Option<&Path>, text: impl FnOnce() -> String) -> Result<(), CliError> {
    match path {
        None => Ok(()),
        Some(path) if path == Path::new("-") => print_bytes(text().as_bytes()),
        Some(path) => write_whole(path, text().as_bytes()),
    }
}

/// Writes the SARIF file where the options ask for it.
pub fn write_sarif(options: &OutputArgs, command: &str, results: &[SarifResult]) -> Result<(), CliError> {
    write_text(options.sarif.as_deref(), || sarif(results, env!("CARGO_PKG_VERSION"), command))
}

/// So many of something.
pub fn counted(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}"),
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// Writes a file so that a reader sees all of it or the old one.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
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

/// The command that runs a schedule again, as it can be pasted into a shell.
pub fn replay_command(schedule: &Path) -> String {
    let path = schedule.display().to_string();
    // Only a zero byte cannot be quoted, and no path has one.
    let quoted = shlex::try_quote(&path).map_or_else(|_| path.clone(), |quoted| quoted.into_owned());
    format!("threadbare replay {}", printable(&quoted))
}

/// Refuses a page that cannot be written before any work is done for it.
pub fn check_html(path: Option<&Path>) -> Result<(), CliError> {
    match path {
        Some(path) if path == Path::new("-") => {
            Err(CliError::Usage("--html cannot be `-`; name a file for the page".into()))
        }
        path => path.map_or(Ok(()), check_target),
    }
}

/// Refuses result files that cannot be written before any work is done for them.
pub fn check_json(options: &OutputArgs) -> Result<(), CliError> {
    let json = options.json.as_deref().filter(|_| !options.json_on_stdout());
    json.into_iter().chain(options.sarif.as_deref()).try_for_each(check_target)
}

/// Refuses a file that cannot be written.
pub fn check_target(path: &Path) -> Result<(), CliError> {
    let problem = if path.is_dir() {
        "it is a folder".to_string()
    } else if !folder_of(path).is_dir() {
        format!("there is no folder `{}`", folder_of(path).display())
    } else {
        return Ok(());
    };
    Err(CliError::Write { path: path.to_path_buf(), source: io::Error::other(problem) })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_stay_and_orders_do_not() {
        assert_eq!(without_orders("\u{1b}[1;31mred\u{1b}[0m\n\tplain"), "\u{1b}[1;31mred\u{1b}[0m\n\tplain");
        assert_eq!(without_orders("a\u{1b}[2Jb\u{1b}]0;t\u{7}"), "a\u{241b}[2Jb\u{241b}]0;t\u{2407}");
        assert_eq!(without_orders("\u{1b}["), "\u{241b}[");
        assert_eq!(without_orders("é\u{1b}[3"), "é\u{241b}[3");
    }
}
