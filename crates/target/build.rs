//! Builds the runtime library, so that it can travel inside this crate.
//!
//! The library is a `cdylib` with its own profile, and Cargo cannot make one crate's dynamic
//! library a dependency of another on a stable toolchain; hence a nested build with a target
//! folder of its own, which cannot wait on the outer build's lock.
//!
//! The folder `runtime` leads to the sources by links, which `cargo package` follows: this crate's package carries
//! them, and builds far from the repository as it does in it. There is one way for both. Manifests have other names
//! there, since a folder with a `Cargo.toml` is a package of its own and would be left out; this script puts
//! them together as a workspace again.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

const LIBRARY: &str = "libthreadbare_rt.so";

/// A packager's way to supply a library that was built beforehand.
const PREBUILT: &str = "THREADBARE_PREBUILT_RUNTIME";

/// The runtime and the crates that it needs, by their folders.
const CRATES: [&str; 5] = ["runtime", "library", "trace", "sched", "wire"];

/// Cargo's variables that say how to reach the network and registries, or how to share jobs.
/// All others describe the outer build and would leak its features, flags or folders.
const KEPT: &[&str] = &[
    "CARGO_HOME",
    "CARGO_HTTP_",
    "CARGO_MAKEFLAGS",
    "CARGO_NET_",
    "CARGO_REGISTRIES_",
    "CARGO_REGISTRY_",
    "CARGO_SOURCE_",
    "CARGO_TERM_",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={PREBUILT}");
    let library = match env::var_os(PREBUILT) {
        Some(path) => {
            // Of what is built here only the sources are watched: the library itself is newer than the start of this
            // script, and cargo would run it again.
            let library = PathBuf::from(path);
            println!("cargo::rerun-if-changed={}", library.display());
            library
        }
        None => build(&PathBuf::from(var("CARGO_MANIFEST_DIR")).join("runtime")),
    };
    let bytes = fs::read(&library)
        .unwrap_or_else(|error| panic!("cannot read the runtime library {}: {error}", library.display()));
    let hash: String = Sha256::digest(&bytes)[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=THREADBARE_RUNTIME_PATH={}", library.display());
    println!("cargo::rustc-env=THREADBARE_RUNTIME_HASH={hash}");
}

fn build(sources: &Path) -> PathBuf {
    let out = PathBuf::from(var("OUT_DIR"));
    let (workspace, folder, target) = (out.join("workspace"), out.join("rt"), var("TARGET"));
    let manifest = workspace.join("Cargo.toml");
    lay_out(sources, &workspace).unwrap_or_else(|error| {
        panic!("cannot lay out the runtime's sources in {}: {error}", workspace.display())
    });
    lock(&sources.join("workspace.lock"), &manifest, &target);
    let mut cargo = cargo("build", &manifest);
    cargo
        .args(["--frozen", "--package", "threadbare-runtime", "--profile", "runtime", "--target", &target])
        .arg("--target-dir")
        .arg(&folder);
    let status = cargo.status().unwrap_or_else(|error| panic!("cannot start cargo: {error}"));
    assert!(status.success(), "the runtime library did not build; its compiler messages are above");
    folder.join(target).join("runtime").join(LIBRARY)
}

/// Makes a workspace of the runtime and what it needs, in the folders that they have in the repository.
fn lay_out(sources: &Path, workspace: &Path) -> io::Result<()> {
    let manifest = read(&sources.join("workspace.toml"))?;
    write(&workspace.join("Cargo.toml"), &with_other_members(&manifest))?;
    for name in CRATES {
        let (from, to) = (sources.join(name), workspace.join("crates").join(name));
        write(&to.join("Cargo.toml"), &without_tests(&read(&from.join("manifest.toml"))?))?;
        link(&from.join("src"), &to.join("src"))?;
    }
    for file in ["build.rs", "hot_code.ld"] {
        link(&sources.join("runtime").join(file), &workspace.join("crates/runtime").join(file))?;
    }
    Ok(())
}

/// The workspace's manifest for those members that are there.
fn with_other_members(manifest: &str) -> String {
    let line = |line: &str| match line.split(['=', ' ']).next() {
        Some("members") => "members = [\"crates/*\"]\n".to_string(),
        Some("default-members") => String::new(),
        _ => format!("{line}\n"),
    };
    manifest.lines().map(line).collect()
}

/// A manifest without what only tests need: it would have to be resolved as well, and nobody has downloaded it.
fn without_tests(manifest: &str) -> String {
    let mut in_tests = false;
    let of_the_library = |line: &&str| {
        if line.starts_with('[') {
            in_tests = line.starts_with("[dev-dependencies");
        }
        !in_tests
    };
    manifest.lines().filter(of_the_library).flat_map(|line| [line, "\n"]).collect()
}

/// Decides which versions of other crates are used, and has them at hand: by preference those that the tool is
/// tested with, or else what the outer build has downloaded, so that an installation without network works.
fn lock(known: &Path, manifest: &Path, target: &str) {
    let file = manifest.with_file_name("Cargo.lock");
    let mut message = String::new();
    for (by_known, offline) in [(true, true), (false, true), (true, false)] {
        let prepared = match by_known {
            true => read(known).and_then(|text| fs::write(&file, text)),
            false => fs::remove_file(&file),
        };
        prepared.unwrap_or_else(|error| panic!("cannot write {}: {error}", file.display()));
        let mut cargo = cargo("fetch", manifest);
        cargo.args(["--target", target]).args(offline.then_some("--offline"));
        let output = cargo.output().unwrap_or_else(|error| panic!("cannot start cargo: {error}"));
        if output.status.success() {
            return;
        }
        message = String::from_utf8_lossy(&output.stderr).into_owned();
    }
    panic!("what the runtime library depends on cannot be had:\n{message}");
}

/// A cargo that does not know of the outer build.
fn cargo(command: &str, manifest: &Path) -> Command {
    let mut cargo = Command::new(var("CARGO"));
    for (name, _) in env::vars_os() {
        let Some(name) = name.to_str() else { continue };
        let outer = name.starts_with("CARGO_") && !KEPT.iter().any(|kept| name.starts_with(kept));
        if outer && !name.ends_with("_LINKER") {
            cargo.env_remove(name);
        }
    }
    // Wrappers come from linters and caches of the outer build.
    for name in ["RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_LINKER"] {
        cargo.env_remove(name);
    }
    cargo.arg(command).arg("--manifest-path").arg(manifest);
    cargo
}

/// Reads a file that the library is made of, and has it watched.
fn read(path: &Path) -> io::Result<String> {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Writes a file unless it is there: what has not changed is not built again.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|present| present == text) {
        return Ok(());
    }
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, text)
}

/// Has the sources appear at another place, and watches them.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", from.display());
    if fs::read_link(to).is_ok_and(|present| present == from) {
        return Ok(());
    }
    match fs::remove_file(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => symlink(from, to),
    }
}

fn var(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo did not set {name}"))
}
