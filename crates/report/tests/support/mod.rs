//! Executions made by hand, and their names.
#![allow(dead_code, reason = "each test file uses its own part")]

use threadbare_report::{Interleaving, Names, SourcePlace, TextFormat, interleaving, record};
use threadbare_trace::{Event, EventKind, Failure, FailureKind, Outcome, SwitchRecord, ThreadId, TraceFile};

/// Code address n is line n of bank.c, from 50 on of a library; objects are named by a small table.
pub struct Bank;

pub const OBJECTS: [(u64, &str); 4] =
    [(0x100, "balance"), (0x200, "left"), (0x300, "right"), (0x400, "ready")];

impl Names for Bank {
    fn place(&self, pc: u64, _context: u32) -> Option<SourcePlace> {
        let function = match pc {
            5..=12 => "deposit",
            20..=40 => "main",
            41 => "std::vector<std::pair<std::string, std::shared_ptr<account>>>::emplace_back<std::string&>",
            50..=60 => "start_thread",
            _ => return None,
        };
        Some(SourcePlace {
            label: if pc < 50 { format!("bank.c:{pc}") } else { format!("start.c:{pc}") },
            function: Some(function.into()),
            file: Some("src/bank.c".into()),
            line: Some(pc as u32),
            column: None,
            in_system: pc >= 50,
            library_operation: None,
        })
    }

    fn object(&self, addr: u64) -> Option<String> {
        OBJECTS.iter().find(|(at, _)| *at == addr).map(|(_, name)| name.to_string())
    }

    fn routine(&self, addr: u64) -> Option<String> {
        (addr == 5).then(|| "deposit".to_string())
    }

    fn source(&self, place: &SourcePlace) -> Option<String> {
        match place.line? {
            8 => Some("    int seen = balance;".into()),
            9 => Some("    balance = seen + 1;".into()),
            25 => Some("    assert(balance == 2);".into()),
            _ => None,
        }
    }
}

pub fn event(thread: u16, op: u32, pc: u64, kind: EventKind, addr: u64, old: u64, value: u64) -> Event {
    Event {
        pc,
        addr,
        value,
        old,
        op,
        thread: ThreadId(thread),
        kind: kind as u8,
        size: 4,
        ..Event::default()
    }
}

pub fn switch(from: u16, op: u32, to: u16, pc: u64, kind: EventKind, addr: u64, reason: u8) -> SwitchRecord {
    SwitchRecord {
        pc,
        op,
        from: ThreadId(from),
        to: ThreadId(to),
        addr,
        kind: kind as u8,
        reason,
        ..SwitchRecord::default()
    }
}

pub fn failure(kind: FailureKind, message: &str, thread: u16, stack: &[u64]) -> Outcome {
    Outcome::Failed(Failure {
        kind,
        message: message.into(),
        thread: ThreadId(thread),
        stack: stack.to_vec(),
    })
}

/// Two deposits of which one is lost.
pub fn lost_update() -> (Vec<Event>, Vec<SwitchRecord>, Outcome) {
    use EventKind::*;
    let events = vec![
        event(0, 1, 21, Create, 0, 0, 1),
        event(1, 1, 5, Start, 0, 5, 0),
        event(0, 2, 22, Create, 0, 0, 2),
        event(2, 1, 5, Start, 0, 5, 0),
        event(1, 2, 8, Read, 0x100, 0, 0),
        event(2, 2, 8, Read, 0x100, 0, 0),
        event(2, 3, 9, Write, 0x100, 0, 1),
        event(2, 4, 10, Exit, 0, 0, 0),
        event(1, 3, 9, Write, 0x100, 1, 1),
        event(1, 4, 10, Exit, 0, 0, 0),
        event(0, 3, 23, Join, 0, 0, 1),
        event(0, 4, 24, Join, 0, 0, 2),
        event(0, 5, 25, Read, 0x100, 0, 1),
    ];
    let switches = vec![
        switch(0, 2, 1, 22, Create, 0, 4),
        switch(1, 2, 0, 8, Read, 0x100, 5),
        switch(0, 3, 2, 23, Join, 0, 4),
        switch(2, 2, 0, 8, Read, 0x100, 5),
        switch(0, 3, 1, 23, Join, 0, 1),
        switch(1, 3, 2, 9, Write, 0x100, 0),
        switch(2, 5, 1, 0, Exit, 0, 2),
        switch(1, 5, 0, 0, Exit, 0, 2),
    ];
    let message = "bank.c:25: main: Assertion `balance == 2' failed.";
    (events, switches, failure(FailureKind::Assertion, message, 0, &[25, 39]))
}

