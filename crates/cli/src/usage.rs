//! Help that was asked for, and misuse of the command line in one sentence.

use std::error::Error as _;
use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::CliError;

/// Prints help or the version; turns anything else into an error. `words` is the whole command line, and `command` what
/// it was taken for.
pub fn answer(problem: &clap::Error, words: &[OsString], command: Command) -> Result<u8, CliError> {
    let name = named(words, command);
    match problem.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match problem.print() {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(CliError::Stdout(error)),
            _ => Ok(crate::NOTHING),
        },
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(CliError::Usage(format!("name a command; `{name} --help` lists them")))
        }
        _ => Err(CliError::Usage(sentence(problem, &name))),
    }
}

/// The command that the words name, as far as they do: `threadbare trace show`.
fn named(words: &[OsString], mut command: Command) -> String {
    let mut name = command.get_name().to_string();
    for word in words.iter().skip(1) {
        let Some(next) = word.to_str().and_then(|word| command.find_subcommand(word)).cloned() else { break };
        name = format!("{name} {}", next.get_name());
        command = next;
    }
    name
}

/// What is wrong, and where to read on.
fn sentence(problem: &clap::Error, command: &str) -> String {
    let what = match problem.kind() {
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => unfit_value(problem),
        _ => None,
    };
    let what = what.unwrap_or_else(|| first_paragraph(problem));
    let similar = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    match similar.iter().find_map(|kind| problem.get(*kind)) {
        Some(suggestion) => format!("{what}; did you mean `{suggestion}`?"),
        None => format!("{what}; see `{command} --help`"),
    }
}

/// A value that an option cannot have: the reason says what to give instead.
fn unfit_value(problem: &clap::Error) -> Option<String> {
    let text = |kind| match problem.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    };
    let option = text(ContextKind::InvalidArg)?;
    let option = option.split(' ').next().unwrap_or_default();
    let value = text(ContextKind::InvalidValue)?;
    if value.is_empty() {
        return None;
    }
    let advice = match problem.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) => format!("use one of {}", values.join(", ")),
        _ => problem.source()?.to_string(),
    };
    Some(format!("{option} cannot be `{value}`: {advice}"))
}

/// The first paragraph of clap's message on one line.
fn first_paragraph(problem: &clap::Error) -> String {
    let text = problem.render().to_string();
    let first: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let sentence = first.join(" ");
    sentence.strip_prefix("error: ").map_or(sentence.clone(), str::to_string)
}
