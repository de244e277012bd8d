//! Five programs, each with a small use of its threads, hunted in and checked.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::judgements::Way;
use super::sources::must;
use super::tool::Tool;
use super::{Run, StrangerArgs};
use crate::Result;
use crate::cargo_threadbare::Budget;

/// How a program is run.
struct Use {
    /// The name of this use.
    name: String,
    arguments: Vec<String>,
}

/// The uses of a program.
fn uses(name: &str) -> Vec<Use> {
    let one = |arguments: &str| {
        let arguments = arguments.split_whitespace().map(str::to_string).collect();
        vec![Use { name: name.to_string(), arguments }]
    };
    match name {
        "xz" => one("-0 -T2 --block-size=1000 -k -c data.txt"),
        "zstd" => one("-q -f -1 -T2 -B16384 data.txt -o data.zst"),
        "libuv" => {
            let tests = include_str!("programs/libuv-tests.h").lines();
            let tests = tests.filter_map(|line| line.strip_prefix("TEST(")?.strip_suffix(')'));
            tests.map(|test| Use { name: test.to_string(), arguments: vec![test.to_string()] }).collect()
        }
        _ => one(""),
    }
}

/// A text that compresses neither well nor badly.
fn text(bytes: usize) -> String {
    let mut state = 1u32;
    let words = std::iter::from_fn(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Some(format!("{:x} ", (state >> 16) % 997))
    });
    let mut text = String::new();
    for word in words {
        if text.len() + word.len() > bytes {
            break;
        }
        text.push_str(&word);
    }
    text
}

/// Builds and runs one of them.
pub fn run(args: &StrangerArgs, tool: &Tool, name: &str, source: &Path, folder: &Path) -> Result<Vec<Run>> {
    let program: &'static str = match name {
        "xz" => "xz",
        "lmdb" => "lmdb",
        "zstd" => "zstd",
        "leveldb" => "leveldb",
        "libuv" => "libuv",
        _ => return Err(format!("nobody knows how to build {name}").into()),
    };
    let built = folder.join("programs").join(name);
    fs::create_dir_all(&built)?;
    must(
        Command::new("sh")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/strangers/c/programs/build.sh"))
            .arg(name)
            .env("CC", tool.compiler("cc"))
            .env("CXX", tool.compiler("c++"))
            .env("SOURCE", source)
            .env("OUT", &built),
    )?;
    let mut runs = Vec::new();
    for it in uses(name).iter().filter(|it| args.is_chosen(&it.name)) {
        let work = built.join("work").join(&it.name);
        fs::create_dir_all(&work)?;
        fs::write(work.join("data.txt"), text(if name == "zstd" { 40_000 } else { 2_000 }))?;
        for (verb, executions) in [("hunt", 1_000), ("check", 100)] {
            let budget = Budget {
                executions: args.executions.unwrap_or(executions),
                time: args.time.unwrap_or(60),
                seed: args.seed,
            };
            let (way, message) = tool.run(verb, &built.join(name), &it.arguments, &work, &budget, &[])?;
            let is_over = matches!(way, Way::NoThread | Way::Refused);
            runs.push(Run { program, test: format!("{verb} {}", it.name), way, message });
            if is_over {
                break;
            }
        }
    }
    Ok(runs)
}