pub fn shown(parts: &(Vec<Event>, Vec<SwitchRecord>, Outcome), format: TextFormat) -> String {
    let (events, switches, outcome) = parts;
    interleaving(&Interleaving { events, switches, outcome, marked: &[] }, &Bank, &format)
}

/// Two threads that take two locks in opposite orders, one of them after a condition wait.
pub fn deadlock() -> (Vec<Event>, Vec<SwitchRecord>, Outcome) {
    use EventKind::*;
    let events = vec![
        event(1, 1, 6, Lock, 0x200, 0, 1),
        event(1, 2, 7, CondWait, 0x400, 0, 0x200),
        event(2, 1, 8, CondSignal, 0x400, 0, 1),
        event(1, 3, 7, CondWake, 0x400, 0, 0x200),
        event(2, 2, 9, Lock, 0x300, 0, 1),
    ];
    let switches = vec![
        switch(1, 2, 2, 7, CondWait, 0x400, 1),
        switch(2, 2, 1, 9, Lock, 0x300, 0),
        switch(1, 4, 2, 8, Lock, 0x300, 0),
        switch(2, 3, 0, 10, Lock, 0x200, 1),
    ];
    let message = "no thread is runnable\nT1 holds <obj 0x200> and waits for lock <obj 0x300> at <pc 0x8>\n\
                   T2 holds <obj 0x300> and waits for lock <obj 0x200> at <pc 0xa>";
    (events, switches, failure(FailureKind::Deadlock, message, 1, &[8]))
}

/// The execution as a trace file has it, written and read once.
pub fn recorded(parts: &(Vec<Event>, Vec<SwitchRecord>, Outcome)) -> TraceFile {
    let (events, switches, outcome) = parts;
    let mut file = record(&Interleaving { events, switches, outcome, marked: &[] }, &[], &Bank);
    file.program = "bank.c".into();
    file.args = vec!["--fast".into()];
    TraceFile::read(&file.to_bytes()).expect("our own file")
}

/// A read and a write of the balance under two locks, the inner one given up in between by a condition wait.
pub fn guarded() -> (Vec<Event>, Vec<SwitchRecord>, Outcome) {
    use EventKind::*;
    let events = vec![
        event(1, 1, 5, ReadLock, 0x300, 0, 1),
        event(1, 2, 6, Lock, 0x200, 0, 1),
        event(1, 3, 8, Read, 0x100, 0, 0),
        event(1, 4, 7, CondWait, 0x400, 0, 0x200),
        event(2, 1, 8, Read, 0x100, 0, 0),
        event(2, 2, 6, Lock, 0x200, 0, 1),
        event(2, 3, 9, Write, 0x100, 0, 1),
        event(2, 4, 10, Unlock, 0x200, 0, 0),
        event(1, 5, 7, CondWake, 0x400, 0, 0x200),
        event(1, 6, 9, Write, 0x100, 1, 2),
        event(1, 7, 10, Unlock, 0x200, 0, 0),
    ];
    let switches = vec![switch(1, 5, 2, 7, CondWait, 0x400, 1), switch(2, 5, 1, 0, Exit, 0, 2)];
    (events, switches, failure(FailureKind::Abort, "abort was called", 1, &[11]))
}
