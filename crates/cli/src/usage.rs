//! Help that was asked for, and misuse of the command line in one sentence.

use clap::error::{ContextKind, ErrorKind};

use crate::error::CliError;

/// Prints help or the version; turns anything else into an error.
pub fn answer(problem: &clap::Error) -> Result<u8, CliError> {
    match problem.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match problem.print() {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(CliError::Stdout(error)),
            _ => Ok(crate::NOTHING),
        },
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(CliError::Usage("name a command, such as `hunt`; `threadbare --help` lists them".into()))
        }
        _ => Err(CliError::Usage(sentence(problem))),
    }
}

/// The first paragraph of clap's message on one line, and a hint if there is one.
fn sentence(problem: &clap::Error) -> String {
    let text = problem.render().to_string();
    let first: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let mut sentence = first.join(" ");
    if let Some(rest) = sentence.strip_prefix("error: ") {
        sentence = rest.to_string();
    }
    let similar = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    match similar.iter().find_map(|kind| problem.get(*kind)) {
        Some(suggestion) => format!("{sentence}; did you mean `{suggestion}`?"),
        None => format!("{sentence}; see `threadbare --help`"),
    }
}
