//! Patterns from raw events: which accesses overlap, and under which names.

use threadbare_patterns::{Limits, ModuleRange, Occurrence, PatternSet, TraceMatcher};
use threadbare_trace::{Event, EventKind, ThreadId};

fn event(kind: EventKind, thread: u16, pc: u64, addr: u64, size: u8) -> Event {
    Event { kind: kind as u8, thread: ThreadId(thread), pc, addr, size, ..Event::default() }
}

fn read(thread: u16, addr: u64, size: u8) -> Event {
    event(EventKind::Read, thread, 0x10, addr, size)
}

fn write(thread: u16, addr: u64, size: u8) -> Event {
    event(EventKind::Write, thread, 0x20, addr, size)
}

fn range(kind: EventKind, thread: u16, addr: u64, length: u64) -> Event {
    Event { value: length, ..event(kind, thread, 0x30, addr, 0) }
}

fn allocation(thread: u16, addr: u64, size: u64, ordinal: u64) -> Event {
    Event { value: size, old: ordinal, ..event(EventKind::Alloc, thread, 0x40, addr, 0) }
}

fn occurrences(events: &[Event]) -> Vec<Occurrence> {
    let mut found = Vec::new();
    let mut matcher = TraceMatcher::default();
    events.iter().for_each(|event| matcher.observe(event, &mut found));
    found
}

/// The numbers of the patterns, in the order in which they became present.
fn numbers(events: &[Event]) -> Vec<u8> {
    occurrences(events).iter().map(|it| it.pattern).collect()
}

#[test]
fn array_elements_and_fields_are_variables_of_their_own() {
    assert_eq!(numbers(&[write(1, 0x1000, 4), read(2, 0x1004, 4)]), [0u8; 0]);
    assert_eq!(numbers(&[write(1, 0x1000, 1), read(2, 0x1001, 1)]), [0u8; 0]);
    assert_eq!(numbers(&[write(1, 0x1004, 4), read(2, 0x1004, 4)]), [2]);
}

#[test]
fn accesses_of_different_sizes_conflict_where_they_overlap() {
    assert_eq!(numbers(&[write(1, 0x1000, 8), read(2, 0x1004, 4)]), [2]);
    assert_eq!(numbers(&[write(1, 0x1000, 1), read(2, 0x1000, 8)]), [2]);
    // Half of the word has been overwritten since, the other half has not.
    let events = [write(1, 0x1000, 8), write(1, 0x1000, 4), read(2, 0x1000, 8)];
    let reported: Vec<Vec<usize>> =
        occurrences(&events).iter().map(|it| it.accesses().iter().map(|it| it.event).collect()).collect();
    assert_eq!(reported, [[1, 2], [0, 2]]);
}

#[test]
fn ranges_access_everything_in_them() {
    let copy = range(EventKind::WriteRange, 1, 0x1000, 24);
    assert_eq!(numbers(&[copy, read(2, 0x1008, 4)]), [2]);
    assert_eq!(numbers(&[copy, read(2, 0x1018, 4)]), [0u8; 0]);
    let events = [write(1, 0x1000, 4), write(1, 0x1010, 4), range(EventKind::ReadRange, 2, 0x1000, 24)];
    assert_eq!(numbers(&events), [2, 2]);
}

#[test]
fn an_update_reads_and_then_writes_and_locks_are_no_accesses() {
    let update = |thread| event(EventKind::AtomicUpdate, thread, 0x50, 0x1000, 4);
    assert_eq!(numbers(&[update(1), update(2)]), [2, 3]);
    let failed = event(EventKind::AtomicFailed, 2, 0x51, 0x1000, 4);
    assert_eq!(numbers(&[update(1), failed]), [2]);
    let lock = |thread| event(EventKind::Lock, thread, 0x52, 0x1000, 0);
    assert_eq!(numbers(&[lock(1), lock(2)]), [0u8; 0]);
}

