//! `suite` on a small program: what is selected, what is found, what is kept, and what does not stop it.

mod support;

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::Value;
use support::{Answer, Desk};

/// Its arguments name what its threads do.
const PROGRAM: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int plain, other, guarded, checked;
void add(void) { plain = plain + 1; }
void take(void) { other = other - 1; }
void check(void) { checked = checked + 1; }
void safely(void) {
    pthread_mutex_lock(&lock);
    guarded = guarded + 1;
    pthread_mutex_unlock(&lock);
}
void *adds(void *unused) { add(); safely(); return unused; }
void *takes(void *unused) { take(); safely(); return unused; }
void *checks(void *unused) { check(); safely(); return unused; }
void *crashes(void *unused) { abort(); return unused; }
pthread_cond_t never;
void *leaves(void *unused) { pthread_mutex_lock(&lock); pthread_cond_wait(&never, &lock); return unused; }
void *hangs(void *unused) { for (;;) {} return unused; }
int main(int count, char **words) {
    pthread_t threads[8];
    for (int i = 1; i < count; i++) {
        void *(*routine)(void *) = !strcmp(words[i], "add") ? adds : !strcmp(words[i], "take") ? takes
            : !strcmp(words[i], "check") ? checks : !strcmp(words[i], "crash") ? crashes
            : !strcmp(words[i], "leave") ? leaves : hangs;
        pthread_create(&threads[i - 1], 0, routine, 0);
    }
    for (int i = 1; i < count; i++) pthread_join(threads[i - 1], 0);
    char expected[16] = "";
    if (getenv("STRICT") && fgets(expected, sizeof expected, stdin)) assert(plain == atoi(expected));
    return 0;
}
"#;

const SUITE: &str = r#"
program = "program.c"

[[input]]
name = "adds"
args = ["add", "add"]

[[input]]
name = "takes"
args = ["take", "take"]

[[input]]
name = "mixed"
args = ["add", "add", "take", "take"]

[[input]]
name = "alone"
"#;

/// A folder with the program and a suite.
fn desk(suite: &str) -> Desk {
    let desk = Desk::new();
    desk.file("program.c", PROGRAM);
    desk.file("suite.toml", suite);
    desk
}

fn suite(desk: &Desk, more: &[&str]) -> Answer {
    let mut args = vec!["suite", "suite.toml"];
    args.extend(more);
    desk.run(&args)
}

fn json(desk: &Desk, more: &[&str]) -> Value {
    let mut args = more.to_vec();
    args.extend(["--json", "-"]);
    let answer = suite(desk, &args);
    assert!(matches!(answer.code, Some(0 | 1)), "{}", answer.stderr);
    let report = answer.json();
    counts_are_those_of_the_list(&report);
    report
}

/// The table says of each input how many of the reported findings it shows, and the list says the same.
fn counts_are_those_of_the_list(report: &Value) {
    let findings = report["findings"].as_array().expect("a list");
    for input in report["inputs"].as_array().expect("a list") {
        let shows =
            |finding: &&Value| finding["inputs"].as_array().is_some_and(|it| it.contains(&input["name"]));
        if let Some(count) = input["findings"].as_u64() {
            assert_eq!(count, findings.iter().filter(shows).count() as u64, "{input:#} in {findings:#?}");
        }
    }
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().expect("a list");
    list.iter().map(|text| text.as_str().expect("a text").to_string()).collect()
}

/// The findings as kind and object, each with the inputs that show it.
fn findings(report: &Value) -> BTreeSet<(String, String, Vec<String>)> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let all = report["findings"].as_array().expect("a list").iter();
    all.map(|it| (word(&it["kind"]), word(&it["object"]), texts(&it["inputs"]))).collect()
}

fn has(report: &Value, kind: &str, object: &str, inputs: &[&str]) -> bool {
    let inputs: Vec<String> = inputs.iter().map(|input| input.to_string()).collect();
    findings(report).contains(&(kind.to_string(), object.to_string(), inputs))
}

/// What was kept, by the beginning of the names.
fn kept(desk: &Desk, prefix: &str) -> usize {
    let folders = std::fs::read_dir(desk.path(".threadbare")).expect("the campaign folder");
    let folders = folders.filter_map(|entry| Some(entry.ok()?.path()));
    let stores = folders.filter(|path| path.is_dir() && path.to_string_lossy().contains("suite-"));
    let names = stores.flat_map(|store| std::fs::read_dir(store).expect("the records"));
    names
        .filter(|entry| entry.as_ref().is_ok_and(|it| it.file_name().to_string_lossy().starts_with(prefix)))
        .count()
}

