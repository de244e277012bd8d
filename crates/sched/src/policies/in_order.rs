//! Makes chosen threads make chosen operations in a given order.
//!
//! A thread whose operation is not next is held back before it; or, if the operation is in a critical section,
//! before the lock is taken, for otherwise the others could not get past. Everything else is a
//! random walk that prefers the thread whose operation is next. When nobody else is runnable, one of those held back
//! is let go.

use threadbare_trace::ThreadId;

use crate::{Candidate, Choice, Malformed, Op, Policy, Rng, Specification, Words};

/// One operation of the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderedOp {
    /// Who makes it.
    pub thread: ThreadId,
    /// The code address that announces it.
    pub site: u64,
    /// The code address of the operation before which its thread waits for its turn.
    pub gate: u64,
}

/// A random walk that has chosen operations made in a given order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InOrder {
    operations: Vec<OrderedOp>,
}

impl InOrder {
    /// More operations than this hardly ever come in one order.
    const MOST: usize = 4;

    /// These operations in this order. None if there are too many.
    pub fn new(operations: Vec<OrderedOp>) -> Option<InOrder> {
        (operations.len() <= Self::MOST).then_some(InOrder { operations })
    }
}

impl Specification for InOrder {
    type Policy = InOrderPolicy;

    fn name(&self) -> String {
        "in order".to_string()
    }

    fn encode(&self, words: &mut Vec<u64>) {
        words.push(self.operations.len() as u64);
        words.extend(self.operations.iter().flat_map(|it| [u64::from(it.thread.0), it.site, it.gate]));
    }

    fn decode(words: &mut Words<'_>) -> Result<InOrder, Malformed> {
        let operations = words.list(|words| {
            Ok(OrderedOp { thread: words.thread()?, site: words.word()?, gate: words.word()? })
        })?;
        InOrder::new(operations).ok_or(Malformed)
    }

    fn start(self, seed: u64) -> InOrderPolicy {
        InOrderPolicy { rng: Rng::new(seed), wanted: self.operations, made: 0 }
    }
}

/// See the module's description.
#[derive(Clone, Debug)]
pub struct InOrderPolicy {
    rng: Rng,
    wanted: Vec<OrderedOp>,
    /// How many of them were made.
    made: usize,
}

impl InOrderPolicy {
    fn is_held(&self, candidate: &Candidate<'_>) -> bool {
        let rest = &self.wanted[self.made..];
        let place = rest.iter().position(|wanted| wanted.thread == candidate.thread);
        place.is_some_and(|place| {
            place > 0 && [rest[place].site, rest[place].gate].contains(&candidate.op.site)
        })
    }
}

impl Policy for InOrderPolicy {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        let next = self.wanted.get(self.made).map(|wanted| wanted.thread);
        let next = next.filter(|thread| choice.candidate(*thread).is_some());
        if let Some(next) = next.filter(|_| self.rng.below(4) > 0) {
            return next;
        }
        let free = choice.candidates.iter().filter(|candidate| !self.is_held(candidate)).count();
        let everybody = free == 0;
        let count = if everybody { choice.candidates.len() } else { free };
        let pick = self.rng.below(count as u64) as usize;
        let mut candidates = choice.candidates.iter().filter(|it| everybody || !self.is_held(it));
        candidates.nth(pick).map_or(choice.candidates[0].thread, |candidate| candidate.thread)
    }

    fn executed(&mut self, thread: ThreadId, op: &Op) {
        let Some(next) = self.wanted.get(self.made) else { return };
        if (next.thread, next.site) != (thread, op.site) {
            return;
        }
        // In a loop it need not be the first time that counts.
        if self.made > 0 || self.rng.below(4) > 0 {
            self.made += 1;
        }
    }
}
