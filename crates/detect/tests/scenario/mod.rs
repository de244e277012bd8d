//! Traces written down by hand, one step a line: `thread operation object [number] [@site]`.
//!
//! Objects are letters, with an offset if need be (`h+8`); memory is accessed four bytes at a time
//! unless a number says how many. A step without a site has its line's number as its site.

#![allow(dead_code)]

use std::collections::BTreeMap;

use threadbare_detect::{Certainty, Detector, Examination, Finding};
use threadbare_trace::{Event, EventKind, SignalMask, ThreadId};

/// The signal that all scenarios are about.
const SIGNAL: i32 = 10;

/// Marks an update that finds the word zero although nobody was seen to make it so.
const RELEASED: u64 = u64::MAX;

/// The address of an object.
pub fn address(object: &str) -> u64 {
    let (name, offset) = object.split_once('+').unwrap_or((object, "0"));
    let letter = u64::from(name.as_bytes()[0]);
    0x10_000 + letter * 0x1000 + offset.parse::<u64>().expect("an offset")
}

/// The events of a scenario.
pub fn trace(scenario: &str) -> Vec<Event> {
    let mut values: BTreeMap<u64, u64> = BTreeMap::new();
    let lines = scenario.lines().enumerate();
    lines.filter_map(|(number, line)| Some(with_values(event(number, line)?, &mut values))).collect()
}

/// Lets atomic steps see the values that others wrote. `load` with a number sees one that nobody wrote.
fn with_values(mut event: Event, values: &mut BTreeMap<u64, u64>) -> Event {
    use EventKind::*;
    let value = values.entry(event.addr).or_default();
    match event.kind() {
        Some(AtomicRead | AtomicFailed) => {
            if event.value == 0 {
                event.value = *value;
            }
            *value = event.value;
        }
        Some(AtomicUpdate) if event.old == RELEASED => (event.old, *value) = (0, event.value),
        Some(Write) if event.value != 0 => (event.old, *value) = (*value, event.value),
        Some(AtomicWrite | AtomicUpdate) => (event.old, *value) = (*value, event.value),
        _ => {}
    }
    event
}

