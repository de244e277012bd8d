//! Accesses, and the patterns that they make.

use threadbare_trace::ThreadId;

use super::AccessType;
use super::key::{ObjectId, PatternKey, Relation, SiteId};
use super::object::Span;
use super::set::PatternSet;

/// One access to one variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryAccess {
    /// The place of the event in the trace. It never goes back, and one event is 4096 accesses at most.
    pub event: usize,
    /// Who accesses.
    pub thread: ThreadId,
    /// From where.
    pub site: SiteId,
    /// What.
    pub object: ObjectId,
    /// How.
    pub manner: AccessType,
}

/// A pattern that became present, with the accesses that made it so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occurrence {
    /// What the pattern is known by.
    pub key: PatternKey,
    /// Its number.
    pub pattern: u8,
    length: u8,
    accesses: [MemoryAccess; 4],
}

impl Occurrence {
    /// Three accesses to one variable, the second by another thread.
    pub fn of_triple(pattern: u8, steps: [MemoryAccess; 3]) -> Occurrence {
        let [first, middle, last] = steps;
        let key = PatternKey::of_triple(pattern, first.object, steps.map(|step| step.site));
        Occurrence { key, pattern, length: 3, accesses: [first, middle, last, last] }
    }

    /// The accesses, in order.
    pub fn accesses(&self) -> &[MemoryAccess] {
        &self.accesses[..usize::from(self.length)]
    }
}

/// Where patterns go.
pub(super) struct Sink<'a> {
    pub patterns: &'a mut PatternSet,
    pub found: &'a mut Vec<Occurrence>,
    /// From how many patterns on those of two variables are left out.
    pub most: usize,
    /// How many were.
    pub dropped: u64,
}

impl Sink<'_> {
    /// Adds a pattern whose accesses are asked for if it is new.
    pub fn add<const N: usize>(
        &mut self,
        (pattern, key): (u8, PatternKey),
        steps: impl FnOnce() -> [MemoryAccess; N],
    ) {
        if self.patterns.insert(key) {
            let steps = steps();
            let mut accesses = [steps[0]; 4];
            accesses[..N].copy_from_slice(&steps);
            self.found.push(Occurrence { key, pattern, length: N as u8, accesses });
        }
    }

    /// Adds the pattern that two links make.
    pub fn add_joined(&mut self, x: &Span, y: &Span, relation: Relation) {
        let (pattern, key) = x.link.join(&y.link, relation);
        if self.patterns.len() >= self.most {
            self.dropped += u64::from(!self.patterns.contains(key));
            return;
        }
        self.add((pattern, key), || {
            let ([x1, x2], [y1, y2]) = (x.accesses(), y.accesses());
            match relation {
                Relation::Apart => [x1, x2, y1, y2],
                Relation::Crossing => [x1, y1, x2, y2],
                Relation::Nested => [x1, y1, y2, x2],
            }
        });
    }
}
