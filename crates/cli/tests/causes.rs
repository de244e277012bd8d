//! What failures of small programs are put down to, in `causes/`.
//!
//! Each program has one bug, and says in its first lines what a person who knows it would point at:
//! `// cause: OBJECT LINE … (LINE …)`, with `@` for a blank, `|` between names of which one is enough, and `-` for no
//! name in particular; lines in brackets may be named besides. ` | ` is between two ways to name the same bug.
//! `hunt` has to put its failure down to that, and `check` has to report it first.

mod support;

use std::path::{Path, PathBuf};

use serde_json::Value;
use support::reported::without_numbers;
use support::subject::two_at_a_time;
use support::{Desk, repository};

/// What has to be named.
#[derive(Debug)]
struct Truth {
    objects: Vec<String>,
    lines: Vec<u64>,
    others: Vec<u64>,
}

impl Truth {
    fn parse(text: &str) -> Truth {
        let (object, rest) = text.trim().split_once(' ').expect("an object and lines");
        let (lines, others) = rest.split_once('(').unwrap_or((rest, ""));
        let numbers = |text: &str| {
            let words = text.trim_end_matches(')').split_whitespace();
            words.map(|word| word.parse().expect("a line")).collect::<Vec<u64>>()
        };
        let objects = object.split('|').map(|name| name.replace('@', " ")).collect();
        Truth { objects, lines: numbers(lines), others: numbers(others) }
    }

    fn is_named_by(&self, finding: &Value) -> bool {
        let object = finding["object"].as_str().unwrap_or_default();
        let named = |name: &String| name == "-" || name == object || *name == without_numbers(object);
        let lines = lines(finding);
        self.objects.iter().any(named)
            && self.lines.iter().all(|line| lines.contains(line))
            && lines.iter().all(|line| self.lines.contains(line) || self.others.contains(line))
    }
}

fn lines(finding: &Value) -> Vec<u64> {
    let sites = finding["sites"].as_array().cloned().unwrap_or_default();
    let line = |site: &Value| site.as_str()?.rsplit(':').next()?.parse().ok();
    sites.iter().filter_map(line).collect()
}

fn run(desk: &Desk, args: &[&str]) -> Value {
    desk.run(args).json()
}

fn judge(program: &Path, truths: &[Truth]) -> Result<(), String> {
    let desk = Desk::new();
    let source = program.display().to_string();
    let hunted = run(&desk, &["hunt", &source, "--json", "-"]);
    let checked = run(&desk, &["check", &source, "--json", "-"]);
    let names_the_bug = |what: &str, finding: &Value| {
        let is_true = truths.iter().any(|truth| truth.is_named_by(finding));
        is_true.then_some(()).ok_or_else(|| format!("{what}: {finding:#}\nis not {truths:?}"))
    };
    let cause = &hunted["failure"]["cause_finding"];
    names_the_bug("hunt", cause)?;
    names_the_bug("check", &checked["findings"][0])?;
    let name = |finding: &Value| without_numbers(finding["object"].as_str().unwrap_or_default());
    let (mine, theirs) = (name(cause), name(&checked["findings"][0]));
    if mine == theirs { Ok(()) } else { Err(format!("hunt names {mine}, check names {theirs}")) }
}

#[test]
fn failures_are_put_down_to_their_bugs() {
    let folder = repository("crates/cli/tests/causes");
    let mut programs: Vec<(PathBuf, Vec<Truth>)> = std::fs::read_dir(&folder)
        .expect("a folder of programs")
        .flatten()
        .map(|entry| {
            let text = std::fs::read_to_string(entry.path()).expect("readable");
            let line = text.lines().find_map(|line| line.strip_prefix("// cause: ")).expect("a cause");
            (entry.path(), line.split(" | ").map(Truth::parse).collect())
        })
        .collect();
    programs.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(programs.len() >= 12, "{} programs", programs.len());
    let results = two_at_a_time(&programs, |program, truths| judge(program, truths));
    let problems: Vec<String> = (programs.iter().zip(results))
        .filter_map(|((program, _), result)| Some(format!("{}: {}", program.display(), result.err()?)))
        .collect();
    assert!(problems.is_empty(), "{} of {}:\n{}", problems.len(), programs.len(), problems.join("\n"));
}
