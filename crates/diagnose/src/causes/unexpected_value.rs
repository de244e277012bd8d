//! Reads that see, where a program fails, what they see in no passing execution.
//!
//! When every access is locked and threads merely come in the wrong order, no memory-access pattern need be
//! peculiar to the failing execution. But the thread that fails has read something wrong, most likely last, and
//! the passing executions say what should have been written before: an order violation by its two ends.

use std::collections::{BTreeMap, BTreeSet};

use threadbare_happens_before::{AccessedBytes, Rules, ThreadClocks};
use threadbare_trace::{Event, EventKind, ThreadId};

use threadbare_detect::Access;
use threadbare_patterns as patterns;

/// How many of the failing thread's last reads are looked at.
const LATEST: usize = 32;
/// In how many passing executions a read has to be seen before anything is said about it.
pub(super) const ENOUGH: usize = 3;

/// A read that saw what it sees in no passing execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unexpected {
    /// The write and the read that saw it; or the read and the write that should have come before it.
    pub accesses: [Access; 2],
    /// The number of that pattern.
    pub pattern: u8,
    /// The place of the read among `accesses`.
    pub read: usize,
    /// What was read.
    pub value: u64,
    /// The size of the access in bytes.
    pub size: u8,
    /// What passing executions read there, lowest first.
    pub usual: Vec<u64>,
    /// How many passing executions read there.
    pub compared: usize,
}

/// One read in a passing execution, with who had written before and how often.
struct Observation {
    value: u64,
    writes: BTreeMap<(ThreadId, u64), usize>,
    /// The last write of another thread.
    last: Option<(ThreadId, u64)>,
}

/// The last read of the failing thread that saw what it sees in no passing execution.
pub fn unexpected<'a>(
    failing: &[Event],
    thread: ThreadId,
    passing: impl Iterator<Item = &'a [Event]> + Clone,
) -> Option<Unexpected> {
    let reads = failing.iter().enumerate().rev().filter(|(_, event)| event.thread == thread && reads(event));
    reads.take(LATEST).find_map(|(index, _)| judge(failing, index, passing.clone()))
}

pub(super) fn reads(event: &Event) -> bool {
    event.kind().is_some_and(EventKind::only_reads_value) && event.size > 0
}

fn judge<'a>(
    failing: &[Event],
    index: usize,
    passing: impl Iterator<Item = &'a [Event]>,
) -> Option<Unexpected> {
    let event = &failing[index];
    let mut observations = Vec::new();
    let mut compared = 0;
    for events in passing {
        let before = observations.len();
        observations.extend(observe(events, event));
        compared += usize::from(observations.len() > before);
    }
    let usual: BTreeSet<u64> = observations.iter().map(|it| it.value).collect();
    // Where nearly every execution reads something else, a new value says nothing.
    let is_varied = 2 * usual.len() > observations.len();
    if compared < ENOUGH || is_varied || usual.contains(&event.value) {
        return None;
    }
    let here = writes_before(failing, index);
    let read = Access::of(index, event, event.kind()?);
    let found = |accesses: [Access; 2], read: usize| {
        let pattern = patterns::pair(read == 1, read == 0)?;
        let usual = usual.iter().copied().collect();
        Some(Unexpected { accesses, pattern, read, value: event.value, size: event.size, usual, compared })
    };
    let expected =
        |(thread, pc): (ThreadId, u64)| Access { thread, pc, context: 0, kind: EventKind::Write, ..read };
    if let Some(missing) = missing(&here.writes, &observations, event.thread) {
        return found([read, expected(missing)], 0);
    }
    let writer = last_write(failing, index);
    match writer.filter(|writer| failing[*writer].thread != event.thread) {
        Some(writer) if !is_enforced(failing, writer, index) => {
            let kind = failing[writer].kind()?;
            found([Access::of(writer, &failing[writer], kind), read], 1)
        }
        // What has to come before the read in any case is not to blame.
        Some(_) => None,
        None => found([read, expected(most_frequent(&observations)?)], 0),
    }
}

/// The reads of a passing execution by the same code of the same memory.
fn observe(events: &[Event], like: &Event) -> Vec<Observation> {
    let same = |event: &Event| event.pc == like.pc && event.addr == like.addr && event.size == like.size;
    let places = events.iter().enumerate().filter(|(_, event)| same(event) && reads(event));
    places.map(|(index, _)| writes_before(events, index)).collect()
}

fn overlaps(event: &Event, read: &Event) -> bool {
    let touch = event.kind().and_then(|kind| AccessedBytes::of(event, kind));
    touch.is_some_and(|touch| {
        touch.writes && touch.addr < read.addr + u64::from(read.size) && read.addr < touch.addr + touch.len
    })
}

fn writes_before(events: &[Event], index: usize) -> Observation {
    let read = &events[index];
    let mut observation = Observation { value: read.value, writes: BTreeMap::new(), last: None };
    for event in events[..index].iter().filter(|event| overlaps(event, read)) {
        *observation.writes.entry((event.thread, event.pc)).or_default() += 1;
        if event.thread != read.thread {
            observation.last = Some((event.thread, event.pc));
        }
    }
    observation
}

