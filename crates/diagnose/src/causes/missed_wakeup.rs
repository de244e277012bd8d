//! WhyMissed a thread that waits for a signal, a semaphore or a futex is never woken.
//!
//! The explanation starts from what the blocked thread waits for: who could have woken it, and whether anybody tried. A
//! thread whose wakers are blocked themselves is a consequence; the one to explain is at the end of that chain.

use std::collections::BTreeSet;

use threadbare_happens_before::AccessedBytes;
use threadbare_trace::{Awaited, Event, EventKind, Failure, FailureKind, ThreadId, Waiting, kinds};

use threadbare_detect::{Access, Certainty, Finding, FindingKind};

/// WhyMissed nobody wakes a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WhyMissed {
    /// No execution wakes anybody there.
    Never,
    /// The wake-up came when the thread did not wait yet.
    TooEarly,
    /// The wake-up went to another thread.
    WokeAnother(ThreadId),
    /// Other executions do wake it; this one did not.
    NotHere,
}

/// A thread that waits for ever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MissedWakeup {
    /// What it is about: the wake-up that went wrong and the wait; or the wait, and where what the thread had
    /// looked at was changed meanwhile without a wake-up.
    pub finding: Finding,
    /// WhyMissed.
    pub why: WhyMissed,
    /// The thread that waits.
    pub thread: ThreadId,
    /// How many other executions were looked at.
    pub compared: usize,
}

impl MissedWakeup {
    /// Whether it holds whatever other executions do.
    pub fn is_sure(&self) -> bool {
        self.why != WhyMissed::NotHere
    }
}

/// What a deadlock comes from if threads in it wait for a wake-up that never comes.
pub fn missed_wakeup<'a>(
    events: &[Event],
    failure: &Failure,
    others: impl Iterator<Item = &'a [Event]> + Clone,
) -> Option<MissedWakeup> {
    if failure.kind != FailureKind::Deadlock {
        return None;
    }
    let waiting = failure.waiting();
    let blocked: BTreeSet<ThreadId> = waiting.iter().map(|it| it.thread).collect();
    let mut found: Vec<(bool, MissedWakeup)> = Vec::new();
    for wait in &waiting {
        let (Awaited::Signal(object) | Awaited::Lock(object) | Awaited::Semaphore(object)) = wait.awaits
        else {
            continue;
        };
        let mut wakers: BTreeSet<ThreadId> = wakers(events, object).collect();
        others.clone().for_each(|other| wakers.extend(self::wakers(other, object)));
        let is_consequence = wakers.iter().any(|waker| *waker != wait.thread && blocked.contains(waker));
        if let Some((why, accesses)) = judge(events, wait, object, wakers.is_empty()) {
            let finding = Finding {
                kind: FindingKind::Order,
                certainty: Certainty::Observed,
                pattern: None,
                object,
                at: accesses.iter().map(|it| it.event).max()?,
                accesses,
                locks: Vec::new(),
                count: 1,
            };
            let compared = others.clone().count();
            found.push((is_consequence, MissedWakeup { finding, why, thread: wait.thread, compared }));
        }
    }
    found.into_iter().min_by_key(|(is_consequence, it)| (*is_consequence, it.why)).map(|(_, it)| it)
}

fn wakes(event: &Event, object: u64) -> bool {
    use EventKind::*;
    let wakes = |kind: EventKind| match kind {
        CondSignal | CondBroadcast | FutexWake | SemPost => true,
        CondWait | CondWake | CondTimeout | FutexWait | FutexWoken | FutexTimeout | SemWait | SemFailed => {
            false
        }
        Fence | Signal | Frame | kinds!(plain | atomic | lock | barrier | once) => false,
        kinds!(thread | heap | object | pause | outside) => false,
    };
    event.addr == object && event.kind().is_some_and(wakes)
}

fn wakers(events: &[Event], object: u64) -> impl Iterator<Item = ThreadId> {
    events.iter().filter(move |event| wakes(event, object)).map(|event| event.thread)
}

