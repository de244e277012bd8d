//! What other users and foreign files may bring about: nothing that the user did not ask for.

mod support;

use std::os::unix::fs::PermissionsExt as _;

use support::{Desk, repository};

/// A compiler flag that has the compiler run something else, which leaves a trace.
const WRAPPER: &str = "-wrapper";

fn lost_update() -> String {
    repository("examples/lost_update.c").display().to_string()
}

/// Hunts with these options and a cache of the desk's own; gives the schedule's path.
fn found(desk: &Desk, options: &[&str]) -> String {
    let source = lost_update();
    let mut args = vec!["hunt", &source, "--out", "found", "--json", "-"];
    args.extend(options);
    let answer = desk.command(&args).env("XDG_CACHE_HOME", desk.path("cache")).output().expect("it starts");
    let report: serde_json::Value = serde_json::from_slice(&answer.stdout).expect("a JSON object");
    report["failure"]["schedule"].as_str().expect("a schedule").to_string()
}

#[test]
fn a_foreign_schedule_neither_builds_with_its_flags_nor_sets_its_environment() {
    let desk = Desk::new();
    let schedule = std::fs::read_to_string(desk.path(&found(&desk, &[]))).expect("it was written");
    let marks = [
        ("flags", format!("cflag {WRAPPER}\ncflag touch,ran\n")),
        ("environment", "option env LD_PRELOAD=./evil.so\n".to_string()),
    ];
    for (what, line) in marks {
        let at = schedule.find("binary").expect("a head");
        let foreign = format!("{}{line}{}", &schedule[..at], &schedule[at..]);
        let path = desk.file("foreign.schedule", &foreign).display().to_string();
        let answer = desk.run(&["replay", &path]);
        assert_eq!(answer.code, Some(2), "{what}: {}{}", answer.stdout, answer.stderr);
        let says = answer.stderr.contains("was not made here") && answer.stderr.contains("--trust");
        assert!(says, "{what}: {}", answer.stderr);
        let names = ["touch,ran", "LD_PRELOAD=./evil.so"].iter().any(|it| answer.stderr.contains(it));
        assert!(names, "{what}: {}", answer.stderr);
        assert!(!desk.path("ran").exists(), "{what}");
    }
}

#[test]
fn a_schedule_of_this_user_replays_with_its_flags_from_anywhere() {
    let desk = Desk::new();
    let own = found(&desk, &["--cflags=-DOWN=1"]);
    let replay = |args: &[&str], cache: &str| {
        let answer = desk.command(args).env("XDG_CACHE_HOME", desk.path(cache)).output();
        support::Answer::from(answer.expect("it starts"))
    };
    let answer = replay(&["replay", &own], "cache");
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    // Somebody else has not made it.
    let answer = replay(&["replay", &own], "other-cache");
    assert_eq!(answer.code, Some(2), "{}{}", answer.stdout, answer.stderr);
    let answer = replay(&["replay", &own, "--trust"], "other-cache");
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
}

#[test]
fn a_page_holds_only_what_lies_in_the_folder_and_does_not_wait_for_pipes() {
    let desk = Desk::new();
    found(&desk, &[]);
    desk.file("secret.txt", "the secret");
    let folder = desk.path("found");
    let entries = std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let record = entries.into_iter().find(|path| path.display().to_string().ends_with(".campaign.json"));
    let record = record.expect("a record");
    let text = std::fs::read_to_string(&record).expect("it is text");
    let output = text.split('"').find(|word| word.ends_with(".output")).expect("an output").to_string();
    for name in ["../secret.txt", &desk.path("secret.txt").display().to_string()] {
        std::fs::write(&record, text.replace(&output, name)).expect("it is replaced");
        let answer = desk.run(&["report", "found", "--output", "page.html"]);
        let page = std::fs::read_to_string(desk.path("page.html")).expect("a page");
        assert!(!page.contains("the secret"), "{name}: {}", answer.stderr);
    }
    std::fs::write(&record, text.replace(&output, "pipe.trace")).expect("it is replaced");
    let pipe = folder.join("pipe.trace");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    std::os::unix::fs::symlink("/dev/zero", folder.join("endless.trace")).expect("a link");
    let answer = desk.run(&["report", "found", "--output", "page.html"]);
    assert_eq!(answer.code, Some(2), "{}", answer.stdout);
    assert!(
        answer.stderr.contains("pipe.trace") && answer.stderr.contains("endless.trace"),
        "{}",
        answer.stderr
    );
}

#[test]
fn a_cache_that_others_may_write_to_is_closed_or_not_used() {
    let desk = Desk::new();
    let cache = desk.path("cache/threadbare");
    std::fs::create_dir_all(&cache).expect("a folder");
    std::fs::set_permissions(&cache, std::fs::Permissions::from_mode(0o777)).expect("it is ours");
    found(&desk, &[]);
    let mode = std::fs::metadata(&cache).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o022, 0, "{mode:o}");
}
