//! What was covered, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use threadbare_coverage::{PairSets, Total};
use threadbare_explore::{CoveragePoint, Covered};
use threadbare_report::{Coverage, CoverageReport, CoverageStep, EstimationReport, JsonReport, Uncovered};
use threadbare_target::{Modules, Symbols};

use crate::coverage_args::CoverageArgs;
use crate::output::counted;
use crate::uncovered::Left;

/// What a campaign covered, with the names of places where these are wanted.
pub struct Account<'a> {
    coverage: &'a [Covered],
    symbols: Option<Symbols>,
}

impl<'a> Account<'a> {
    /// With what the user wants to see of it.
    pub fn of(coverage: &'a [Covered], args: &CoverageArgs, modules: &Modules) -> Account<'a> {
        Account { coverage, symbols: args.uncovered.then(|| Symbols::new(modules)) }
    }

    /// With the names of places, whether or not the user wants to see them now.
    pub fn with_places(coverage: &'a [Covered], modules: &Modules) -> Account<'a> {
        Account { coverage, symbols: Some(Symbols::new(modules)) }
    }

    /// What is left, for a page.
    pub fn uncovered_places(&self) -> Vec<Uncovered> {
        self.coverage.iter().filter_map(|it| Some(self.left(it)?.card(it.name))).collect()
    }

    /// In numbers only.
    pub fn plain(coverage: &'a [Covered]) -> Account<'a> {
        Account { coverage, symbols: None }
    }

    /// The part of the JSON object.
    pub fn json(&self) -> Coverage {
        let mut others = self.by_name();
        Coverage { sp: others.remove("sp"), map: others.remove("map"), others, ..Coverage::default() }
    }

    /// What was covered, by criterion.
    pub fn by_name(&self) -> BTreeMap<&'static str, CoverageReport> {
        self.coverage.iter().map(|it| (it.name, self.one(it))).collect()
    }

    fn one(&self, it: &Covered) -> CoverageReport {
        let step = |point: &CoveragePoint| CoverageStep {
            executions: point.executions,
            elapsed_s: JsonReport::seconds(point.elapsed),
            covered: point.covered,
        };
        let (estimated, required) = match it.total {
            Total::Estimated(number) => (Some(number), None),
            Total::Required(number) => (None, Some(number)),
        };
        let estimation = |pairs: &PairSets| EstimationReport {
            estimated: pairs.estimated.len() as u64,
            uncovered: pairs.uncovered().count() as u64,
            unexpected: pairs.unexpected().count() as u64,
        };
        let left = self.left(it);
        CoverageReport {
            covered: it.covered,
            estimated,
            required,
            history: it.history.iter().map(step).collect(),
            saturation: it.saturation.as_ref().map(step),
            estimation: it.pairs.as_ref().filter(|_| required.is_some()).map(estimation),
            uncovered_cut: left.as_ref().is_some_and(Left::is_cut),
            uncovered: left.map(Left::requirements),
        }
    }

    /// A sentence for each criterion, each on its own line, and what was not covered.
    pub fn sentences(&self) -> String {
        let mut text = String::new();
        for it in self.coverage {
            let last = it.history.last().map_or(0, |point| point.executions);
            let (total, word) = (it.total.number(), it.total.word());
            let Covered { name, unit, covered, .. } = it;
            let unit = if *covered == 1 { unit.trim_end_matches('s') } else { unit };
            let _ = write!(text, "Coverage ({name}): {covered} {unit} of {total} {word}");
            if *covered > 0 {
                let _ = write!(text, "; the last new one in execution {last}");
            }
            // Where there is nothing to cover, nothing can be saturated.
            match it.saturation.as_ref().filter(|_| total > 0 || *covered > 0) {
                Some(CoveragePoint { executions, covered, .. }) => {
                    let after = counted(*executions as usize, "execution");
                    let _ = writeln!(text, "; saturated after {after}, at {covered}.");
                }
                None => text.push_str(".\n"),
            }
            text.push_str(&self.left(it).map_or_else(String::new, |left| left.lines(name)));
        }
        text
    }

    /// What is left; none where nobody asked for it.
    fn left(&self, it: &Covered) -> Option<Left> {
        Left::of(it, self.symbols.as_ref()?)
    }
}
