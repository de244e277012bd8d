//! Whatever is wrong with what the user gives: status 2, one sentence, no panic.

mod support;

use support::{Answer, Desk};

#[track_caller]
fn refused(answer: &Answer, what: &str) {
    let Answer { code, stdout, stderr } = answer;
    assert_eq!(*code, Some(2), "{what}\nstdout: {stdout}\nstderr: {stderr}");
    assert_eq!(stdout, "", "{what}: nothing belongs on standard output");
    assert!(stderr.starts_with("threadbare: "), "{what}: {stderr}");
    assert!(!stderr.contains("panicked") && !stderr.contains("bug in threadbare"), "{what}: {stderr}");
}

#[track_caller]
fn refused_in_a_line(answer: &Answer, what: &str, word: &str) {
    refused(answer, what);
    assert_eq!(answer.stderr.trim_end().lines().count(), 1, "{what}: {}", answer.stderr);
    assert!(answer.stderr.contains(word), "{what}: `{word}` is not in: {}", answer.stderr);
}

#[test]
fn arguments_that_make_no_sense() {
    let desk = Desk::new();
    desk.file("ok.c", "int main(void) { return 0; }\n");
    let table: &[(&[&str], &str)] = &[
        (&[], "help"),
        (&["hunt"], "PROGRAM"),
        (&["replay"], "SCHEDULE"),
        (&["frobnicate"], "frobnicate"),
        (&["check", "ok.c"], "check"),
        (&["hunt", "ok.c", "--nonsense"], "--nonsense"),
        (&["hunt", "ok.c", "surplus"], "surplus"),
        (&["hunt", "ok.c", "--strategy", "luck"], "luck"),
        (&["hunt", "ok.c", "--executions", "0"], "1 or more"),
        (&["hunt", "ok.c", "--executions", "-5"], "1 or more"),
        (&["hunt", "ok.c", "--executions", "many"], "1 or more"),
        (&["hunt", "ok.c", "--time", "-1"], "seconds"),
        (&["hunt", "ok.c", "--time", "0"], "seconds"),
        (&["hunt", "ok.c", "--time", "nan"], "seconds"),
        (&["hunt", "ok.c", "--stall", "-1"], "seconds"),
        (&["hunt", "ok.c", "--jobs", "0"], "1 or more"),
        (&["hunt", "ok.c", "--jobs", "-2"], "1 or more"),
        (&["hunt", "ok.c", "--jobs", "100000"], "256"),
        (&["hunt", "ok.c", "--max-steps", "0"], "1 or more"),
        (&["hunt", "ok.c", "--max-steps", "99999999999"], "at most"),
        (&["hunt", "ok.c", "--seed", "-1"], "--seed cannot be `-1`: give a whole number from 0 to"),
        (&["check", "ok.c", "--seed", "x"], "see `threadbare check --help`"),
        (&["replay", "--times", "-2", "x"], "see `threadbare replay --help`"),
        (&["trace", "show"], "see `threadbare trace show --help`"),
        (
            &["trace", "export", "x", "--format", "y"],
            "--format cannot be `y`: use one of std, perfetto, json",
        ),
        (
            &["hunt", "ok.c", "--pct-depth", "0"],
            "--pct-depth cannot be `0`: give a whole number from 1 to 100",
        ),
        (&["hunt", "ok.c", "--probability", "1.5"], "from 0 to 1"),
        (&["hunt", "ok.c", "--preemption-bound", "-1"], "--preemption-bound"),
        (&["hunt", "ok.c", "--threads", "green"], "green"),
        (&["hunt", "ok.c", "--cflags", "'unclosed"], "--cflags"),
        (&["hunt", "ok.c", "--json", "no/such/folder/out.json"], "no/such/folder"),
        (&["hunt", "ok.c", "--json", "."], "--json"),
        (&["hunt", "ok.c", "--stdin", "no-such-input"], "no-such-input"),
        (&["hunt", "ok.c", "--stdin", "."], "."),
        (&["replay", "x.schedule", "--times", "0"], "1 or more"),
        (&["completions", "csh"], "csh"),
    ];
    for (args, word) in table {
        refused_in_a_line(&desk.run(args), &args.join(" "), word);
    }
}

