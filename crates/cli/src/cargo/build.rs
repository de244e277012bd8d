//! Building a crate with cargo, instrumented, in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use threadbare_target::{RUST_TARGET, RuntimeLibrary, rust_flags};

use super::args::{BuildArgs, TargetArgs};
use super::error::CargoError;
use super::{targets, user_flags};
use crate::error::CliError;

/// What is built of a crate.
#[derive(Clone, Copy)]
pub enum Wanted<'a> {
    /// Test executables.
    Tests(&'a TargetArgs),
    /// One binary; the only one if it has no name here.
    Binary(Option<&'a str>),
    /// One example.
    Example(&'a str),
}

/// One executable that cargo built.
#[derive(Clone, Debug)]
pub struct Executable {
    /// The file.
    pub path: PathBuf,
    /// The package.
    pub package: String,
    /// The package's version.
    pub version: String,
    /// The package's folder, where cargo would run it.
    pub folder: PathBuf,
    /// Package and target in the manner of nextest: `queue`, `queue::stress`, `queue::bin/server`.
    pub id: String,
}

/// What came out of a build.
pub struct Built {
    /// The executables, in the order of their names.
    pub executables: Vec<Executable>,
    /// A library has doc tests, perhaps.
    pub has_doc_tests: bool,
}

/// A place for everything that belongs to the crate under test.
pub struct Workspace {
    folder: PathBuf,
}

#[derive(Deserialize)]
struct Metadata {
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    package_id: String,
    #[serde(default)]
    manifest_path: PathBuf,
    #[serde(default)]
    target: Target,
    #[serde(default)]
    profile: Profile,
    executable: Option<PathBuf>,
}

#[derive(Deserialize, Default)]
struct Target {
    name: String,
    kind: Vec<String>,
    #[serde(default)]
    doctest: bool,
}

#[derive(Deserialize, Default)]
struct Profile {
    test: bool,
}

pub(super) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

impl Workspace {
    /// Asks cargo where the crate's things are.
    pub fn find(args: &BuildArgs) -> Result<Workspace, CliError> {
        if let Some(folder) = &args.target_dir {
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
            return Ok(Workspace { folder: folder.join("threadbare") });
        }
        let mut command = cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        command.args(manifest(args)).stderr(Stdio::inherit());
        let output = command.output().map_err(CargoError::Start)?;
        if !output.status.success() {
            return Err(CargoError::NoCrate.into());
        }
        let metadata: Metadata = serde_json::from_slice(&output.stdout).map_err(CargoError::Answer)?;
        Ok(Workspace { folder: metadata.target_directory.join("threadbare") })
    }

    /// The folder for all that we build and find.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Builds what is wanted. Cargo says itself what it does, and what is wrong.
    pub fn build(&self, args: &BuildArgs, wanted: Wanted<'_>) -> Result<Built, CliError> {
        let library = RuntimeLibrary::unpack().map_err(CargoError::Runtime)?;
        let mut rust = rust_flags(&library);
        let mut command = cargo();
        if args.build_std {
            super::build_std::set_up(&mut command)?;
            rust.instrument_std(&library);
        }
        if args.small {
            rust.flags.extend(["--cfg", "miri"].map(Into::into));
        }
        user_flags::add(&mut command, &rust.flags);
        command.args(cargo_arguments(args, wanted));
        command.args([
            "--message-format",
            "json-render-diagnostics",
            "--target",
            RUST_TARGET,
            "--target-dir",
        ]);
        command.arg(&self.folder);
        for (name, value) in profile_settings(args) {
            command.env(name, value);
        }
        let output = command.stderr(Stdio::inherit()).output().map_err(CargoError::Start)?;
        if !output.status.success() {
            return Err(targets::missing(args, wanted).unwrap_or(CargoError::Build).into());
        }
        Ok(read(&String::from_utf8_lossy(&output.stdout), wanted))
    }
}

pub(super) fn manifest(args: &BuildArgs) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(path) = &args.manifest_path {
        words.extend(["--manifest-path".to_string(), path.display().to_string()]);
    }
    let flags = [(args.locked, "--locked"), (args.offline, "--offline"), (args.frozen, "--frozen")];
    words.extend(flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag.to_string()));
    words
}

