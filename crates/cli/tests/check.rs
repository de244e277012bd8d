//! What `check` says of programs whose faults are known, and of those that have none.

mod support;

use serde_json::Value;
use support::{Desk, repository, without_times};

fn check(desk: &Desk, program: &str, more: &[&str]) -> Value {
    let source = repository(program).display().to_string();
    let mut args = vec!["check", &source, "--json", "-", "--quiet"];
    args.extend(more);
    let answer = desk.run(&args);
    let report = answer.json();
    let clean = report["verdict"] == "clean";
    assert_eq!(answer.code, Some(if clean { 0 } else { 1 }), "{program}: {}", answer.stderr);
    report
}

/// The findings of a kind, as object and places.
fn findings(report: &Value, kind: &str) -> Vec<(String, Vec<String>, bool)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let all = report["findings"].as_array().expect("a list");
    all.iter()
        .filter(|finding| finding["kind"] == kind)
        .map(|finding| {
            let sites = finding["sites"].as_array().expect("a list").iter().map(text).collect();
            (text(&finding["object"]), sites, finding["confirmed"] == true)
        })
        .collect()
}

#[test]
fn faults_are_named_at_the_right_lines() {
    let desk = Desk::new();
    for (program, kind, object, sites) in [
        ("examples/lost_update.c", "race", "counter", &["lost_update.c:15"][..]),
        ("examples/lost_update.c", "atomicity", "counter", &["lost_update.c:15"]),
        ("examples/deadlock.c", "deadlock", "left.lock", &["deadlock.c:20", "deadlock.c:21"]),
        (
            "examples/bank_transfer.cpp",
            "atomicity",
            "savings.balance_ (in main)",
            &["bank_transfer.cpp:17", "bank_transfer.cpp:23"],
        ),
        ("crates/cli/tests/checked/faulty/no_common_lock.c", "lock-discipline", "balance", &[]),
        ("subjects/ars/reorder/reorder.c", "race", "a", &["reorder.c:17", "reorder.c:25"]),
    ] {
        let report = check(&desk, program, &[]);
        let found = findings(&report, kind);
        let fits = found.iter().any(|(what, places, _)| {
            what == object && (sites.is_empty() || places.iter().all(|place| sites.contains(&place.as_str())))
        });
        assert!(fits, "{program}: no {kind} on {object} at {sites:?} in {found:?}");
    }
}

#[test]
fn a_quiet_check_says_each_finding_in_a_line() {
    let desk = Desk::new();
    let source = repository("examples/lost_update.c").display().to_string();
    let answer = desk.run(&["check", &source, "--quiet"]);
    let lines: Vec<&str> = answer.stdout.lines().collect();
    let (last, headlines) = lines.split_last().expect("a line");
    assert!(last.contains("finding") && last.contains("executions"), "{}", answer.stdout);
    let is_headline = |line: &&str| line.starts_with(char::is_alphabetic) && !line.contains("replay");
    assert!(!headlines.is_empty() && headlines.iter().all(is_headline), "{}", answer.stdout);
}

#[test]
fn correct_programs_get_no_finding_at_all() {
    let desk = Desk::new();
    for program in [
        "examples/bounded_queue.c",
        "subjects/extra/mutex_counter/mutex_counter.c",
        "subjects/extra/rwlock_pair/rwlock_pair.c",
        "subjects/extra/condvar_queue/condvar_queue.cpp",
        "subjects/extra/barrier_phases/barrier_phases.c",
        "subjects/extra/semaphore_pool/semaphore_pool.c",
        "subjects/extra/once_init/once_init.c",
        "subjects/extra/atomic_counter/atomic_counter.c",
        "subjects/extra/atomic_publish/atomic_publish.c",
    ] {
        let report = check(&desk, program, &[]);
        assert_eq!(report["verdict"], "clean", "{program}: {}", report["findings"]);
    }
}

