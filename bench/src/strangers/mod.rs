//! Published crates with their own test suites, none of which was written with us in mind: what fails there has to be
//! true, and a file says of each failure whether it is.

pub mod c;
mod judgements;
mod packages;

use std::path::{Path, PathBuf};

use clap::Args;

use self::judgements::{Judgement, Judgements, Verdict};
use self::packages::{Package, Packages};
use crate::Result;
use crate::cargo_threadbare::{Budget, Test, test};

/// What to run.
#[derive(Args)]
pub struct StrangerArgs {
    /// Only these crates
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The most executions of a test
    #[arg(long, default_value_t = 300)]
    executions: u64,
    /// The most seconds for a test
    #[arg(long, default_value_t = 10)]
    time: u64,
    /// The seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where the crates are unpacked and built (default: `target/strangers`)
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// After a change of the list: choose versions for what new crates depend on, and keep them in `Cargo.lock`
    #[arg(long)]
    relock: bool,
}

/// How many tests ended in which way.
#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    long: usize,
    none: usize,
    error: usize,
    ignored: usize,
}

impl Counts {
    fn of(tests: &[Test]) -> Counts {
        let mut counts = Counts::default();
        for test in tests {
            *match test.status.as_str() {
                "passed" => &mut counts.passed,
                "failed" => &mut counts.failed,
                "long" => &mut counts.long,
                "nothing-to-explore" => &mut counts.none,
                "ignored" => &mut counts.ignored,
                // Whatever else there is, it is no result.
                _ => &mut counts.error,
            } += 1;
        }
        counts
    }
}

/// Runs the suites; whether all that failed has been judged.
pub fn print(args: &StrangerArgs) -> Result<bool> {
    let packages = Packages::pinned()?;
    let judgements = Judgements::kept()?;
    let chosen = packages.chosen(&args.only)?;
    let standard = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/strangers");
    let folder = args.folder.clone().unwrap_or_else(standard);
    std::fs::create_dir_all(&folder)?;
    let folder = folder.canonicalize()?;
    let workspace = packages.unpack(&folder, args.relock)?;
    println!(
        "| crate | tests folder | passed | executions | failed | LONG | NONE | SKIP | ERROR | not judged |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let budget = Budget { executions: args.executions, time: args.time, seed: args.seed };
    let mut remarks = Vec::new();
    let mut unjudged = 0;
    for package in chosen {
        let source = workspace.join(package.folder());
        let tests = match test(&source.join("Cargo.toml"), &folder, &budget, &package.arguments()) {
            Ok(tests) => tests,
            // The other crates may well be run.
            Err(error) => {
                println!("| {package} | | | | | | | | | could not be run |");
                remarks.push(format!("{package} could not be run: {error}"));
                unjudged += 1;
                continue;
            }
        };
        let of_these = remarks_on(package, &tests, &judgements, &mut remarks);
        let counts = Counts::of(&tests);
        println!(
            "| {package} | {} | {} | {} | {} | {} | {} | {} | {} | {of_these} |",
            if source.join("tests").is_dir() { "yes" } else { "not in the package" },
            counts.passed,
            fewest_and_most(&tests),
            counts.failed,
            counts.long,
            counts.none,
            counts.ignored,
            counts.error,
        );
        unjudged += of_these;
    }
    remarks.iter().for_each(|remark| println!("\n{remark}"));
    Ok(unjudged == 0)
}

/// The fewest and the most executions of a test that passed: what passed once shows little.
fn fewest_and_most(tests: &[Test]) -> String {
    let of_passed = || tests.iter().filter(|test| test.status == "passed").map(|test| test.executions);
    match of_passed().min().zip(of_passed().max()) {
        Some((fewest, most)) if fewest < most => format!("{fewest} to {most}"),
        Some((all, _)) => all.to_string(),
        None => String::new(),
    }
}

/// Says of each test of a package that failed or could not be run how it was judged; returns how many were not.
fn remarks_on(
    package: &Package,
    tests: &[Test],
    judgements: &Judgements,
    remarks: &mut Vec<String>,
) -> usize {
    let mut unjudged = 0;
    let is_well =
        |test: &Test| matches!(test.status.as_str(), "passed" | "long" | "nothing-to-explore" | "ignored");
    for test in tests.iter().filter(|test| !is_well(test)) {
        let judgement = judgements.on(package, test);
        unjudged += usize::from(judgement.is_none());
        let verdict = judgement.map_or("NOT JUDGED".to_string(), Judgement::shown);
        let message = test.message.as_deref().unwrap_or_default().trim();
        remarks.push(format!(
            "{package}: {} {}: {} after {} executions: {verdict}\n    {}",
            test.executable,
            test.name,
            test.end(),
            test.executions,
            message.lines().next().unwrap_or_default()
        ));
    }
    for judgement in judgements.of(package) {
        let about: Vec<&Test> = tests.iter().filter(|test| judgement.is_about(test)).collect();
        let name = &judgement.test;
        if about.is_empty() {
            remarks.push(format!("{package}: {name} was judged and is no test"));
        } else if about.iter().all(|test| is_well(test)) {
            // What was ours and is gone needs no judgement any more.
            let ours = if judgement.verdict == Verdict::Ours { ", as our defect," } else { "" };
            remarks.push(format!("{package}: {name} was judged{ours} and did not fail this time"));
        }
    }
    unjudged
}
