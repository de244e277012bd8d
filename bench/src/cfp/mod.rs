//! The evaluation of the CFP paper again: Tables 2 to 7 and 10 to 12, on programs in the shape of the paper's.

mod growth;
mod paper;
mod row;
mod subject;
mod tables;

use clap::Args;

use self::row::Settings;
use self::subject::Subject;
use crate::Result;

/// The subjects, in the order of the paper's tables.
const SUBJECTS: [&str; 5] = ["router", "fft", "lu", "script", "compress"];

/// How the tables are made.
#[derive(Args)]
pub struct CfpArgs {
    /// Only these subjects
    #[arg(long, value_delimiter = ',')]
    subjects: Vec<String>,
    /// How often the uninstrumented program and measuring are repeated
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    times: u32,
    /// How many executions of each input are examined: 1 in the paper's tables, 10 in its Section 5.7
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// The optimization level of both builds, as `suite` has it by default
    #[arg(long, default_value = "0", value_parser = ["0", "1", "2"])]
    level: String,
    /// Show instead how a suite of this many generated inputs grows
    #[arg(long, value_name = "INPUTS")]
    growth: Option<usize>,
}

/// Prints the tables.
pub fn print(args: &CfpArgs) -> Result<()> {
    if let Some(inputs) = args.growth {
        return growth::print(inputs);
    }
    let settings = Settings { times: args.times, runs: args.runs };
    let is_wanted = |name: &&str| args.subjects.is_empty() || args.subjects.iter().any(|it| it == *name);
    // Starting a process costs the more the larger this one is, and detection makes it large. So all short runs come first.
    let mut prepared = Vec::new();
    for name in SUBJECTS.iter().copied().filter(|name| is_wanted(name)) {
        eprintln!("{name}: measuring…");
        prepared.push(row::prepare(Subject::build(name, &args.level)?, &settings)?);
    }
    let mut rows = Vec::new();
    for it in prepared {
        eprintln!("{}: detecting…", it.name());
        rows.push(row::row(it, &settings)?);
    }
    tables::print(&rows);
    Ok(())
}
