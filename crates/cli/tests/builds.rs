//! Real builds: projects of several files and languages, built by the wrappers as build tools
//! call them, run outside the tool and under it.

mod support;

use std::process::Command;

use support::{Answer, Desk, repository};

fn source(name: &str) -> String {
    let path = repository("crates/cli/tests/builds").join(name);
    path.to_str().expect("a path that is text").to_string()
}

/// Builds the project in the desk's folder with these flags.
fn build_project(desk: &Desk, compiler_flags: &str, linker_flags: &str) {
    let tool = env!("CARGO_BIN_EXE_threadbare");
    let output = Command::new("sh")
        .arg(source("project/build.sh"))
        .current_dir(desk.path(""))
        .env("SRC", source("project"))
        .env("CC", format!("{tool} cc"))
        .env("CXX", format!("{tool} c++"))
        .env("CFLAGS", compiler_flags)
        .env("LDFLAGS", linker_flags)
        .env("LDFLAGS_SHARED", "")
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn runs_outside(desk: &Desk, args: &[&str]) {
    let status = Command::new(desk.path("app")).args(args).current_dir(desk.path("")).status();
    assert!(status.expect("the program starts").success());
}

fn hunt(desk: &Desk, program: &str, executions: &str, args: &[&str]) -> Answer {
    let mut line = vec!["hunt", "--quiet", "--json", "-", "--executions", executions, program];
    if !args.is_empty() {
        line.push("--");
        line.extend(args);
    }
    desk.run(&line)
}

fn assert_clean(answer: &Answer) {
    assert_eq!(answer.code, Some(0), "{}{}", answer.stdout, answer.stderr);
}

#[track_caller]
fn assert_found(answer: &Answer, kind: &str) -> String {
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    let found = answer.json();
    assert_eq!(found["failure"]["kind"], kind, "{found}");
    found["failure"]["site"].as_str().unwrap_or_default().to_string()
}

#[test]
fn a_project_of_many_parts_runs_outside_and_is_hunted_inside() {
    let kinds = [
        ("-O0 -g", ""),
        ("-O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE", "-pie"),
        ("-O1 -fno-pie", "-no-pie"),
        ("-O2 -flto -fPIC", "-flto"),
    ];
    for (compiler_flags, linker_flags) in kinds {
        let desk = Desk::new();
        build_project(&desk, compiler_flags, linker_flags);
        runs_outside(&desk, &["careful"]);
        assert_clean(&hunt(&desk, "./app", "100", &["careful"]));
        assert_found(&hunt(&desk, "./app", "2000", &[]), "abort");
    }
}

#[test]
fn without_debug_information_sites_are_still_in_the_program() {
    let desk = Desk::new();
    build_project(&desk, "-O1", "");
    let site = assert_found(&hunt(&desk, "./app", "2000", &[]), "abort");
    assert!(site.starts_with("main"), "{site}");
    let schedule = desk.run(&["hunt", "--executions", "2000", "./app"]).stdout;
    assert!(!schedule.contains(".rs:"), "the runtime's own source is nobody's business:\n{schedule}");
}

#[test]
fn a_static_link_is_refused_in_one_sentence() {
    let desk = Desk::new();
    let answer = desk.run(&["cc", "-static", &source("annotated.c")]);
    assert_eq!(answer.code, Some(2));
    assert_eq!(answer.stderr.lines().count(), 1);
    assert!(answer.stderr.contains("build without `-static`"), "{}", answer.stderr);
}

#[test]
fn annotations_for_the_thread_sanitizer_link_and_do_no_harm() {
    let desk = Desk::new();
    assert_clean(&hunt(&desk, &source("annotated.c"), "300", &[]));
}

#[test]
fn a_signal_to_the_process_by_its_early_number_ends_the_wait() {
    let desk = Desk::new();
    assert_clean(&hunt(&desk, &source("signalled_end.c"), "300", &[]));
}

#[test]
fn a_file_opened_before_the_snapshot_is_as_long_as_it_was_then() {
    let desk = Desk::new();
    let program = source("open_output.c");
    let answer = desk.run(&["hunt", "--quiet", "--jobs", "1", "--executions", "100", &program]);
    assert_clean(&answer);
}

#[test]
fn long_work_on_private_memory_is_no_livelock() {
    let desk = Desk::new();
    assert_clean(&hunt(&desk, &source("long_private_work.c"), "20", &[]));
}

#[test]
fn a_right_rust_program_passes_and_a_panic_is_found() {
    let desk = Desk::new();
    assert_clean(&hunt(&desk, &source("rust_right.rs"), "300", &[]));
    assert_found(&hunt(&desk, &source("rust_lost.rs"), "1000", &[]), "exit");
}
