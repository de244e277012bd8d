//! Strategies side by side, as a user runs them.

mod support;

use std::ffi::CString;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

use serde_json::Value;
use support::{Answer, Desk, repository};

fn example(name: &str) -> String {
    repository("examples").join(name).display().to_string()
}

/// Compares with a small budget; the JSON object is on standard output.
fn compare(desk: &Desk, program: &str, more: &[&str]) -> Answer {
    let mut args = vec!["compare", program, "--json", "-", "--executions", "200", "--time", "600"];
    args.extend(more);
    desk.run(&args)
}

fn trials(report: &Value) -> &Vec<Value> {
    report["trials"].as_array().expect("a list of trials")
}

/// Everything about a trial but its time.
fn without_time(report: &Value) -> Vec<Value> {
    let timeless = |trial: &Value| {
        let mut trial = trial.clone();
        trial.as_object_mut().expect("an object").remove("elapsed_s");
        trial
    };
    trials(report).iter().map(timeless).collect()
}

#[test]
fn figures_come_from_the_trials_and_not_from_the_number_of_jobs() {
    let desk = Desk::new();
    let run = |jobs| {
        let answer = compare(
            &desk,
            &example("lost_update.c"),
            &["--strategies", "pos,random,round-robin", "--runs", "12", "--seed", "5", "--jobs", jobs],
        );
        assert_eq!(answer.code, Some(1), "{}", answer.stderr);
        answer.json()
    };
    let report = run("1");
    for (field, value) in [("tool", "threadbare"), ("command", "compare"), ("verdict", "failure")] {
        assert_eq!(report[field], value, "{field}");
    }
    assert_eq!((report["runs"].as_u64(), trials(&report).len()), (Some(12), 36));
    for strategy in report["strategies"].as_array().expect("a list of strategies") {
        let name = strategy["strategy"].as_str().expect("a name");
        let own: Vec<&Value> = trials(&report).iter().filter(|trial| trial["strategy"] == name).collect();
        let executions: Vec<f64> = own
            .iter()
            .map(|trial| {
                trial["executions"].as_f64().unwrap() + if trial["failed"] == true { 0.0 } else { 1.0 }
            })
            .collect();
        let mean = executions.iter().sum::<f64>() / 12.0;
        assert!((strategy["executions"]["mean"].as_f64().unwrap() - mean).abs() < 1e-9, "{name}");
        let failed = own.iter().filter(|trial| trial["failed"] == true).count() as u64;
        assert_eq!((strategy["failed"].as_u64(), strategy["trials"].as_u64()), (Some(failed), Some(12)));
        let versus = &strategy["first_versus_this"];
        assert_eq!(versus.is_null(), name == "pos");
        if name != "pos" {
            let (p, corrected) = (versus["p"].as_f64().unwrap(), versus["p_corrected"].as_f64().unwrap());
            assert!((corrected - (2.0 * p).min(1.0)).abs() < 1e-12 && (0.0..=1.0).contains(&p));
            assert!(versus["cliffs_delta"].as_f64().unwrap().abs() <= 1.0);
        }
    }
    assert_eq!(without_time(&report), without_time(&run("4")));
}

#[test]
fn the_table_and_the_file_of_trials_are_written() {
    let desk = Desk::new();
    let program = example("lost_update.c");
    let args = ["compare", &program, "--strategies", "random,pos", "--runs", "4", "--csv", "trials.csv"];
    let answer = desk.run(&args);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(1), ""));
    for word in ["strategy", "median", "random", "pos", "4/4", "Wilcoxon", "Cliff"] {
        assert!(answer.stdout.contains(word), "`{word}` is missing:\n{}", answer.stdout);
    }
    assert!(!answer.stdout.contains('\u{1b}'), "colour in a pipe");
    let file = std::fs::read_to_string(desk.path("trials.csv")).expect("the file of trials");
    assert_eq!(file.lines().count(), 1 + 8);
    assert!(file.lines().skip(1).all(|line| line.ends_with(",assertion")), "{file}");
}

