//! The tool installed from its packages alone, without the repository around them.
//!
//! This compiles everything in release, which takes minutes, so it is run by hand, and by who publishes:
//!
//!     cargo test --release -p threadbare --test installed -- --ignored

mod support;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Answer, Desk, repository};

/// What is never published: the figures, and the runtime, whose sources travel with `threadbare-target`.
const UNPUBLISHED: [&str; 2] = ["threadbare-bench", "threadbare-runtime"];

/// What the stripped tool may weigh. With debug information it was 79 MB; without it is 19, of which the runtime library
/// with its line tables is 5.
const MOST_BYTES: u64 = 25_000_000;

/// Runs a command to its end, which has to be a success.
fn done(command: &mut Command) {
    let answer: Answer = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}")).into();
    assert_eq!(answer.code, Some(0), "{command:?}\n{}{}", answer.stdout, answer.stderr);
}

/// Packs what is published, and returns the packages.
fn packages(folder: &Path) -> Vec<PathBuf> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["package", "--workspace", "--no-verify", "--allow-dirty", "--target-dir"]).arg(folder);
    for name in UNPUBLISHED {
        cargo.args(["--exclude", name]);
    }
    done(cargo.current_dir(repository("")));
    let entries = std::fs::read_dir(folder.join("package")).expect("packages");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "crate")).collect()
}

/// Unpacks packages beside each other, and has cargo find them there instead of at the registry.
fn unpack(packages: &[PathBuf], desk: &Desk) {
    let mut config = "[patch.crates-io]\n".to_string();
    for package in packages {
        done(Command::new("tar").arg("-xzf").arg(package).arg("-C").arg(desk.path("")));
        let folder = package.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let (name, _version) = folder.rsplit_once('-').expect("a version");
        if name != "threadbare" {
            writeln!(config, "{name} = {{ path = \"{folder}\" }}").expect("text");
        }
    }
    std::fs::create_dir(desk.path(".cargo")).expect("a folder");
    desk.file(".cargo/config.toml", config);
}

#[test]
#[ignore = "compiles the tool in release"]
fn the_tool_installed_from_its_packages_finds_a_bug_in_another_folder() {
    let version = env!("CARGO_PKG_VERSION");
    let (packed, unpacked, installed) = (Desk::new(), Desk::new(), Desk::new());
    unpack(&packages(&packed.path("")), &unpacked);
    done(
        Command::new(env!("CARGO"))
            .args(["install", "--offline", "--path", &format!("threadbare-{version}"), "--root"])
            .arg(installed.path(""))
            .arg("--target-dir")
            .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed"))
            .env_remove("THREADBARE_PREBUILT_RUNTIME")
            .current_dir(unpacked.path("")),
    );
    drop((packed, unpacked));

    let tool = installed.path("bin/threadbare");
    let size = tool.metadata().expect("the tool").len();
    println!("{size} bytes");
    assert!(size < MOST_BYTES, "{size} bytes");
    assert!(installed.path("bin/cargo-threadbare").exists());

    let desk = Desk::new();
    std::fs::copy(repository("examples/lost_update.c"), desk.path("lost_update.c")).expect("an example");
    let answer: Answer = Command::new(tool)
        .args(["hunt", "lost_update.c", "--json", "-"])
        .env("XDG_CACHE_HOME", desk.path("cache"))
        .current_dir(desk.path(""))
        .output()
        .expect("the tool starts")
        .into();
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    assert_eq!(answer.json()["failure"]["kind"], "assertion", "{}", answer.stdout);
}
