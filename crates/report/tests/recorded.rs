//! A trace file shows what the execution showed.

mod support;

use support::{Bank, deadlock, lost_update, recorded, shown};
use threadbare_report::{Interleaving, RecordedNames, TextFormat, interleaving, record};
use threadbare_trace::{Event, EventKind, Outcome, ThreadId, TraceFile};

fn printed(file: &TraceFile, format: TextFormat) -> String {
    let outcome = file.outcome.as_ref().expect("an outcome");
    let execution = Interleaving { events: file.events(), switches: file.switches(), outcome, marked: &[] };
    interleaving(&execution, &RecordedNames::new(file), &format)
}

#[test]
fn a_file_reads_as_the_execution_it_was_made_of() {
    for parts in [lost_update(), deadlock()] {
        for verbose in [false, true] {
            let format = TextFormat { verbose, ..TextFormat::default() };
            assert_eq!(printed(&recorded(&parts), format), shown(&parts, format));
        }
    }
}

#[test]
fn a_file_that_was_cut_shows_its_beginning() {
    let bytes = recorded(&lost_update()).to_bytes();
    let error = TraceFile::read(&bytes[..bytes.len() * 9 / 10]).expect_err("a cut file");
    let text = printed(&error.partial, TextFormat::default());
    assert!(text.contains("read balance = 0") && text.contains("✗ assertion"), "{text}");
    assert!(error.partial.events().len() < lost_update().0.len());
}

/// Names that also know what pointers point to, and say when they are asked.
struct Pointers;

impl threadbare_report::Names for Pointers {
    fn place(&self, pc: u64, context: u32) -> Option<threadbare_report::SourcePlace> {
        Bank.place(pc, context)
    }

    fn object(&self, addr: u64) -> Option<String> {
        Some(format!("object {addr}"))
    }

    fn object_at(&self, event: usize, addr: u64) -> Option<String> {
        Some(format!("object {addr} as of {event}"))
    }

    fn pointee_at(&self, event: usize, value: u64) -> Option<String> {
        (value > 0x1000).then(|| format!("node {value} as of {event}"))
    }

    fn routine(&self, _: u64) -> Option<String> {
        None
    }

    fn source(&self, _: &threadbare_report::SourcePlace) -> Option<String> {
        None
    }
}

#[test]
fn every_kind_of_event_keeps_its_words() {
    let kinds = EventKind::ALL.iter().enumerate();
    let events: Vec<Event> = kinds
        .map(|(index, kind)| Event {
            pc: 5,
            addr: 0x100 + index as u64,
            value: 0x2000 + index as u64,
            old: 0x3000 + index as u64,
            thread: ThreadId(1),
            kind: *kind as u8,
            size: 8,
            ..Event::default()
        })
        .collect();
    let execution = Interleaving { events: &events, switches: &[], outcome: &Outcome::Passed, marked: &[] };
    let format = TextFormat { verbose: true, full: true, width: 200, ..TextFormat::default() };
    let file = record(&execution, &[], &Pointers);
    assert_eq!(printed(&file, format), interleaving(&execution, &Pointers, &format));
}
