//! How far memory is from a failure: what the failing thread used last, what those used who had written that, and so on.

use std::collections::HashMap;

use threadbare_happens_before::AccessedBytes;
use threadbare_trace::{Event, EventKind, ThreadId};

/// How many of a thread's last accesses are taken to matter for its next one.
const LATEST: usize = 16;
/// How far the chain is followed back.
const LINKS: usize = 4;
/// The most accesses that are followed.
const MOST: usize = 512;

/// Words of memory with their distance from a failure.
pub(super) struct Chain {
    words: HashMap<u64, usize>,
}

fn words(event: &Event) -> impl Iterator<Item = u64> {
    let touch = event.kind().and_then(|kind| AccessedBytes::of(event, kind));
    let (first, len) = touch.map_or((0, 0), |touch| (touch.addr, touch.len.min(64)));
    (first >> 3)..((first + len + 7) >> 3)
}

fn is_access(event: &Event) -> bool {
    event.kind().is_some_and(EventKind::accesses_memory)
}

impl Chain {
    /// Follows the chain back from where a thread fails.
    pub(super) fn of(events: &[Event], thread: ThreadId) -> Chain {
        let mut chain = Chain { words: HashMap::new() };
        let mut ends = vec![(events.len(), thread)];
        let mut followed = 0;
        for link in 0..LINKS {
            let mut next = Vec::new();
            for (end, thread) in std::mem::take(&mut ends) {
                let own = (0..end).rev().filter(|at| events[*at].thread == thread && is_access(&events[*at]));
                for at in own.take(LATEST) {
                    followed += 1;
                    if followed > MOST {
                        return chain;
                    }
                    for word in words(&events[at]) {
                        if chain.words.contains_key(&word) {
                            continue;
                        }
                        chain.words.insert(word, link);
                        let wrote = |event: &Event| {
                            event.kind().is_some_and(EventKind::writes)
                                && words(event).any(|other| other == word)
                        };
                        next.extend(
                            (0..at)
                                .rev()
                                .find(|before| wrote(&events[*before]))
                                .map(|it| (it, events[it].thread)),
                        );
                    }
                }
            }
            ends = next;
        }
        chain
    }

    /// Whether an access is to memory in the chain.
    pub(super) fn contains(&self, event: &Event) -> bool {
        words(event).any(|word| self.words.contains_key(&word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(thread: u16, kind: EventKind, addr: u64) -> Event {
        Event { thread: ThreadId(thread), kind: kind as u8, addr, size: 4, ..Event::default() }
    }

    #[test]
    fn what_a_writer_had_read_belongs_to_the_chain() {
        use EventKind::*;
        let (ticket, slot, hits) = (0x10, 0x20, 0x30);
        let events = [step(2, Write, hits), step(1, Read, ticket), step(1, Write, slot), step(0, Read, slot)];
        let chain = Chain::of(&events, ThreadId(0));
        assert!(chain.contains(&events[1]) && chain.contains(&events[3]));
        assert!(!chain.contains(&events[0]), "nobody on the way has used it");
    }
}