#[test]
fn a_program_that_does_not_fail_is_no_finding_and_says_how_it_counts() {
    let desk = Desk::new();
    let program = repository("subjects/extra/mutex_counter/mutex_counter.c").display().to_string();
    let args = ["compare", &program, "--strategies", "random,pct", "--runs", "3", "--executions", "5"];
    let answer = desk.run(&args);
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    assert!(answer.stdout.contains("≥ 6.00"), "{}", answer.stdout);
    assert!(answer.stdout.contains("6 trials found no failure within 5 executions"), "{}", answer.stdout);
}

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence() {
    let desk = Desk::new();
    desk.file("ok.c", "int main(void) { return 0; }\n");
    let table: &[(&[&str], &str)] = &[
        (&["ok.c"], "--strategies"),
        (&["ok.c", "--strategies", "random,luck"], "`luck`; use one of auto, random, pct"),
        (&["ok.c", "--strategies", "random,random"], "twice"),
        (&["ok.c", "--strategies", ""], "no strategy ``"),
        (&["ok.c", "--strategies", "random", "--strategy", "pct"], "--strategies"),
        (&["ok.c", "--strategies", "random", "--keep-going"], "--keep-going"),
        (&["ok.c", "--strategies", "random", "--runs", "0"], "1 or more"),
        (&["ok.c", "--strategies", "random", "--csv", "no/such/folder/x.csv"], "no/such/folder"),
        (&["ok.c", "--strategies", "random", "--csv", "-", "--json", "-"], "both"),
        (&["ok.c", "--strategies", "random"], "second thread"),
        (&["none.c", "--strategies", "random"], "none.c"),
    ];
    for (args, word) in table {
        let answer = desk.run(&[&["compare"], *args].concat());
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "{args:?}: {}", answer.stderr);
        assert!(answer.stderr.contains(word), "{args:?}: `{word}` is not in: {}", answer.stderr);
    }
}

const TELLING: &str = r#"
#include <pthread.h>
#include <stdio.h>
static int shared;
static void *add(void *arg) { __atomic_fetch_add(&shared, 1, __ATOMIC_SEQ_CST); return arg; }
int main(int argc, char **argv) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    FILE *pipe = fopen(argv[1], "w");
    fputc('x', pipe);
    fclose(pipe);
    return 0;
}
"#;

/// The program says through a pipe that it has been run, so the test knows that trials have ended.
#[test]
fn an_interrupt_keeps_the_trials_that_ended() {
    let desk = Desk::new();
    desk.file("telling.c", TELLING);
    let path = CString::new(desk.path("pipe").as_os_str().as_bytes()).expect("a path");
    // SAFETY: the path is a string that lives long enough.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    let mut args = vec!["compare", "telling.c", "--strategies", "random,pos", "--runs", "10000"];
    args.extend(["--executions", "1", "--jobs", "1", "--json", "-", "--", "pipe"]);
    let child =
        desk.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the tool starts");
    // Opened for both, so that no writer ever waits for a reader.
    let mut pipe =
        std::fs::OpenOptions::new().read(true).write(true).open(desk.path("pipe")).expect("the pipe");
    // What is shared is found out first, in as many executions.
    pipe.read_exact(&mut [0; threadbare_explore::WARM_UP as usize]).expect("the warm-up");
    pipe.read_exact(&mut [0; 6]).expect("six executions");
    // SAFETY: the child is ours and has not been waited for, so its number is not reused.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let answer: Answer = child.wait_with_output().expect("the tool ends").into();
    assert_eq!(answer.code, Some(0), "{}\n{}", answer.stdout, answer.stderr);
    let report = answer.json();
    assert_eq!(report["interrupted"], true);
    let made = trials(&report).len();
    assert!((5..20_000).contains(&made), "{made} trials");
}
