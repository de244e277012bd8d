//! Published programs in C and C++ that were not written with us in mind: glibc's own tests of threads, each built alone, and five
//! programs with a small use of their threads. What fails has to be true, and a file says of each failure whether it is.

mod judgements;
mod nptl;
mod programs;
mod sources;
mod tool;

use std::path::{Path, PathBuf};

use clap::Args;

use self::judgements::{Judgements, Way};
use self::sources::Sources;
use self::tool::Tool;
use crate::Result;

/// What to run.
#[derive(Args)]
pub struct StrangerArgs {
    /// Only these: glibc, xz, lmdb, zstd, leveldb, libuv
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only tests of glibc and libuv whose names begin so
    #[arg(long, value_delimiter = ',')]
    tests: Vec<String>,
    /// The most executions of a program (default: 100 of a test of glibc, 1000 of the others)
    #[arg(long)]
    executions: Option<u64>,
    /// The most seconds for a program (default: 5 for a test of glibc, 60 for the others)
    #[arg(long)]
    time: Option<u64>,
    /// The seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Let waits end by time at any point in tests of glibc, too, which most of them do not stand
    #[arg(long)]
    loose: bool,
    /// Where all is kept, downloaded and built (default: `target/strangers-c`)
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl StrangerArgs {
    fn is_chosen(&self, test: &str) -> bool {
        self.tests.is_empty() || self.tests.iter().any(|beginning| test.starts_with(beginning.as_str()))
    }
}

/// One thing that was run, and how that ended.
struct Run {
    program: &'static str,
    test: String,
    way: Way,
    /// What was said of it.
    message: String,
}

/// Runs them; whether all that failed has been judged.
pub fn print(args: &StrangerArgs) -> Result<bool> {
    let sources = Sources::pinned()?;
    let judgements = Judgements::kept()?;
    let standard = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/strangers-c");
    let folder = args.folder.clone().unwrap_or_else(standard);
    std::fs::create_dir_all(&folder)?;
    let folder = folder.canonicalize()?;
    let tool = Tool::beside()?;
    println!(
        "| program | passed | starts no thread | failed | refused by name | cut | fails without us | not built | not judged |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut remarks = Vec::new();
    let mut unjudged = 0;
    for source in sources.chosen(&args.only)? {
        let unpacked = source.unpacked(&folder)?;
        let runs = match source.name.as_str() {
            "glibc" => nptl::run(args, &tool, &unpacked, &folder)?,
            name => programs::run(args, &tool, name, &unpacked, &folder)?,
        };
        let of_these = runs.iter().filter(|run| judgements.wants(run)).count();
        unjudged += of_these;
        let count = |is_meant: fn(&Way) -> bool| runs.iter().filter(|run| is_meant(&run.way)).count();
        println!(
            "| {} {} | {} | {} | {} | {} | {} | {} | {} | {of_these} |",
            source.name,
            source.version,
            count(|way| *way == Way::Passed),
            count(|way| *way == Way::NoThread),
            count(|way| matches!(way, Way::Failed(_))),
            count(|way| *way == Way::Refused),
            count(|way| *way == Way::Cut),
            count(|way| *way == Way::FailsWithoutUs),
            count(|way| *way == Way::NotBuilt),
        );
        remarks.extend(runs.iter().filter_map(|run| judgements.remark(run)));
    }
    remarks.iter().for_each(|remark| println!("\n{remark}"));
    Ok(unjudged == 0)
}
