//! Our compiler flags beside those that the user has set, wherever cargo takes these from.
//!
//! Cargo takes flags from one place only: an environment variable, else the target's table of its configuration, else
//! `build.rustflags`. Ours must not hide the user's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use threadbare_target::RUST_TARGET;

const ENCODED: &str = "CARGO_ENCODED_RUSTFLAGS";
const PLAIN: &str = "RUSTFLAGS";
/// Separates encoded flags, which may have spaces in them.
const SEPARATOR: &str = "\u{1f}";

/// Makes cargo compile with our flags, and with the user's.
pub fn add(command: &mut Command, ours: &[OsString]) {
    let ours: Vec<String> = ours.iter().map(|flag| flag.to_string_lossy().into_owned()).collect();
    if let Some(flags) = of_environment() {
        let all: Vec<String> = flags.into_iter().chain(ours).collect();
        command.env(ENCODED, all.join(SEPARATOR));
        return;
    }
    // Cargo joins this with what its files have for the target, and then leaves `build.rustflags` out.
    let folder = std::env::current_dir().unwrap_or_default();
    let mut all = of_build(&configurations(&folder));
    all.extend(ours);
    let list = toml::Value::Array(all.into_iter().map(toml::Value::String).collect());
    command.arg("--config").arg(format!("target.{RUST_TARGET}.rustflags={list}"));
}

fn of_environment() -> Option<Vec<String>> {
    if let Ok(encoded) = std::env::var(ENCODED) {
        let flags = encoded.split(SEPARATOR).filter(|flag| !flag.is_empty());
        return Some(flags.map(str::to_string).collect());
    }
    let plain = std::env::var(PLAIN).ok()?;
    Some(plain.split_whitespace().map(str::to_string).collect())
}

/// The configuration files that cargo reads in this folder, the most important one first.
fn configurations(folder: &Path) -> Vec<toml::Table> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let folders = folder.ancestors().map(|folder| folder.join(".cargo")).chain(home);
    let read = |folder: PathBuf| {
        let text =
            ["config", "config.toml"].iter().find_map(|name| std::fs::read_to_string(folder.join(name)).ok());
        text?.parse().ok()
    };
    folders.filter_map(read).collect()
}

/// What `build.rustflags` says, where the target's table says nothing.
fn of_build(configurations: &[toml::Table]) -> Vec<String> {
    let flags = |table: &toml::Table, path: [&str; 2]| {
        let list = table.get(path[0])?.get(path[1])?;
        let list = match list {
            toml::Value::Array(list) => {
                list.iter().filter_map(|flag| flag.as_str()).map(str::to_string).collect()
            }
            toml::Value::String(text) => text.split_whitespace().map(str::to_string).collect(),
            _ => Vec::new(),
        };
        Some(list)
    };
    let of_target = |table: &toml::Table| {
        let table = table.get("target").and_then(|target| target.get(RUST_TARGET));
        table.is_some_and(|table| table.get("rustflags").is_some())
    };
    if configurations.iter().any(of_target) {
        return Vec::new();
    }
    // Cargo joins lists, with those of the more important file last.
    configurations.iter().rev().filter_map(|table| flags(table, ["build", "rustflags"])).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(texts: &[&str]) -> Vec<toml::Table> {
        texts.iter().map(|text| text.parse().expect("TOML")).collect()
    }

    #[test]
    fn flags_of_all_files_count() {
        let files = parse(&[
            "[build]\nrustflags = [\"--cfg\", \"near\"]",
            "[build]\nrustflags = \"-Cfar -Cfarther\"",
        ]);
        assert_eq!(of_build(&files), ["-Cfar", "-Cfarther", "--cfg", "near"]);
    }

    #[test]
    fn the_targets_own_flags_leave_out_those_of_builds() {
        let target = format!("[target.{RUST_TARGET}]\nrustflags = [\"-Cmine\"]");
        let files = parse(&["[build]\nrustflags = [\"-Cother\"]", &target]);
        assert_eq!(of_build(&files), Vec::<String>::new());
    }
}
