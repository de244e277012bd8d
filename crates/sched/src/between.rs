//! Brings one operation of a thread between two of another one.

use threadbare_trace::ThreadId;

use crate::{Choice, Op, Policy, PolicySpec};

/// A thread and one of its operations, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The thread.
    pub thread: ThreadId,
    /// Which of its operations, counted from 1.
    pub op: u32,
}

/// One thread goes first and is held before one of its operations until another one has made one of its own. Then
/// it goes on. Nobody else is preempted.
#[derive(Clone, Debug)]
pub struct Between {
    held: Place,
    other: Place,
    /// The first thread stands, or stood, where it is held.
    stands: bool,
    /// The other one has made its operation, or cannot.
    made: bool,
}

impl PolicySpec {
    /// A policy that has `other` made while a thread is held before `held`.
    pub fn between(held: Place, other: Place) -> PolicySpec {
        let mut spec = PolicySpec::new(crate::PolicyKind::Between, 0);
        let words = [u32::from(held.thread.0), held.op, u32::from(other.thread.0), other.op];
        spec.weights[..words.len()].copy_from_slice(&words);
        spec
    }
}

impl Between {
    /// See [`PolicySpec::between`].
    pub fn new(spec: &PolicySpec) -> Between {
        let place = |at: usize| Place { thread: ThreadId(spec.weights[at] as u16), op: spec.weights[at + 1] };
        Between { held: place(0), other: place(2), stands: false, made: false }
    }
}

impl Policy for Between {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        let (held, other) = (self.held.thread, self.other.thread);
        let first = choice.candidate(held);
        self.stands |= first.is_some_and(|candidate| candidate.op.index >= self.held.op);
        let (wanted, unwanted) = if self.stands && !self.made { (other, held) } else { (held, other) };
        if choice.candidate(wanted).is_some() {
            return wanted;
        }
        let is_neither = |thread: ThreadId| thread != unwanted;
        if choice.candidate(choice.current).is_some() && is_neither(choice.current) {
            return choice.current;
        }
        match choice.candidates.iter().find(|candidate| is_neither(candidate.thread)) {
            Some(candidate) => candidate.thread,
            None => {
                // Nobody else can go on without the one that is held.
                self.made |= self.stands;
                unwanted
            }
        }
    }

    fn executed(&mut self, thread: ThreadId, op: &Op) {
        self.made |= self.stands && thread == self.other.thread && op.index >= self.other.op;
    }
}
