//! The same program, plan and seed give the same trace, whatever ran before.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use threadbare_sched::{PolicySpec, Random};
use threadbare_target::{Server, ServerOptions, Symbols, resolve, stable_hash};
use threadbare_wire::flags;

const EXECUTIONS: u64 = 1000;

fn subject(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects").join(path)
}

/// The hashes of many executions with one seed. Executions with other seeds run in between, so
/// that anything left over from one would show in the next.
fn hashes(path: &str, seed: u64) -> BTreeSet<u64> {
    let folder = tempfile::tempdir().unwrap();
    let program = resolve(&subject(path), &[], folder.path()).unwrap();
    let options = ServerOptions {
        most_events: u64::MAX,
        max_steps: 100_000,
        flags: 0,
        stall: Duration::from_secs(20),
        stop: Default::default(),
    };
    let mut server = Server::start(&program, &options).unwrap();
    let symbols = Symbols::new(server.modules());
    // Learn until an execution with this very seed finds nothing new.
    let plan = PolicySpec::new(Random, seed);
    for other in 0.. {
        let flags = if other < 2 { flags::PROBE } else { 0 };
        let run = server.run(&PolicySpec::new(Random, other), flags).unwrap();
        server.learn(&run.discovered);
        let run = server.run(&plan, 0).unwrap();
        server.learn(&run.discovered);
        if other > 20 && run.discovered.is_empty() {
            break;
        }
    }
    let mut hashes = BTreeSet::new();
    for index in 0..EXECUTIONS {
        if index % 10 == 0 {
            server.run(&PolicySpec::new(Random, 1000 + index), 0).unwrap();
        }
        let run = server.run(&plan, 0).unwrap();
        assert!(!run.events.is_empty(), "an execution without events proves nothing");
        hashes.insert(stable_hash(&run, &symbols));
    }
    hashes
}

#[test]
fn a_thousand_executions_with_one_seed_give_one_trace() {
    for path in [
        "ars/reorder/reorder.c",
        "ars/linked_list/linked_list.c",
        "ars/producer_consumer/producer_consumer.c",
        "ars/merge_sort/merge_sort.c",
    ] {
        let hashes = hashes(path, 7);
        assert_eq!(hashes.len(), 1, "{path}: {} different traces", hashes.len());
    }
}

#[test]
fn other_seeds_give_other_traces_and_a_second_server_the_same_ones() {
    let path = "extra/condvar_queue/condvar_queue.cpp";
    let first = hashes(path, 1);
    assert_eq!(first, hashes(path, 1));
    assert_ne!(first, hashes(path, 2));
}

/// What is on the stack of `main` lies where it did, however much lies above it.
#[test]
fn neither_the_size_of_the_environment_nor_the_arguments_move_the_stack() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("where.c");
    let text = "#include <pthread.h>\n#include <stdio.h>\n\
        static void *nothing(void *none) { return none; }\n\
        int main(void) { int here; printf(\"%p\\n\", (void *)&here); fflush(stdout);\n\
        pthread_t thread; pthread_create(&thread, 0, nothing, 0); pthread_join(thread, 0); return 0; }\n";
    std::fs::write(&source, text).unwrap();
    let program = resolve(&source, &[], folder.path()).unwrap();
    let place = |variables: usize, length: usize, args: usize| {
        let env = (0..variables).map(|number| (format!("V{number}"), "v".repeat(length + number)));
        let program = threadbare_target::Program {
            env: env.collect(),
            args: (0..args).map(|number| "a".repeat(number)).collect(),
            ..program.clone()
        };
        let options = ServerOptions {
            most_events: u64::MAX,
            max_steps: 10_000,
            flags: 0,
            stall: Duration::from_secs(20),
            stop: Default::default(),
        };
        let mut server = Server::start(&program, &options).unwrap();
        if !server.has_fixed_addresses() {
            return String::new();
        }
        String::from_utf8(server.run(&PolicySpec::new(Random, 1), 0).unwrap().output).unwrap()
    };
    let usual = place(0, 0, 0);
    for (variables, length, args) in
        [(1, 1, 0), (2, 7, 0), (3, 200, 1), (20, 15, 2), (21, 16, 5), (50, 33, 10)]
    {
        assert_eq!(
            place(variables, length, args),
            usual,
            "{variables} variables of {length}, {args} arguments"
        );
    }
}
