//! Which steps of an execution could have come the other way round.

use threadbare_happens_before::{Rules, Stamp, ThreadClocks};
use threadbare_patterns::{Occurrence, Pattern};
use threadbare_trace::Event;

/// The moments of an execution's steps, in the order that the program's structure enforces.
pub(super) struct Moments {
    /// Of the events from `first` on.
    stamps: Vec<Option<Stamp>>,
    first: usize,
}

impl Moments {
    /// The moments of the events from `first` on, and of those that would have followed.
    pub(super) fn of<'a>(
        events: &'a [Event],
        pending: impl IntoIterator<Item = &'a Event>,
        first: usize,
    ) -> Moments {
        let mut order = ThreadClocks::new(Rules::Structural);
        let mut stamps = Vec::with_capacity(events.len() - first);
        for (index, event) in events.iter().enumerate() {
            let kind = event.kind();
            if let Some(kind) = kind {
                order.before(event, kind);
            }
            if index >= first {
                stamps.push(Some(order.stamp(event.thread)));
            }
            if let Some(kind) = kind {
                order.after(event, kind);
            }
        }
        stamps.extend(pending.into_iter().map(|event| Some(order.stamp(event.thread))));
        Moments { stamps, first }
    }

    /// Whether the first of two steps could have come after the second.
    pub(super) fn can_be_turned(&self, earlier: usize, later: usize) -> bool {
        let stamp = |event: usize| self.stamps.get(event.checked_sub(self.first)?)?.as_ref();
        match (stamp(earlier), stamp(later)) {
            (Some(earlier), Some(later)) => !earlier.precedes(later),
            // Before what is compared.
            _ => true,
        }
    }

    /// Whether every two accesses of a pattern that follow each other on a variable could have come the other way
    /// round: only then another order was possible, and this one can be to blame.
    pub(super) fn can_be_otherwise(&self, occurrence: &Occurrence) -> bool {
        let Some(pattern) = Pattern::with_id(occurrence.pattern) else { return false };
        let accesses = occurrence.accesses();
        (0..accesses.len()).all(|later| {
            let variable = pattern.steps[later].2;
            let earlier = (0..later).rev().find(|earlier| pattern.steps[*earlier].2 == variable);
            earlier.is_none_or(|it| self.can_be_turned(accesses[it].event, accesses[later].event))
        })
    }
}

#[cfg(test)]
mod tests {
    use threadbare_trace::{EventKind, ThreadId};

    use super::*;

    fn step(thread: u16, kind: EventKind, value: u64) -> Event {
        Event { thread: ThreadId(thread), kind: kind as u8, value, addr: 0x10, size: 4, ..Event::default() }
    }

    #[test]
    fn creation_and_join_cannot_be_turned_and_atomics_can() {
        use EventKind::*;
        let events = [
            step(0, Write, 1),
            step(0, Create, 1),
            step(0, AtomicWrite, 1),
            step(1, AtomicRead, 1),
            step(1, Write, 2),
            step(1, Exit, 0),
            step(0, Join, 1),
            step(0, Read, 2),
        ];
        let moments = Moments::of(&events, [], 0);
        assert!(!moments.can_be_turned(0, 3), "it was created after the write");
        assert!(moments.can_be_turned(2, 3), "the load could have come first");
        assert!(!moments.can_be_turned(4, 7), "it is joined before the read");
    }
}
