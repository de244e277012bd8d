//! Starting a program, running copies of it, and leaving nothing behind.

use std::fs;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use threadbare_sched::{PolicySpec, Random, Replay};
use threadbare_target::{Execution, Program, Server, ServerOptions, StartError, resolve};
use threadbare_trace::{FailureKind, Outcome, ThreadId};
use threadbare_wire::{SwitchRecord, flags};

const HEAD: &str = "#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    #include <unistd.h>\nint shared;\nstatic volatile int never;\n\
    static void *spin(void *p) { while (!never) {} return p; }\nstatic void *add(void *p) { shared++; return p; }\n\
    static void thread(void) { pthread_t t; pthread_create(&t, NULL, add, NULL); shared++; pthread_join(t, NULL); }\n";

struct Built {
    _folder: TempDir,
    program: Program,
}

fn build(main: &str) -> Built {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("p.c");
    fs::write(
        &source,
        format!("{HEAD}int main(int argc, char **argv) {{ (void)argc; (void)argv; {main} }}\n"),
    )
    .unwrap();
    let program = resolve(&source, &[], folder.path()).unwrap();
    Built { _folder: folder, program }
}

fn options() -> ServerOptions {
    ServerOptions {
        max_steps: 10_000,
        most_events: u64::MAX,
        flags: 0,
        stall: Duration::from_millis(500),
        stop: Default::default(),
    }
}

fn start(built: &Built) -> Server {
    Server::start(&built.program, &options()).unwrap_or_else(|error| panic!("{error}"))
}

fn run(server: &mut Server, seed: u64) -> Execution {
    let policy = PolicySpec::new(Random, seed);
    server.run(&policy, 0).unwrap_or_else(|error| panic!("{error}"))
}

fn failure(execution: &Execution) -> (FailureKind, String) {
    let failure = execution.outcome.failure().unwrap_or_else(|| panic!("{:?}", execution.outcome));
    (failure.kind, failure.message.clone())
}

fn is_alive(process: i32) -> bool {
    // SAFETY: signal 0 only asks whether the process exists.
    unsafe { libc::kill(process, 0) == 0 }
}

#[test]
fn every_execution_starts_at_the_snapshot() {
    let built = build("puts(\"start\"); fflush(stdout); thread(); printf(\"%d\\n\", shared); return 0;");
    let mut server = start(&built);
    for seed in 1..20 {
        let execution = run(&mut server, seed);
        assert_eq!(execution.outcome, Outcome::Passed);
        let output = String::from_utf8(execution.output).unwrap();
        assert!(["start\n2\n", "start\n1\n"].contains(&output.as_str()), "{output:?}");
        assert!(!execution.events.is_empty());
    }
    let bare = server.run(&PolicySpec::new(Random, 1), flags::NO_EVENTS).unwrap();
    assert!(bare.events.is_empty());
}

#[test]
fn an_execution_of_a_million_events_is_recorded_whole_each_time() {
    // What is recorded of so many is given back while it is copied, but for what was recorded before the snapshot.
    const EVENTS: usize = 1 << 20;
    let main = "char *early = malloc(40); early[0] = 1; pthread_t t; pthread_create(&t, NULL, add, NULL); \
                for (int i = 0; i < 600000; i++) shared++; pthread_join(t, NULL); free(early); return 0;";
    let built = build(main);
    let options = ServerOptions { max_steps: 3_000_000, flags: flags::RECORD_ALL, ..options() };
    let mut server = Server::start(&built.program, &options).unwrap_or_else(|error| panic!("{error}"));
    let first = run(&mut server, 1);
    assert!(first.events.len() > EVENTS, "{}", first.events.len());
    let second = run(&mut server, 1);
    assert!(first.events == second.events);
    assert!(first.switches == second.switches && !first.switches.is_empty());
}

#[test]
fn standard_input_is_read_anew_by_every_execution() {
    let mut built =
        build("char b[9] = {0}; thread(); if (!fgets(b, 9, stdin)) return 3; printf(\"<%s>\", b); return 0;");
    let input = built._folder.path().join("input");
    fs::write(&input, "hello").unwrap();
    built.program.stdin = Some(input);
    let mut server = start(&built);
    for seed in 1..5 {
        assert_eq!(String::from_utf8(run(&mut server, seed).output).unwrap(), "<hello>");
    }
    built.program.stdin = Some("/nonexistent/input".into());
    let error = Server::start(&built.program, &options()).err().unwrap();
    assert!(error.to_string().contains("could not be started"), "{error}");
}

