//! What a deadlock that happened is about: who took which lock where, and who waits for it where.

use std::collections::BTreeMap;

use threadbare_trace::{Awaited, Event, EventKind, Failure, FailureKind, ThreadId, Waiting, kinds};

use crate::finding::{Access, Certainty, Finding, FindingKind};

/// What a deadlock is about, if threads wait for locks in it. In a cycle each thread's acquisition of the lock
/// it holds comes before the one it wants, as for a predicted deadlock; a semaphore that a thread took and has not
/// raised since counts as one there. A lock whose holder waits for no lock (it may have ended) is reported with
/// its acquisition and the one that waits for it.
pub fn observed_deadlock(events: &[Event], failure: &Failure) -> Option<Finding> {
    if failure.kind != FailureKind::Deadlock {
        return None;
    }
    let taken = locks_at_end(events);
    let last = events.len().checked_sub(1)?;
    let waiting = failure.waiting();
    let wants: BTreeMap<ThreadId, Access> = (waiting.iter())
        .filter_map(|it| match it.awaits {
            Awaited::Lock(lock) => Some((it.thread, waits_at(it, last, EventKind::Lock, lock))),
            Awaited::Semaphore(lock) => Some((it.thread, waits_at(it, last, EventKind::SemWait, lock))),
            // No thread releases what these wait for.
            Awaited::Signal(_) | Awaited::End | Awaited::Other => None,
        })
        .collect();
    let accesses = cycle(&wants, &taken).or_else(|| {
        let locks = wants.values().filter(|want| want.kind == EventKind::Lock);
        let (wanted, held) = locks.filter_map(|want| Some((*want, *taken.get(&want.object)?))).next()?;
        Some(vec![held, wanted])
    })?;
    let mut locks: Vec<u64> = accesses.iter().map(|access| access.object).collect();
    locks.sort_unstable();
    locks.dedup();
    Some(Finding {
        kind: FindingKind::Deadlock,
        certainty: Certainty::Observed,
        pattern: None,
        object: accesses[0].object,
        at: last,
        accesses,
        locks,
        count: 1,
    })
}

fn waits_at(waiting: &Waiting, event: usize, kind: EventKind, object: u64) -> Access {
    Access { event, thread: waiting.thread, pc: waiting.pc, context: waiting.context, kind, object }
}

/// Each lock that is held when the execution ends, with its acquisition. Threads that have ended still hold
/// what they did not release.
fn locks_at_end(events: &[Event]) -> BTreeMap<u64, Access> {
    use EventKind::*;
    let mut held: BTreeMap<u64, (u32, Access)> = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        let Some(kind) = event.kind() else { continue };
        match kind {
            Lock | ReadLock => {
                held.entry(event.addr).or_insert((0, Access::of(index, event, kind))).0 += 1;
            }
            CondWake | CondTimeout if event.value != 0 => {
                let access = Access { object: event.value, ..Access::of(index, event, kind) };
                held.insert(event.value, (1, access));
            }
            SemWait => drop(held.insert(event.addr, (1, Access::of(index, event, kind)))),
            SemPost if held.get(&event.addr).is_some_and(|(_, it)| it.thread == event.thread) => {
                held.remove(&event.addr);
            }
            Unlock => {
                if let Some((depth, _)) = held.get_mut(&event.addr) {
                    *depth -= 1;
                    if *depth == 0 {
                        held.remove(&event.addr);
                    }
                }
            }
            CondWait => drop(held.remove(&event.value)),
            // A word that is taken from zero may be a lock; whoever waits for it says so.
            AtomicUpdate if event.old == 0 && event.value != 0 => {
                held.insert(event.addr, (1, Access::of(index, event, kind)));
            }
            AtomicUpdate | AtomicWrite if event.value == 0 => drop(held.remove(&event.addr)),
            AtomicRead | AtomicWrite | AtomicUpdate | AtomicFailed | LockFailed => {}
            CondWake | CondTimeout | CondSignal | CondBroadcast | SemPost | SemFailed => {}
            Fence | Signal | Frame | kinds!(plain | barrier | once | futex | thread) => {}
            kinds!(heap | object | pause | outside) => {}
        }
    }
    held.into_iter().map(|(lock, (_, access))| (lock, access)).collect()
}

