//! Steered executions: stopping at decisions, continuing, and splitting in the middle.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use tempfile::TempDir;
use threadbare_sched::{PolicySpec, Prefix, Random};
use threadbare_target::{Execution, Pause, Program, Server, ServerOptions, Stop, resolve};
use threadbare_trace::{Outcome, ThreadId};
use threadbare_wire::flags;

/// Two threads that each add one in two steps; lost updates end with status 1.
const LOST_UPDATE: &str = r#"
    int account;
    static void *add(void *p) { int seen = account; account = seen + 1; return p; }
    int main(void) {
        pthread_t a, b;
        pthread_create(&a, NULL, add, NULL);
        pthread_create(&b, NULL, add, NULL);
        pthread_join(a, NULL);
        pthread_join(b, NULL);
        return account != 2;
    }
"#;

struct Built {
    _folder: TempDir,
    program: Program,
}

fn build(source: &str) -> Built {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.c");
    fs::write(&path, format!("#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\n{source}"))
        .unwrap();
    let program = resolve(&path, &[], folder.path()).unwrap();
    Built { _folder: folder, program }
}

fn start(built: &Built, flags: u32) -> Server {
    let stall = Duration::from_millis(500);
    let options =
        ServerOptions { max_steps: 10_000, most_events: u64::MAX, flags, stall, stop: Default::default() };
    let mut server = Server::start(&built.program, &options).unwrap_or_else(|error| panic!("{error}"));
    // What is shared is learned first: it decides where decisions are.
    for seed in 1..20 {
        let policy = PolicySpec::new(Random, seed);
        let run = server.run(&policy, flags::PROBE).unwrap();
        server.learn(&run.discovered);
    }
    server
}

fn paused(stop: Stop) -> Pause {
    match stop {
        Stop::Paused(pause) => pause,
        other => panic!("{other:?}"),
    }
}

fn threads(pause: &Pause) -> Vec<ThreadId> {
    pause.offers.iter().map(|offer| offer.thread).collect()
}

fn failed(run: &Execution) -> bool {
    matches!(run.outcome, Outcome::Failed(_))
}

/// Walks the whole tree of decisions with snapshots; the outcome of every path.
fn walk(server: &mut Server, pause: &Pause, path: &[ThreadId], found: &mut Vec<(Vec<ThreadId>, bool)>) {
    for thread in threads(pause) {
        let mut path = path.to_vec();
        path.push(thread);
        match server.split(pause.snapshot, &[thread]).unwrap() {
            Stop::Paused(next) => walk(server, &next, &path, found),
            Stop::Ended(run) => found.push((path, failed(&run))),
            Stop::Refused(reason) => panic!("{reason}"),
        }
    }
    server.discard(pause.snapshot);
}

#[test]
fn a_tree_of_snapshots_agrees_with_running_every_path_from_the_start() {
    let built = build(LOST_UPDATE);
    let mut server = start(&built, 0);
    let root = paused(server.steer(1, &[], 0).unwrap());
    let mut found = Vec::new();
    walk(&mut server, &root, &[], &mut found);
    assert_eq!(server.snapshots(), 0);
    let distinct: BTreeSet<_> = found.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(distinct.len(), found.len());
    assert!(found.iter().any(|(_, failed)| *failed) && found.iter().any(|(_, failed)| !failed));
    for (path, expected) in found {
        let policy = PolicySpec::new(Prefix { choices: path.clone() }, 1);
        let run = server.run(&policy, 0).unwrap();
        assert_eq!((failed(&run), run.divergence), (expected, None), "{path:?}");
    }
}

#[test]
fn events_are_reported_from_stop_to_stop() {
    let built = build(LOST_UPDATE);
    let mut server = start(&built, 0);
    let mut pause = paused(server.steer(1, &[], 0).unwrap());
    let mut path = Vec::new();
    let mut events = pause.events.clone();
    let run = loop {
        let thread = *threads(&pause).last().unwrap();
        path.push(thread);
        match server.go_on(pause.snapshot, &[thread]).unwrap() {
            Stop::Paused(next) => pause = next,
            Stop::Ended(run) => break run,
            Stop::Refused(reason) => panic!("{reason}"),
        }
        events.extend(&pause.events);
    };
    events.extend(&run.events);
    let again = server.run(&PolicySpec::new(Prefix { choices: path }, 1), 0).unwrap();
    assert_eq!(events, again.events);
    assert_eq!(run.steps, again.steps);
}

#[test]
fn several_choices_can_be_given_at_once() {
    let built = build(LOST_UPDATE);
    let mut server = start(&built, 0);
    let root = paused(server.steer(1, &[], 0).unwrap());
    let first = threads(&root)[0];
    let next = paused(server.split(root.snapshot, &[first]).unwrap());
    let second = threads(&next)[1];
    let by_steps = paused(server.go_on(next.snapshot, &[second]).unwrap());
    let at_once = paused(server.go_on(root.snapshot, &[first, second]).unwrap());
    assert_eq!((by_steps.offers, by_steps.steps), (at_once.offers, at_once.steps));
    server.end_steering().unwrap();
    assert_eq!(server.snapshots(), 0);
}

#[test]
fn threads_of_the_system_can_be_steered_but_not_split() {
    let built = build(LOST_UPDATE);
    let mut server = start(&built, flags::OS_THREADS);
    let root = paused(server.steer(1, &[], 0).unwrap());
    let thread = threads(&root)[0];
    assert!(matches!(server.split(root.snapshot, &[thread]).unwrap(), Stop::Refused(_)));
    let next = paused(server.go_on(root.snapshot, &[thread]).unwrap());
    assert!(next.steps > root.steps);
}

#[test]
fn what_copies_would_share_is_not_split() {
    let built = build(
        r#"
        int ends[2], shared;
        static void *add(void *p) { shared++; write(ends[1], "x", 1); return p; }
        int main(void) {
            pthread_t a, b;
            char byte;
            pipe(ends);
            pthread_create(&a, NULL, add, NULL);
            pthread_create(&b, NULL, add, NULL);
            read(ends[0], &byte, 1);
            pthread_join(a, NULL);
            pthread_join(b, NULL);
            return 0;
        }"#,
    );
    let mut server = start(&built, 0);
    let root = paused(server.steer(1, &[], 0).unwrap());
    let Stop::Refused(reason) = server.split(root.snapshot, &[threads(&root)[0]]).unwrap() else {
        panic!("a pipe was shared between two copies")
    };
    assert!(reason.contains("pipes"), "{reason}");
}
