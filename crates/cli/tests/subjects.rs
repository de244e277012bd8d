//! Every subject gives the verdict that its `subject.toml` promises, and its failure replays.

mod support;

use std::path::Path;

use support::subject::{Subject, two_at_a_time};
use support::{Desk, repository};

/// How many executions a failing subject may take.
const HUNT: u64 = 3000;
/// How many executions a correct subject has to pass.
const PASS: u64 = 300;
/// How often a failure is replayed.
const REPLAYS: &str = "50";

/// One subject's row in the table, and what is wrong with it.
struct Row {
    text: String,
    problem: Option<String>,
}

fn try_subject(folder: &Path, subject: &Subject) -> Row {
    let desk = Desk::new();
    let source = folder.join(&subject.source).display().to_string();
    let passes = subject.expect == "pass";
    let budget = subject.executions.unwrap_or(if passes { PASS } else { HUNT }).to_string();
    let strategy = subject.strategy.as_deref().unwrap_or("auto");
    let mut args =
        vec!["hunt", &source, "--seed", "1", "--executions", &budget, "--time", "60", "--json", "-"];
    args.extend(["--jobs", "1", "--strategy", strategy]);
    let bound = subject.preemption_bound.map(|bound| bound.to_string());
    if let Some(bound) = &bound {
        args.extend(["--preemption-bound", bound]);
    }
    if subject.minimise == Some(false) {
        args.push("--no-minimise");
    }
    if !subject.args.is_empty() {
        args.push("--");
        args.extend(subject.args.iter().map(String::as_str));
    }
    let answer = desk.run(&args);
    if !matches!(answer.code, Some(0 | 1)) {
        let text = format!("{:26} {:16} could not be run", subject.name, subject.expect);
        return Row { text, problem: Some(answer.stderr) };
    }
    let report = answer.json();
    let failure = &report["failure"];
    let verdict = failure["kind"].as_str().unwrap_or("pass").to_string();
    let mut problem = None;
    if verdict != subject.expect && !subject.also.contains(&verdict) {
        problem = Some(format!("expected {}, got {verdict}: {}", subject.expect, failure["message"]));
    }
    let threads = report["threads"].as_u64();
    // A subject counts the threads it starts, and an early failure may come before the last of them.
    if let (Some(most), Some(seen)) = (subject.threads, threads)
        && seen > most + 1
    {
        problem.get_or_insert(format!("expected at most {most} threads besides main, got {seen} in all"));
    }
    let mut replayed = String::from("-");
    if let Some(schedule) = failure["schedule"].as_str() {
        let replay = desk.run(&["replay", schedule, "--times", REPLAYS, "--json", "-"]);
        let count = match replay.code {
            Some(0 | 1) => replay.json()["replay"]["reproduced"].as_u64(),
            _ => None,
        };
        replayed = count.map_or_else(|| "?".into(), |count| format!("{count}/{REPLAYS}"));
        if count.map(|count| count.to_string()).as_deref() != Some(REPLAYS) {
            problem.get_or_insert(format!("replay reproduced {replayed}; {}", replay.stderr));
        }
    }
    let text = format!(
        "{:26} {:16} {:16} {:>7} {:>10} {:>8}  {}",
        subject.name,
        subject.expect,
        verdict,
        threads.unwrap_or(0),
        report["executions"].as_u64().unwrap_or(0),
        replayed,
        failure["policy"].as_str().unwrap_or("-"),
    );
    Row { text, problem }
}

#[test]
fn every_subject_gives_its_expected_verdict_and_replays() {
    let subjects = Subject::all();
    let rows = two_at_a_time(&subjects, try_subject);
    println!(
        "{:26} {:16} {:16} {:>7} {:>10} {:>8}  policy",
        "subject", "expected", "verdict", "threads", "executions", "replays"
    );
    let mut problems = Vec::new();
    for ((_, subject), row) in subjects.iter().zip(&rows) {
        println!("{}", row.text);
        if let Some(problem) = &row.problem {
            problems.push(format!("{}: {problem}", subject.name));
        }
    }
    assert!(problems.is_empty(), "{} of {} subjects:\n{}", problems.len(), rows.len(), problems.join("\n"));
}

/// Runs every order of whole threads, and says what is wrong with them.
fn try_sequentially(folder: &Path, subject: &Subject) -> Option<String> {
    let desk = Desk::new();
    let source = folder.join(&subject.source).display().to_string();
    let mut args = vec!["hunt", &source, "--strategy", "dfs", "--preemption-bound", "0", "--jobs", "1"];
    args.extend(["--executions", "200", "--keep-going", "--no-minimise", "--json", "-"]);
    let answer = desk.run(&args);
    if !matches!(answer.code, Some(0 | 1)) {
        return Some(answer.stderr);
    }
    let report = answer.json();
    if report["exhausted"] != true {
        return Some("not every order was run".into());
    }
    // The search looks for shared memory with one random execution first, which may well fail.
    let failures = report["failures"].as_array().expect("a list of failures");
    let failure =
        failures.iter().find(|failure| failure["policy"] != "dfs (probe)" || failure["count"] != 1)?;
    Some(failure["message"].to_string())
}

#[test]
fn what_fails_only_when_threads_overlap_passes_sequentially() {
    let subjects = Subject::all();
    let chosen: Vec<_> = subjects.iter().filter(|(_, subject)| subject.passes_sequentially).collect();
    assert!(!chosen.is_empty(), "no subject says that it passes sequentially");
    let problems: Vec<String> = chosen
        .iter()
        .filter_map(|(folder, subject)| {
            try_sequentially(folder, subject).map(|problem| format!("{}: {problem}", subject.name))
        })
        .collect();
    assert!(problems.is_empty(), "{} of {} subjects:\n{}", problems.len(), chosen.len(), problems.join("\n"));
}

/// The rows of a paper's table that the subjects of a group represent, in order.
fn rows_of(group: &str) -> Vec<String> {
    let folder = repository("subjects").join(group);
    let mut rows: Vec<String> = Subject::all()
        .into_iter()
        .filter(|(path, _)| path.starts_with(&folder))
        .filter_map(|(_, subject)| subject.paper?.subject.as_str().map(str::to_string))
        .collect();
    rows.sort();
    rows
}

#[test]
fn the_papers_tables_are_complete_but_for_what_the_readme_leaves_out() {
    let mut classes: Vec<String> = (1..=20).filter(|row| *row != 6).map(|row| format!("V{row}")).collect();
    classes.sort();
    assert_eq!(rows_of("pcr"), classes);

    let programs = [
        "ArrayList1",
        "ArrayList2",
        "HashSet1",
        "HashSet2",
        "HashTable1",
        "HashTable2",
        "LinkedList1",
        "LinkedList2",
        "TreeSet1",
        "TreeSet2",
        "VFS2",
        "cache4j",
        "pool",
    ];
    assert_eq!(rows_of("tsa"), programs);
    for (folder, subject) in Subject::all() {
        if folder.starts_with(repository("subjects/tsa")) {
            assert_eq!(subject.threads, subject.paper.and_then(|paper| paper.threads), "{}", subject.name);
        }
    }
}
