//! Programs built by other Rust compilers than the one in use: the functions of their standard libraries are found, or it
//! is said loudly which are not.
//!
//! Compilers are taken from `/usr/bin/rustc` and from `THREADBARE_OTHER_RUSTC`, a list of paths with colons between. Debian has
//! some: `apt install rustc`, or `rustc-web` for a newer one. Where there is none, nothing is tested.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Answer, Desk};

/// The first minor version of Rust 1 in whose library all functions have a stub.
const FIRST_COMPLETE: u32 = 82;

/// The notification may come after the look at the flag and before the wait. Where `Condvar::wait` has no stub these are
/// one step, and the program never fails.
const MISSED: &str = "
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
fn main() {
    let shared = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
    let other = Arc::clone(&shared);
    let thread = std::thread::spawn(move || {
        other.0.store(true, Ordering::SeqCst);
        other.2.notify_one();
    });
    let guard = shared.1.lock().unwrap();
    if !shared.0.load(Ordering::SeqCst) {
        drop(shared.2.wait(guard).unwrap());
    }
    thread.join().unwrap();
}
";

/// Most of what a library has a stub for, rightly used.
const RIGHT: &str = "
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock};
fn main() {
    static ONCE: Once = Once::new();
    let shared = Arc::new((Mutex::new(0), Condvar::new(), RwLock::new(0), Barrier::new(2)));
    let other = Arc::clone(&shared);
    let main = std::thread::current();
    let thread = std::thread::spawn(move || {
        ONCE.call_once(|| ());
        *other.2.write().unwrap() += 1;
        *other.0.lock().unwrap() += 1;
        other.1.notify_one();
        other.3.wait();
        main.unpark();
    });
    ONCE.call_once(|| ());
    let mut guard = shared.0.lock().unwrap();
    while *guard == 0 {
        guard = shared.1.wait(guard).unwrap();
    }
    drop(guard);
    assert!(*shared.2.read().unwrap() == 1);
    shared.3.wait();
    std::thread::park();
    thread.join().unwrap();
}
";

fn version(compiler: &Path) -> Option<String> {
    let output = Command::new(compiler).arg("--version").output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_string())
}

/// The compilers of this machine that are of another version than the one in use, with their versions.
fn others() -> Vec<(PathBuf, String)> {
    let in_use = version(Path::new("rustc"));
    let named = std::env::var_os("THREADBARE_OTHER_RUSTC").unwrap_or_default();
    let paths = std::env::split_paths(&named).chain([PathBuf::from("/usr/bin/rustc")]);
    let known = paths.filter_map(|path| version(&path).map(|version| (path, version)));
    let others: Vec<_> = known.filter(|(_, version)| in_use.as_ref() != Some(version)).collect();
    if others.is_empty() {
        eprintln!(
            "skipped: there is no second Rust compiler; `apt install rustc-web`, or THREADBARE_OTHER_RUSTC=PATH"
        );
    }
    others
}

fn hunt(compiler: &Path, program: &str) -> Answer {
    let desk = Desk::new();
    desk.file("program.rs", program);
    let args = ["hunt", "program.rs", "--executions", "500", "--no-minimise", "--json", "-"];
    desk.command(&args).env("RUSTC", compiler).output().expect("the tool starts").into()
}

/// What the tool said is missing: nothing, or what it warns of, with the version of the compiler.
fn missing(answer: &Answer, version: &str) -> String {
    let warnings = answer.json()["warnings"].to_string();
    if warnings == "[]" {
        return String::new();
    }
    assert!(warnings.contains(version) && answer.stderr.contains(version), "{version}: {warnings}");
    warnings
}

#[test]
fn a_library_of_another_compiler_has_its_stubs_or_is_said_to_lack_them() {
    for (compiler, version) in others() {
        let minor: u32 = version.split('.').nth(1).and_then(|minor| minor.parse().ok()).expect("a version");
        let wrong = hunt(&compiler, MISSED);
        let missing = missing(&wrong, &version);
        println!("{version}: {}", if missing.is_empty() { "all stubs" } else { &missing });
        if minor >= FIRST_COMPLETE {
            assert_eq!(missing, "", "{version}");
        }
        let is_found = wrong.json()["failure"]["kind"] == "deadlock";
        assert!(is_found || missing.contains("Condvar::wait"), "{version}: {}{}", wrong.stdout, wrong.stderr);

        let right = hunt(&compiler, RIGHT);
        assert_eq!(right.code, Some(0), "{version}: {}{}", right.stdout, right.stderr);
        assert!(right.json()["steps"].as_u64().is_some_and(|steps| steps > 0), "{version}: {}", right.stdout);
    }
}
