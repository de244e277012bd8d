//! Nothing that was found is lost: not when there is no room for it, and not when the tool is killed.

mod support;

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::{Desk, repository};

/// A program that loses an update in some of its executions, after what is put into its place has been done.
fn losing(in_main: &str, in_thread: &str) -> String {
    format!(
        r#"#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int counter;
static void *add(void *none) {{
    {in_thread}
    int seen = counter;
    counter = seen + 1;
    return none;
}}
int main(void) {{
    {in_main}
    pthread_t first, second;
    pthread_create(&first, 0, add, 0);
    pthread_create(&second, 0, add, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(counter == 2 && "lost");
    return 0;
}}
"#
    )
}

fn lost_update() -> String {
    repository("examples/lost_update.c").display().to_string()
}

/// The schedules in a folder.
fn schedules(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "schedule")).collect()
}

#[test]
fn a_folder_that_nothing_can_be_written_to_is_noticed_before_the_search() {
    let desk = Desk::new();
    desk.file("file", "");
    let source = lost_update();
    for command in ["hunt", "check", "verify"] {
        let answer = desk.run(&[command, &source, "--out", "file"]);
        assert_eq!(answer.code, Some(2), "{command}: {}{}", answer.stdout, answer.stderr);
        assert!(answer.stderr.contains("`file` cannot be written"), "{command}: {}", answer.stderr);
        assert_eq!((answer.stderr.lines().count(), answer.stdout.as_str()), (1, ""), "{command}");
    }
}

#[test]
fn what_was_found_before_the_tool_was_killed_is_on_disk_and_replays() {
    let desk = Desk::new();
    let source = lost_update();
    let mut args = vec!["hunt", &source, "--keep-going", "--out", "found", "--time", "600"];
    args.extend(["--executions", "1000000000"]);
    let mut tool =
        desk.command(&args).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    let lines = BufReader::new(tool.stderr.take().expect("its standard error")).lines();
    let found = lines.map_while(Result::ok).find(|line| line.contains("found a failed assertion"));
    assert!(found.is_some(), "it said nothing of a failure");
    // It is written before it is announced.
    tool.kill().expect("it is killed");
    tool.wait().expect("it ends");
    let kept = schedules(&desk.path("found"));
    assert_eq!(kept.len(), 1, "{kept:?}");
    let replay = desk.run(&["replay", &kept[0].display().to_string()]);
    assert_eq!(replay.code, Some(1), "{}{}", replay.stdout, replay.stderr);
}

/// Races in every execution, none of which makes it fail, and too many orders to try all.
const RACING: &str = r#"#include <pthread.h>
static int counter;
static void *add(void *none) { for (int i = 0; i < 30; i++) counter++; return none; }
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
"#;

#[test]
fn findings_of_a_tool_that_was_killed_are_on_disk_and_their_schedules_replay() {
    // What `check` predicts need not happen in the execution that it was predicted from; what `verify` reports did.
    for (command, code) in [("check", 0), ("verify", 1)] {
        let desk = Desk::new();
        let source = desk.file("racing.c", RACING).display().to_string();
        let mut args = vec![command, &source, "--keep-going", "--out", "found", "--time", "600"];
        args.extend(["--executions", "1000000000"]);
        let mut tool =
            desk.command(&args).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
        let lines = BufReader::new(tool.stderr.take().expect("its standard error")).lines();
        let said = lines.map_while(Result::ok).find(|line| line.contains("found: race on counter"));
        tool.kill().expect("it is killed");
        tool.wait().expect("it ends");
        assert!(said.is_some(), "{command}: it said nothing of a race");
        let text = std::fs::read_to_string(desk.path("found/racing-found-1.findings")).expect("the findings");
        let first: serde_json::Value =
            serde_json::from_str(text.lines().next().unwrap_or_default()).expect("a JSON object");
        assert_eq!((&first["kind"], &first["object"]), (&"race".into(), &"counter".into()), "{command}");
        let schedule = first["schedule"].as_str().expect("a schedule");
        let replay = desk.run(&["replay", schedule, "--json", "-"]);
        assert_eq!(replay.code, Some(code), "{command}: {}{}", replay.stdout, replay.stderr);
        assert!(replay.json()["replay"]["diverged_at"].is_null(), "{command}: {}", replay.stdout);
    }
}