#[test]
fn a_confirmed_finding_replays_and_a_known_one_is_silent() {
    let desk = Desk::new();
    let report = check(&desk, "examples/lost_update.c", &[]);
    let all = report["findings"].as_array().expect("a list");
    let confirmed = all.iter().find(|finding| finding["confirmed"] == true).expect("a confirmed finding");
    let schedule = confirmed["schedule"].as_str().expect("its schedule");
    let replay = desk.run(&["replay", schedule, "--times", "5", "--json", "-"]);
    assert_eq!(replay.json()["replay"]["diverged_at"], Value::Null);

    let rules = desk.file("known.txt", "* counter\n");
    let silent = check(&desk, "examples/lost_update.c", &["--suppressions", &rules.display().to_string()]);
    assert_eq!(silent["findings"].as_array().map(Vec::len), Some(0), "{}", silent["findings"]);

    let rules = desk.file("broken.txt", "counter\n");
    let source = repository("examples/lost_update.c").display().to_string();
    let answer = desk.run(&["check", &source, "--suppressions", &rules.display().to_string()]);
    assert_eq!((answer.code, answer.stderr.lines().count()), (Some(2), 1), "{}", answer.stderr);
}

#[test]
fn the_schedule_of_a_harmless_race_shows_the_race_again() {
    let desk = Desk::new();
    for program in ["bitfield.c", "unlocked_flag.cpp"] {
        let report = check(&desk, &format!("crates/cli/tests/checked/faulty/{program}"), &[]);
        let all = report["findings"].as_array().expect("a list");
        let race = all.iter().find(|finding| finding["kind"] == "race").expect("a race");
        let schedule = race["schedule"].as_str().expect("its schedule");
        let replay = desk.run(&["replay", schedule, "--times", "3", "--json", "-"]);
        assert_eq!(replay.code, Some(1), "{program}");
        let replayed = replay.json();
        assert_eq!(replayed["verdict"], "findings", "{program}");
        assert_eq!(replayed["replay"]["reproduced"], 3, "{program}");
        for part in ["kind", "object", "sites", "message"] {
            assert_eq!(replayed["findings"][0][part], race[part], "{program}: {part}");
        }
        let shown = desk.run(&["replay", schedule]).stdout;
        assert_eq!(shown.lines().filter(|line| line.contains("  ● ")).count(), 2, "{shown}");
        assert!(shown.contains("showed again"), "{shown}");

        let text = std::fs::read_to_string(desk.path(schedule)).expect("readable");
        let line = text.lines().find(|line| line.starts_with("shows ")).expect("what it shows");
        let other = text.replace(line, "shows race by T1 op 999, T0 op 1: they met");
        let other = desk.file("other.schedule", other);
        let replay = desk.run(&["replay", &other.display().to_string()]);
        assert_eq!(replay.code, Some(0), "{program}");
        assert!(replay.stdout.contains("that they met, did not show again"), "{}", replay.stdout);
    }
}

#[test]
fn a_comment_in_the_source_silences_its_line() {
    let desk = Desk::new();
    let text = std::fs::read_to_string(repository("examples/lost_update.c")).expect("readable");
    let quiet =
        text.replace("counter = counter + 1;", "counter = counter + 1; /* threadbare: ignore(race) */");
    let source = desk.file("quiet.c", quiet).display().to_string();
    let answer = desk.run(&["check", &source, "--json", "-", "--quiet"]);
    let report = answer.json();
    assert!(findings(&report, "race").is_empty(), "{}", report["findings"]);
    assert!(!findings(&report, "atomicity").is_empty(), "{}", report["findings"]);
}

#[test]
fn the_number_of_jobs_changes_nothing_but_time() {
    for (program, more) in [
        ("examples/lost_update.c", &["--coverage", "map"][..]),
        ("examples/deadlock.c", &[]),
        ("examples/bank_transfer.cpp", &[]),
        ("examples/bounded_queue.c", &["--strategy", "pos"]),
        ("subjects/ars/reorder/reorder.c", &["--strategy", "random", "--seed", "7"]),
    ] {
        // Each in a folder of its own, so that files have the same names.
        let report = |jobs: &str| {
            let args = [more, &["--jobs", jobs, "--no-minimise"]].concat();
            without_times(check(&Desk::new(), program, &args))
        };
        let one = report("1");
        assert_eq!(report("2"), one, "{program}");
        assert_eq!(report("5"), one, "{program}");
    }
}