/// `adds` and `takes` show each of two functions with itself, and none of them together.
#[test]
fn functions_that_no_input_shows_at_the_same_time_are_listed_with_their_lines() {
    let two = SUITE.split("[[input]]\nname = \"mixed\"").next().expect("its beginning");
    let apart = json(&desk(two), &["--uncovered"]);
    let pair = |functions: [&str; 2], sites: [&str; 2]| serde_json::json!({ "functions": functions, "sites": sites });
    let add_and_take = pair(["add", "take"], ["program.c:9", "program.c:10"]);
    let left = apart["coverage"]["cfp"]["uncovered"].as_array().expect("a list").clone();
    assert!(left.contains(&add_and_take), "{left:#?}");
    let printed = suite(&desk(two), &["--uncovered"]).stdout;
    assert!(printed.contains("   add (program.c:9)  with  take (program.c:10)\n"), "{printed}");
    let mixed = json(&desk(SUITE), &["--uncovered"]);
    let left = mixed["coverage"]["cfp"]["uncovered"].as_array().expect("a list").clone();
    assert!(!left.contains(&add_and_take), "{left:#?}");
    assert!(suite(&desk(two), &[]).stdout.contains("--uncovered lists them"));
}

#[test]
fn the_input_with_all_pairs_is_selected_and_shows_every_finding() {
    let report = json(&desk(SUITE), &[]);
    let inputs = report["inputs"].as_array().expect("a list");
    let of = |key: &str| inputs.iter().map(|input| input[key].clone()).collect::<Vec<Value>>();
    assert_eq!(of("selected"), [false, false, true, false].map(Value::from));
    assert_eq!(of("outcome"), ["passed", "passed", "passed", "single-threaded"].map(Value::from));
    assert_eq!(
        (&inputs[2]["pairs"], &report["cfp"]["aggregated"]),
        (&inputs[2]["new_pairs"], &inputs[2]["pairs"])
    );
    // The routines of the threads touch only their own stacks.
    assert_eq!(inputs[2]["functions_selected"], 4, "main, add, take, safely");
    for (kind, object) in
        [("race", "plain"), ("race", "other"), ("atomicity", "plain"), ("atomicity", "other")]
    {
        assert!(has(&report, kind, object, &["mixed"]), "no {kind} on {object}: {:?}", findings(&report));
    }
    assert!(findings(&report).iter().all(|(_, object, _)| object != "guarded"));
    assert_eq!((&report["command"], &report["verdict"]), (&"suite".into(), &"findings".into()));
}

#[test]
fn looking_at_everything_finds_the_same_under_more_inputs() {
    let desk = desk(SUITE);
    let full = json(&desk, &["--full", "--only", "races"]);
    assert!(has(&full, "race", "plain", &["adds", "mixed"]), "{:?}", findings(&full));
    assert!(findings(&full).iter().all(|(kind, ..)| kind == "race"));
    let both = json(&desk, &["--against-full"]);
    for kind in ["races", "atomicity"] {
        let kind = &both["full"][kind];
        assert_eq!((&kind["missed"], &kind["failing_missed"]), (&0.into(), &0.into()), "{kind:#}");
        assert_eq!((&kind["duplication"], &kind["full_duplication"]), (&1.0.into(), &2.0.into()), "{kind:#}");
    }
}

