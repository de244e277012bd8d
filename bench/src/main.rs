//! Prints how fast Threadbare is: `cargo run --release -p threadbare-bench [engine|detectors|order]`.
//!
//! Machines are noisy and differ, so every line that carries a demand is a ratio of two things
//! measured in this one run, or says what it was measured on. Each figure of the engine is the best of
//! several tries: noise only ever makes things slower.

mod detectors;
mod engine;
mod figure;
mod order;

use std::process::ExitCode;

fn main() -> ExitCode {
    let part = std::env::args().nth(1);
    let wants = |name: &str| part.as_deref().is_none_or(|part| part == name);
    if !["engine", "detectors", "order"].into_iter().any(wants) {
        eprintln!("threadbare-bench: say `engine`, `detectors`, `order` or nothing for all");
        return ExitCode::from(2);
    }
    if wants("detectors") {
        detectors::measure().iter().for_each(|figure| println!("{figure}"));
    }
    if wants("order") {
        order::measure().iter().for_each(|figure| println!("{figure}"));
    }
    if wants("engine") {
        match engine::measure() {
            Ok(figures) => figures.iter().for_each(|figure| println!("{figure}")),
            Err(error) => {
                eprintln!("threadbare-bench: {error}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}
