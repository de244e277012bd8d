//! Prints how fast the engine is: `cargo run --release -p threadbare-bench`.
//!
//! Machines are noisy and differ, so every line that carries a demand is a ratio of two things
//! measured in this one run, or says what it was measured on. Each figure is the best of several
//! tries: noise only ever makes things slower.

mod engine;
mod figure;

use std::process::ExitCode;

fn main() -> ExitCode {
    match engine::measure() {
        Ok(figures) => {
            for figure in figures {
                println!("{figure}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("threadbare-bench: {error}");
            ExitCode::from(2)
        }
    }
}
