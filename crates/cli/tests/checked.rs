//! Small programs that `check` has to judge, right and wrong, in `checked/`.
//!
//! A faulty one says in its first lines what has to be found: `// finds: KIND OBJECT LINE …`, with `-` for no object
//! and `@` for a blank; `|` is between names of the same bug.

mod support;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use support::reported::reported;
use support::subject::Expected;
use support::{Desk, repository};

fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = repository("crates/cli/tests/checked").join(folder);
    let entries = std::fs::read_dir(&folder).expect("a folder of programs");
    let mut programs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    programs.sort();
    assert!(!programs.is_empty(), "{}", folder.display());
    programs
}

/// Checks each program, two at a time, and collects what is wrong.
fn problems(programs: &[PathBuf], judge: impl Fn(&Path) -> Result<(), String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let problems = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if let Err(why) = judge(program) {
                        let mut problems = problems.lock().expect("no thread failed");
                        problems.push(format!("{}: {why}", program.display()));
                    }
                }
            });
        }
    });
    problems.into_inner().expect("no thread failed")
}

fn check(program: &Path, seed: &str) -> Value {
    let desk = Desk::new();
    let source = program.display().to_string();
    desk.run(&["check", &source, "--seed", seed, "--no-minimise", "--json", "-"]).json()
}

fn expected(line: &str) -> Expected {
    let mut names = line.split(" | ").map(|name| {
        let mut words = name.split_whitespace();
        let kind = words.next().expect("a kind").to_string();
        let object = words.next().expect("an object").replace('@', " ");
        Expected {
            kind,
            object: if object == "-" { Vec::new() } else { vec![object] },
            lines: words.map(|line| line.parse().expect("a line")).collect(),
            alternatives: Vec::new(),
        }
    });
    let first = names.next().expect("a finding");
    Expected { alternatives: names.collect(), ..first }
}

#[test]
fn correct_programs_have_no_finding() {
    let problems = problems(&programs("correct"), |program| {
        for seed in ["1", "2"] {
            let report = check(program, seed);
            if report["verdict"] != "clean" {
                return Err(format!("seed {seed}: {:#?}", reported(&report)));
            }
        }
        Ok(())
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn faults_are_found_at_their_lines() {
    let problems = problems(&programs("faulty"), |program| {
        let text = std::fs::read_to_string(program).expect("readable");
        let wanted: Vec<Expected> =
            text.lines().filter_map(|line| line.strip_prefix("// finds: ")).map(expected).collect();
        assert!(!wanted.is_empty(), "{}", program.display());
        let all = reported(&check(program, "1"));
        match wanted.iter().find(|expected| !all.iter().any(|one| one.is(expected))) {
            Some(missing) => Err(format!("no {missing:?} in {all:#?}")),
            None => Ok(()),
        }
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
