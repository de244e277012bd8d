//! `cargo threadbare --build-std`: the standard library instrumented like everything else, where its sources are.

mod support;

use std::path::PathBuf;
use std::process::Command;

use support::{Answer, repository};

/// Whether the compiler in use comes with the sources of its library.
fn has_sources() -> bool {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().expect("a compiler");
    let sysroot = PathBuf::from(String::from_utf8(output.stdout).expect("text").trim());
    sysroot.join("lib/rustlib/src/rust/library/Cargo.lock").exists()
}

/// Building the library takes more than a minute: `cargo test --release -p threadbare --test build_std -- --ignored`.
#[test]
#[ignore = "builds the standard library; run by hand"]
fn an_instrumented_library_is_right_where_it_is_and_wrong_uses_of_it_are_found() {
    let answer: Answer = Command::new(env!("CARGO_BIN_EXE_cargo-threadbare"))
        .args(["threadbare", "test", "--build-std", "--target-dir"])
        .arg(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("build-std"))
        .args(["--executions", "60", "--time", "60", "--no-minimise", "--no-explain", "--json", "-"])
        .current_dir(repository("crates/cli/tests/fixtures/std"))
        .output()
        .expect("the tool starts")
        .into();
    if !has_sources() {
        eprintln!("without the component rust-src only the refusal of --build-std is tested");
        assert_eq!(answer.code, Some(2), "{}{}", answer.stdout, answer.stderr);
        assert!(answer.stderr.contains("rustup component add rust-src"), "{}", answer.stderr);
        return;
    }
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    let report = answer.json();
    let tests = report["tests"].as_array().expect("tests");
    let failed = |part: &str| -> Vec<&str> {
        let failed = tests.iter().filter(|test| test["status"] == "failed");
        failed.filter_map(|test| test["name"].as_str()).filter(|name| name.contains(part)).collect()
    };
    assert_eq!(failed("::right"), Vec::<&str>::new());
    for wrong in ["barrier::wrong", "condvar::wrong", "mpsc::wrong", "park::wrong", "plain_memory::wrong"] {
        assert!(failed(wrong).contains(&wrong), "{wrong} was not found: {report:#}");
    }
}
