//! Constraints by name, so that a set of them can be kept and looked for again.

use crate::action::{Kept, MemoryRange};
use crate::forest::StepId;

/// What a constraint demands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Demand {
    /// Of the goal: the step is made.
    Happens,
    /// Of the goal: both steps are made, the first before the second.
    Before,
    /// Of the goal: both steps are made, the first before the second, and nobody writes their memory in between.
    Unbroken,
    /// Of the goal: the read sees the value, from one of the options.
    Sees(MemoryRange, u64),
    /// Of the goal: no thread is enabled.
    Stuck,
    /// A thread begins after one of the options created it.
    Created,
    /// A read sees what it saw when it was recorded, from one of the options.
    Reads(MemoryRange),
    /// Two critical sections do not overlap. The steps are the beginning of the first, then of the second; the
    /// options are their ends.
    Exclusion,
    /// A lock that is refused is held, in one of the sections that begin with the options.
    Refused,
    /// A wait ends by one of the options.
    Woken,
    /// A token was there, by one of the options (none: from the beginning).
    Token,
    /// A round of a barrier is made of these steps.
    Round,
    /// A thread has ended, by one of the options.
    Joined,
    /// A thread has not ended.
    Unended,
    /// The steps keep their order.
    Kept(Kept),
    /// A thing is used while it is there.
    Lifetime,
    /// A step comes after all that came before it.
    Watershed,
    /// A step ends everything, and something else has to come last.
    Final,
}

/// A constraint.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Constraint {
    /// What it demands.
    pub demand: Demand,
    /// Of which steps.
    pub steps: Vec<StepId>,
    /// The steps of which at least one has to serve; none stands for how things were at the beginning. The fewer, the
    /// stronger is the constraint.
    pub options: Vec<Option<StepId>>,
}

impl Constraint {
    pub(crate) fn new(demand: Demand, steps: impl IntoIterator<Item = StepId>) -> Constraint {
        Constraint { demand, steps: steps.into_iter().collect(), options: Vec::new() }
    }

    pub(crate) fn with(mut self, options: impl IntoIterator<Item = Option<StepId>>) -> Constraint {
        self.options = options.into_iter().collect();
        self.options.sort_unstable();
        self.options.dedup();
        self
    }

    /// Whether the goal demands it.
    pub fn is_of_goal(&self) -> bool {
        use Demand::*;
        match self.demand {
            Happens | Before | Unbroken | Sees(..) | Stuck => true,
            Created | Reads(_) | Exclusion | Refused | Woken | Token | Round | Joined | Unended => false,
            Kept(_) | Lifetime | Watershed | Final => false,
        }
    }

    /// Whether whatever satisfies this one satisfies the other.
    pub fn implies(&self, other: &Constraint) -> bool {
        let same = self.demand == other.demand && self.steps == other.steps;
        // The options of an exclusion are part of what it says.
        if self.demand == Demand::Exclusion {
            return same && self.options == other.options;
        }
        same && self.options.iter().all(|option| other.options.binary_search(option).is_ok())
    }
}

/// Constraints that nothing can satisfy together. That each thread makes its steps in their order goes without saying.
pub type Core = Vec<Constraint>;
