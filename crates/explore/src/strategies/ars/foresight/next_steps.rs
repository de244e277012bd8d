//! What threads do next, learned from the executions so far: it depends only on what a thread has done and found
//! before.

use threadbare_trace::{Event, EventKind, ThreadId};
use threadbare_wire::OfferRecord;

use super::hash::{Numbers, Table, mix};
use super::program_state::ProgramState;

/// Steps that are remembered at most; then all is forgotten and learned anew.
const MOST_STEPS: usize = 1 << 20;

/// A step that a thread will make.
#[derive(Clone, Copy)]
pub(in crate::strategies::ars) struct PredictedStep {
    /// What it does and finds.
    pub event: Event,
    /// A thread with the same history has found the same before, so that it is known what comes next.
    pub is_known: bool,
}

impl PredictedStep {
    /// Whether this is what came.
    pub fn is(&self, event: &Event) -> bool {
        self.event.thread == event.thread && is_same_step(&self.event, event) && self.event.old == event.old
    }
}

/// What is known of the program's threads.
#[derive(Default)]
pub(super) struct NextSteps {
    /// The step that followed a history, whatever it found.
    next: Table<u64, Event>,
    /// The step that followed a history and found this.
    found: Table<(u64, u64), Event>,
    /// What memory held before the first step that touched it.
    initial: Table<u64, u64>,
    /// Histories with which the program ended.
    last: Numbers,
    /// The places of the steps before that.
    last_places: Numbers,
}

impl NextSteps {
    /// A step was made in this state.
    pub fn learn(&mut self, state: &ProgramState, event: &Event) {
        let Some(kind) = event.kind().filter(|kind| !kind.only_names()) else { return };
        if self.found.len() >= MOST_STEPS {
            *self = NextSteps::default();
        }
        if kind.accesses_memory() && state.holds(event.addr).is_none() {
            self.initial.insert(event.addr, event.old);
        }
        let history = state.history(event.thread);
        let found = if kind.reads_value() { event.old } else { 0 };
        for history in [history, own(history, event.thread)] {
            self.next.insert(history, *event);
            self.found.insert((history, found), *event);
        }
    }

    /// A thread is about to make this step.
    pub fn expect(&mut self, state: &ProgramState, offer: &OfferRecord) {
        let history = state.history(offer.thread);
        let value = if EventKind::from_number(offer.kind) == Some(EventKind::Create) {
            // Threads are numbered one after the other.
            state.threads() as u64
        } else {
            // What it would write is not known, so it is something that nobody has seen.
            mix(history, 3)
        };
        let event = Event {
            pc: offer.site,
            addr: offer.object,
            value,
            thread: offer.thread,
            kind: offer.kind,
            size: u8::try_from(offer.size).unwrap_or(u8::MAX),
            ..Event::default()
        };
        self.next.entry(own(history, offer.thread)).or_insert(event);
    }

    /// The program passed with this step.
    pub fn end(&mut self, state: &ProgramState, last: &Event) {
        self.last.insert(own(state.history(last.thread), last.thread));
        self.last_places.insert(last.pc);
    }

    /// Whether the program ends with this step, as far as is known.
    pub fn ends(&self, state: &ProgramState, step: &PredictedStep) -> bool {
        let history = own(state.history(step.event.thread), step.event.thread);
        self.last.contains(&history) || (!step.is_known && self.last_places.contains(&step.event.pc))
    }

    /// The next step of a thread, if it is known.
    pub fn predict(&self, state: &ProgramState, thread: ThreadId) -> Option<PredictedStep> {
        // What others like it have done counts only where the thread itself has never been.
        let common = state.history(thread);
        let (history, next) = match self.next.get_key_value(&own(common, thread)) {
            Some((own, next)) => (*own, next),
            None => (common, self.next.get(&common)?),
        };
        let kind = next.kind()?;
        let found = match kind.reads_value() {
            true => state.holds(next.addr).or_else(|| self.initial.get(&next.addr).copied()),
            false => Some(0),
        };
        let known = found.and_then(|found| self.found.get(&(history, found)));
        let event = match known {
            Some(known) => Event { thread, ..*known },
            None => {
                let old = found.unwrap_or_else(|| mix(history, 2));
                let value = match kind.reads_value() {
                    true if kind == EventKind::AtomicUpdate => mix(history, old),
                    true => old,
                    false => next.value,
                };
                Event { thread, old, value, ..*next }
            }
        };
        Some(PredictedStep { event, is_known: known.is_some() })
    }
}

/// A history as that of one thread alone.
fn own(history: u64, thread: ThreadId) -> u64 {
    mix(history, u64::from(thread.0) + 1)
}

fn is_same_step(one: &Event, other: &Event) -> bool {
    (one.kind, one.pc, one.addr) == (other.kind, other.pc, other.addr)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u16, pc: u64, kind: EventKind, old: u64, value: u64) -> Event {
        Event { pc, addr: 8, value, old, thread: ThreadId(thread), kind: kind as u8, ..Event::default() }
    }

    #[test]
    fn a_thread_is_expected_to_do_what_one_like_it_has_done() {
        let (mut next_steps, mut state) = (NextSteps::default(), ProgramState::default());
        let steps = [
            event(1, 0, EventKind::Start, 0, 0),
            event(1, 4, EventKind::Read, 0, 0),
            event(1, 5, EventKind::Write, 0, 1),
        ];
        for step in &steps {
            next_steps.learn(&state, step);
            state.observe(step);
        }
        state.observe(&event(2, 0, EventKind::Start, 0, 0));
        // The other one will read what the first has written, and what comes then is not known.
        let next = next_steps.predict(&state, ThreadId(2)).unwrap();
        assert!(next.is(&event(2, 4, EventKind::Read, 1, 1)) && !next.is_known);
        state.observe(&next.event);
        assert!(next_steps.predict(&state, ThreadId(2)).is_none());
    }

    #[test]
    fn threads_that_do_something_else_are_distinguished() {
        let (mut next_steps, mut state) = (NextSteps::default(), ProgramState::default());
        let starts = [event(1, 0, EventKind::Start, 0, 0), event(2, 0, EventKind::Start, 0, 0)];
        starts.iter().for_each(|start| state.observe(start));
        next_steps.learn(&state, &event(1, 4, EventKind::Write, 0, 1));
        next_steps.learn(&state, &event(2, 4, EventKind::Write, 0, 2));
        let value = |thread| next_steps.predict(&state, ThreadId(thread)).unwrap().event.value;
        assert_eq!((value(1), value(2)), (1, 2));
    }
}
