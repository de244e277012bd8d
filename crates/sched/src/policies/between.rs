//! Brings one operation of a thread between two of another one.

use threadbare_trace::ThreadId;

use crate::{Choice, Malformed, Op, Policy, Specification, Words};

/// An operation, by its thread and its number there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpId {
    /// The thread.
    pub thread: ThreadId,
    /// Which of its operations, counted from 1.
    pub op: u32,
}

/// One thread goes first and is held before one of its operations until another one has made one of its own. Then
/// it continues. Nobody else is preempted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Between {
    /// The operation before which the one thread is held.
    pub held: OpId,
    /// The operation that the other thread makes meanwhile.
    pub other: OpId,
}

impl Specification for Between {
    type Policy = BetweenPolicy;

    fn name(&self) -> String {
        "interrupted where it acts on a read".to_string()
    }

    fn encode(&self, words: &mut Vec<u64>) {
        for it in [self.held, self.other] {
            words.extend([u64::from(it.thread.0), u64::from(it.op)]);
        }
    }

    fn decode(words: &mut Words<'_>) -> Result<Between, Malformed> {
        let mut read = || Ok(OpId { thread: words.thread()?, op: words.number()? });
        Ok(Between { held: read()?, other: read()? })
    }

    fn start(self, _seed: u64) -> BetweenPolicy {
        BetweenPolicy { held: self.held, other: self.other, is_held: false, made: false }
    }
}

/// See [`Between`].
#[derive(Clone, Debug)]
pub struct BetweenPolicy {
    held: OpId,
    other: OpId,
    /// The first thread is, or was, where it is held.
    is_held: bool,
    /// The other one has made its operation, or cannot.
    made: bool,
}

impl Policy for BetweenPolicy {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        let (held, other) = (self.held.thread, self.other.thread);
        let first = choice.candidate(held);
        self.is_held |= first.is_some_and(|candidate| candidate.op.index >= self.held.op);
        let (wanted, unwanted) = if self.is_held && !self.made { (other, held) } else { (held, other) };
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
                // Nobody else is runnable while the one thread is held.
                self.made |= self.is_held;
                unwanted
            }
        }
    }

    fn executed(&mut self, thread: ThreadId, op: &Op) {
        self.made |= self.is_held && thread == self.other.thread && op.index >= self.other.op;
    }
}
