//! What the controller of tsa costs: the time of an execution against that of a random one.

use std::sync::Arc;

use threadbare_explore::{Options, STRATEGIES, hunt};
use threadbare_target::Program;

use crate::Result;
use crate::figure::{Demand, Figure};
use crate::tsa_subjects::Subject;

/// How often each is timed, in turns; the best counts.
const TRIES: u64 = 5;

fn seconds(program: &Program, strategy: &str, seed: u64, executions: u64, coverage: &[&str]) -> Result<f64> {
    let options = Options {
        strategy: strategy.to_string(),
        seed,
        executions,
        keep_going: true,
        coverage: coverage.iter().map(|name| (*name).to_string()).collect(),
        ..Options::default()
    };
    let result = hunt(program, &options, &|_| {}, &Arc::default())?;
    Ok(result.elapsed.as_secs_f64() / result.executions.max(1) as f64)
}

/// The ratios on one program: as they hunt, and when coverage is measured of both.
pub fn overhead(subject: &Subject, program: &Program, executions: u64) -> Result<Vec<Figure>> {
    if !STRATEGIES.contains(&"tsa") {
        return Ok(Vec::new());
    }
    let mut figures = Vec::new();
    for (coverage, words) in [(&[][..], "hunting"), (&["sp"][..], "measured by sp")] {
        let mut best = [f64::MAX; 2];
        for seed in 1..=TRIES {
            for (best, strategy) in best.iter_mut().zip(["tsa", "random"]) {
                *best = best.min(seconds(program, strategy, seed, executions, coverage)?);
            }
        }
        let what = format!("{}: time of an execution, tsa / random, {words}", subject.title());
        figures.push(Figure::with(what, best[0] / best[1], "", Demand::Below(2.0)));
    }
    Ok(figures)
}