#[test]
fn programs_that_are_none() {
    let desk = Desk::new();
    desk.file("notes.txt", "no program\n");
    desk.file("empty", "");
    desk.file("script", "#!/bin/sh\n");
    std::fs::create_dir(desk.path("folder.c")).expect("a folder");
    for (program, word) in [
        ("missing.c", "missing.c"),
        ("missing", "missing"),
        (".", "folder"),
        ("folder.c", "folder"),
        ("notes.txt", "notes.txt"),
        ("empty", "empty"),
        ("script", "script"),
        ("/bin/true", "instrumented"),
        ("", "PROGRAM"),
    ] {
        refused_in_a_line(&desk.run(&["hunt", program]), program, word);
    }
}

#[test]
fn code_that_does_not_compile_shows_what_the_compiler_said() {
    let desk = Desk::new();
    desk.file("broken.c", "int main(void) { return undeclared_thing; }\n");
    desk.file("broken.cpp", "int main() { return std::missing; }\n");
    for (file, word) in [("broken.c", "undeclared_thing"), ("broken.cpp", "missing")] {
        let answer = desk.run(&["hunt", file]);
        refused(&answer, file);
        assert!(answer.stderr.contains(word) && answer.stderr.contains("compile"), "{}", answer.stderr);
    }
}

#[test]
fn a_program_with_one_thread_is_not_a_silent_pass() {
    let desk = Desk::new();
    desk.file("alone.c", "int main(void) { return 0; }\n");
    refused_in_a_line(&desk.run(&["hunt", "alone.c", "--quiet"]), "one thread", "thread");
}

#[test]
fn schedules_that_are_none() {
    let desk = Desk::new();
    desk.file("foreign.schedule", "hello\n");
    desk.file("binary.schedule", b"\x7fELF\x80\xff\x00");
    desk.file("newer.schedule", "threadbare schedule 9\nend\n");
    desk.file("cut.schedule", "threadbare schedule 1\nprogram a.c\n");
    desk.file("corrupt.schedule", "threadbare schedule 1\nswitch T1 -> nowhere\nend\n");
    desk.file("no_program.schedule", "threadbare schedule 1\nprogram gone.c\nend\n");
    desk.file("nameless.schedule", "threadbare schedule 1\nend\n");
    for (file, word) in [
        ("missing.schedule", "missing.schedule"),
        (".", "."),
        ("foreign.schedule", "not a threadbare schedule"),
        ("binary.schedule", "not a threadbare schedule"),
        ("newer.schedule", "version"),
        ("cut.schedule", "cut short"),
        ("corrupt.schedule", "line 2"),
        ("no_program.schedule", "gone.c"),
        ("nameless.schedule", "--program"),
    ] {
        refused_in_a_line(&desk.run(&["replay", file]), file, word);
    }
}

/// A test that was built with a later version of the package for tests.
#[test]
fn a_closure_that_asks_for_an_unknown_strategy() {
    let desk = Desk::new();
    desk.file(
        "later.c",
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n\
         struct wishes { unsigned long executions, seed; unsigned has_seed, strategy; };\n\
         typedef int repeat(int (*)(void *), void *, const struct wishes *);\n\
         static int nothing(void *data) { (void)data; return 0; }\n\
         int main(void) {\n  const struct wishes wishes = { 10, 1, 1, 99 };\n\
         \x20 return ((repeat *)dlsym(RTLD_DEFAULT, \"threadbare_repeat\"))(nothing, 0, &wishes);\n}\n",
    );
    let answer = desk.run(&["hunt", "later.c"]);
    refused_in_a_line(&answer, "a strategy of a later version", "asks for strategy number 99");
}