/// The last write before an event to what it reads.
pub(super) fn last_write(events: &[Event], index: usize) -> Option<usize> {
    (0..index).rev().find(|before| overlaps(&events[*before], &events[index]))
}

/// A write of another thread that every passing execution makes more often before the read.
fn missing(
    here: &BTreeMap<(ThreadId, u64), usize>,
    observations: &[Observation],
    reader: ThreadId,
) -> Option<(ThreadId, u64)> {
    let fewest = |write: &(ThreadId, u64)| {
        let count = |it: &Observation| it.writes.get(write).copied().unwrap_or(0);
        observations.iter().map(count).min().unwrap_or(0)
    };
    let first = observations.first()?;
    let mut others = first.writes.keys().filter(|(thread, _)| *thread != reader);
    others.find(|write| here.get(write).copied().unwrap_or(0) < fewest(write)).copied()
}

/// The write of another thread that passing executions see there most often.
fn most_frequent(observations: &[Observation]) -> Option<(ThreadId, u64)> {
    let mut counts: BTreeMap<(ThreadId, u64), usize> = BTreeMap::new();
    observations.iter().filter_map(|it| it.last).for_each(|write| *counts.entry(write).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(write, _)| write)
}

/// Whether synchronization other than locks makes the first event come before the second.
fn is_enforced(events: &[Event], first: usize, second: usize) -> bool {
    let mut order = ThreadClocks::new(Rules::Enforced);
    let mut epoch = None;
    for (index, event) in events[..=second].iter().enumerate() {
        let Some(kind) = event.kind() else { continue };
        order.before(event, kind);
        if index == first {
            epoch = Some(order.epoch(event.thread));
        }
        if index == second {
            break;
        }
        order.after(event, kind);
    }
    let clock = order.clock(events[second].thread);
    epoch.is_some_and(|epoch| clock.covers(epoch))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An execution from words such as `1w5` (thread 1 writes 5) and `2r0`, all on one location. The
    /// site is the thread's number, with 10 added for reads; `0c1` creates and `0j1` joins thread 1.
    fn execution(text: &str) -> Vec<Event> {
        let step = |word: &str| {
            let number = |at: usize| u64::from(word.as_bytes()[at] - b'0');
            let (thread, letter, value) = (number(0), word.as_bytes()[1], number(2));
            let kind = match letter {
                b'w' => EventKind::Write,
                b'r' => EventKind::Read,
                b'c' => EventKind::Create,
                _ => EventKind::Join,
            };
            Event {
                pc: thread + if letter == b'r' { 10 } else { 0 },
                addr: if kind.accesses_memory() { 0x100 } else { 0 },
                size: if kind.accesses_memory() { 4 } else { 0 },
                value,
                thread: ThreadId(thread as u16),
                kind: kind as u8,
                ..Event::default()
            }
        };
        text.split(' ').map(step).collect()
    }

    fn unexpected_in(failing: &str, thread: u16, passing: &[&str]) -> Option<Unexpected> {
        let passing: Vec<Vec<Event>> = passing.iter().map(|text| execution(text)).collect();
        unexpected(&execution(failing), ThreadId(thread), passing.iter().map(Vec::as_slice))
    }

    #[test]
    fn a_read_that_comes_too_late_names_the_write_it_saw() {
        let passing = ["3r0 1w1 2w3", "1w1 3r1 2w3", "3r0 2w2 1w3", "1w1 3r1 2w3"];
        let found = unexpected_in("1w1 2w3 3r3", 3, &passing).expect("3 is read in no passing execution");
        assert_eq!((found.pattern, found.read, found.value), (2, 1, 3));
        assert_eq!(found.accesses.map(|it| it.thread.0), [2, 3]);
        assert_eq!((found.usual, found.compared), (vec![0, 1], 4));
    }

    #[test]
    fn a_read_that_comes_too_early_names_the_write_it_missed() {
        let passing = ["1w1 2w2 0r2", "1w1 2w2 0r2", "2w1 1w2 0r2", "2w1 1w2 0r2"];
        let found = unexpected_in("2w1 0r1", 0, &passing).expect("1 is read in no passing execution");
        assert_eq!((found.pattern, found.read), (1, 0));
        assert_eq!(found.accesses.map(|it| it.thread.0), [0, 1]);
    }

    #[test]
    fn what_join_enforces_is_not_to_blame() {
        let passing = ["0c1 1w2 0j1 0r2"; 4];
        assert_eq!(unexpected_in("0c1 1w1 0j1 0r1", 0, &passing), None);
        let unjoined = ["0c1 1w2 0r2"; 4];
        assert!(unexpected_in("0c1 1w1 0r1", 0, &unjoined).is_some());
    }

    #[test]
    fn values_that_are_never_the_same_say_nothing() {
        let passing = ["1w1 2r1", "1w2 2r2", "1w3 2r3", "1w4 2r4"];
        assert_eq!(unexpected_in("1w5 2r5", 2, &passing), None);
        assert_eq!(unexpected_in("1w5 2r5", 2, &["1w1 2r1", "1w1 2r1"]), None);
    }
}
