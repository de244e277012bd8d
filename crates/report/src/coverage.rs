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
    /// When it was first saturated, if it was.
    pub saturation: Option<CoverageStep>,
    /// How good the estimate was, where what is required is estimated from an execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimation: Option<EstimationReport>,
    /// What was not covered, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncovered: Option<Vec<Requirement>>,
    /// There is more that was not covered, or may be: the list has an end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub uncovered_cut: bool,
}

/// Something to be covered, with the places where it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum Requirement {
    /// Two places, one after the other.
    Pair([String; 2]),
    /// Two functions that run at the same time.
    Functions {
        /// Their names.
        functions: [String; 2],
        /// Where they begin.
        sites: [String; 2],
    },
    /// Questions of one kind that nobody has answered.
    Questions {
        /// What may be possible.
        question: &'static str,
        /// The places that they are about, in order.
        sites: Vec<String>,
        /// How many there are.
        count: u64,
    },
    /// A memory-access pattern.
    Pattern {
        /// Its number.
        pattern: u8,
        /// The variable of its first step, if it has a name.
        object: Option<String>,
        /// Both variables, where it has two, that of the first step first.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        objects: Vec<Option<String>>,
        /// The places of its steps, in order.
        sites: Vec<String>,
    },
}

/// An estimate against what executions showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct EstimationReport {
    /// How much was estimated.
    pub estimated: u64,
    /// How much of it was not covered: not yet, or it is infeasible.
    pub uncovered: u64,
    /// How much was covered that was not estimated.
    pub unexpected: u64,
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
