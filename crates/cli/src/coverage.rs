//! What was covered, in words and as JSON.

use threadbare_analysis::coverage::Total;
use threadbare_explore::{CoveragePoint, Covered};
use threadbare_report::{Coverage, CoverageReport, CoverageStep, JsonReport};

/// The part of the JSON object.
pub fn json(coverage: &[Covered]) -> Coverage {
    let of = |name: &str| coverage.iter().find(|it| it.name == name).map(one);
    Coverage { sp: of("sp"), map: of("map"), ..Coverage::default() }
}

/// What was covered by one criterion.
pub fn one(it: &Covered) -> CoverageReport {
    let step = |point: &CoveragePoint| CoverageStep {
        executions: point.executions,
        elapsed_s: JsonReport::seconds(point.elapsed),
        covered: point.covered,
    };
    let (estimated, required) = match it.total {
        Total::Estimated(number) => (Some(number), None),
        Total::Required(number) => (None, Some(number)),
    };
    let history = it.history.iter().map(step).collect();
    CoverageReport { covered: it.covered, estimated, required, history }
}

/// A sentence for each criterion, each on its own line.
pub fn words(coverage: &[Covered]) -> String {
    let sentence = |it: &Covered| {
        let last = it.history.last().map_or(0, |point| point.executions);
        let (total, word) = (it.total.number(), it.total.word());
        let Covered { name, unit, covered, .. } = it;
        format!(
            "Coverage ({name}): {covered} {unit} of {total} {word}; the last new one in execution {last}.\n"
        )
    };
    coverage.iter().map(sentence).collect()
}
