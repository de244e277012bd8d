//! Programs of which it was once said that nothing is left to try, although some interleaving fails.

mod support;

use serde_json::Value;
use support::Desk;

/// The strategies that can come to an end.
const CLAIMING: [&str; 5] = ["dfs", "states", "mcr", "total", "reach"];

fn run(desk: &Desk, args: &[&str]) -> Value {
    let common = ["--json", "-", "--quiet", "--jobs", "1", "--executions", "3000", "--no-minimise"];
    desk.run(&[args, &common].concat()).json()
}

/// What a command and a strategy say of a program.
fn verdicts(desk: &Desk, file: &str) -> Vec<(String, Value)> {
    let hunt = |strategy: &str| run(desk, &["hunt", file, "--strategy", strategy]);
    let mut all: Vec<(String, Value)> =
        CLAIMING.iter().map(|strategy| (strategy.to_string(), hunt(strategy))).collect();
    let common = ["--json", "-", "--quiet", "--jobs", "1", "--executions", "3000"];
    all.push(("verify".to_string(), desk.run(&[&["verify", file], &common[..]].concat()).json()));
    all
}

fn races(desk: &Desk, file: &str) -> usize {
    let report =
        desk.run(&["check", file, "--json", "-", "--quiet", "--jobs", "1", "--executions", "200"]).json();
    let findings = report["findings"].as_array().expect("findings");
    findings.iter().filter(|finding| finding["kind"] == "race").count()
}

/// Programs that fail in some interleaving only after main has made its last step, or that end in more than one way.
#[test]
fn threads_go_on_while_the_process_ends() {
    const HEAD: &str = "#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int x;
";
    let desk = Desk::new();
    for (name, rest) in [
        (
            "returns",
            "static void *w(void *u) { if (x == 1) abort(); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); x = 1; return 0; }",
        ),
        (
            "exits",
            "static void *w(void *u) { if (x == 1) abort(); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_detach(t); x = 1; exit(0); }",
        ),
        (
            "at_once",
            "static void *w(void *u) { if (x == 1) abort(); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); x = 1; _exit(0); }",
        ),
        (
            "quickly",
            "static void *w(void *u) { if (x == 2) abort(); return 0; }
static void last(void) { x++; }
int main(void) { pthread_t t; at_quick_exit(last); pthread_create(&t, 0, w, 0); x = 1; quick_exit(0); }",
        ),
        (
            "handler",
            "static void *w(void *u) { if (x == 2) abort(); return 0; }
static void last(void) { x++; }
int main(void) { pthread_t t; atexit(last); pthread_create(&t, 0, w, 0); x = 1; return 0; }",
        ),
        (
            "elsewhere",
            "static void *w(void *u) { exit(x == 1 ? 3 : 0); }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); x = 1; return 0; }",
        ),
    ] {
        let file = format!("{name}.c");
        desk.file(&file, format!("{HEAD}{rest}\n"));
        for (who, report) in verdicts(&desk, &file) {
            assert_ne!(report["verdict"], "exhausted", "{name}, {who}: {report:#}");
            let must_find = ["dfs", "states", "reach", "verify"].contains(&who.as_str());
            assert!(!must_find || report["verdict"] == "failure", "{name}, {who}: {report:#}");
        }
        assert_ne!(races(&desk, &file), 0, "{name}: the race of main and a thread that nobody joins");
    }
}

#[test]
fn destructors_of_statics_race_with_threads_that_are_left() {
    let desk = Desk::new();
    desk.file(
        "statics.cpp",
        "#include <cstdlib>
#include <thread>
struct Table { int *rows = new int[4](); ~Table() { delete[] rows; rows = nullptr; } };
static Table table;
int main() { std::thread([] { table.rows[1]++; }).detach(); }
",
    );
    let report = run(&desk, &["hunt", "statics.cpp"]);
    assert_eq!(report["verdict"], "failure", "{report:#}");
}

/// Threads that never end are no reason not to end.
#[test]
fn a_process_ends_although_threads_go_on_for_ever() {
    let desk = Desk::new();
    desk.file(
        "daemon.c",
        "#include <pthread.h>
#include <unistd.h>
static _Atomic int n;
static void *w(void *u) { for (;;) { n++; usleep(1000); } }
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); n++; return 0; }
",
    );
    let report = run(&desk, &["hunt", "daemon.c", "--strategy", "random"]);
    assert_eq!(report["verdict"], "clean", "{report:#}");
}

/// A loop that gives up after a number of rounds is not one that waits.
#[test]
fn loops_that_count_are_followed_to_their_end_or_nothing_is_claimed() {
    let desk = Desk::new();
    desk.file(
        "rounds.c",
        "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static void *w(void *u) { flag = 1; return 0; }
int main(void) {
    pthread_t t;
    int i;
    pthread_create(&t, 0, w, 0);
    for (i = 0; i < 30 && !flag; i++) {}
    assert(i < 30);
    pthread_join(t, 0);
    return 0;
}
",
    );
    for (who, report) in verdicts(&desk, "rounds.c") {
        assert_ne!(report["verdict"], "exhausted", "{who}: {report:#}");
        let must_find = ["states", "verify"].contains(&who.as_str());
        assert!(!must_find || report["verdict"] == "failure", "{who}: {report:#}");
    }
}

/// What functions of the library read is seen to be read.
#[test]
fn library_calls_read_memory() {
    let desk = Desk::new();
    for (name, call) in [
        ("number", "atoi(text) == 24"),
        ("length", "strtol(text, 0, 10) == 24"),
        ("prints", "puts(text) >= 0 && atoi(text) == 24"),
    ] {
        let file = format!("{name}.c");
        desk.file(
            &file,
            format!(
                "#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[4] = \"13\";
static void *w(void *u) {{ text[0] = '2'; text[1] = '4'; text[1] = '5'; return 0; }}
int main(void) {{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    if ({call}) abort();
    pthread_join(t, 0);
    return 0;
}}
"
            ),
        );
        for (who, report) in verdicts(&desk, &file) {
            assert_ne!(report["verdict"], "exhausted", "{name}, {who}: {report:#}");
            let must_find = ["dfs", "states", "verify"].contains(&who.as_str());
            assert!(!must_find || report["verdict"] == "failure", "{name}, {who}: {report:#}");
        }
        assert_ne!(races(&desk, &file), 0, "{name}");
    }
}
