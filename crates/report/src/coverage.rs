//! What was covered, in the JSON object.

use serde::Serialize;

/// What was covered by one criterion.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct CoverageReport {
    /// How much was covered.
    pub covered: u64,
    /// How much there is, where that is estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated: Option<u64>,
    /// How much there is, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<u64>,
    /// A point for each execution that covered more than those before.
    pub history: Vec<CoverageStep>,
}

/// How far it was at some time.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CoverageStep {
    /// After this many executions.
    pub executions: u64,
    /// And after this time in seconds.
    pub elapsed_s: f64,
    /// This much was covered.
    pub covered: u64,
}
