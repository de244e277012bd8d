//! What threads have seen and memory holds along a trace, as far as the events tell: enough to know that a
//! thread has been where it is before, or that two traces have come to the same state.

use rpds::HashTrieMapSync;
use threadbare_trace::{Event, EventKind, ThreadId};
use threadbare_wire::OfferRecord;

/// What a location holds.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Cell {
    value: u64,
    /// Somebody has written it.
    written: bool,
}

/// The state that a trace has led to.
#[derive(Clone, Default)]
pub(super) struct Footprint {
    /// For each thread, everything it has done and read, as one number.
    threads: HashTrieMapSync<ThreadId, u64>,
    /// What is known of memory.
    memory: HashTrieMapSync<u64, Cell>,
    /// The sum over all of this.
    state: u64,
}

impl Footprint {
    /// Takes note of a step.
    pub fn observe(&mut self, event: &Event) {
        let Some(kind) = event.kind().filter(|kind| !kind.only_names()) else { return };
        let seen = if kind == EventKind::Write { 0 } else { event.value };
        let before = self.threads.get(&event.thread).copied();
        let after = [event.pc, u64::from(event.kind), seen].into_iter().fold(before.unwrap_or(0), mix);
        self.threads.insert_mut(event.thread, after);
        self.exchange(u64::from(event.thread.0), before, after);
        if queues(kind) {
            // Who waits longer may be served first.
            let before = self.memory.get(&event.addr).map(|it| it.value);
            let after = mix(before.unwrap_or(0), u64::from(event.thread.0) + 1);
            self.memory.insert_mut(event.addr, Cell { value: after, written: true });
            self.exchange(event.addr, before, after);
        } else if kind.accesses_memory() {
            let before = self.memory.get(&event.addr).copied();
            let cell =
                Cell { value: event.value, written: kind.writes() || before.is_some_and(|it| it.written) };
            if before == Some(cell) {
                return;
            }
            self.memory.insert_mut(event.addr, cell);
            // What nobody has written holds what it held at the start.
            if cell.written {
                let before = before.filter(|it| it.written).map(|it| it.value);
                self.exchange(event.addr, before, event.value);
            }
        }
    }

    /// What a step from here depends on: where the thread is, and what it would find.
    pub fn situation(&self, offer: &OfferRecord) -> u64 {
        let thread = self.threads.get(&offer.thread).copied().unwrap_or(0);
        let only_writes = |kind: EventKind| matches!(kind, EventKind::Write | EventKind::AtomicWrite);
        let reads = EventKind::from_number(offer.kind).is_some_and(|kind| !only_writes(kind));
        let cell = self.memory.get(&offer.object).filter(|_| reads);
        let found = cell.map_or(0, |cell| mix(1, cell.value));
        [u64::from(offer.thread.0), offer.site, offer.object, found].into_iter().fold(thread, mix)
    }

    /// The state as one number; equal for equal states.
    pub fn state(&self) -> u64 {
        self.state
    }

    /// Replaces a part of the state.
    fn exchange(&mut self, place: u64, before: Option<u64>, after: u64) {
        let part = |value| mix(mix(0, place), value);
        self.state = self.state.wrapping_sub(before.map_or(0, part)).wrapping_add(part(after));
    }
}

/// Whether a thread takes its place in a queue.
fn queues(kind: EventKind) -> bool {
    matches!(kind, EventKind::CondWait | EventKind::FutexWait | EventKind::BarrierArrive)
}

/// Mixes a word into a number.
fn mix(state: u64, word: u64) -> u64 {
    let mixed = (state ^ word.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(word);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (mixed >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u16, kind: EventKind, addr: u64, value: u64) -> Event {
        Event { pc: 7, addr, value, thread: ThreadId(thread), kind: kind as u8, size: 4, ..Event::default() }
    }

    fn footprint(events: &[Event]) -> Footprint {
        let mut footprint = Footprint::default();
        events.iter().for_each(|event| footprint.observe(event));
        footprint
    }

    #[test]
    fn independent_steps_lead_to_the_same_state_in_either_order() {
        let (a, b) = (event(1, EventKind::Write, 8, 5), event(2, EventKind::Write, 16, 6));
        assert_eq!(footprint(&[a, b]).state(), footprint(&[b, a]).state());
        let c = event(2, EventKind::Write, 8, 6);
        assert_ne!(footprint(&[a, c]).state(), footprint(&[c, a]).state());
    }

    #[test]
    fn what_a_thread_would_read_is_part_of_its_situation_and_what_it_would_write_is_not() {
        let offer = |kind: EventKind| OfferRecord {
            site: 9,
            object: 8,
            size: 4,
            thread: ThreadId(2),
            kind: kind as u8,
            spare: 0,
        };
        let (one, two) =
            (footprint(&[event(1, EventKind::Write, 8, 1)]), footprint(&[event(1, EventKind::Write, 8, 2)]));
        let (read, write) = (offer(EventKind::Read), offer(EventKind::Write));
        assert_ne!(one.situation(&read), two.situation(&read));
        assert_eq!(one.situation(&write), two.situation(&write));
    }
}
