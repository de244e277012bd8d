//! Builds the runtime library, so that it can travel inside this crate.
//!
//! The library is a `cdylib` with its own profile, and Cargo cannot make one crate's dynamic
//! library a dependency of another on a stable toolchain; hence a nested build with a target
//! folder of its own, which cannot wait on the outer build's lock.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

const LIBRARY: &str = "libthreadbare_rt.so";

/// A packager's way to supply a library that was built beforehand.
const PREBUILT: &str = "THREADBARE_PREBUILT_RUNTIME";

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
    let crates = PathBuf::from(var("CARGO_MANIFEST_DIR")).join("..");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={PREBUILT}");
    for name in ["runtime", "library", "trace", "sched", "wire"] {
        println!("cargo::rerun-if-changed={}", crates.join(name).join("src").display());
        println!("cargo::rerun-if-changed={}", crates.join(name).join("Cargo.toml").display());
    }
    println!("cargo::rerun-if-changed={}", crates.join("runtime/build.rs").display());

    let library = match env::var_os(PREBUILT) {
        Some(path) => {
            // Of what is built here only the sources are watched: the library itself is newer than the start of this
            // script, and cargo would run it again.
            let library = PathBuf::from(path);
            println!("cargo::rerun-if-changed={}", library.display());
            library
        }
        None => build(&crates.join("../Cargo.toml")),
    };
    let bytes = std::fs::read(&library)
        .unwrap_or_else(|error| panic!("cannot read the runtime library {}: {error}", library.display()));
    let hash: String = Sha256::digest(&bytes)[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=THREADBARE_RUNTIME_PATH={}", library.display());
    println!("cargo::rustc-env=THREADBARE_RUNTIME_HASH={hash}");
}

fn build(manifest: &Path) -> PathBuf {
    let folder = PathBuf::from(var("OUT_DIR")).join("rt");
    let target = var("TARGET");
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
    cargo
        .args(["build", "--package", "threadbare-runtime", "--profile", "runtime", "--target", &target])
        .arg("--manifest-path")
        .arg(manifest)
        .arg("--target-dir")
        .arg(&folder);
    let status = cargo.status().unwrap_or_else(|error| panic!("cannot start cargo: {error}"));
    assert!(status.success(), "the runtime library did not build; its compiler messages are above");
    folder.join(target).join("runtime").join(LIBRARY)
}

fn var(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo did not set {name}"))
}
