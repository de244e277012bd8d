//! What a campaign has covered, over executions and time.

use std::time::Duration;

use threadbare_analysis::coverage::{Criterion, PairSets, Seen, Total, by_name};
use threadbare_target::Execution;

use crate::error::ExploreError;
use crate::places::Places;

/// How far a criterion was at some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoveragePoint {
    /// After this many executions.
    pub executions: u64,
    /// And after this time.
    pub elapsed: Duration,
    /// This much was covered.
    pub covered: u64,
    /// Of this much.
    pub total: Total,
}

/// What a campaign has covered by one criterion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Covered {
    /// The criterion.
    pub name: &'static str,
    /// What it counts.
    pub unit: &'static str,
    /// How much was covered.
    pub covered: u64,
    /// How much there is, as far as the executions tell.
    pub total: Total,
    /// A point for each execution that covered more than those before.
    pub history: Vec<CoveragePoint>,
    /// What was expected and what was shown, where it counts pairs of places that can be listed.
    pub pairs: Option<PairSets>,
}

/// The criteria of a campaign under way.
#[derive(Default)]
pub struct Measuring {
    criteria: Vec<(Box<dyn Criterion>, Vec<CoveragePoint>)>,
    executions: u64,
    places: Places,
}

impl Measuring {
    /// Measures by these criteria.
    pub fn by(names: &[String]) -> Result<Measuring, ExploreError> {
        let criterion = |name: &String| {
            let unknown = || ExploreError::UnknownCriterion(name.clone());
            Ok((by_name(name).ok_or_else(unknown)?, Vec::new()))
        };
        Ok(Measuring {
            criteria: names.iter().map(criterion).collect::<Result<_, ExploreError>>()?,
            ..Measuring::default()
        })
    }

    /// Whether anybody looks at events.
    pub(crate) fn is_on(&self) -> bool {
        !self.criteria.is_empty()
    }

    /// Takes in the next execution.
    pub(crate) fn observe(&mut self, run: &Execution, elapsed: Duration) {
        self.executions += 1;
        let Measuring { criteria, executions, places } = self;
        places.show(run, |place| {
            let seen = Seen::new(&run.events, place);
            for (criterion, history) in criteria {
                criterion.observe(&seen);
                let (covered, total) = (criterion.covered(), criterion.total());
                if history.last().is_none_or(|last| covered > last.covered) {
                    history.push(CoveragePoint { executions: *executions, elapsed, covered, total });
                }
            }
        });
    }

    /// How much has been covered, by all criteria together.
    pub fn covered(&self) -> u64 {
        self.criteria.iter().map(|(criterion, _)| criterion.covered()).sum()
    }

    /// What came out so far.
    pub fn account(&self) -> Vec<Covered> {
        let covered = |(criterion, history): &(Box<dyn Criterion>, Vec<CoveragePoint>)| Covered {
            name: criterion.name(),
            unit: criterion.unit(),
            covered: criterion.covered(),
            total: criterion.total(),
            history: history.clone(),
            pairs: criterion.pairs(),
        };
        self.criteria.iter().map(covered).collect()
    }
}