#[test]
fn only_an_input_that_is_added_is_measured() {
    let desk = desk(SUITE);
    let before = suite(&desk, &[]);
    assert_eq!(before.code, Some(1), "{}", before.stderr);
    let again = suite(&desk, &[]);
    assert!(again.stdout.contains("nothing was run"), "{}", again.stdout);
    // The time is that of looking at what is there.
    let list = |text: &str| {
        text.lines().filter(|line| line.contains("race on")).map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(list(&before.stdout), list(&again.stdout));
    desk.file("suite.toml", format!("{SUITE}\n[[input]]\nname = 'late'\nargs = ['check', 'check']\n"));
    let more = suite(&desk, &[]);
    assert!(more.stdout.contains("Measured 1 input (4 from before)"), "{}", more.stdout);
    assert!(more.stdout.contains("race on checked"), "{}", more.stdout);
    assert_eq!(kept(&desk, "measured-"), 5);
}

#[test]
fn what_changed_is_measured_again() {
    let with_file = format!("{SUITE}files = ['data']\n");
    let desk = desk(&with_file);
    desk.file("data", "1");
    suite(&desk, &["--no-confirm"]);
    assert_eq!(kept(&desk, "measured-"), 4);
    desk.file("data", "2");
    suite(&desk, &["--no-confirm"]);
    assert_eq!(kept(&desk, "measured-"), 5);
    desk.file("program.c", PROGRAM.replace("other - 1", "other - 2"));
    suite(&desk, &["--no-confirm"]);
    assert_eq!(kept(&desk, "measured-"), 9);
}

#[test]
fn a_suite_continues_where_it_was() {
    let desk = desk(&format!("{SUITE}\n[[input]]\nname = 'stuck'\nargs = ['hang']\ntimeout_s = 600\n"));
    let mut child =
        desk.command(&["suite", "suite.toml"]).stdout(Stdio::null()).spawn().expect("the tool starts");
    // It hangs under the last input once it has measured all others.
    while !desk.path(".threadbare").exists() || kept(&desk, "measured-") < 4 {
        assert!(child.try_wait().expect("a child").is_none(), "it ended before it hung");
        std::thread::yield_now();
    }
    // SAFETY: a system call on numbers; the child is ours and was not waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    child.wait().expect("it ends");
    assert_eq!(kept(&desk, "measured-"), 4);
    desk.file("suite.toml", SUITE);
    let rest = suite(&desk, &["--no-confirm"]);
    assert!(rest.stdout.contains("Measured no input (4 from before)"), "{}", rest.stdout);
}

#[test]
fn inputs_that_crash_and_do_not_end_do_not_stop_the_suite() {
    let bad = "[[input]]\nname = 'crash'\nargs = ['add', 'crash']\n\
               [[input]]\nname = 'hang'\nargs = ['add', 'hang']\ntimeout_s = 0.2\n";
    let report = json(&desk(&format!("{SUITE}\n{bad}")), &["--jobs", "2"]);
    let outcome = |name: &str| {
        let inputs = report["inputs"].as_array().expect("a list");
        inputs.iter().find(|input| input["name"] == name).expect("the input")["outcome"].clone()
    };
    assert_eq!(
        (outcome("crash"), outcome("hang"), outcome("mixed")),
        ("abort".into(), "cut".into(), "passed".into())
    );
    assert!(has(&report, "race", "other", &["mixed"]), "{:?}", findings(&report));
    let failures = report["failures"].as_array().expect("a list");
    let abort = failures.iter().find(|failure| failure["kind"] == "abort").expect("the crash");
    assert_eq!(texts(&abort["inputs"]), ["crash"]);
    assert_eq!(report["verdict"], "failure");
}

#[test]
fn a_failure_that_was_not_kept_is_reported_by_names() {
    let left = "program = 'program.c'\n[[input]]\nname = 'left'\nargs = ['leave', 'leave']\n";
    let report = json(&desk(left), &["--no-confirm"]);
    let message = report["inputs"][0]["message"].as_str().expect("a message");
    assert!(message.contains("never") && message.contains("program.c:"), "{message}");
    assert!(!message.contains('<'), "{message}");
}

#[test]
fn the_number_of_workers_changes_nothing() {
    let of = |jobs: &str| {
        let report = json(&desk(SUITE), &["--jobs", jobs, "--against-full"]);
        (findings(&report), report["cfp"]["aggregated"].clone(), report["steps"].clone())
    };
    assert_eq!(of("1"), of("3"));
}

#[test]
fn a_schedule_is_replayed_with_its_input_from_anywhere() {
    let strict = "program = 'program.c'\n[[input]]\nname = 'strict'\nargs = ['add', 'add']\n\
                  stdin = \"2\\n\"\nenv = { STRICT = '1' }\n";
    let (desk, elsewhere) = (desk(strict), Desk::new());
    let report = json(&desk, &[]);
    let schedule = report["failure"]["schedule"].as_str().expect("a schedule");
    let path = desk.path(schedule).display().to_string();
    let replay = elsewhere.run(&["replay", &path, "--quiet"]);
    assert_eq!(replay.code, Some(1), "{}\n{}", replay.stdout, replay.stderr);
    assert!(replay.stdout.contains("assertion"), "{}", replay.stdout);
    let text = std::fs::read_to_string(&path).expect("the schedule");
    let without = elsewhere.file("without.schedule", text.replace("option env STRICT=1\n", ""));
    let replay = elsewhere.run(&["replay", &without.display().to_string(), "--quiet"]);
    assert!(replay.stdout.contains("did not show again: the program passed"), "{}", replay.stdout);
}

#[test]
fn a_program_that_has_to_be_built_is_built_with_our_compiler() {
    let built =
        SUITE.replace("program = \"program.c\"", "build = '$CC -g program.c -o made'\nbinary = 'made'");
    let desk = desk(&built);
    assert_eq!(suite(&desk, &["--no-confirm", "--only", "races"]).code, Some(1));
    desk.file("suite.toml", built.replace("$CC", "echo no luck; false"));
    let failed = suite(&desk, &[]);
    assert_eq!(failed.code, Some(2));
    assert!(failed.stderr.contains("no luck"), "{}", failed.stderr);
}

#[test]
fn a_suite_that_makes_no_sense_is_refused_in_one_sentence() {
    for (text, part) in [
        ("program = 'program.c'", "no input"),
        ("program = 'gone.c'\n[[input]]\nname = 'a'", "gone.c"),
        ("program = 'program.c'\nbanana = 1\n[[input]]\nname = 'a'", "banana"),
        ("program = 'program.c'\n[[input]]\nname = 'a'\n[[input]]\nname = 'a'", "two inputs are called `a`"),
        ("program = 'program.c'\n[[input]]\nname = 'a'\nfiles = ['no']", "`no`"),
        ("program = 'program.c'\n[[input]]\nname = 'a'", "no input of `suite.toml` starts a second thread"),
        ("[[[", "line 1"),
    ] {
        let answer = suite(&desk(text), &[]);
        assert_eq!(answer.code, Some(2), "{text}: {}", answer.stdout);
        assert!(answer.stderr.contains(part), "{text}: {}", answer.stderr);
        assert_eq!(answer.stderr.trim_end().lines().count(), 1, "{text}: {}", answer.stderr);
    }
    let missing = Desk::new().run(&["suite", "gone.toml"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("gone.toml"), "{}", missing.stderr);
}
