//! Trace files: shown and exported without the program, and read as far as they go.

mod support;

use support::{Answer, Desk, repository};

/// Hunts in a copy of the example, and leaves only the results behind.
fn hunted() -> Desk {
    let desk = Desk::new();
    let source = std::fs::read(repository("examples/lost_update.c")).expect("the example");
    desk.file("lost_update.c", source);
    let hunt = desk.run(&["hunt", "lost_update.c", "--sarif", "out.sarif", "--json", "out.json"]);
    assert_eq!(hunt.code, Some(1), "{}", hunt.stderr);
    desk
}

const TRACE: &str = ".threadbare/lost_update-1.trace";

fn table(answer: &Answer) -> &str {
    answer.stdout.split("\n\n").next().expect("a table")
}

#[test]
fn a_trace_shows_what_a_replay_shows_without_the_program() {
    let desk = hunted();
    let replay = desk.run(&["replay", ".threadbare/lost_update-1.schedule", "--trace", "again.trace"]);
    assert_eq!(replay.code, Some(1), "{}", replay.stderr);
    std::fs::remove_file(desk.path("lost_update.c")).expect("the source");
    std::fs::remove_dir_all(desk.path(".threadbare/build")).expect("the program");
    for file in [TRACE, "again.trace"] {
        let shown = desk.run(&["trace", "show", file]);
        assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{file}");
        assert_eq!(table(&shown), table(&replay), "{file}");
        assert!(shown.stdout.contains("counter = counter + 1;"), "the source is part of the trace");
    }
    let verbose = desk.run(&["trace", "show", "--verbose", "--full", TRACE]);
    assert!(verbose.stdout.contains("start"), "{}", verbose.stdout);
}

#[test]
fn the_json_object_names_the_trace() {
    let desk = hunted();
    let text = std::fs::read_to_string(desk.path("out.json")).expect("written");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["failure"]["trace"], TRACE);
}

#[test]
fn a_trace_is_exported_in_every_format() {
    let desk = hunted();
    for format in ["std", "perfetto", "json"] {
        let out = format!("out.{format}");
        let written = desk.run(&["trace", "export", "--format", format, "-o", &out, TRACE]);
        assert_eq!((written.code, written.stdout.as_str(), written.stderr.as_str()), (Some(0), "", ""));
        let printed = desk.run(&["trace", "export", "--format", format, TRACE]);
        assert_eq!(printed.code, Some(0));
        assert_eq!(std::fs::read_to_string(desk.path(&out)).expect("written"), printed.stdout);
        if format != "std" {
            assert!(printed.json().is_object(), "{format}");
        }
    }
    let lines = std::fs::read_to_string(desk.path("out.std")).expect("written");
    assert_eq!(lines.lines().filter(|line| line.contains("|w(V1)|")).count(), 2, "{lines}");
    assert!(lines.contains("T0|fork(T1)|") && lines.contains("T0|join(T2)|"), "{lines}");
    let map = std::fs::read_to_string(desk.path("out.std.map")).expect("written");
    assert!(map.contains("variable\tV1\tcounter\n") && map.contains("\tlost_update.c:15"), "{map}");
}

#[test]
fn a_cut_trace_is_read_up_to_the_cut() {
    let desk = hunted();
    let bytes = std::fs::read(desk.path(TRACE)).expect("a trace");
    let length = bytes.len() - 40;
    desk.file("cut.trace", &bytes[..length]);
    let shown = desk.run(&["trace", "show", "cut.trace"]);
    assert_eq!(shown.code, Some(2));
    assert_eq!(shown.stderr.lines().count(), 1, "{}", shown.stderr);
    assert!(shown.stderr.contains("cut short") && shown.stderr.contains("was shown"), "{}", shown.stderr);
    let offset = shown.stderr.split("byte ").nth(1).and_then(|rest| rest.split(':').next());
    let offset: usize = offset.and_then(|number| number.parse().ok()).expect("a byte offset");
    assert!(offset <= length && offset > length / 2, "{}", shown.stderr);
    assert!(shown.stdout.contains("read counter = 0"), "{}", shown.stdout);
    for format in ["std", "perfetto", "json"] {
        let written = desk.run(&["trace", "export", "--format", format, "-o", "cut.out", "cut.trace"]);
        assert_eq!(written.code, Some(2));
        assert!(written.stderr.contains("was written"), "{}", written.stderr);
        let text = std::fs::read_to_string(desk.path("cut.out")).expect("written all the same");
        if format == "std" {
            assert!(text.contains("|r(V1)|"), "{text}");
        } else {
            serde_json::from_str::<serde_json::Value>(&text).expect("valid JSON");
        }
        std::fs::remove_file(desk.path("cut.out")).expect("a file");
    }
}

#[test]
fn files_that_are_no_traces() {
    let desk = Desk::new();
    desk.file("foreign", b"\x7fELF\x02\x01");
    desk.file("schedule", "threadbare schedule 1\nend\n");
    desk.file("newer", "threadbare trace 9\n");
    desk.file("empty", "");
    for (file, word) in [
        ("foreign", "byte 0: this is not a threadbare trace"),
        ("schedule", "byte 0: this is not a threadbare trace"),
        ("newer", "byte 17: trace version `9`"),
        ("empty", "byte 0"),
        ("missing", "cannot be read"),
        (".", "cannot be read"),
    ] {
        let show = desk.run(&["trace", "show", file]);
        let export = desk.run(&["trace", "export", "--format", "json", "-o", "never", file]);
        for answer in [show, export] {
            assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "{file}");
            assert_eq!(answer.stderr.lines().count(), 1, "{file}: {}", answer.stderr);
            assert!(answer.stderr.contains(word), "{file}: {}", answer.stderr);
        }
        assert!(!desk.path("never").exists(), "{file}");
    }
}

#[test]
fn sarif_has_the_failure_with_its_interleaving() {
    let desk = hunted();
    let text = std::fs::read_to_string(desk.path("out.sarif")).expect("written");
    let log: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "assertion");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "lost_update.c");
    assert_eq!(place["region"]["startLine"], 28);
    assert_eq!(result["codeFlows"][0]["threadFlows"].as_array().map(Vec::len), Some(3));
    assert_eq!(result["properties"]["trace"], TRACE);
}

#[test]
fn a_stripped_program_is_shown_with_a_hint() {
    let desk = Desk::new();
    let source = repository("examples/lost_update.c").display().to_string();
    let built = desk.run(&["cc", "-s", "-pthread", "-o", "lost", &source]);
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    let hunt = desk.run(&["hunt", "./lost"]);
    assert_eq!(hunt.code, Some(1), "{}", hunt.stderr);
    assert!(hunt.stdout.contains("lost+0x") && hunt.stdout.contains("compile with `-g`"), "{}", hunt.stdout);
    assert!(hunt.stdout.contains("read lost+0x") && hunt.stdout.contains("write lost+0x"), "{}", hunt.stdout);
    let check = desk.run(&["check", "./lost"]);
    assert!(check.stdout.contains("race on lost+0x") && check.stdout.contains("compile with `-g`"));
}
