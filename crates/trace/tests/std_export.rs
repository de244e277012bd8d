//! The STD export keeps to its grammar, and says the same as the trace.

mod support;

use std::collections::HashMap;

use support::{Numbers, push};
use threadbare_trace::{EventKind, StdExport, TraceFile};

/// One line: thread, operation, what on, location.
fn parsed(line: &str) -> (String, String, String, u64) {
    let fields: Vec<&str> = line.split('|').collect();
    let [thread, operation, location] = fields[..] else { panic!("{line}") };
    let (word, rest) = operation.split_once('(').expect("an operation");
    let on = rest.strip_suffix(')').expect("a closed operand");
    let number = |text: &str, sort: char| text.strip_prefix(sort).is_some_and(|n| n.parse::<u64>().is_ok());
    let sort = match word {
        "r" | "w" => 'V',
        "acq" | "rel" => 'L',
        "fork" | "join" => 'T',
        _ => panic!("{line}"),
    };
    assert!(number(thread, 'T') && number(on, sort), "{line}");
    (thread.into(), word.into(), on.into(), location.parse().expect("a location is a number"))
}

/// Checks that locks are held by one thread at a time and released by who holds them.
fn assert_well_formed(trace: &str, seed: u64) {
    let mut holders: HashMap<String, String> = HashMap::new();
    for line in trace.lines() {
        let (thread, word, on, _) = parsed(line);
        match word.as_str() {
            "acq" => assert_eq!(holders.insert(on, thread), None, "seed {seed}: {line}"),
            "rel" => assert_eq!(holders.remove(&on), Some(thread), "seed {seed}: {line}"),
            _ => {}
        }
    }
}

#[test]
fn any_trace_gives_well_formed_lines_and_a_complete_map() {
    for seed in 0..300 {
        let numbers = &mut Numbers::new(seed);
        let mut file = TraceFile::default();
        for _ in 0..numbers.below(120) {
            let kind = EventKind::ALL[numbers.below(EventKind::ALL.len() as u64) as usize];
            let addr = 0x100 + numbers.below(4) * 2;
            let value = 0x100 + numbers.below(4) * 2;
            let value = if matches!(kind, EventKind::Create | EventKind::Join) { value % 4 } else { value };
            push(&mut file, numbers.below(3) as u16, kind, addr, &format!("x{addr}"), value);
        }
        let export = StdExport::new(&file);
        assert_well_formed(&export.trace, seed);
        for line in export.trace.lines() {
            let (thread, word, on, location) = parsed(line);
            let explained = |sort: &str, number: &str| export.map.contains(&format!("\n{sort}\t{number}\t"));
            assert!(explained("thread", &thread) && explained("location", &location.to_string()), "{line}");
            match word.as_str() {
                "r" | "w" => assert!(explained("variable", &on), "seed {seed}: {line}"),
                "acq" | "rel" => assert!(explained("lock", &on), "seed {seed}: {line}"),
                _ => {}
            }
        }
    }
}

fn export(steps: &[(u16, EventKind, u64, &str, u64)]) -> StdExport {
    let mut file = TraceFile::default();
    file.program = "bank.c".into();
    for (thread, kind, addr, name, value) in steps {
        push(&mut file, *thread, *kind, *addr, name, *value);
    }
    StdExport::new(&file)
}

/// The operations alone, on one line.
fn operations(steps: &[(u16, EventKind, u64, &str, u64)]) -> String {
    let operation = |line: &str| line.rsplit_once('|').map(|(operation, _)| operation.to_string());
    export(steps).trace.lines().filter_map(operation).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_lost_update_with_its_map() {
    use EventKind::*;
    let export = export(&[
        (0, Create, 0, "", 1),
        (1, Lock, 0x200, "guard", 1),
        (1, Read, 0x100, "balance", 0),
        (1, Unlock, 0x200, "guard", 0),
        (1, Fence, 0, "", 0),
        (0, AtomicUpdate, 0x108, "done", 1),
        (0, Join, 0, "", 1),
    ]);
    insta::assert_snapshot!(format!("{}\n{}", export.trace, export.map));
}

#[test]
fn accesses_share_variables_exactly_where_they_overlap() {
    use EventKind::*;
    let steps =
        [(1, WriteRange, 0x100, "pair", 8), (2, Read, 0x104, "pair.right", 0), (1, Read, 0x108, "other", 0)];
    assert_eq!(operations(&steps), "T1|w(V1) T1|w(V2) T2|r(V2) T1|r(V3)");
    assert!(export(&steps).map.contains("variable\tV2\tpair.right\n"));
}

#[test]
fn freed_memory_is_written_and_new_memory_is_another_variable() {
    use EventKind::*;
    let steps = [
        (1, Write, 0x100, "first", 0),
        (1, Free, 0x100, "first", 16),
        (2, Alloc, 0x100, "second", 16),
        (2, Write, 0x100, "second", 0),
    ];
    assert_eq!(operations(&steps), "T1|w(V1) T1|w(V1) T2|w(V2)");
}

#[test]
fn readers_exclude_writers_but_not_readers() {
    use EventKind::*;
    let steps = [
        (1, ReadLock, 0x200, "lock", 1),
        (2, ReadLock, 0x200, "lock", 2),
        (1, Unlock, 0x200, "lock", 0),
        (2, Unlock, 0x200, "lock", 0),
        (3, Lock, 0x200, "lock", 1),
        (3, Unlock, 0x200, "lock", 0),
    ];
    assert_eq!(
        operations(&steps),
        "T1|acq(L1) T2|acq(L2) T1|rel(L1) T2|rel(L2) \
         T3|acq(L3) T3|acq(L1) T3|acq(L2) T3|rel(L2) T3|rel(L1) T3|rel(L3)"
    );
}

#[test]
fn a_recursive_mutex_shows_its_outermost_pair_and_waits_release_all_of_it() {
    use EventKind::*;
    let steps = [
        (1, Lock, 0x200, "m", 1),
        (1, Lock, 0x200, "m", 2),
        (1, CondWait, 0x300, "c", 0x200),
        (2, CondSignal, 0x300, "c", 1),
        (1, CondWake, 0x300, "c", 0x200),
        (1, Unlock, 0x200, "m", 1),
        (1, Unlock, 0x200, "m", 0),
    ];
    assert_eq!(
        operations(&steps),
        "T1|acq(L1) T1|rel(L1) T2|acq(L2) T2|rel(L2) T1|acq(L2) T1|rel(L2) T1|acq(L1) T1|rel(L1)"
    );
}

#[test]
fn a_lock_taken_from_a_dead_owner_stays_well_formed_and_is_noted() {
    use EventKind::*;
    let steps = [(1, Lock, 0x200, "m", 1), (1, Exit, 0, "", 0), (2, Lock, 0x200, "m", 1)];
    assert_eq!(operations(&steps), "T1|acq(L1) T1|rel(L1) T2|acq(L1)");
    assert!(export(&steps).map.contains("\nadded\t1\tunlock\t"));
}