#[test]
fn releasing_a_block_is_a_write_to_all_that_was_used_of_it() {
    let free = range(EventKind::Free, 1, 0x2000, 64);
    assert_eq!(
        numbers(&[allocation(1, 0x2000, 64, 1), read(2, 0x2010, 4), free, read(2, 0x2010, 4)]),
        [1, 4, 2]
    );
}

#[test]
fn memory_that_is_used_again_is_something_else() {
    let first = allocation(1, 0x2000, 64, 1);
    let again = allocation(1, 0x2010, 16, 2);
    assert_eq!(numbers(&[first, write(1, 0x2010, 4), again, read(2, 0x2010, 4)]), [0u8; 0]);
    assert_eq!(numbers(&[first, write(1, 0x2010, 4), read(2, 0x2010, 4)]), [2]);
    let frame = Event { value: 0x7000, ..event(EventKind::Frame, 1, 0x60, 0x7080, 0) };
    assert_eq!(numbers(&[write(1, 0x7010, 4), frame, read(2, 0x7010, 4)]), [0u8; 0]);
    assert_eq!(numbers(&[write(1, 0x6ff8, 4), frame, read(2, 0x6ff8, 4)]), [2]);
}

fn patterns(events: &[Event], images: &[ModuleRange]) -> PatternSet {
    let mut matcher = TraceMatcher::new(images.to_vec(), Limits::default());
    events.iter().for_each(|event| matcher.observe(event, &mut Vec::new()));
    matcher.patterns().clone()
}

/// The same steps with the heap, a stack and a module at places that depend on `shift`.
#[test]
fn names_do_not_depend_on_addresses() {
    let run = |shift: u64, ordinal: u64| {
        let (heap, stack, module) = (0x2000 + shift, 0x9000 + 2 * shift, 0x40_0000 + 4 * shift);
        let begin = Event { value: stack + 0x800, ..event(EventKind::Start, 1, 0, stack, 0) };
        let mut events = vec![begin, allocation(1, heap, 64, ordinal)];
        for addr in [heap + 8, stack + 0x700, module + 0x88] {
            events.extend([write(1, addr, 4), read(2, addr, 4)]);
        }
        events.iter_mut().filter(|it| it.pc == 0x10 || it.pc == 0x20).for_each(|it| it.pc += module);
        patterns(&events, &[ModuleRange { range: module..module + 0x1000, name: 5 }])
    };
    let (here, there, other) = (run(0, 1), run(0x1_0000, 1), run(0, 2));
    assert_eq!((here.len(), here.count_beyond(&there), here.count_beyond(&other)), (3, 0, 1));
}

#[test]
fn long_ranges_are_cut_and_nothing_steps_over_what_was_cut_off() {
    let limits = Limits { words: 4, ..Limits::default() };
    let mut matcher = TraceMatcher::new(Vec::new(), limits);
    let mut found = Vec::new();
    for event in [
        write(1, 0x1000, 8),
        write(1, 0x1040, 8),
        range(EventKind::WriteRange, 1, 0x1000, 0x80),
        read(2, 0x1000, 8),
        read(2, 0x1040, 8),
    ] {
        matcher.observe(&event, &mut found);
    }
    let reported: Vec<usize> = found.iter().flat_map(|it| it.accesses().iter().map(|it| it.event)).collect();
    assert_eq!(reported, [2, 3], "the first write to 0x1040 was overwritten");
    assert_eq!(matcher.dropped().words, 12);
}

#[test]
fn what_is_remembered_does_not_grow_with_blocks_that_come_and_go() {
    let mut matcher = TraceMatcher::default();
    for round in 1..=1000u64 {
        for event in [allocation(1, 0x2000, 256, round), write(1, 0x2000 + round % 32 * 8, 8)] {
            matcher.observe(&event, &mut Vec::new());
        }
    }
    assert_eq!((matcher.objects(), matcher.events()), (1, 2000));
}
