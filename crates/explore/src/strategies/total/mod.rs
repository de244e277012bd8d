//! Total replay: one execution for each combination of paths that threads can take and of their use of memory and locks, and then
//! the claim that there is no other.
//!
//! Setiadi's thesis ("Debugging and testing concurrent programs with efficient test case generation", 2015) observes that
//! most of what threads see does not matter: it goes into no branch, no address and no lock, so whatever they see,
//! they take the same path, and the same accesses are concurrent under the same locks. So only what matters is varied. Which reads
//! matter is decided by [`Relevance`]; what they could see else is asked as in `mcr`, whose argument for being complete holds
//! for what is left: a thread that has seen the same of what matters takes the same path.
//!
//! Two accesses that may race are brought together, so that a race that is reported has happened.

pub(in crate::strategies) mod graphs;
mod relevance;
mod values;

use threadbare_target::Execution;

pub use self::graphs::Graphs;
pub(crate) use self::relevance::Relevance;
use crate::solved::{Entry, Next, Notes, Reasoning, Solved};
use crate::strategies::mcr::{OpenQuestion, Target, Values};
use crate::strategy::Plan;

/// See the module's description.
pub(crate) type Total = Solved<ThreadPaths>;

impl Total {
    /// How many executions were made to see another path. Those that brought accesses together are not among them.
    pub(crate) fn test_cases(&self) -> u64 {
        self.notes.test_cases
    }

    /// What decides the branches of all executions, and the locks and memory that are used in them.
    pub(crate) fn graphs(&self) -> Graphs {
        self.notes.relevance.as_ref().map_or_else(Graphs::default, Graphs::of)
    }

    /// How many questions have not been asked yet.
    pub(crate) fn left(&self) -> u64 {
        self.reasoning.values.left() as u64
    }

    /// What they are about.
    pub(crate) fn open(&self) -> Vec<OpenQuestion> {
        self.reasoning.values.open(&self.notes.forest)
    }
}

/// The paths that threads can take.
pub(crate) struct ThreadPaths {
    values: Values,
}

impl Reasoning for ThreadPaths {
    type Aim = <Values as Reasoning>::Aim;

    fn new(jobs: usize) -> ThreadPaths {
        ThreadPaths { values: Values::with_races(jobs) }
    }

    fn is_test_case(aim: &Self::Aim) -> bool {
        !aim.as_ref().is_some_and(Target::is_race)
    }

    fn relevance() -> Option<Relevance> {
        Some(Relevance::default())
    }

    fn opening(&mut self, notes: &mut Notes<Self::Aim>) -> Plan {
        self.values.opening(notes)
    }

    fn learn(&mut self, notes: &mut Notes<Self::Aim>, run: &Execution, entry: Entry<Self::Aim>) {
        self.values.learn(notes, run, entry);
    }

    fn next(&mut self, notes: &mut Notes<Self::Aim>, is_over: &dyn Fn() -> bool) -> Next {
        self.values.next(notes, is_over)
    }

    fn is_complete(&self) -> bool {
        self.values.is_complete()
    }

    fn warning(&self, speaker: &str) -> Option<String> {
        self.values.warning(speaker)
    }
}
