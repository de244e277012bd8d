//! Accesses of a thread to a variable that others used in between, however often.
//!
//! The seventeen patterns never step over a write. Where many threads do the same, several of them come between the
//! two accesses, and what interrupted them is the first or the last of those: each makes a triple here.

use std::collections::HashMap;

use threadbare_patterns::{
    AccessType, Limits, MemoryAccess, ObjectId, Objects, Occurrence, VariableChange, unserializable,
};
use threadbare_trace::{Event, EventKind};

/// The last access of a thread to a variable, and the first and the last that others made since, of each manner.
#[derive(Clone, Copy)]
struct Own {
    access: MemoryAccess,
    writes: Option<[MemoryAccess; 2]>,
    reads: Option<[MemoryAccess; 2]>,
}

/// The last access, and the one before it: an update is a read and a write, and both go with what came before.
#[derive(Clone, Copy)]
struct Thread {
    last: Own,
    before: Option<Own>,
}

/// Finds them while a trace grows.
#[derive(Clone)]
pub(super) struct Torn {
    objects: Objects,
    threads: HashMap<ObjectId, Vec<Thread>>,
    seen: usize,
}

impl Torn {
    /// Has seen nothing.
    pub(super) fn new(limits: &Limits) -> Torn {
        Torn { objects: Objects::new(Vec::new(), limits), threads: HashMap::new(), seen: 0 }
    }

    /// Takes note of the memory that the next event names, and of no access.
    pub(super) fn pass_over(&mut self, event: &Event) {
        let names = event.kind().is_some_and(|kind| kind.only_names() || kind == EventKind::Start);
        match names {
            true => self.observe(event, &mut Vec::new()),
            false => self.leave_out(1),
        }
    }

    /// Leaves out this many events of the trace.
    pub(super) fn leave_out(&mut self, events: usize) {
        self.seen += events;
    }

    /// Takes in the next event and adds to `found` what it ends.
    pub(super) fn observe(&mut self, event: &Event, found: &mut Vec<Occurrence>) {
        let mut changes = Vec::new();
        self.objects.observe(self.seen, event, &mut changes);
        self.seen += 1;
        for change in changes {
            match change {
                VariableChange::Access(access) => self.access(access, found),
                VariableChange::Split { whole, part } => {
                    if let Some(threads) = self.threads.get(&whole).cloned() {
                        self.threads.insert(part, moved(threads, part));
                    }
                }
                VariableChange::Forget(object) => drop(self.threads.remove(&object)),
            }
        }
    }

    fn access(&mut self, access: MemoryAccess, found: &mut Vec<Occurrence>) {
        let threads = self.threads.entry(access.object).or_default();
        for thread in threads.iter_mut().filter(|it| it.last.access.thread != access.thread) {
            for own in std::iter::once(&mut thread.last).chain(&mut thread.before) {
                let others =
                    if access.manner == AccessType::Writes { &mut own.writes } else { &mut own.reads };
                others.get_or_insert([access, access])[1] = access;
            }
        }
        let last = Own { access, writes: None, reads: None };
        match threads.iter_mut().find(|it| it.last.access.thread == access.thread) {
            Some(thread) if thread.last.access.event == access.event => {
                thread.before.iter().for_each(|own| end(own, access, found));
                thread.last = last;
            }
            Some(thread) => {
                end(&thread.last, access, found);
                *thread = Thread { last, before: Some(thread.last) };
            }
            None => threads.push(Thread { last, before: None }),
        }
    }
}

fn moved(mut threads: Vec<Thread>, object: ObjectId) -> Vec<Thread> {
    for own in threads.iter_mut().flat_map(|it| std::iter::once(&mut it.last).chain(&mut it.before)) {
        own.access.object = object;
        for others in [&mut own.writes, &mut own.reads].into_iter().flatten() {
            others.iter_mut().for_each(|access| access.object = object);
        }
    }
    threads
}

fn end(own: &Own, access: MemoryAccess, found: &mut Vec<Occurrence>) {
    let writes = |access: &MemoryAccess| access.manner == AccessType::Writes;
    for middle in [own.writes, own.reads].into_iter().flatten().flatten() {
        if let Some(pattern) = unserializable(writes(&own.access), writes(&middle), writes(&access)) {
            found.push(Occurrence::of_triple(pattern, [own.access, middle, access]));
        }
    }
}

#[cfg(test)]
mod tests {
    use threadbare_trace::ThreadId;

    use super::*;

    /// The triples in a trace of words such as `1r`, `2w` and `1u`, all on one variable.
    fn all(text: &str) -> Vec<Occurrence> {
        let mut torn = Torn::new(&Limits::default());
        let mut found = Vec::new();
        for (place, word) in text.split(' ').enumerate() {
            let bytes = word.as_bytes();
            let kind = match bytes[1] {
                b'w' => EventKind::Write,
                b'u' => EventKind::AtomicUpdate,
                _ => EventKind::Read,
            };
            let thread = ThreadId(u16::from(bytes[0] - b'0'));
            let pc = place as u64 + 1;
            torn.observe(
                &Event { pc, thread, addr: 0x100, size: 4, kind: kind as u8, ..Event::default() },
                &mut found,
            );
        }
        found.dedup_by_key(|it| it.key);
        found
    }

    /// The places of their accesses.
    fn torn(text: &str) -> Vec<Vec<usize>> {
        let places = |it: &Occurrence| it.accesses().iter().map(|access| access.event).collect::<Vec<_>>();
        all(text).iter().map(places).collect()
    }

    #[test]
    fn others_may_come_in_between_more_than_once() {
        assert_eq!(torn("1r 2r 2w 3r 3w 1w"), [[0, 2, 5], [0, 4, 5]]);
        assert_eq!(torn("1r 1w 2r 2w"), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn an_update_reads_and_writes() {
        let patterns: Vec<u8> = all("1r 2w 1u").iter().map(|it| it.pattern).collect();
        assert_eq!(patterns, [4, 7], "what it read had changed, and it overwrote that");
    }

    #[test]
    fn what_a_serial_order_explains_is_not_torn() {
        assert_eq!(torn("1w 2w 1w"), Vec::<Vec<usize>>::new());
        assert_eq!(torn("1w 2r 1w"), [[0, 1, 2]]);
    }
}
