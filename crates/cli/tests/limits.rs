//! Time and memory are kept to, and what is left out for lack of them is said.

mod support;

use std::io::Read as _;
use std::process::Stdio;

use support::Desk;

/// Threads that go on for ever, and one that is interrupted in each way there is.
const ENDLESS: &str = r#"#include <pthread.h>
#include <signal.h>
#include <stdio.h>
static volatile int stop, x, y;
static void *work(void *first) {
    int tool = 0;
    FILE *file = first && rename("tool.pid", "taken.pid") == 0 ? fopen("taken.pid", "r") : 0;
    if (file) {
        if (fscanf(file, "%d", &tool) == 1) kill(tool, SIGTERM);
        fclose(file);
    }
    while (!stop) { x = x + 1; y = x; }
    return 0;
}
int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, work, &stop);
    pthread_create(&second, 0, work, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
"#;

#[test]
fn every_command_ends_with_a_result_when_it_is_asked_to() {
    let desk = Desk::new();
    let source = desk.file("endless.c", ENDLESS).display().to_string();
    let built = desk.run(&["cc", "-O0", "-g", &source, "-o", "endless"]);
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    let commands: [&[&str]; 4] = [&["hunt"], &["hunt", "--strategy", "mcr"], &["check"], &["verify"]];
    for command in commands {
        let args =
            [command, &["endless", "--json", "-", "--max-steps", "100000000", "--time", "6000"]].concat();
        let mut tool =
            desk.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
        desk.file("tool.pid.new", tool.id().to_string());
        std::fs::rename(desk.path("tool.pid.new"), desk.path("tool.pid")).expect("in one folder");
        let mut text = String::new();
        tool.stdout.take().expect("its output").read_to_string(&mut text).expect("its output is text");
        tool.wait().expect("it ends");
        // Two seconds after the signal it would have been ended without one.
        let report: serde_json::Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{command:?}: {error}: {text}"));
        assert_eq!(report["interrupted"], true, "{command:?}: {report}");
        assert_ne!(report["verdict"], "clean", "{command:?}: {report}");
    }
}

#[test]
fn a_long_execution_is_kept_as_far_as_memory_goes_and_that_is_said() {
    let desk = Desk::new();
    let source = desk.file(
        "long.c",
        r#"#include <pthread.h>
static int x;
static void *work(void *none) { for (int i = 0; i < 12000; i++) x++; return none; }
int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, work, 0);
    pthread_create(&second, 0, work, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
"#,
    );
    let source = source.display().to_string();
    let args = ["check", &source, "--executions", "2", "--json", "-", "--memory-limit"];
    let answer = |limit: &str| desk.run(&[&args[..], &[limit]].concat());
    let small = answer("16M");
    assert_eq!(small.code, Some(1), "{}", small.stderr);
    let report = small.json();
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("--memory-limit allows more"), "{warnings}");
    // The beginning shows the race as well.
    assert_eq!(report["findings"][0]["kind"], "race", "{report}");
    let large = answer("1G");
    assert!(!large.json()["warnings"].to_string().contains("--memory-limit"), "{}", large.stdout);
}