/// Follows who waits for whom until it closes; the accesses of the cycle.
fn cycle(wants: &BTreeMap<ThreadId, Access>, taken: &BTreeMap<u64, Access>) -> Option<Vec<Access>> {
    wants.keys().find_map(|start| {
        let mut accesses = Vec::new();
        let mut thread = *start;
        for _ in wants {
            let wanted = wants.get(&thread)?;
            let held = taken.get(&wanted.object)?;
            // What the next thread holds comes before what it wants.
            accesses.push(*wanted);
            accesses.push(*held);
            // Who takes a semaphore again need not have been meant to raise it.
            if held.thread == thread && held.kind == EventKind::SemWait {
                return None;
            }
            thread = held.thread;
            if thread == *start {
                accesses.rotate_right(1);
                return Some(accesses);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u16, pc: u64, kind: EventKind, addr: u64) -> Event {
        Event { thread: ThreadId(thread), pc, kind: kind as u8, addr, ..Event::default() }
    }

    fn deadlocked_at(events: &[Event], lines: &[&str]) -> Option<Vec<(u16, u64, u64)>> {
        let message = format!("deadlock: no thread is runnable\n{}", lines.join("\n"));
        let thread = ThreadId::MAIN;
        let failure = Failure { kind: FailureKind::Deadlock, message, thread, stack: Vec::new() };
        let accesses = observed_deadlock(events, &failure)?.accesses;
        Some(accesses.iter().map(|it| (it.thread.0, it.pc, it.object)).collect())
    }

    #[test]
    fn a_cycle_is_reported_as_a_predicted_one() {
        use EventKind::*;
        let events = [
            event(1, 11, Lock, 0xa),
            event(3, 31, Lock, 0xc),
            event(2, 21, Lock, 0xb),
            event(3, 32, Unlock, 0xc),
        ];
        let lines = [
            "T0 waits for T1 to end, at <pc 0x1 in 0>",
            "T1 holds <obj 0xa> and waits for lock <obj 0xb>, held by T2, at <pc 0x12 in 0>",
            "T2 holds <obj 0xb> and waits for lock <obj 0xa>, held by T1, at <pc 0x22 in 0>",
        ];
        let expected = [(1, 11, 0xa), (1, 0x12, 0xb), (2, 21, 0xb), (2, 0x22, 0xa)];
        assert_eq!(deadlocked_at(&events, &lines), Some(expected.to_vec()));
    }

    #[test]
    fn a_lock_that_was_never_released_is_reported_with_its_acquisition() {
        use EventKind::*;
        let events = [
            event(1, 11, Lock, 0xa),
            event(1, 12, Lock, 0xb),
            event(1, 13, Unlock, 0xa),
            event(1, 14, Exit, 0),
        ];
        let lines = [
            "T2 holds <obj 0xa> and waits for lock <obj 0xb>, held by T1, which has ended, at <pc 0x22 in 0>",
        ];
        assert_eq!(deadlocked_at(&events, &lines), Some(vec![(1, 12, 0xb), (2, 0x22, 0xb)]));
        assert_eq!(deadlocked_at(&events, &["T2 waits for a signal on <obj 0xc>, at <pc 0x22 in 0>"]), None);
    }

    #[test]
    fn words_that_are_slept_on_are_locks() {
        use EventKind::*;
        let take = |thread, pc, addr| Event { value: 1, ..event(thread, pc, AtomicUpdate, addr) };
        let events = [take(1, 11, 0xa), take(2, 21, 0xb)];
        let lines = [
            "T1 waits for a wake-up of futex <obj 0xb>, at <pc 0x12 in 0>",
            "T2 waits for a wake-up of futex <obj 0xa>, at <pc 0x22 in 0>",
        ];
        let expected = [(1, 11, 0xa), (1, 0x12, 0xb), (2, 21, 0xb), (2, 0x22, 0xa)];
        assert_eq!(deadlocked_at(&events, &lines), Some(expected.to_vec()));
    }

    #[test]
    fn semaphores_are_locks_only_in_a_cycle() {
        use EventKind::*;
        let events = [event(1, 11, SemWait, 0xa), event(2, 21, SemWait, 0xb)];
        let lines = [
            "T1 waits for semaphore <obj 0xb>, at <pc 0x12 in 0>",
            "T2 waits for semaphore <obj 0xa>, at <pc 0x22 in 0>",
        ];
        let expected = [(1, 11, 0xa), (1, 0x12, 0xb), (2, 21, 0xb), (2, 0x22, 0xa)];
        assert_eq!(deadlocked_at(&events, &lines), Some(expected.to_vec()));
        assert_eq!(
            deadlocked_at(&events, &lines[..1]),
            None,
            "somebody else may have been meant to raise it"
        );
    }
}