fn event(number: usize, line: &str) -> Option<Event> {
    use EventKind::*;
    let (line, site) = line.split_once('@').unwrap_or((line, ""));
    let mut words = line.split_whitespace();
    let thread = ThreadId(words.next()?.parse().expect("a thread"));
    let word = words.next().expect("an operation");
    let object = words.next();
    let extra = words.next();
    let count = |default: u64| extra.map_or(default, |text| text.parse().expect("a number"));
    let other = || object.map_or(0, |text| text.parse().expect("a thread"));
    let (kind, value, old) = match word {
        "read" | "volatile-read" => (Read, 0, 0),
        "write" => (Write, 0, 0),
        "put" | "volatile-put" => (Write, count(1), 0),
        "load" | "relaxed-load" => (AtomicRead, count(0), 0),
        "store" | "relaxed-store" => (AtomicWrite, count(1), 0),
        "update" | "relaxed-update" => (AtomicUpdate, count(1), 0),
        "fence" | "release-fence" | "acquire-fence" => (Fence, 0, 0),
        "seize" => (AtomicUpdate, count(1), RELEASED),
        "failed" => (AtomicFailed, 0, 0),
        "read-range" => (ReadRange, count(4), 0),
        "write-range" => (WriteRange, count(4), 0),
        "lock" => (Lock, 1, 0),
        "try-lock" => (Lock, 1, 1),
        "read-lock" => (ReadLock, 1, 0),
        "unlock" => (Unlock, 0, 0),
        "wait" => (CondWait, address(extra.expect("a mutex")), 0),
        "wake" => (CondWake, address(extra.expect("a mutex")), 0),
        "call" => (LibraryCall, address(object.expect("a library")), 0),
        "live" => (LibraryCall, address(object.expect("a library")), 1),
        "signal" => (CondSignal, 1, 0),
        "broadcast" => (CondBroadcast, 1, 0),
        "arrive" => (BarrierArrive, 1, 0),
        "leave" => (BarrierLeave, count(1), 0),
        "post" => (SemPost, 1, 0),
        "take" => (SemWait, 0, 0),
        "once-begin" => (OnceBegin, 0, 0),
        "once-end" => (OnceEnd, 0, 0),
        "once-seen" => (OnceSeen, 0, 0),
        "futex-wait" => (FutexWait, count(0), 0),
        "futex-woken" => (FutexWoken, 0, 0),
        "futex-wake" => (FutexWake, count(1), 0),
        "send" => (Create, other(), SIGNAL as u64),
        "interrupts" => (Signal, SIGNAL as u64, other() + 1),
        "handled" => (Join, other(), SIGNAL as u64),
        "register" => (OnceEnd, 0, 0),
        "registered" => (OnceSeen, 0, 0),
        "block" => (Lock, 1, 0),
        "let-through" => (Unlock, 0, 0),
        "input" => (Io, 1, 0),
        "output" => (Io, 4, 0),
        "create" => (Create, other(), 0),
        "join" => (Join, other(), 0),
        "start" => (Start, address(extra.expect("the stack's end")), 0),
        "frame" => (Frame, address(extra.expect("the first variable")), 0),
        "exit" => (Exit, 0, 0),
        "alloc" => (Alloc, count(8), 0),
        "free" => (Free, count(8), 0),
        "init" => (Init, 0, 0),
        "destroy" => (Destroy, 0, 0),
        _ => panic!("line {number}: what is {word}?"),
    };
    let addr = match kind {
        Create | Join | Exit | Signal | Fence => 0,
        _ if matches!(word, "block" | "let-through") => {
            SignalMask { thread: ThreadId(other() as u16), signal: SIGNAL }.object()
        }
        _ if word.starts_with("register") => SignalMask::handler(SIGNAL),
        _ => object.map_or(0, address),
    };
    let flags = match word.split_once('-').map_or("", |(how, _)| how) {
        "volatile" => Event::VOLATILE,
        "relaxed" => Event::ACQUIRES_NOT | Event::RELEASES_NOT,
        "acquire" => Event::RELEASES_NOT,
        "release" => Event::ACQUIRES_NOT,
        _ => 0,
    };
    let size = match kind {
        Write if word.ends_with("put") => 4,
        Read | Write => count(4) as u8,
        AtomicRead | AtomicWrite | AtomicUpdate | AtomicFailed => 4,
        _ => 0,
    };
    let pc = if site.is_empty() { number as u64 } else { site.trim().parse().expect("a site") };
    Some(Event { pc, addr, value, old, thread, kind: kind as u8, size, flags, ..Event::default() })
}

/// What a detector finds in a scenario.
pub fn find<D: Detector + Default + 'static>(scenario: &str) -> Vec<Finding> {
    let mut detector = Box::<D>::default();
    for (index, event) in trace(scenario).iter().enumerate() {
        detector.observe(index, event);
    }
    detector.findings()
}

/// The sites of a finding.
pub fn sites(finding: &Finding) -> Vec<u64> {
    finding.accesses.iter().map(|access| access.pc).collect()
}

/// The sites of all findings that are at least predicted.
pub fn predicted<D: Detector + Default + 'static>(scenario: &str) -> Vec<Vec<u64>> {
    let findings = find::<D>(scenario);
    findings.iter().filter(|f| f.certainty >= Certainty::Predicted).map(sites).collect()
}

/// Asserts that no detector is sure of anything in the scenario.
pub fn is_clean(scenario: &str) {
    let events = trace(scenario);
    let sure: Vec<Finding> =
        Examination::of(&events).into_iter().filter(|f| f.certainty >= Certainty::Predicted).collect();
    assert!(sure.is_empty(), "{sure:#?}");
}