#[test]
fn a_bad_exit_status_is_a_failure_unless_allowed() {
    let built = build("thread(); return 7;");
    let mut server = start(&built);
    let (kind, message) = failure(&run(&mut server, 1));
    assert_eq!(kind, FailureKind::Exit);
    assert!(message.contains('7'), "{message}");
    let policy = PolicySpec::new(Random, 1);
    assert_eq!(server.run(&policy, flags::ANY_EXIT).unwrap().outcome, Outcome::Passed);
}

#[test]
fn fatal_signals_and_aborts_are_distinguished() {
    let built = build("thread(); *(volatile int *)(long)argc = 1; return 0;");
    assert_eq!(failure(&run(&mut start(&built), 1)).0, FailureKind::Segfault);
    let built = build("thread(); abort();");
    assert_eq!(failure(&run(&mut start(&built), 1)).0, FailureKind::Abort);
}

/// Looping until the count of operations comes to the same number again would take longer than the limit.
#[test]
fn a_replay_does_not_wait_for_a_stop_that_is_past() {
    let built = build(
        "pthread_t t; if (argc) { pthread_create(&t, NULL, spin, NULL); pthread_join(t, NULL); } return 0;",
    );
    let mut server =
        Server::start(&built.program, &ServerOptions { stall: Duration::from_secs(2), ..options() }).unwrap();
    let hung = run(&mut server, 1);
    assert!(!hung.stalled && failure(&hung).0 == FailureKind::Hang, "{:?}", hung.outcome);
    let joins = hung.switches.iter().rfind(|switch| switch.from == ThreadId::MAIN).expect("main waits");
    let stop = |op| SwitchRecord { from: joins.to, op, to: ThreadId::MAIN, ..*joins };
    let replay = Replay::of(&[*joins, stop(500), stop(100)]);
    let again = server.run(&PolicySpec::new(replay, 0), 0).unwrap();
    assert!(!again.stalled && failure(&again).0 == FailureKind::Hang, "{:?}", again.outcome);
}

#[test]
fn an_execution_that_makes_no_step_is_ended_and_the_server_lives_on() {
    let built = build("thread(); if (getenv(\"HOME\")) for (;;) { __asm__ volatile(\"\"); } return 0;");
    let mut server = start(&built);
    for seed in 1..3 {
        let begun = Instant::now();
        let cut = run(&mut server, seed).outcome;
        assert!(matches!(&cut, Outcome::Cut(why) if why.contains("no scheduling point")), "{cut:?}");
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
}

#[test]
fn a_program_that_never_starts_a_thread_is_distinguished_from_one_that_fails_first() {
    let error = |main: &str| Server::start(&build(main).program, &options()).err().unwrap();
    let quiet = error("puts(\"nothing to do\"); return 0;");
    assert!(matches!(&quiet, StartError::NoThreads { .. }), "{quiet}");
    assert!(quiet.to_string().contains("nothing to do"), "{quiet}");
    let usage = error("fputs(\"usage: p FILE\\n\", stderr); return 2;");
    assert!(usage.to_string().contains("usage: p FILE"), "{usage}");
    assert!(usage.to_string().contains('2'), "{usage}");
    let crash = error("abort();");
    assert!(matches!(&crash, StartError::FailedEarly { .. } | StartError::EndedEarly { .. }), "{crash}");
}

#[test]
fn start_up_code_is_given_as_long_as_the_program_says() {
    let built = build("for (;;) { __asm__ volatile(\"\"); } return 0;");
    let program = Program { start_limit: Some(Duration::from_millis(50)), ..built.program.clone() };
    let error = Server::start(&program, &options()).err().unwrap();
    assert!(matches!(&error, StartError::TooSlow { .. }), "{error}");
    assert!(error.to_string().contains("within 0.05 s"), "{error}");
}

#[test]
fn dropping_a_server_ends_its_processes() {
    // What getpid says is virtual.
    let built = build(
        "char id[32] = {0}; if (readlink(\"/proc/self\", id, 31) < 0) return 1; \
         fputs(id, stdout); fflush(stdout); thread(); return 0;",
    );
    let mut server = start(&built);
    let output = String::from_utf8(run(&mut server, 1).output).unwrap();
    let process: i32 = output.parse().unwrap();
    assert!(is_alive(process));
    drop(server);
    assert!(!is_alive(process));
}

#[test]
fn two_servers_load_the_program_at_the_same_places() {
    let built = build("thread(); return 0;");
    let (one, other) = (start(&built), start(&built));
    if one.has_fixed_addresses() {
        assert_eq!(one.modules().all(), other.modules().all());
    }
}
