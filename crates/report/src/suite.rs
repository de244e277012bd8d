//! What a suite came to, in the JSON object.

use serde::Serialize;

/// What a suite came to.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SuiteReport {
    /// The coverage of the suite as a whole.
    pub cfp: CfpReport,
    /// What was done under each input.
    pub inputs: Vec<InputReport>,
    /// The comparison with looking at everything, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full: Option<FullReport>,
}

/// Concurrent function pairs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CfpReport {
    /// Pairs of functions that can run at the same time under one of the inputs.
    pub aggregated: u64,
    /// Functions that ran under one of the inputs.
    pub functions: u64,
    /// Functions that were not watched as they are concurrent with whatever their callers are.
    pub functions_inherited: u64,
    /// Seconds that measuring took for all inputs together.
    pub measuring_s: f64,
    /// Seconds that selecting took.
    pub selecting_s: f64,
    /// Seconds that detection took under the selected inputs together.
    pub detecting_s: f64,
}

/// What was done under one input.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct InputReport {
    /// Its name.
    pub name: String,
    /// Pairs of functions that can run at the same time.
    pub pairs: u64,
    /// Those that no input selected before it has.
    pub new_pairs: u64,
    /// Whether detection looks at it.
    pub selected: bool,
    /// The functions that detection looks at.
    pub functions_selected: u64,
    /// The functions that ran.
    pub functions_executed: u64,
    /// `passed`, `single-threaded`, `uncontrolled`, `not run`, or the word of a failure.
    pub outcome: String,
    /// What went wrong, where something did.
    pub message: Option<String>,
    /// Seconds that measuring took.
    pub measuring_s: Option<f64>,
    /// Seconds that detection took.
    pub detecting_s: Option<f64>,
    /// Steps that were shown to the detectors.
    pub events: Option<u64>,
    /// The findings that it shows of those that are reported, those included that other inputs show as well.
    pub findings: Option<u64>,
    /// All functions were looked at, as the input does not end otherwise.
    pub unguided: bool,
}

/// Guided detection, compared with looking at all functions under all inputs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FullReport {
    /// Races; none if they were not looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub races: Option<AgainstReport>,
    /// Atomicity violations; none if they were not looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atomicity: Option<AgainstReport>,
    /// Steps shown to the detectors if they look at everything.
    pub events: u64,
    /// Steps shown to them in guided detection.
    pub guided_events: u64,
    /// The share of steps that need not be looked at.
    pub trace_reduction: f64,
    /// Functions looked at, summed over inputs.
    pub functions: u64,
    /// The same in guided detection.
    pub guided_functions: u64,
}

/// The comparison for one kind of findings.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AgainstReport {
    /// Seconds to look at everything.
    pub full_s: f64,
    /// Seconds to measure, to select and to look at what was selected.
    pub guided_s: f64,
    /// How many times faster that is.
    pub speedup: f64,
    /// Reports of all inputs together if all is looked at.
    pub full_reports: u64,
    /// How many of them are different.
    pub full_unique: u64,
    /// The number of inputs that report a finding, on average.
    pub full_duplication: f64,
    /// The same three figures for guided detection.
    pub reports: u64,
    /// How many of them are different.
    pub unique: u64,
    /// The number of inputs that report a finding, on average.
    pub duplication: f64,
    /// Findings that guided detection misses.
    pub missed: u64,
    /// Findings that made the program fail.
    pub failing: u64,
    /// Those of them that guided detection misses.
    pub failing_missed: u64,
}
