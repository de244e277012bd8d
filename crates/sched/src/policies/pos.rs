//! Partial order sampling (Yuan, Yang, Gu, CAV 2018).
//!
//! Every pending operation has a random priority and the highest one is made. After it, the
//! pending operations of other threads that conflict with it draw anew: their order relative to
//! what comes next is a fresh question, while independent operations keep their draw. This
//! samples partial orders far more evenly than a random walk.

use threadbare_trace::ThreadId;

use crate::by_thread::ByThread;
use crate::{Choice, Malformed, Op, Policy, Rng, Specification, Words};

/// A thread's pending operation and its draw.
#[derive(Clone, Copy, Debug)]
struct Pending {
    op: Op,
    priority: u64,
}

/// A random priority per pending operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pos;

impl Specification for Pos {
    type Policy = PosPolicy;

    fn name(&self) -> String {
        "pos".to_string()
    }

    fn encode(&self, _words: &mut Vec<u64>) {}

    fn decode(_words: &mut Words<'_>) -> Result<Pos, Malformed> {
        Ok(Pos)
    }

    fn start(self, seed: u64) -> PosPolicy {
        PosPolicy { rng: Rng::new(seed), pending: ByThread::new() }
    }
}

/// See [`Pos`].
#[derive(Clone, Debug)]
pub struct PosPolicy {
    rng: Rng,
    pending: ByThread<Option<Pending>>,
}

impl Policy for PosPolicy {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        let mut best = (0, choice.candidates[0].thread);
        for candidate in choice.candidates {
            let pending = self.pending.of(candidate.thread);
            let priority = match pending {
                Some(known) if known.op == *candidate.op => known.priority,
                _ => {
                    let priority = self.rng.next_u64();
                    *pending = Some(Pending { op: *candidate.op, priority });
                    priority
                }
            };
            if priority > best.0 {
                best = (priority, candidate.thread);
            }
        }
        best.1
    }

    fn executed(&mut self, thread: ThreadId, op: &Op) {
        for (other, pending) in self.pending.iter_mut() {
            if other == thread || pending.is_some_and(|pending| pending.op.conflicts_with(op)) {
                *pending = None;
            }
        }
    }

    fn yielded(&mut self, thread: ThreadId) {
        *self.pending.of(thread) = None;
    }
}