/// Why a thread was not woken, and the steps that show it.
fn judge(events: &[Event], wait: &Waiting, object: u64, never: bool) -> Option<(WhyMissed, Vec<Access>)> {
    use EventKind::*;
    let is_wait = |event: &Event| {
        event.thread == wait.thread
            && event.addr == object
            && (event.kind() == Some(CondWait) || event.kind() == Some(FutexWait) && event.value == 0)
    };
    let kind = match wait.awaits {
        Awaited::Signal(_) => CondWait,
        Awaited::Semaphore(_) => SemWait,
        Awaited::Lock(_) | Awaited::End | Awaited::Other => FutexWait,
    };
    let began = events.iter().rposition(is_wait);
    if kind == FutexWait && began.is_none() {
        // It may be a lock's word, and is somebody's in the middle of taking it.
        return None;
    }
    let last_step = || events.iter().rposition(|event| event.thread == wait.thread);
    let since = began.or_else(last_step)?;
    let waits =
        Access { event: since, thread: wait.thread, pc: wait.pc, context: wait.context, kind, object };
    let step = |at: usize| Some(Access::of(at, &events[at], events[at].kind()?));
    if never {
        let mut accesses = vec![waits];
        accesses.extend(changed_meanwhile(events, since, wait.thread).and_then(step));
        return Some((WhyMissed::Never, accesses));
    }
    let after = events.iter().rposition(|event| wakes(event, object)).filter(|at| *at > since);
    if let Some(after) = after.filter(|_| kind != SemWait) {
        let wakes_up = |kind: EventKind| match kind {
            CondWake | CondTimeout | FutexWoken => true,
            CondWait | CondSignal | CondBroadcast | FutexWait | FutexTimeout | FutexWake => false,
            Fence | Signal | Frame | kinds!(plain | atomic | lock | barrier | semaphore | once) => false,
            kinds!(thread | heap | object | pause | outside) => false,
        };
        let woken = |event: &&Event| event.addr == object && event.kind().is_some_and(wakes_up);
        let other = events[after..].iter().find(woken)?.thread;
        return Some((WhyMissed::WokeAnother(other), vec![step(after)?, waits]));
    }
    let found_nobody = |at: &usize| wakes(&events[*at], object) && events[*at].value == 0;
    let early = (0..since).rev().find(found_nobody).filter(|_| kind != SemWait);
    if let Some(early) = early.filter(|early| !looked_again(events, *early, since)) {
        return Some((WhyMissed::TooEarly, vec![step(early)?, waits]));
    }
    let mut accesses = vec![waits];
    accesses.extend(changed_meanwhile(events, since, wait.thread).and_then(step));
    Some((WhyMissed::NotHere, accesses))
}

fn reads(event: &Event) -> bool {
    event.kind().is_some_and(EventKind::only_reads_value)
}

/// Whether an event writes what another one reads.
fn writes_what(event: &Event, read: &Event) -> bool {
    let touch = event.kind().and_then(|kind| AccessedBytes::of(event, kind));
    touch.is_some_and(|touch| {
        touch.writes
            && touch.addr < read.addr + u64::from(read.size.max(1))
            && read.addr < touch.addr + touch.len
    })
}

/// Whether, after a signal and before its wait, the thread looked at something that was changed for the signal.
fn looked_again(events: &[Event], signal: usize, wait: usize) -> bool {
    let thread = events[wait].thread;
    let mut looked = events[signal..wait].iter().filter(|event| event.thread == thread && reads(event));
    looked.any(|read| events[..signal].iter().any(|event| event.thread != thread && writes_what(event, read)))
}

/// How many of a thread's reads before its wait may be what it decided on.
const LOOKED_AT: usize = 4;

