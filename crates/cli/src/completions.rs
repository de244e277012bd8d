//! `threadbare completions`.

use crate::args::CommandLine;
use crate::error::CliError;
use crate::output;

/// Prints the completion script for a shell.
pub fn run(shell: clap_complete::Shell) -> Result<u8, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::described(), "threadbare", &mut script);
    output::print_bytes(&script)?;
    Ok(crate::NOTHING)
}
