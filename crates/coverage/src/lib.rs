//! How much of what threads can do to each other a number of executions has shown.
//!
//! A criterion is one file here and its name in [`CRITERIA`] and [`by_name`]. It is shown every execution of a campaign,
//! in order; nobody else needs to know what it counts.

pub mod cfp;
mod concurrent_pairs;
mod def_use;
mod map;
mod observed_execution;
mod place_pair;
pub mod sync_pairs;

pub use concurrent_pairs::ConcurrentPairs;
pub use def_use::DefUse;
pub use map::{MapCoverage, UncoveredPattern, UncoveredPatterns};
pub use observed_execution::ObservedExecution;
pub use place_pair::{PairSets, PlacePair};
use sync_pairs::{Precision, SyncPairs};

/// The names of all criteria.
pub const CRITERIA: &[&str] = &["sp", "sp-refined", "map", "def-use", "concurrent-pairs"];

/// How much there is to be covered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Total {
    /// This much, more or less.
    Estimated(u64),
    /// Exactly this much.
    Required(u64),
}

impl Total {
    /// The number.
    pub fn number(self) -> u64 {
        let (Total::Estimated(number) | Total::Required(number)) = self;
        number
    }

    /// What the number is called in the JSON object.
    pub fn word(self) -> &'static str {
        match self {
            Total::Estimated(_) => "estimated",
            Total::Required(_) => "required",
        }
    }
}

/// A coverage criterion, with what it has seen so far.
pub trait Criterion: Send {
    /// What it is called on the command line and in the JSON object.
    fn name(&self) -> &'static str;

    /// What it counts, such as `memory-access patterns`.
    fn unit(&self) -> &'static str;

    /// Takes in an execution.
    fn observe(&mut self, seen: &ObservedExecution<'_>);

    /// How much has been covered.
    fn covered(&self) -> u64;

    /// How much there is to be covered, as far as the executions so far show.
    fn total(&self) -> Total;

    /// What was expected and what was shown, where it counts pairs of places that can be listed.
    fn pairs(&self) -> Option<PairSets> {
        None
    }

    /// What was not shown and may be possible, where it counts memory-access patterns.
    fn uncovered_patterns(&self) -> Option<UncoveredPatterns> {
        None
    }
}

/// The criterion of this name.
pub fn by_name(name: &str) -> Option<Box<dyn Criterion>> {
    match name {
        "sp" => Some(Box::new(SyncPairs::new(Precision::Paper))),
        "sp-refined" => Some(Box::new(SyncPairs::new(Precision::Refined))),
        "map" => Some(Box::<MapCoverage>::default()),
        "def-use" => Some(Box::<DefUse>::default()),
        "concurrent-pairs" => Some(Box::<ConcurrentPairs>::default()),
        _ => None,
    }
}
