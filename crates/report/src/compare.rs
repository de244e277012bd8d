//! Strategies side by side: the JSON object and the CSV file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::Verdict;
use crate::coverage::CoverageReport;

/// The object written by `compare --json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CompareReport {
    /// Always `threadbare`.
    pub tool: &'static str,
    /// The version of the tool.
    pub version: &'static str,
    /// Always `compare`.
    pub command: &'static str,
    /// The program as the user named it.
    pub program: String,
    /// The seed from which those of the trials come.
    pub seed: u64,
    /// Whether any trial found a failure.
    pub verdict: Verdict,
    /// Trials of each strategy that were asked for.
    pub runs: u64,
    /// The most executions of a trial.
    pub executions: u64,
    /// The most seconds of a trial.
    pub time_s: f64,
    /// The strategies, in the order they were named.
    pub strategies: Vec<StrategyReport>,
    /// Every trial.
    pub trials: Vec<TrialReport>,
    /// Wall-clock time of everything in seconds.
    pub elapsed_s: f64,
    /// Whether a signal ended it before all trials were made.
    pub interrupted: bool,
}

/// What the trials of a strategy came to.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StrategyReport {
    /// Its name.
    pub strategy: String,
    /// Trials that were made.
    pub trials: usize,
    /// Trials that found a failure within the budget.
    pub failed: usize,
    /// The same as a part of all.
    pub success_rate: f64,
    /// Executions to the first failure.
    pub executions: Figures,
    /// Which of these are lower bounds: trials that did not fail count with the lowest number that they can have.
    pub lower_bounds: LowerBounds,
    /// Whether some trials did not fail, so that the mean is a lower bound.
    pub executions_are_lower_bounds: bool,
    /// Seconds of a trial.
    pub time_s: Figures,
    /// What a trial covered, by criterion; only where it was asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub covered: BTreeMap<&'static str, Figures>,
    /// The first strategy against this one; null for the first.
    pub first_versus_this: Option<VersusReport>,
}

/// Where the middle of some numbers is, and how far they spread.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Figures {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub median: f64,
    /// The standard deviation.
    pub sd: f64,
    /// The smallest number.
    pub min: f64,
    /// The lower quartile.
    pub q1: f64,
    /// The upper quartile.
    pub q3: f64,
    /// The largest number.
    pub max: f64,
}

/// Which figures are lower bounds. The standard deviation is none: it may be larger or smaller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct LowerBounds {
    /// The mean.
    pub mean: bool,
    /// The median.
    pub median: bool,
    /// The smallest number.
    pub min: bool,
    /// The lower quartile.
    pub q1: bool,
    /// The upper quartile.
    pub q3: bool,
    /// The largest number.
    pub max: bool,
}

/// A test, an effect size, and what they rest on.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct VersusReport {
    /// The p-value of the Wilcoxon signed-rank test.
    pub p: f64,
    /// The same after Bonferroni's correction.
    pub p_corrected: f64,
    /// `exact` or `normal approximation`.
    pub method: &'static str,
    /// Pairs of trials that differ.
    pub pairs: usize,
    /// Pairs that do not, or of which it is not known.
    pub ties: usize,
    /// The sum of the ranks where the first needs more executions.
    pub rank_sum: f64,
    /// Cliff's delta; negative where the first needs fewer executions.
    pub cliffs_delta: f64,
    /// `negligible`, `small`, `medium` or `large`.
    pub magnitude: &'static str,
}

/// One trial.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TrialReport {
    /// The strategy.
    pub strategy: String,
    /// The trial's number, the same for all strategies.
    pub run: u64,
    /// The trial's seed, the same for all strategies.
    pub seed: u64,
    /// Whether it found a failure.
    pub failed: bool,
    /// The number of the execution that failed, or how many were made.
    pub executions: u64,
    /// Visible steps in all of them.
    pub steps: u64,
    /// Wall-clock time in seconds.
    pub elapsed_s: f64,
    /// What ended it: the kind of the failure, `executions`, `time` or `exhausted`.
    pub end: &'static str,
    /// What it covered, by criterion; only where it was asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub coverage: BTreeMap<&'static str, CoverageReport>,
    /// Questions to the constraint solver.
    pub questions: u64,
}

impl CompareReport {
    /// The object as text.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The trials, one a line, below a line of names.
    pub fn to_csv(&self) -> String {
        let mut text = String::from("strategy,run,seed,failed,executions,steps,elapsed_s,end\n");
        for trial in &self.trials {
            let TrialReport { strategy, run, seed, failed, executions, steps, elapsed_s, end, .. } = trial;
            let _ = writeln!(text, "{strategy},{run},{seed},{failed},{executions},{steps},{elapsed_s},{end}");
        }
        text
    }
}