/// The last change, after the wait began, of what the thread had looked at before it.
fn changed_meanwhile(events: &[Event], wait: usize, thread: ThreadId) -> Option<usize> {
    let mut looked = events[..wait].iter().rev().filter(|event| event.thread == thread && reads(event));
    let looked: Vec<&Event> = looked.by_ref().take(LOOKED_AT).collect();
    (wait..events.len()).rev().find(|at| {
        let event = &events[*at];
        event.thread != thread && looked.iter().any(|read| writes_what(event, read))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u16, pc: u64, kind: EventKind, addr: u64) -> Event {
        Event { thread: ThreadId(thread), pc, kind: kind as u8, addr, size: 4, ..Event::default() }
    }

    fn unwoken_at(
        events: &[Event],
        lines: &[&str],
        others: &[&[Event]],
    ) -> Option<(WhyMissed, Vec<(u16, u64)>)> {
        let message = format!("deadlock: no thread is runnable\n{}", lines.join("\n"));
        let thread = ThreadId::MAIN;
        let failure = Failure { kind: FailureKind::Deadlock, message, thread, stack: Vec::new() };
        let found = missed_wakeup(events, &failure, others.iter().copied())?;
        Some((found.why, found.finding.accesses.iter().map(|it| (it.thread.0, it.pc)).collect()))
    }

    #[test]
    fn a_signal_that_came_too_early_is_reported() {
        use EventKind::*;
        let wait = event(2, 0x16, CondWait, 0xc0);
        let lines = ["T2 waits for a signal on <obj 0xc0>, at <pc 0x16 in 0>"];
        let early = event(1, 11, CondSignal, 0xc0);
        let expected = Some((WhyMissed::TooEarly, vec![(1, 11), (2, 0x16)]));
        assert_eq!(unwoken_at(&[early, wait], &lines, &[]), expected);
        let (look, set) = (event(2, 21, Read, 0xf0), event(1, 10, Write, 0xf0));
        assert_eq!(unwoken_at(&[look, set, early, wait], &lines, &[]), expected);
        let again = unwoken_at(&[set, early, look, wait], &lines, &[]).map(|(why, _)| why);
        assert_eq!(again, Some(WhyMissed::NotHere), "it looked after the signal, and waited all the same");
    }

    #[test]
    fn a_signal_for_one_of_two_is_reported() {
        use EventKind::*;
        let signal = Event { value: 2, ..event(0, 30, CondSignal, 0xc0) };
        let events = [
            event(1, 0x14, CondWait, 0xc0),
            event(2, 0x14, CondWait, 0xc0),
            signal,
            event(1, 0x14, CondWake, 0xc0),
        ];
        let lines = ["T2 waits for a signal on <obj 0xc0>, at <pc 0x14 in 0>"];
        let expected = (WhyMissed::WokeAnother(ThreadId(1)), vec![(0, 30), (2, 0x14)]);
        assert_eq!(unwoken_at(&events, &lines, &[]), Some(expected));
    }

    #[test]
    fn the_thread_at_the_end_of_the_chain_is_reported() {
        use EventKind::*;
        // T2 would be signalled by T1, which waits for what nobody signals.
        let events = [
            event(1, 13, CondSignal, 0xe0),
            event(1, 10, Read, 0x100),
            event(1, 0x11, CondWait, 0xf0),
            event(2, 22, Write, 0x100),
            event(2, 0x21, CondWait, 0xe0),
        ];
        let lines = [
            "T1 waits for a signal on <obj 0xf0>, at <pc 0x11 in 0>",
            "T2 waits for a signal on <obj 0xe0>, at <pc 0x21 in 0>",
        ];
        assert_eq!(unwoken_at(&events, &lines, &[]), Some((WhyMissed::Never, vec![(1, 0x11), (2, 22)])));
        let other = [event(2, 23, CondSignal, 0xf0)];
        let found = unwoken_at(&events, &lines[..1], &[&other]);
        assert_eq!(found, Some((WhyMissed::NotHere, vec![(1, 0x11), (2, 22)])));
    }
}
