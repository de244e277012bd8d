//! `cargo threadbare`: a crate's own tests and binaries, built by cargo.

mod args;
mod build;
mod build_std;
pub mod error;
mod hunt;
mod listing;
mod summary;
mod targets;
mod test;
mod trial;
mod user_flags;

use std::ffi::OsString;

use self::args::{CargoCommand, CargoLine};
use crate::error::CliError;
use crate::{replay, usage};

/// Does what the command line says; returns the exit status.
pub fn run() -> Result<u8, CliError> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    // Cargo puts the name of its subcommand first.
    if words.get(1).is_some_and(|word| word == "threadbare") {
        words.remove(1);
    }
    match CargoLine::understand(&words) {
        Err(problem) => usage::answer(&problem, &words, CargoLine::described()),
        Ok(line) => match line.command {
            CargoCommand::Test(args) => test::run(&args),
            CargoCommand::Hunt(args) => hunt::run(*args),
            CargoCommand::Replay(args) => replay::run(&args),
        },
    }
}
