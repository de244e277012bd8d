//! What a campaign has covered, over executions and time.

use std::ops::ControlFlow;
use std::time::Duration;

use threadbare_coverage::{Criterion, ObservedExecution, PairSets, Total, UncoveredPatterns, by_name};
use threadbare_target::Execution;
use threadbare_trace::Event;

use crate::campaign::observer::{Observed, Observer};
use crate::campaign::progress::{CoverageProgress, PolicyScores};
use crate::campaign::workers::BatchResults;
use crate::error::ExploreError;
use crate::saturation::{Saturation, SaturationRule};

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
    /// How much there is, as far as the executions show.
    pub total: Total,
    /// A point for each execution that covered more than those before.
    pub history: Vec<CoveragePoint>,
    /// What was expected and what was shown, where it counts pairs of places that can be listed.
    pub pairs: Option<PairSets>,
    /// What was not shown and may be possible, where it counts memory-access patterns.
    pub patterns: Option<UncoveredPatterns>,
    /// When it was first saturated, if it was.
    pub saturation: Option<CoveragePoint>,
}

/// A criterion of a campaign under way.
struct Measured {
    criterion: Box<dyn Criterion>,
    history: Vec<CoveragePoint>,
    watch: Saturation,
    saturation: Option<CoveragePoint>,
}

impl Measured {
    fn observe(&mut self, seen: &ObservedExecution<'_>, executions: u64, elapsed: Duration) {
        self.criterion.observe(seen);
        let (covered, total) = (self.criterion.covered(), self.criterion.total());
        let point = CoveragePoint { executions, elapsed, covered, total };
        if self.history.last().is_none_or(|last| covered > last.covered) {
            self.history.push(point);
        }
        self.watch.observe(executions, elapsed, covered);
        if self.saturation.is_none() && self.watch.holds() {
            self.saturation = Some(point);
        }
    }
}

/// The criteria of a campaign under way.
#[derive(Default)]
pub struct Measuring {
    criteria: Vec<Measured>,
    executions: u64,
}

impl Measuring {
    /// Whether executions were measured.
    pub(crate) fn has_begun(&self) -> bool {
        self.executions > 0
    }

    /// Measures by these criteria; the rule says when they count as saturated.
    pub fn by(names: &[String], rule: SaturationRule) -> Result<Measuring, ExploreError> {
        let criterion =
            |name: &String| by_name(name).ok_or_else(|| ExploreError::UnknownCriterion(name.clone()));
        Ok(Measuring::with(names.iter().map(criterion).collect::<Result<_, _>>()?, rule))
    }

    /// The same with criteria that have no name of their own on the command line.
    pub fn with(criteria: Vec<Box<dyn Criterion>>, rule: SaturationRule) -> Measuring {
        let measured = |criterion| Measured {
            criterion,
            history: Vec::new(),
            watch: Saturation::new(rule),
            saturation: None,
        };
        Measuring { criteria: criteria.into_iter().map(measured).collect(), ..Measuring::default() }
    }

    /// Whether anybody looks at events.
    pub(crate) fn is_on(&self) -> bool {
        !self.criteria.is_empty()
    }

    /// Takes in the next execution.
    pub(crate) fn observe(&mut self, run: &Execution, elapsed: Duration) {
        self.executions += 1;
        let place = |event: &Event| run.place(event);
        let failed = run.outcome.failure().is_some();
        let seen = ObservedExecution::new(&run.events, &place).ended(failed);
        self.criteria.iter_mut().for_each(|it| it.observe(&seen, self.executions, elapsed));
    }

    /// Whether all criteria are saturated now; never without any.
    pub(crate) fn is_saturated(&self) -> bool {
        self.is_on() && self.criteria.iter().all(|it| it.watch.holds())
    }

    /// How much has been covered, by all criteria together.
    pub fn covered(&self) -> u64 {
        self.criteria.iter().map(|it| it.criterion.covered()).sum()
    }

    /// How far each criterion is.
    pub fn progress(&self) -> Vec<CoverageProgress> {
        let progress = |it: &Measured| CoverageProgress {
            name: it.criterion.name(),
            covered: it.criterion.covered(),
            total: it.criterion.total().number(),
        };
        self.criteria.iter().map(progress).collect()
    }

    /// What came out so far.
    pub fn account(&self) -> Vec<Covered> {
        let covered = |it: &Measured| Covered {
            name: it.criterion.name(),
            unit: it.criterion.unit(),
            covered: it.criterion.covered(),
            total: it.criterion.total(),
            history: it.history.clone(),
            pairs: it.criterion.pairs(),
            patterns: it.criterion.uncovered_patterns(),
            saturation: it.saturation,
        };
        self.criteria.iter().map(covered).collect()
    }
}

/// Measures the executions of a campaign, and may end it when they show nothing more.
pub(crate) struct Coverage<'a> {
    measuring: &'a mut Measuring,
    scores: PolicyScores,
    until_saturated: bool,
    is_enough: bool,
}

impl<'a> Coverage<'a> {
    /// Goes on with what has been measured so far; asks for the end at saturation if that is wanted.
    pub(crate) fn of(measuring: &'a mut Measuring, until_saturated: bool) -> Coverage<'a> {
        Coverage { measuring, scores: PolicyScores::default(), until_saturated, is_enough: false }
    }

    /// From now on asks for the end at saturation, or does not.
    pub(crate) fn ask_for_the_end(&mut self, until_saturated: bool) {
        self.until_saturated = until_saturated;
    }

    /// Whether it has asked for the end.
    pub(crate) fn is_enough(&self) -> bool {
        self.is_enough
    }

    /// What came out so far.
    pub(crate) fn account(&self) -> Vec<Covered> {
        self.measuring.account()
    }
}

impl Observer for Coverage<'_> {
    fn reads_events(&self) -> bool {
        self.measuring.is_on()
    }

    fn observe(&mut self, seen: &Observed<'_>) -> ControlFlow<()> {
        let before = self.measuring.covered();
        if self.measuring.is_on() {
            self.measuring.observe(seen.run, seen.elapsed);
        }
        let failed = seen.run.outcome.failure().is_some();
        self.scores.enter(&seen.plan.name, failed, self.measuring.covered() - before);
        if self.until_saturated && self.measuring.is_saturated() {
            self.is_enough = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn report_results(&self, results: &mut BatchResults) {
        results.coverage = self.measuring.progress();
        results.best = self.scores.best().map(str::to_string);
    }
}
