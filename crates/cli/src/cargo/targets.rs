//! Which targets a crate has, asked where cargo refuses to build: a wrong name is no fault of the crate's.

use std::process::Stdio;

use serde::Deserialize;

use super::args::BuildArgs;
use super::build::{Wanted, cargo, manifest};
use super::error::CargoError;

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// The first target that is asked for by name and that there is not, if there is one.
pub(super) fn missing(args: &BuildArgs, wanted: Wanted<'_>) -> Option<CargoError> {
    let named: Vec<(&'static str, &str)> = match wanted {
        Wanted::Tests(targets) => {
            let bins = targets.bin.iter().map(|name| ("bin", name.as_str()));
            let tests = targets.test.iter().map(|name| ("test", name.as_str()));
            let examples = targets.example.iter().map(|name| ("example", name.as_str()));
            bins.chain(tests).chain(examples).collect()
        }
        Wanted::Binary(name) => name.map(|name| ("bin", name)).into_iter().collect(),
        Wanted::Example(name) => vec![("example", name)],
    };
    if named.is_empty() {
        return None;
    }
    let all = targets(args)?;
    let is_there = |kind: &str, name: &str| {
        all.iter().any(|target| target.name == name && target.kind.iter().any(|it| it == kind))
    };
    // Cargo takes patterns, too.
    let is_pattern = |name: &str| name.contains(['*', '?', '[']);
    let (kind, name) = named.into_iter().find(|(kind, name)| !is_pattern(name) && !is_there(kind, name))?;
    let mut known: Vec<String> = all
        .iter()
        .filter(|target| target.kind.iter().any(|it| it == kind))
        .map(|target| format!("`{}`", target.name))
        .collect();
    known.sort();
    let known =
        if known.is_empty() { "there is none".to_string() } else { format!("there is {}", known.join(", ")) };
    Some(CargoError::NoTarget { option: format!("--{kind}"), name: name.to_string(), known })
}

fn targets(args: &BuildArgs) -> Option<Vec<Target>> {
    let mut command = cargo();
    command.args(["metadata", "--no-deps", "--format-version", "1"]).args(manifest(args));
    let output = command.stderr(Stdio::null()).output().ok()?;
    let metadata: Metadata = serde_json::from_slice(&output.stdout).ok()?;
    Some(metadata.packages.into_iter().flat_map(|package| package.targets).collect())
}