#[test]
fn what_was_found_counts_where_there_are_too_many_threads_to_count_states() {
    let desk = Desk::new();
    let many =
        RACING.replace("i < 30;", "i < 1;").replace("i < 3;", "i < 65;").replace("threads[3]", "threads[65]");
    let source = desk.file("many.c", many).display().to_string();
    let answer = desk.run(&["verify", &source, "--executions", "30", "--time", "60", "--json", "-"]);
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    let report = answer.json();
    assert_eq!(report["findings"][0]["kind"], "race", "{report}");
    assert_eq!(report["exhausted"], false, "{report}");
}

#[test]
fn only_what_is_kept_in_the_end_is_left() {
    for command in ["hunt", "check", "verify"] {
        let desk = Desk::new();
        let answer = desk.run(&[command, &lost_update(), "--out", "found"]);
        assert_eq!(answer.code, Some(1), "{}", answer.stderr);
        let entries = std::fs::read_dir(desk.path("found")).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name().display().to_string());
        let left: Vec<String> = names.filter(|name| name.contains("-found-")).collect();
        assert_eq!(left, Vec::<String>::new(), "{command}");
    }
}

#[test]
fn a_schedule_that_cannot_be_written_is_printed_and_the_exit_status_stays() {
    // A child of the program takes the folder away after it was looked at. What the program does itself would be undone.
    let take_away = r#"if (system("test -f found || { mv found gone && touch found; }")) return 2;"#;
    for command in ["hunt", "check", "verify"] {
        let desk = Desk::new();
        let source = desk.file("losing.c", losing(take_away, "")).display().to_string();
        let built = desk.run(&["cc", "-O0", "-g", &source, "-o", "losing"]);
        assert_eq!(built.code, Some(0), "{}", built.stderr);
        let answer = desk.run(&[command, "losing", "--out", "found", "--json", "-"]);
        assert_eq!(answer.code, Some(1), "{command}: {}{}", answer.stdout, answer.stderr);
        let report = answer.json();
        assert_eq!(report["verdict"], "failure", "{command}");
        assert!(report["failure"]["schedule"].is_null(), "{command}: {report}");
        // What was printed is a schedule: it replays.
        let begin = answer.stderr.find("threadbare schedule 1").expect("a schedule on standard error");
        let printed = answer.stderr[begin..].split("threadbare: ").next().unwrap_or_default();
        let schedule = desk.file("again.schedule", printed).display().to_string();
        let replay = desk.run(&["replay", &schedule, "--program", "losing"]);
        assert_eq!(replay.code, Some(1), "{command}: {}{}", replay.stdout, replay.stderr);
    }
}

#[test]
fn results_that_cannot_be_written_do_not_change_what_was_found() {
    let desk = Desk::new();
    let full = "/dev/full";
    let answer = desk.run(&["hunt", &lost_update(), "--json", full, "--sarif", full]);
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    assert!(answer.stderr.contains("`/dev/full` cannot be written"), "{}", answer.stderr);
    assert!(answer.stdout.contains("Found a failed assertion"), "{}", answer.stdout);
}

#[test]
fn an_interrupted_command_has_not_shown_that_nothing_is_left() {
    // The program ends the tool as soon as it is told who that is, and only once: a second signal ends it without results. What it changes in
    // a folder would be put back for the next execution; what it takes out of a pipe is gone.
    let interrupt = r#"
    int tool = 0, pipe = open("tool.pid", O_RDONLY | O_NONBLOCK);
    if (pipe >= 0) {
        if (read(pipe, &tool, sizeof tool) == sizeof tool) kill(tool, SIGTERM);
        close(pipe);
    }"#;
    let correct = losing("", interrupt).replace("assert(counter == 2 && \"lost\");", "");
    for command in ["hunt", "check"] {
        let desk = Desk::new();
        let source = desk.file("correct.c", &correct).display().to_string();
        let path = desk.path("tool.pid");
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
        let mut pipe = File::options().read(true).write(true).open(&path).expect("a pipe");
        let args = [command, &source, "--json", "-", "--time", "600", "--executions", "1000000000"];
        let mut tool =
            desk.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
        pipe.write_all(&tool.id().to_ne_bytes()).expect("it has room");
        let mut text = String::new();
        tool.stdout.take().expect("its output").read_to_string(&mut text).expect("its output is text");
        tool.wait().expect("it ends");
        let report: serde_json::Value = serde_json::from_str(&text).expect("a JSON object");
        assert_eq!(report["interrupted"], true, "{command}: {report}");
        let found = !report["findings"].as_array().expect("findings").is_empty();
        assert_eq!(report["verdict"], if found { "findings" } else { "undecided" }, "{command}: {report}");
    }
}
