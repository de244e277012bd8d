//! Why a crate's tests could not be run.

use std::io;
use std::path::PathBuf;

use threadbare_target::UnpackError;

/// Why a crate's tests could not be run.
#[derive(Debug, thiserror::Error)]
pub enum CargoError {
    /// There is no cargo.
    #[error("`cargo` could not be started: {0}; install Rust, or set CARGO")]
    Start(io::Error),
    /// There is no compiler.
    #[error("`rustc` could not be started; install Rust, or set RUSTC")]
    NoCompiler,
    /// Cargo finds no crate, and has said so.
    #[error("there is no crate to build here; go to its folder, or name it with --manifest-path")]
    NoCrate,
    /// Cargo's answer cannot be read.
    #[error("cargo's answer cannot be read: {0}; use a cargo that knows --format-version 1")]
    Answer(serde_json::Error),
    /// The crate does not build, and cargo has said why.
    #[error("the crate does not build; fix what cargo says above")]
    Build,
    /// There is no target of this name.
    #[error("`{option} {name}` names nothing that the crate has: {known}")]
    NoTarget {
        /// The option.
        option: String,
        /// What it was given.
        name: String,
        /// What it could have been given.
        known: String,
    },
    /// The sources of the standard library are not installed.
    #[error(
        "--build-std needs the sources of the standard library, and there are none (`{}` is missing); \
         install them with `rustup component add rust-src`, or leave --build-std out",
        place.display()
    )]
    NoStdSources {
        /// What was looked for.
        place: PathBuf,
    },
    /// The runtime library is not available.
    #[error(transparent)]
    Runtime(UnpackError),
    /// A test executable cannot say which tests it has.
    #[error(
        "`{id}` does not list its tests ({what}); a harness of its own has to understand \
         `--list --format terse`, as libtest does"
    )]
    List {
        /// The executable.
        id: String,
        /// What it said.
        what: String,
    },
    /// There is no such test.
    #[error("no test was selected; check the filter, or list the tests with --list")]
    NoTests,
    /// No test has more than one thread.
    #[error("no test starts a thread of its own, so no interleaving was tried")]
    NothingExplored,
    /// There is no binary, or more than one.
    #[error("{0}; name one with --bin or --example")]
    Binary(String),
}
