//! Prints how fast and how good Threadbare is; `bench/README.md` says which parts there are.
//!
//! Machines are noisy and differ, so every line that carries a demand is a ratio of two things
//! measured in this one run, or says what it was measured on. Each figure of the engine is the best of
//! several tries: noise only ever makes things slower.

mod ars_snapshots;
mod ars_table;
mod ars_width;
mod cargo_threadbare;
mod census;
mod cfp;
mod classes;
mod clock;
mod curves;
mod detectors;
mod engine;
mod faults;
mod figure;
mod order;
mod patterns;
mod pcr;
mod pcr_budget;
mod plot;
mod rust_tests;
mod soundness;
mod strangers;
mod subjects;
mod total;
mod tsa;
mod tsa_figures;
mod tsa_overhead;
mod tsa_subjects;
mod tsa_tables;
mod tsa_trials;
mod verify_growth;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use figure::Figure;

/// What every part may end with.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Prints figures of Threadbare: without a part, those of the engine, the detectors and the patterns
#[derive(Parser)]
#[command(name = "threadbare-bench")]
struct Arguments {
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(Subcommand)]
enum Part {
    /// Steps and executions a second, and the price of instrumentation
    Engine,
    /// Events a second of the race detectors
    Detectors,
    /// How fast memory-access patterns are found
    Patterns,
    /// How long questions about orders of steps take
    Order,
    /// Table II of the ARS paper again, on the subjects
    Ars(ars_table::TableArgs),
    /// Figures 3 and 4 of the ARS paper again: how many sub-traces to continue with
    ArsWidth(ars_width::WidthArgs),
    /// Tables 4 to 6 and Figure 6 of the PCR paper again, on the classes
    Pcr(pcr::PcrArgs),
    /// Tables 2 to 5 and Figures 4 and 5 of the paper on synchronization pairs again
    Tsa(tsa::TsaArgs),
    /// Tables 2 to 7 and 10 to 12 of the CFP paper again, on programs in the shape of its own
    Cfp(cfp::CfpArgs),
    /// Tables 12 and 15 to 18 of the thesis on total replay again, on programs in the shape of its own
    Total(total::TotalArgs),
    /// Known bugs of published Rust crates, found by their tests
    RustBugs(rust_tests::RustArgs),
    /// Popular Rust crates, unmodified: right tests pass, wrong ones are found
    RustCrates(rust_tests::RustArgs),
    /// Published Rust crates with their own test suites: whatever fails has to be true
    Strangers(strangers::StrangerArgs),
    /// glibc's tests of threads, xz, LMDB, zstd, leveldb and libuv: whatever fails has to be true
    StrangersC(strangers::c::StrangerArgs),
    /// Small generated programs: whether what strategies claim of them is true
    Soundness(soundness::SoundnessArgs),
    /// How what `verify` takes grows with a program, beside dfs and mcr
    VerifyGrowth(verify_growth::GrowthArgs),
    /// Kills, signals, deadlines, refused calls, limits, full disks and damaged files
    Faults(faults::FaultArgs),
    /// What snapshots save ars, and how fast it goes through a long program
    ArsSnapshots,
}

fn show(figures: &[Figure]) {
    figures.iter().for_each(|figure| println!("{figure}"));
}

fn run(part: Option<Part>) -> Result<ExitCode> {
    match part {
        Some(Part::Soundness(args)) => {
            let is_sound = soundness::print(&args)?;
            return Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Some(Part::Strangers(args)) => {
            let is_judged = strangers::print(&args)?;
            return Ok(if is_judged { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Some(Part::StrangersC(args)) => {
            let is_judged = strangers::c::print(&args)?;
            return Ok(if is_judged { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Some(Part::Faults(args)) => {
            let is_well = faults::print(&args)?;
            return Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Some(Part::Engine) => show(&engine::measure()?),
        Some(Part::Detectors) => show(&detectors::measure()),
        Some(Part::Patterns) => show(&patterns::measure()),
        Some(Part::Order) => show(&order::measure()),
        Some(Part::Ars(args)) => ars_table::print(&args)?,
        Some(Part::ArsWidth(args)) => ars_width::print(&args)?,
        Some(Part::Pcr(args)) => pcr::print(&args)?,
        Some(Part::Tsa(args)) => tsa::print(&args)?,
        Some(Part::Cfp(args)) => cfp::print(&args)?,
        Some(Part::Total(args)) => total::print(&args)?,
        Some(Part::RustBugs(args)) => rust_tests::print_bugs(&args)?,
        Some(Part::RustCrates(args)) => rust_tests::print_crates(&args)?,
        Some(Part::VerifyGrowth(args)) => verify_growth::print(&args)?,
        Some(Part::ArsSnapshots) => ars_snapshots::measure(&|figure| println!("{figure}"))?,
        None => {
            show(&detectors::measure());
            show(&patterns::measure());
            show(&engine::measure()?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn main() -> ExitCode {
    match run(Arguments::parse().part) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("threadbare-bench: {error}");
            ExitCode::from(2)
        }
    }
}
