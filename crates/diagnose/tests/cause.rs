//! The sentence that says what separates failing executions from passing ones.

use threadbare_detect::Access;
use threadbare_diagnose::cause_text;
use threadbare_diagnose::causes::Cause;
use threadbare_report::{Names, SourcePlace};

use threadbare_trace::{EventKind, ThreadId};

const BALANCE: u64 = 0x100;
const LEFT: u64 = 0x200;
const RIGHT: u64 = 0x300;

/// Code address n is line n of bank.c; objects are named by a small table.
struct Bank;

impl Names for Bank {
    fn place(&self, pc: u64, _context: u32) -> Option<SourcePlace> {
        Some(SourcePlace {
            label: format!("bank.c:{pc}"),
            function: None,
            file: Some("src/bank.c".into()),
            line: Some(pc as u32),
            column: None,
            in_system: false,
            library_operation: None,
        })
    }

    fn object(&self, addr: u64) -> Option<String> {
        let known = [(BALANCE, "balance"), (LEFT, "left"), (RIGHT, "right")];
        known.iter().find(|(at, _)| *at == addr).map(|(_, name)| name.to_string())
    }

    fn routine(&self, _addr: u64) -> Option<String> {
        None
    }

    fn source(&self, _place: &SourcePlace) -> Option<String> {
        None
    }
}

fn access(thread: u16, kind: EventKind, object: u64, line: u64) -> Access {
    Access { event: 0, thread: ThreadId(thread), pc: line, context: 0, kind, object }
}

fn reads(thread: u16, object: u64, line: u64) -> Access {
    access(thread, EventKind::Read, object, line)
}

fn writes(thread: u16, object: u64, line: u64) -> Access {
    access(thread, EventKind::Write, object, line)
}

fn text(accesses: &[Access], last_is_pending: bool, in_passing: usize) -> String {
    let cause = Cause {
        pattern: 0,
        accesses: accesses.to_vec(),
        last_is_pending,
        in_failing: 1,
        failing: 1,
        in_passing,
        passing: 40,
    };
    cause_text(&cause, &Bank)
}

#[test]
fn one_variable_is_named_once() {
    let update = [reads(2, BALANCE, 8), writes(3, BALANCE, 9), writes(2, BALANCE, 9)];
    assert_eq!(
        text(&update, false, 0),
        "T2 read balance at bank.c:8, T3 wrote it at bank.c:9, then T2 wrote it at bank.c:9; none of 40 \
         passing executions does that"
    );
}

#[test]
fn what_a_thread_does_to_both_variables_is_said_once() {
    let torn = [writes(2, LEFT, 9), reads(3, LEFT, 20), reads(3, RIGHT, 21), writes(2, RIGHT, 10)];
    assert_eq!(
        text(&torn, false, 0),
        "T2 wrote left at bank.c:9, T3 read left and right at bank.c:20–21, then T2 wrote right at \
         bank.c:10; none of 40 passing executions does that"
    );
    let far = [writes(2, LEFT, 9), reads(3, RIGHT, 24), reads(3, LEFT, 20), writes(2, RIGHT, 10)];
    assert!(text(&far, false, 0).contains("T3 read right and left at bank.c:24 and 20, then"));
    let same_line = [writes(2, LEFT, 9), reads(3, LEFT, 20), reads(3, RIGHT, 20), writes(2, RIGHT, 10)];
    assert!(text(&same_line, false, 0).contains("T3 read left and right at bank.c:20, then"));
}

#[test]
fn turns_are_reported_one_by_one() {
    let turns = [writes(1, LEFT, 9), reads(2, RIGHT, 20), writes(1, RIGHT, 10), reads(2, LEFT, 21)];
    assert_eq!(
        text(&turns, false, 1),
        "T1 wrote left at bank.c:9, T2 read right at bank.c:20, T1 wrote right at bank.c:10, then T2 read \
         left at bank.c:21; 1 of 40 passing executions does that too"
    );
}

#[test]
fn what_was_not_made_any_more_comes_before_it() {
    assert_eq!(
        text(&[reads(2, LEFT, 20), writes(1, LEFT, 9)], true, 3),
        "T2 read left at bank.c:20, before T1 wrote it at bank.c:9; 3 of 40 passing executions do that too"
    );
}
