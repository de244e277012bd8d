//! Locks that are nothing but words of memory: those of Rust's library, and spin locks of the program's own.
//!
//! A word is taken to be a lock if whoever updates it from zero is the one who makes it zero again, and only others
//! touch it meanwhile, as those do who wait. A flag or a counter behaves like this only by coincidence. A read-write lock whose
//! readers overlap is not recognised.

use std::borrow::Cow;
use std::collections::HashMap;

use threadbare_trace::{Event, EventKind, ThreadId, kinds};

/// Locks are small; counters of the machine's width are none.
const LARGEST: u8 = 4;

/// What is known of a word.
#[derive(Default)]
struct Word {
    holder: Option<ThreadId>,
    was_released: bool,
    is_other: bool,
}

impl Word {
    fn observe(&mut self, event: &Event, kind: EventKind) {
        let takes = kind == EventKind::AtomicUpdate && event.old == 0 && event.value != 0;
        let is_held_by_other = self.holder.is_some_and(|holder| holder != event.thread);
        if takes {
            // Whoever had it may have released it where nobody saw it.
            self.holder = Some(event.thread);
        } else if event.value == 0 {
            self.is_other |= is_held_by_other;
            self.was_released |= self.holder.take().is_some();
        } else {
            self.is_other |= kind == EventKind::AtomicWrite || !is_held_by_other;
        }
    }

    fn is_lock(&self) -> bool {
        self.was_released && !self.is_other
    }
}

/// The events, with what is done to such words as steps that take and release locks.
pub(super) fn with_lock_words(events: &[Event]) -> Cow<'_, [Event]> {
    let change = |event: &Event| {
        let kind = event.kind()?;
        let is_change = matches!(kind, kinds!(atomic)) && kind.writes();
        (is_change && event.size <= LARGEST).then_some(kind)
    };
    let mut words: HashMap<u64, Word> = HashMap::new();
    for event in events {
        if let Some(kind) = change(event) {
            words.entry(event.addr).or_default().observe(event, kind);
        }
    }
    words.retain(|_, word| word.is_lock());
    if words.is_empty() {
        return Cow::Borrowed(events);
    }
    let as_lock = |event: &Event| {
        let is_word = change(event).is_some() && words.contains_key(&event.addr);
        let kind = match (is_word, event.old, event.value) {
            (true, 0, 0) => return *event,
            (true, 0, _) => EventKind::Lock,
            (true, _, 0) => EventKind::Unlock,
            _ => return *event,
        };
        Event { kind: kind as u8, old: 0, ..*event }
    };
    Cow::Owned(events.iter().map(as_lock).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(thread: u16, old: u64, value: u64) -> Event {
        Event {
            thread: ThreadId(thread),
            addr: 64,
            old,
            value,
            size: 4,
            kind: EventKind::AtomicUpdate as u8,
            ..Event::default()
        }
    }

    fn kinds(events: &[Event]) -> Vec<EventKind> {
        with_lock_words(events).iter().filter_map(Event::kind).collect()
    }

    #[test]
    fn a_word_that_its_taker_releases_is_a_lock() {
        use EventKind::{AtomicUpdate, Lock, Unlock};
        // T2 marks the word as waited for, and takes it with the mark.
        let events = [update(1, 0, 1), update(2, 1, 2), update(1, 2, 0), update(2, 0, 2), update(2, 2, 0)];
        assert_eq!(kinds(&events), [Lock, AtomicUpdate, Unlock, Lock, Unlock]);
        let clear = Event { kind: EventKind::AtomicWrite as u8, ..update(1, 1, 0) };
        assert_eq!(kinds(&[update(1, 0, 1), clear]), [Lock, Unlock]);
    }

    #[test]
    fn counters_flags_and_large_words_are_none() {
        let counted = [update(1, 0, 1), update(1, 1, 2), update(1, 2, 1), update(1, 1, 0)];
        let flagged = [update(1, 0, 1), update(2, 1, 0)];
        let never_released = [update(1, 0, 1), update(2, 1, 1)];
        let large = [update(1, 0, 1), update(1, 1, 0)].map(|event| Event { size: 8, ..event });
        for events in [&counted[..], &flagged, &never_released, &large] {
            assert!(kinds(events).iter().all(|kind| *kind == EventKind::AtomicUpdate), "{events:?}");
        }
    }
}
