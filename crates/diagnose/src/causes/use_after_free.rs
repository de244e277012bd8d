//! A use after free by its two ends: who released the memory, and who used it.

use threadbare_trace::{Event, EventKind, Failure, FailureKind};

use super::reversible::Moments;
use threadbare_detect::Access;

/// Where the memory was released and where it was used afterwards. None where one thread did both, or where the release has to come first
/// in any case: then no interleaving is to blame.
pub fn use_after_free(events: &[Event], failure: &Failure) -> Option<[Access; 2]> {
    let (thread, pc) = failure.released().filter(|_| failure.kind == FailureKind::UseAfterFree)?;
    let is_release =
        |event: &Event| event.kind() == Some(EventKind::Free) && (event.thread, event.pc) == (thread, pc);
    let at = events.iter().rposition(is_release)?;
    let offset = failure.message.split_once(" offset ").and_then(|(_, rest)| rest.split(' ').next());
    let offset: u64 = offset.and_then(|digits| digits.parse().ok()).unwrap_or(0);
    let kind = if failure.message.starts_with("write") { EventKind::Write } else { EventKind::Read };
    let used = Access {
        event: events.len(),
        thread: failure.thread,
        pc: failure.stack.first().copied()?,
        context: 0,
        kind,
        object: events[at].addr + offset,
    };
    let end = Event { thread: failure.thread, ..Event::default() };
    let moments = Moments::of(events, [&end], 0);
    let released = Access { object: used.object, ..Access::of(at, &events[at], EventKind::Free) };
    (used.thread != thread && moments.can_be_turned(at, events.len())).then_some([released, used])
}

#[cfg(test)]
mod tests {
    use threadbare_trace::ThreadId;

    use super::*;

    fn event(thread: u16, kind: EventKind, value: u64) -> Event {
        Event { thread: ThreadId(thread), pc: 0x20, addr: 0x100, value, kind: kind as u8, ..Event::default() }
    }

    fn ends(events: &[Event], thread: u16) -> Option<Vec<(u16, u64)>> {
        let failure = Failure {
            kind: FailureKind::UseAfterFree,
            message: "read of offset 8 in a heap block of 16 bytes that T1 freed at <pc 0x20 in 3>".into(),
            thread: ThreadId(thread),
            stack: vec![0x30],
        };
        Some(use_after_free(events, &failure)?.iter().map(|it| (it.thread.0, it.object)).collect())
    }

    #[test]
    fn both_ends_are_reported_where_another_order_was_possible() {
        use EventKind::*;
        let free = event(1, Free, 16);
        let created = [event(0, Create, 1), event(0, Create, 2), free];
        assert_eq!(ends(&created, 2), Some(vec![(1, 0x108), (2, 0x108)]));
        assert_eq!(ends(&created, 1), None, "one thread did both");
        let joined = [event(0, Create, 1), free, event(1, Exit, 0), event(0, Join, 1)];
        assert_eq!(ends(&joined, 0), None, "it is always released before");
    }
}
