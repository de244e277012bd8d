//! What threads have written and others have not read yet.
//!
//! As long as no execution has passed, nothing is known to be far from what passed. But threads are written as if
//! what they leave in memory were seen only when they are done with it. So a thread that can read it at once is the
//! likeliest to find something unfinished. If its writer is about to come back to it, it has not left it yet.

use threadbare_sched::Rng;
use threadbare_trace::{Event, EventKind, ThreadId};
use threadbare_wire::OfferRecord;

use super::foresight::Table;

/// The unread writes of a trace that grows.
#[derive(Default)]
pub(super) struct UnreadWrites {
    /// Who knows what a location holds: first the thread that wrote it last, then those that have read it since.
    informed: Table<u64, Vec<ThreadId>>,
}

impl UnreadWrites {
    /// The next event.
    pub fn observe(&mut self, event: &Event) {
        let Some(kind) = event.kind().filter(|kind| kind.accesses_memory()) else { return };
        if kind.writes() {
            self.informed.insert(event.addr, vec![event.thread]);
        } else if let Some(informed) = self.informed.get_mut(&event.addr)
            && !informed.contains(&event.thread)
        {
            informed.push(event.thread);
        }
    }

    /// One of the threads that are about to read an unread write, at random.
    pub fn reader(&self, offers: &[OfferRecord], rng: &mut Rng) -> Option<ThreadId> {
        let is_next = |offer: &&OfferRecord| self.is_unread_by(offer, offers);
        let readers: Vec<ThreadId> = offers.iter().filter(is_next).map(|offer| offer.thread).collect();
        match readers.len() {
            0 => None,
            count => Some(readers[rng.below(count as u64) as usize]),
        }
    }

    fn is_unread_by(&self, reader: &OfferRecord, offers: &[OfferRecord]) -> bool {
        let reads = |kind: EventKind| kind.accesses_memory() && !kind.writes();
        let informed = self.informed.get(&reader.object).map_or(&[][..], |informed| informed);
        let comes_back =
            |writer: &ThreadId| offers.iter().any(|it| it.thread == *writer && it.object == reader.object);
        EventKind::from_number(reader.kind).is_some_and(reads)
            && !informed.contains(&reader.thread)
            && informed.first().is_some_and(|writer| !comes_back(writer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: u64 = 8;

    fn step(thread: u16, kind: EventKind) -> Event {
        Event { addr: PLACE, thread: ThreadId(thread), kind: kind as u8, ..Event::default() }
    }

    fn reader(steps: &[Event], offers: &[(u16, EventKind)]) -> Option<ThreadId> {
        let mut unread = UnreadWrites::default();
        steps.iter().for_each(|step| unread.observe(step));
        let offer = |(thread, kind): &(u16, EventKind)| OfferRecord {
            object: PLACE,
            thread: ThreadId(*thread),
            kind: *kind as u8,
            ..OfferRecord::default()
        };
        unread.reader(&offers.iter().map(offer).collect::<Vec<_>>(), &mut Rng::new(1))
    }

    #[test]
    fn what_another_thread_has_written_is_read_first() {
        let offers = [(2, EventKind::Write), (3, EventKind::Read)];
        assert_eq!(reader(&[step(1, EventKind::Write)], &offers), Some(ThreadId(3)));
    }

    #[test]
    fn a_write_does_not_count_while_its_writer_is_about_to_come_back_to_it() {
        let offers = [(1, EventKind::Read), (2, EventKind::Read)];
        assert_eq!(reader(&[step(1, EventKind::Write)], &offers), None);
    }

    #[test]
    fn a_write_does_not_count_for_its_readers_until_it_is_written_again() {
        let (write, read) = (step(1, EventKind::Write), step(2, EventKind::Read));
        let offers = [(2, EventKind::Read)];
        assert_eq!(reader(&[write, read], &offers), None);
        assert_eq!(reader(&[write, read, write], &offers), Some(ThreadId(2)));
    }

    #[test]
    fn what_nobody_has_written_does_not_count() {
        assert_eq!(reader(&[step(1, EventKind::Read)], &[(2, EventKind::Read)]), None);
    }
}
