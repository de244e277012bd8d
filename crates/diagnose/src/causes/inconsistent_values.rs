//! Two reads that see, where a program fails, what they never see together in passing executions.
//!
//! Two variables that belong together were not accessed atomically: each of the values is a usual one, but not beside the
//! other. Who wrote them shows where.

use std::collections::BTreeSet;

use threadbare_trace::{Event, ThreadId};

use super::unexpected_value::{ENOUGH, last_write, reads};
use threadbare_detect::Access;

/// How many of the failing thread's last reads are paired.
const LATEST: usize = 8;

/// A read, and the write that it saw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadValue {
    /// The read.
    pub read: Access,
    /// What was read.
    pub value: u64,
    /// The size of the access in bytes.
    pub size: u8,
    /// Where the value comes from; none if it was there from the beginning.
    pub write: Option<Access>,
}

/// Two reads of a thread that do not go together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inconsistent {
    /// The reads, in order.
    pub seen: [ReadValue; 2],
    /// How many passing executions make both.
    pub compared: usize,
}

/// The last two reads of the failing thread that see in no passing execution what they see here together.
pub fn inconsistent<'a>(
    failing: &[Event],
    thread: ThreadId,
    passing: impl Iterator<Item = &'a [Event]> + Clone,
) -> Option<Inconsistent> {
    let mine = failing.iter().enumerate().rev().filter(|(_, event)| event.thread == thread && reads(event));
    let mut latest: Vec<usize> = Vec::new();
    for (index, event) in mine {
        // Of reads of one location the last counts.
        if latest.iter().all(|later| failing[*later].addr != event.addr) {
            latest.push(index);
        }
        if latest.len() == LATEST {
            break;
        }
    }
    let pairs = (0..latest.len()).flat_map(|later| (later + 1..latest.len()).map(move |it| (it, later)));
    pairs.into_iter().find_map(|(first, second)| {
        let (first, second) = (latest[first], latest[second]);
        let compared = compare(&failing[first], &failing[second], passing.clone())?;
        let seen = [see(failing, first)?, see(failing, second)?];
        // Two values of one writer belong together, and what nobody wrote was there from the beginning.
        let writers: Vec<ThreadId> = seen.iter().filter_map(|it| it.write).map(|it| it.thread).collect();
        let is_torn = writers.first().is_some_and(|writer| writers.get(1) != Some(writer));
        is_torn.then_some(Inconsistent { seen, compared })
    })
}

/// The number of passing executions that make both reads, if none of them sees these two values.
fn compare<'a>(first: &Event, second: &Event, passing: impl Iterator<Item = &'a [Event]>) -> Option<usize> {
    let same = |a: &Event, b: &Event| a.pc == b.pc && a.addr == b.addr && a.size == b.size && reads(a);
    let mut usual: BTreeSet<(u64, u64)> = BTreeSet::new();
    let mut total = 0;
    let mut compared = 0;
    for events in passing {
        let before = total;
        for (index, later) in events.iter().enumerate().filter(|(_, event)| same(event, second)) {
            let is_first = |event: &&Event| event.thread == later.thread && same(event, first);
            if let Some(earlier) = events[..index].iter().rev().find(is_first) {
                total += 1;
                usual.insert((earlier.value, later.value));
            }
        }
        compared += usize::from(total > before);
    }
    let is_known = |pick: fn(&(u64, u64)) -> u64, value| usual.iter().any(|two| pick(two) == value);
    let each_is_usual = is_known(|two| two.0, first.value) && is_known(|two| two.1, second.value);
    let is_varied = 2 * usual.len() > total;
    let is_new = !usual.contains(&(first.value, second.value));
    (compared >= ENOUGH && !is_varied && each_is_usual && is_new).then_some(compared)
}

fn see(events: &[Event], index: usize) -> Option<ReadValue> {
    let event = &events[index];
    let write = last_write(events, index);
    let write = write.and_then(|at| Some(Access::of(at, &events[at], events[at].kind()?)));
    Some(ReadValue {
        read: Access::of(index, event, event.kind()?),
        value: event.value,
        size: event.size,
        write,
    })
}

#[cfg(test)]
mod tests {
    use threadbare_trace::EventKind;

    use super::*;

    /// An execution from words such as `1wx5` (thread 1 writes 5 to x) and `2ry0`.
    fn execution(text: &str) -> Vec<Event> {
        let step = |word: &str| {
            let bytes = word.as_bytes();
            let kind = if bytes[1] == b'w' { EventKind::Write } else { EventKind::Read };
            Event {
                pc: u64::from(bytes[2]) + 1000 * u64::from(bytes[1]),
                addr: 0x1000 + 8 * u64::from(bytes[2]),
                size: 4,
                value: u64::from(bytes[3] - b'0'),
                thread: ThreadId(u16::from(bytes[0] - b'0')),
                kind: kind as u8,
                ..Event::default()
            }
        };
        text.split(' ').map(step).collect()
    }

    fn inconsistent_in(failing: &str, passing: &[&str]) -> Option<Inconsistent> {
        let passing: Vec<Vec<Event>> = passing.iter().map(|text| execution(text)).collect();
        inconsistent(&execution(failing), ThreadId(3), passing.iter().map(Vec::as_slice))
    }

    const WHOLE: [&str; 4] = [
        "1wx1 1wy1 2wx2 2wy2 3rx2 3ry2",
        "2wx2 2wy2 1wx1 1wy1 3rx1 3ry1",
        "1wx1 1wy1 2wx2 2wy2 3rx2 3ry2",
        "2wx2 1wx1 2wy2 1wy1 3rx1 3ry1",
    ];

    #[test]
    fn values_of_two_writers_do_not_go_together() {
        let found =
            inconsistent_in("1wx1 2wx2 2wy2 1wy1 3rx2 3ry1", &WHOLE).expect("2 and 1 were never seen");
        assert_eq!(found.compared, 4);
        assert_eq!(
            found.seen.map(|it| (it.value, it.write.map(|write| write.thread.0))),
            [(2, Some(2)), (1, Some(1))]
        );
    }

    #[test]
    fn what_is_usual_is_consistent() {
        assert_eq!(inconsistent_in("2wx2 1wx1 1wy1 2wy2 1wy1 3rx1 3ry1", &WHOLE), None);
        assert_eq!(inconsistent_in("1wx1 2wx2 2wy2 1wy1 3rx2 3ry1", &WHOLE[..2]), None);
    }
}
