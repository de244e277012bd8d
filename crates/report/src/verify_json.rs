//! What `verify` adds to the JSON object.

use serde::Serialize;

use crate::{CoverageStep, Requirement};

/// What was tried out.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TotalReport {
    /// Executions that were made to see another way of the threads, the first one included.
    pub test_cases: u64,
    /// Race-equivalent groups.
    pub groups: GroupsReport,
    /// What continuing from checkpoints saved.
    pub checkpoints: CheckpointsReport,
    /// The graphs of what decides how threads go.
    pub graph: GraphReport,
}

/// Race-equivalent groups.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GroupsReport {
    /// How many executions were made of them, each counted once.
    pub tested: u64,
    /// How many questions are left that may lead to others; 0 if there are none.
    pub left: u64,
    /// A point for each execution that showed a group which those before had not.
    pub history: Vec<CoverageStep>,
    /// What the questions are about, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncovered: Option<Vec<Requirement>>,
}

/// Executions that did not begin at the beginning.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CheckpointsReport {
    /// How many continued from a checkpoint.
    pub executions: u64,
    /// The steps that they did not have to make again.
    pub steps: u64,
    /// The copies of the program that were left behind for that.
    pub copies: u64,
}

/// The size of graphs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct GraphReport {
    /// Nodes.
    pub nodes: u64,
    /// The memory they take.
    pub bytes: u64,
    /// The most branches of one execution that interleavings decide.
    pub affected_branches: u64,
    /// The sets of use-defines that lead to different ways.
    pub guidelines: u64,
}
