//! What threads would have done next when an execution ended.

use std::collections::BTreeMap;
use std::ops::Range;

use threadbare_trace::{Event, EventKind, SwitchRecord, ThreadId};

/// How far ahead is looked.
const ACCESSES: usize = 4;

/// For each thread that was enabled, the accesses that it would have made next: the one before
/// which it stopped, and those that followed in an example, an execution in which the thread came by the same
/// place. A failure often comes before the access that would have made the picture complete: the
/// second of two writes that belong together, say.
///
/// The size of the first one is not known; only its first byte is counted. Examples have their heap
/// blocks elsewhere; accesses to them are moved to the block that has the same name here.
pub fn pending<'a>(
    events: &[Event],
    switches: &[SwitchRecord],
    examples: impl Iterator<Item = &'a [Event]>,
) -> Vec<Vec<Event>> {
    let mut stopped: BTreeMap<ThreadId, &SwitchRecord> = BTreeMap::new();
    for switch in switches {
        stopped.remove(&switch.to);
        stopped.insert(switch.from, switch);
    }
    // The last thing that some threads did was to end.
    let made = |switch: &SwitchRecord| {
        events.iter().rev().find(|event| event.thread == switch.from).is_some_and(|it| it.op >= switch.op)
    };
    stopped.retain(|_, switch| !made(switch));
    let mut shown = shown_by(examples, &stopped, events);
    let next = |(thread, switch): (ThreadId, &SwitchRecord)| {
        let mut accesses: Vec<Event> = Vec::new();
        let pending = Event {
            pc: switch.pc,
            addr: switch.addr,
            op: switch.op,
            thread: switch.from,
            kind: switch.kind,
            size: 1,
            context: switch.context,
            ..Event::default()
        };
        if accesses_memory(&pending) {
            accesses.push(pending);
        }
        accesses.extend(shown.remove(&thread).unwrap_or_default());
        accesses.truncate(ACCESSES);
        accesses
    };
    stopped.into_iter().map(next).filter(|accesses| !accesses.is_empty()).collect()
}

fn accesses_memory(event: &Event) -> bool {
    event.kind().is_some_and(EventKind::accesses_memory)
}

/// Where the heap blocks of an execution are, by what they are called.
type Blocks = BTreeMap<(u64, ThreadId, u64), Range<u64>>;

fn blocks(events: &[Event]) -> Blocks {
    let allocations = events.iter().filter(|event| event.kind() == Some(EventKind::Alloc));
    let named = allocations.map(|event| {
        ((event.pc, event.thread, event.old), event.addr..event.addr.saturating_add(event.value.max(1)))
    });
    named.collect()
}

/// The next accesses of each thread in the first example in which it came by the place where it stopped.
///
/// Each example is looked through once for all threads together: there may be a thousand of them.
fn shown_by<'a>(
    examples: impl Iterator<Item = &'a [Event]>,
    stopped: &BTreeMap<ThreadId, &SwitchRecord>,
    events: &[Event],
) -> BTreeMap<ThreadId, Vec<Event>> {
    let here = blocks(events);
    let mut shown = BTreeMap::new();
    for example in examples {
        if shown.len() == stopped.len() {
            break;
        }
        let comes_by = |event: &&Event| {
            let place = |switch: &&SwitchRecord| (switch.op, switch.pc, switch.kind);
            stopped.get(&event.thread).map(place) == Some((event.op, event.pc, event.kind))
        };
        let mut following: BTreeMap<ThreadId, (u32, Vec<Event>)> = (example.iter().filter(comes_by))
            .filter(|event| !shown.contains_key(&event.thread))
            .map(|event| (event.thread, (event.op, Vec::new())))
            .collect();
        if following.is_empty() {
            continue;
        }
        let there = blocks(example);
        for event in example.iter().filter(|event| accesses_memory(event)) {
            if let Some((op, accesses)) = following.get_mut(&event.thread)
                && event.op > *op
                && accesses.len() < ACCESSES
            {
                accesses.extend(moved(event, &there, &here));
            }
        }
        shown.extend(following.into_iter().map(|(thread, (_, accesses))| (thread, accesses)));
    }
    shown
}

/// An event of an example, with the address that its memory has here.
fn moved(event: &Event, there: &Blocks, here: &Blocks) -> Option<Event> {
    let addr = match there.iter().find(|(_, block)| block.contains(&event.addr)) {
        Some((name, block)) => here.get(name)?.start + (event.addr - block.start),
        None => event.addr,
    };
    // Contexts are numbered anew in each execution.
    Some(Event { addr, context: 0, ..*event })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(from: u16, op: u32, to: u16, kind: EventKind) -> SwitchRecord {
        SwitchRecord {
            from: ThreadId(from),
            to: ThreadId(to),
            op,
            pc: u64::from(op),
            addr: 0x100,
            kind: kind as u8,
            ..SwitchRecord::default()
        }
    }

    #[test]
    fn threads_that_were_switched_away_from_stand_before_an_access() {
        let switches = [
            switch(0, 1, 1, EventKind::Join),
            switch(1, 5, 2, EventKind::Write),
            switch(2, 3, 3, EventKind::Read),
            switch(3, 7, 2, EventKind::Exit),
        ];
        let done = |thread: u16, op: u32| Event { thread: ThreadId(thread), op, ..Event::default() };
        let events = [done(1, 4), done(2, 2), done(3, 7), done(2, 3)];
        let found = pending(&events, &switches, std::iter::empty());
        assert_eq!(found.len(), 1, "one waits, one has ended, one runs: {found:?}");
        assert_eq!((found[0][0].thread, found[0][0].op, found[0][0].pc), (ThreadId(1), 5, 5));
        assert!(pending(&[done(1, 5)], &switches[1..2], std::iter::empty()).is_empty());
    }

    #[test]
    fn an_example_shows_what_comes_after_a_lock() {
        let step = |thread: u16, op: u32, kind: EventKind, addr: u64| Event {
            thread: ThreadId(thread),
            op,
            pc: u64::from(op),
            kind: kind as u8,
            addr,
            ..Event::default()
        };
        let block = Event { value: 64, ..step(1, 1, EventKind::Alloc, 0x9000) };
        let example = [
            block,
            step(1, 5, EventKind::Lock, 0x100),
            step(2, 1, EventKind::Write, 0x200),
            step(1, 6, EventKind::Write, 0x9008),
            step(1, 7, EventKind::Write, 0x300),
        ];
        let switches = [switch(1, 5, 2, EventKind::Lock)];
        let found = pending(&[], &switches, [&example[..]].into_iter());
        assert_eq!(found, [vec![example[4]]], "there is no such block here");
        let found = pending(&[Event { addr: 0x7000, ..block }], &switches, [&example[..]].into_iter());
        assert_eq!(found, [vec![Event { addr: 0x7008, ..example[3] }, example[4]]]);
        let elsewhere = [switch(1, 4, 2, EventKind::Lock)];
        assert!(pending(&[], &elsewhere, [&example[..]].into_iter()).is_empty());
    }
}
