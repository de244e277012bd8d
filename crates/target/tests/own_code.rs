//! Where a lock is taken: the programmer's line, whatever the way through libraries.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use threadbare_sched::{PolicySpec, Random, Requirements, Tsa};
use threadbare_target::{Execution, Server, ServerOptions, Symbols, resolve};
use threadbare_trace::{Event, EventKind};

/// All locks of a C++ program are taken in one function of a header.
const SOURCE: &str = r#"#include <mutex>
#include <thread>
std::mutex m;
int shared;
void first() { std::lock_guard<std::mutex> held(m); shared++; }
void second() { std::unique_lock<std::mutex> held(m); shared++; }
void third() { m.lock(); shared++; m.unlock(); }
template <class F> void twice(F f) { f(); f(); }
int main() {
    std::thread one([] { twice(first); });
    std::thread two([] { second(); third(); });
    one.join();
    two.join();
}
"#;

/// The execution, the names in it, and the folder of the program, whose file is read when asked about.
fn run(flags: &[&str]) -> (Execution, Symbols, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start(&folder, flags);
    let run = server.run(&PolicySpec::new(Random, 1), 0).unwrap();
    (run, Symbols::new(server.modules()), folder)
}

fn start(folder: &TempDir, flags: &[&str]) -> Server {
    start_source(folder, "locks.cpp", SOURCE, flags)
}

fn start_source(folder: &TempDir, name: &str, text: &str, flags: &[&str]) -> Server {
    let source = folder.path().join(name);
    std::fs::write(&source, text).unwrap();
    let flags: Vec<String> = flags.iter().map(|flag| flag.to_string()).collect();
    let program = resolve(&source, &flags, folder.path()).unwrap();
    let options = ServerOptions {
        most_events: u64::MAX,
        max_steps: 10_000,
        flags: 0,
        stall: Duration::from_secs(10),
        stop: Default::default(),
    };
    Server::start(&program, &options).unwrap()
}

fn locks(run: &Execution) -> impl Iterator<Item = &Event> {
    run.events.iter().filter(|event| event.kind() == Some(EventKind::Lock))
}

#[test]
fn locks_of_a_header_are_distinguished_by_the_lines_that_ask_for_them() {
    let (run, symbols, _folder) = run(&[]);
    assert_eq!(locks(&run).count(), 4);
    let codes: BTreeSet<u64> = locks(&run).map(|event| event.pc).collect();
    assert_eq!(codes.len(), 1, "the header has one place where mutexes are locked");
    let places: BTreeSet<u64> = locks(&run).map(|event| run.place(event)).collect();
    let lines: BTreeSet<String> = places.iter().map(|place| symbols.site(*place).to_string()).collect();
    assert_eq!(lines.into_iter().collect::<Vec<_>>(), ["locks.cpp:5", "locks.cpp:6", "locks.cpp:7"]);
    assert_eq!(places.len(), 3, "what is called twice is one place");
}

#[test]
fn the_own_code_is_that_of_the_lines_that_people_are_shown() {
    for flags in [&[][..], &["-O1"], &["-O2"], &["-gdwarf-4"]] {
        let (run, symbols, _folder) = run(flags);
        for event in locks(&run) {
            let shown = symbols.own_site(event.pc, event.context, &run.contexts);
            let place = run.place(event);
            let own = symbols.own_frame(place).unwrap_or_else(|| panic!("{flags:?}: {place:#x}"));
            assert_eq!(own.to_string(), shown.to_string(), "{flags:?}");
        }
    }
}

fn tsa(requirements: &Arc<Requirements>) -> Tsa {
    Tsa { third_rule: true, stay_probability: 0.1, requirements: Arc::clone(requirements) }
}

#[test]
fn a_controller_in_the_program_finds_the_same_places() {
    let (first, symbols, folder) = run(&[]);
    let line = |place: u64| symbols.site(place).line.unwrap();
    let place = |wanted: u32| locks(&first).map(|event| first.place(event)).find(|it| line(*it) == wanted);
    let pair = (place(6).unwrap(), place(5).unwrap());
    let mut server = start(&folder, &[]);
    let requirements = Arc::new(Requirements::new([pair]));
    for seed in 1..=20 {
        let policy = PolicySpec::new(tsa(&requirements), seed);
        let run = server.run(&policy, 0).unwrap();
        assert!(run.policy_counters.iter().sum::<u64>() > 0, "seed {seed}: nobody was paused");
        let places: Vec<u64> = locks(&run).map(|event| run.place(event)).collect();
        let shown = places.windows(2).any(|two| (two[0], two[1]) == pair);
        assert!(shown, "seed {seed}: {:?}", places.into_iter().map(line).collect::<Vec<_>>());
    }
}

/// Locks of Rust's library are words that are updated.
const RUST: &str = r#"use std::sync::{Arc, Mutex};
fn first(m: &Mutex<i32>) { *m.lock().unwrap() += 1; }
fn second(m: &Mutex<i32>) { *m.lock().unwrap() += 1; }
fn main() {
    let m = Arc::new(Mutex::new(0));
    let n = m.clone();
    let one = std::thread::spawn(move || { first(&n); first(&n); });
    second(&m);
    second(&m);
    one.join().unwrap();
}
"#;

#[test]
fn a_lock_that_is_a_word_is_known_by_its_place_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start_source(&folder, "locks.rs", RUST, &[]);
    let symbols = Symbols::new(server.modules());
    let taken = |run: &Execution| -> Vec<u64> {
        let takes = |event: &&Event| event.kind() == Some(EventKind::AtomicUpdate) && event.old == 0;
        let places = run.events.iter().filter(takes).map(|event| run.place(event));
        places.filter(|place| [Some(2), Some(3)].contains(&symbols.site(*place).line)).collect()
    };
    let random = server.run(&PolicySpec::new(Random, 1), 0).unwrap();
    let places: BTreeSet<u64> = taken(&random).into_iter().collect();
    let places: Vec<u64> = places.into_iter().collect();
    let &[a, b] = &places[..] else { panic!("{places:x?}") };
    for pair in [(a, b), (b, a)] {
        let requirements = Arc::new(Requirements::new([pair]));
        for seed in 1..=20 {
            let policy = PolicySpec::new(tsa(&requirements), seed);
            let run = server.run(&policy, 0).unwrap();
            let shown = taken(&run).windows(2).any(|two| (two[0], two[1]) == pair);
            assert!(shown && run.policy_counters[0] > 0, "seed {seed}: {:x?} of {pair:x?}", taken(&run));
        }
    }
}

#[test]
fn without_debug_information_a_place_is_the_code_itself() {
    let (run, _, _folder) = run(&["-g0"]);
    assert!(locks(&run).count() == 4 && locks(&run).all(|event| run.place(event) == event.pc));
}
