//! Tests of Rust crates, run by `cargo threadbare test` as a user would.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;

use crate::Result;
use crate::cargo_threadbare::{Budget, test};

/// What to run.
#[derive(Args)]
pub struct RustArgs {
    /// The most executions of a test.
    #[arg(long, default_value_t = 20_000)]
    executions: u64,
    /// The most seconds for a test.
    #[arg(long, default_value_t = 60)]
    time: u64,
    /// How many seeds to try a bug with.
    #[arg(long, default_value_t = 5)]
    seeds: u64,
}

impl RustArgs {
    fn budget(&self, seed: u64) -> Budget {
        Budget { executions: self.executions, time: self.time, seed }
    }
}

#[derive(Deserialize)]
struct Manifest {
    package: Package,
}

#[derive(Deserialize)]
struct Package {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    bug: Bug,
}

/// A known bug of a published version.
#[derive(Deserialize)]
struct Bug {
    #[serde(rename = "crate")]
    name: String,
    version: String,
    fixed: String,
    /// A version that has the fix and can still be had.
    tested: String,
    advisory: String,
    what: String,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The same crate with the version that has the fix, in a folder of its own.
fn with_fix(crate_folder: &Path, bug: &Bug, scratch: &Path) -> Result<PathBuf> {
    let manifest = std::fs::read_to_string(crate_folder.join("Cargo.toml"))?;
    let manifest = manifest.replace(&format!("\"={}\"", bug.version), &format!("\"={}\"", bug.tested));
    std::fs::create_dir_all(scratch.join("src"))?;
    std::fs::copy(crate_folder.join("src/lib.rs"), scratch.join("src/lib.rs"))?;
    std::fs::write(scratch.join("Cargo.toml"), manifest)?;
    Ok(scratch.join("Cargo.toml"))
}

/// Known bugs of published versions: found there, and gone where they are fixed.
pub fn print_bugs(args: &RustArgs) -> Result<()> {
    println!(
        "| bug | version | found as | executions, median of {} seeds | seconds | fixed in | there |",
        args.seeds
    );
    println!("|---|---|---|---|---|---|---|");
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(folder("rust-bugs"))?.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let target = tempfile::tempdir()?;
    for crate_folder in folders.iter().filter(|path| path.join("Cargo.toml").exists()) {
        let manifest = crate_folder.join("Cargo.toml");
        let bug = toml::from_str::<Manifest>(&std::fs::read_to_string(&manifest)?)?.package.metadata.bug;
        let mut found = Vec::new();
        for seed in 1..=args.seeds {
            let tests = test(&manifest, target.path(), &args.budget(seed), &[])?;
            found.extend(tests.into_iter().take(1));
        }
        found.sort_by_key(|test| test.executions);
        let missed = found.iter().filter(|test| test.status != "failed").count();
        let Some(median) = found.get(found.len() / 2) else { continue };
        let scratch = tempfile::tempdir()?;
        let fixed =
            test(&with_fix(crate_folder, &bug, scratch.path())?, target.path(), &args.budget(1), &[])?;
        let there: Vec<String> =
            fixed.iter().map(|test| format!("{} ({} executions)", test.end(), test.executions)).collect();
        println!(
            "| {}: {} | {} {} | {}{} | {} | {:.2} | {} | {} |",
            bug.advisory,
            bug.what,
            bug.name,
            bug.version,
            median.end(),
            if missed > 0 { format!(", missed by {missed}") } else { String::new() },
            median.executions,
            median.elapsed_s,
            bug.fixed,
            there.join(", ")
        );
    }
    Ok(())
}

/// Popular crates: what is right passes, what is wrong is found.
pub fn print_crates(args: &RustArgs) -> Result<()> {
    println!("| test | expected | came out | executions | seconds |\n|---|---|---|---|---|");
    let target = tempfile::tempdir()?;
    for test in test(&folder("rust-crates/Cargo.toml"), target.path(), &args.budget(1), &[])? {
        let expected = if test.name.contains("::wrong") { "failed" } else { "passed" };
        let surprise = if test.status == expected { "" } else { " (!)" };
        println!(
            "| {} | {expected} | {}{surprise} | {} | {:.2} |",
            test.name,
            test.end(),
            test.executions,
            test.elapsed_s
        );
    }
    Ok(())
}
