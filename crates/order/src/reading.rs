//! From events to steps: what a thread does between two moments at which others may run.

use std::collections::HashMap;

use threadbare_trace::{Event, EventKind, ThreadId};

use crate::action::{Action, Extent};

/// One step as a trace shows it.
#[derive(Clone, Debug)]
pub struct ReadStep {
    /// Who made it.
    pub thread: ThreadId,
    /// Which operation of its thread it is.
    pub op: u32,
    /// The code that announced it.
    pub pc: u64,
    /// What it did.
    pub actions: Vec<Action>,
}

/// A trace as steps.
#[derive(Clone, Default, Debug)]
pub struct Reading {
    /// The steps, in the order in which they began.
    pub steps: Vec<ReadStep>,
    /// The step of each event, [`Reading::NO_STEP`] for events that are none.
    pub of_event: Vec<u32>,
    /// What was in memory before, as far as the first access to it tells.
    pub initial: HashMap<Extent, u64>,
    /// How many tokens semaphores had before.
    pub tokens: HashMap<u64, u64>,
}

impl Reading {
    /// Stands for no step.
    pub const NO_STEP: u32 = u32::MAX;

    /// Reads a trace.
    pub fn of(events: &[Event]) -> Reading {
        let mut reading = Reading::default();
        let mut latest: HashMap<ThreadId, u32> = HashMap::new();
        let mut words: HashMap<u64, u64> = HashMap::new();
        for event in events {
            let Some(action) = Action::of(event) else {
                reading.of_event.push(Self::NO_STEP);
                continue;
            };
            reading.take_note_of(event);
            let index = match latest.get(&event.thread) {
                Some(&index) if reading.steps[index as usize].op == event.op => index,
                _ => {
                    let index = reading.steps.len() as u32;
                    let (thread, op, pc) = (event.thread, event.op, event.pc);
                    reading.steps.push(ReadStep { thread, op, pc, actions: Vec::new() });
                    latest.insert(thread, index);
                    index
                }
            };
            reading.of_event.push(index);
            let actions = &mut reading.steps[index as usize].actions;
            if event.kind() == Some(EventKind::FutexWait)
                && let Some(&word) = words.get(&event.addr)
            {
                actions.push(Action::Read(Extent { addr: event.addr, len: 4 }, Some(word)));
            }
            actions.push(action);
            let left_behind = action.write().or_else(|| action.read());
            if let Some((Extent { addr, len: 4 }, Some(value))) = left_behind {
                words.insert(addr, value);
            }
        }
        reading
    }

    /// Whoever comes first to a thing shows what it was before.
    fn take_note_of(&mut self, event: &Event) {
        let size = u64::from(event.size);
        let Event { addr, value, old, .. } = *event;
        match event.kind() {
            Some(EventKind::SemWait) => {
                self.tokens.entry(addr).or_insert(value.saturating_add(1));
            }
            Some(EventKind::SemPost) => {
                self.tokens.entry(addr).or_insert(value.saturating_sub(1));
            }
            Some(EventKind::SemFailed) => {
                self.tokens.entry(addr).or_insert(0);
            }
            Some(kind) if kind.accesses_memory() && (1..=8).contains(&size) => {
                let before = if kind.writes() { old } else { value };
                self.initial.entry(Extent { addr, len: size }).or_insert(before);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u16, op: u32, kind: EventKind, addr: u64, value: u64) -> Event {
        let size = if kind.accesses_memory() { 4 } else { 0 };
        Event { thread: ThreadId(thread), op, kind: kind as u8, addr, value, size, ..Event::default() }
    }

    #[test]
    fn what_has_no_operation_of_its_own_belongs_to_the_one_before() {
        let reading = Reading::of(&[
            event(1, 0, EventKind::Start, 0, 0),
            event(1, 1, EventKind::Write, 8, 3),
            event(2, 1, EventKind::Read, 8, 3),
            event(0, 0, EventKind::Alloc, 8, 3),
            event(2, 1, EventKind::Exit, 0, 0),
        ]);
        assert_eq!(reading.of_event, [0, 1, 2, Reading::NO_STEP, 2]);
        assert_eq!(reading.steps[2].actions.len(), 2);
    }

    #[test]
    fn the_first_access_tells_what_was_there_before() {
        let mut first = event(1, 1, EventKind::Write, 8, 3);
        first.old = 7;
        let reading = Reading::of(&[first, event(1, 2, EventKind::SemPost, 16, 1)]);
        assert_eq!(reading.initial[&Extent { addr: 8, len: 4 }], 7);
        assert_eq!(reading.tokens[&16], 0);
    }

    #[test]
    fn a_sleep_on_a_futex_reads_its_word() {
        let reading = Reading::of(&[
            event(1, 1, EventKind::AtomicWrite, 8, 3),
            event(1, 2, EventKind::FutexWait, 8, 0),
        ]);
        assert_eq!(reading.steps[1].actions[0], Action::Read(Extent { addr: 8, len: 4 }, Some(3)));
    }
}
