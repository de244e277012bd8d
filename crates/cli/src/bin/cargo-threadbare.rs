//! The `cargo threadbare` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    threadbare_cli::cargo_threadbare()
}
