//! Which memory-access pattern separates a failing execution from those that passed.
//!
//! As in Falcon and Unicorn, a pattern is the more suspicious the fewer passing executions show it.
//! Here the single-variable patterns (ids 1 to 8) are compared, by their sites.

use std::collections::{BTreeMap, BTreeSet};

use threadbare_trace::{Event, EventKind, ThreadId};

use crate::finding::Access;
use crate::patterns;

/// A pattern by what identifies it across executions: its number and its sites.
type Signature = (u8, Vec<u64>);

/// The pattern that tells a failing execution from the passing ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cause {
    /// The number of the pattern.
    pub pattern: u8,
    /// Its accesses in the failing execution, in order.
    pub accesses: Vec<Access>,
    /// How many of the passing executions show it too.
    pub in_passing: usize,
}

/// The most suspicious pattern of a failing execution. Of equally suspicious ones a longer one says
/// more, and one closer to the failure matters more.
pub fn cause<'a>(failing: &[Event], passing: impl IntoIterator<Item = &'a [Event]>) -> Option<Cause> {
    let mut seen: BTreeMap<Signature, usize> = BTreeMap::new();
    for events in passing {
        for signature in occurrences(events).into_keys() {
            *seen.entry(signature).or_default() += 1;
        }
    }
    let candidates = occurrences(failing).into_iter().map(|(signature, accesses)| Cause {
        pattern: signature.0,
        accesses,
        in_passing: seen.get(&signature).copied().unwrap_or(0),
    });
    candidates.max_by_key(|cause| {
        let last = cause.accesses.last().map_or(0, |access| access.event);
        (std::cmp::Reverse(cause.in_passing), cause.accesses.len(), last)
    })
}

/// How far back the parts of a pattern are looked for at one location.
const NEAR: usize = 32;

/// One access to one location.
#[derive(Clone, Copy)]
struct Step {
    access: Access,
    writes: bool,
}

/// Every single-variable pattern of an execution, with its last occurrence.
fn occurrences(events: &[Event]) -> BTreeMap<Signature, Vec<Access>> {
    let mut found = BTreeMap::new();
    let mut locations: BTreeMap<u64, Vec<Step>> = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        let Some(kind) = event.kind() else { continue };
        if kind == EventKind::Alloc {
            // Memory that is used anew is something else.
            let end = event.addr.saturating_add(event.value.max(1));
            let old: Vec<u64> = locations.range(event.addr..end).map(|(addr, _)| *addr).collect();
            old.iter().for_each(|addr| drop(locations.remove(addr)));
        }
        if !kind.accesses_memory() {
            continue;
        }
        let step = Step { access: Access::of(index, event, kind), writes: kind.writes() };
        let history = locations.entry(event.addr).or_default();
        extend(history, step, &mut found);
        history.push(step);
    }
    found
}

/// Adds the patterns that end with this access.
fn extend(history: &[Step], last: Step, found: &mut BTreeMap<Signature, Vec<Access>>) {
    let mut add = |pattern: Option<u8>, steps: &[Step]| {
        if let Some(pattern) = pattern {
            let signature = (pattern, steps.iter().map(|step| step.access.pc).collect());
            found.insert(signature, steps.iter().map(|step| step.access).collect());
        }
    };
    let thread = last.access.thread;
    let mut others: BTreeSet<ThreadId> = BTreeSet::new();
    // Back to the last write: a pattern never steps over one. Threads that spin leave long runs of
    // reads behind, of which the latest say enough.
    for (place, remote) in history.iter().enumerate().rev().take(NEAR) {
        let by_other = remote.access.thread != thread;
        if by_other && others.insert(remote.access.thread) {
            add(patterns::pair(remote.writes, last.writes), &[*remote, last]);
            // The same thread before that, with no write in between.
            for first in history[..place].iter().rev().take(NEAR) {
                if first.access.thread == thread {
                    let pattern = patterns::triple(first.writes, remote.writes, last.writes);
                    add(pattern, &[*first, *remote, last]);
                    break;
                }
                if first.writes {
                    break;
                }
            }
        }
        if remote.writes {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An execution from words such as `1r` (thread 1 reads), all on one location; the site is the
    /// place of the word's letter in its thread.
    fn execution(text: &str) -> Vec<Event> {
        let mut counts = [0u64; 4];
        let step = |word: &str| {
            let thread = u16::from(word.as_bytes()[0] - b'0');
            counts[usize::from(thread)] += 1;
            let kind = if word.ends_with('w') { EventKind::Write } else { EventKind::Read };
            Event {
                pc: 10 * u64::from(thread) + counts[usize::from(thread)],
                addr: 0x100,
                thread: ThreadId(thread),
                kind: kind as u8,
                size: 4,
                ..Event::default()
            }
        };
        text.split(' ').map(step).collect()
    }

    #[test]
    fn a_lost_update_is_read_then_written_by_another_then_overwritten() {
        let failing = execution("1r 2r 2w 1w");
        let passing = [execution("1r 1w 2r 2w"), execution("2r 2w 1r 1w")];
        let cause = cause(&failing, passing.iter().map(Vec::as_slice)).unwrap();
        assert_eq!((cause.pattern, cause.in_passing), (7, 0));
        assert_eq!(cause.accesses.iter().map(|it| it.event).collect::<Vec<_>>(), [0, 2, 3]);
    }

    #[test]
    fn what_passing_executions_show_too_is_less_suspicious() {
        let failing = execution("1w 2r 1w");
        let passing = [execution("1w 2r 1w"), execution("1w 1w 2r")];
        let cause = cause(&failing, passing.iter().map(Vec::as_slice)).unwrap();
        assert_eq!(cause.in_passing, 1);
        assert_eq!(super::cause(&execution("1r 1w"), []), None);
    }
}
