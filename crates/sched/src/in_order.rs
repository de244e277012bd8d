//! Makes chosen threads make chosen operations in a given order.
//!
//! A thread whose operation is not next is held back before it; or, if the operation is in a critical section,
//! before the lock is taken, for otherwise the others could not get past. Everything else is a
//! random walk that prefers the thread whose operation is next. When nobody else can go on, one of those held back
//! is let go.

use threadbare_trace::ThreadId;

use crate::{Candidate, Choice, Op, PolicySpec, Rng};

/// One operation of the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Wanted {
    thread: ThreadId,
    site: u64,
    /// The operation before which its thread waits.
    gate: u64,
}

/// See the module's description.
#[derive(Clone, Debug)]
pub(crate) struct InOrder {
    rng: Rng,
    wanted: Vec<Wanted>,
    /// How many of them were made.
    made: usize,
}

impl InOrder {
    /// The most operations that can be ordered.
    pub(crate) const MOST: usize = PolicySpec::MAX_SITES / 2;

    /// The order in the specification; see [`PolicySpec::in_order`].
    pub(crate) fn new(spec: &PolicySpec) -> InOrder {
        let (sites, gates) = spec.sites.split_at(Self::MOST);
        let wanted = (0..Self::MOST).filter(|place| sites[*place] != 0).map(|place| Wanted {
            thread: ThreadId(spec.weights[place] as u16),
            site: sites[place],
            gate: gates[place],
        });
        InOrder { rng: Rng::new(spec.seed), wanted: wanted.collect(), made: 0 }
    }

    fn is_held(&self, candidate: &Candidate<'_>) -> bool {
        let rest = &self.wanted[self.made..];
        let place = rest.iter().position(|wanted| wanted.thread == candidate.thread);
        place.is_some_and(|place| {
            place > 0 && [rest[place].site, rest[place].gate].contains(&candidate.op.site)
        })
    }

    pub(crate) fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
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

    pub(crate) fn executed(&mut self, thread: ThreadId, op: &Op) {
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