/// Cargo's arguments, but for where and with which flags.
fn cargo_arguments(args: &BuildArgs, wanted: Wanted<'_>) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut say = |given: &[&str]| words.extend(given.iter().map(|word| word.to_string()));
    match wanted {
        Wanted::Tests(targets) => {
            say(&["test", "--no-run"]);
            let flags = [
                (targets.lib, "--lib"),
                (targets.bins, "--bins"),
                (targets.tests, "--tests"),
                (targets.examples, "--examples"),
                (targets.all_targets, "--all-targets"),
            ];
            flags.iter().filter(|(set, _)| *set).for_each(|(_, flag)| say(&[flag]));
            let named = [("--bin", &targets.bin), ("--test", &targets.test), ("--example", &targets.example)];
            named.iter().for_each(|(flag, names)| names.iter().for_each(|name| say(&[flag, name])));
        }
        Wanted::Binary(name) => {
            say(&["build"]);
            match name {
                Some(name) => say(&["--bin", name]),
                None => say(&["--bins"]),
            }
        }
        Wanted::Example(name) => say(&["build", "--example", name]),
    }
    let flags = [
        (args.workspace, "--workspace"),
        (args.all_features, "--all-features"),
        (args.no_default_features, "--no-default-features"),
        (args.release, "--release"),
    ];
    flags.iter().filter(|(set, _)| *set).for_each(|(_, flag)| say(&[flag]));
    let named = [("--package", &args.package), ("--exclude", &args.exclude), ("--features", &args.features)];
    named.iter().for_each(|(flag, names)| names.iter().for_each(|name| say(&[flag, name])));
    args.profile.iter().for_each(|name| say(&["--profile", name]));
    words.extend(manifest(args));
    words
}

/// Source lines are needed whatever the profile says, and across a whole-program optimization neither accesses nor the
/// standard library's locks are found again.
fn profile_settings(args: &BuildArgs) -> Vec<(String, &'static str)> {
    let profile = match (&args.profile, args.release) {
        (Some(profile), _) => profile.as_str(),
        (None, true) => "release",
        (None, false) => "dev",
    };
    let profile = profile.to_uppercase().replace('-', "_");
    [("DEBUG", "full"), ("STRIP", "none"), ("LTO", "off"), ("SPLIT_DEBUGINFO", "off")]
        .map(|(name, value)| (format!("CARGO_PROFILE_{profile}_{name}"), value))
        .to_vec()
}

/// The executables in cargo's messages.
fn read(messages: &str, wanted: Wanted<'_>) -> Built {
    let mut built = Built { executables: Vec::new(), has_doc_tests: false };
    // What a test itself prints, or a build script, is no message.
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    for message in messages.filter(|message| message.reason == "compiler-artifact") {
        let is_local = message.package_id.starts_with("path+");
        built.has_doc_tests |= is_local && message.target.doctest;
        let is_wanted = message.profile.test == matches!(wanted, Wanted::Tests(_));
        if let Some(path) = message.executable.filter(|_| is_wanted) {
            let (package, version) = package(&message.package_id);
            let folder = message.manifest_path.parent().unwrap_or(Path::new(".")).to_path_buf();
            let id = identity(&package, &message.target);
            built.executables.push(Executable { path, package, version, folder, id });
        }
    }
    built.executables.sort_by(|a, b| a.id.cmp(&b.id));
    built
}

/// Name and version out of `path+file:///folder/name#1.0.0` or `path+file:///folder#name@1.0.0`.
fn package(id: &str) -> (String, String) {
    let (place, rest) = id.rsplit_once('#').unwrap_or(("", id));
    match rest.split_once('@') {
        Some((name, version)) => (name.to_string(), version.to_string()),
        None => (place.rsplit('/').next().unwrap_or_default().to_string(), rest.to_string()),
    }
}

fn identity(package: &str, target: &Target) -> String {
    let is = |kind: &str| target.kind.iter().any(|it| it == kind);
    match () {
        () if is("test") => format!("{package}::{}", target.name),
        () if is("bin") => format!("{package}::bin/{}", target.name),
        () if is("example") => format!("{package}::example/{}", target.name),
        () if is("bench") => format!("{package}::bench/{}", target.name),
        () => package.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_in_both_ways_that_cargo_names_them() {
        let named = |name: &str, version: &str| (name.to_string(), version.to_string());
        assert_eq!(package("path+file:///home/me/queue#0.1.0"), named("queue", "0.1.0"));
        assert_eq!(package("path+file:///home/me/folder#queue@0.1.0"), named("queue", "0.1.0"));
    }

    #[test]
    fn only_test_executables_are_taken_and_named_by_what_they_test() {
        let messages = r#"{"reason":"compiler-artifact","package_id":"path+file:///q#0.1.0","manifest_path":"/q/Cargo.toml","target":{"kind":["lib"],"name":"q","doctest":true},"profile":{"test":false},"executable":null}
not a message
{"reason":"compiler-artifact","package_id":"path+file:///q#0.1.0","manifest_path":"/q/Cargo.toml","target":{"kind":["test"],"name":"stress","doctest":false},"profile":{"test":true},"executable":"/q/t/stress-1"}
{"reason":"compiler-artifact","package_id":"path+file:///q#0.1.0","manifest_path":"/q/Cargo.toml","target":{"kind":["lib"],"name":"q","doctest":true},"profile":{"test":true},"executable":"/q/t/q-2"}
{"reason":"build-finished","success":true}"#;
        let built = read(messages, Wanted::Tests(&TargetArgs::default()));
        let found: Vec<_> =
            built.executables.iter().map(|it| (it.id.as_str(), it.folder.as_path())).collect();
        assert_eq!(found, [("q", Path::new("/q")), ("q::stress", Path::new("/q"))]);
        assert!(built.has_doc_tests);
    }
}
