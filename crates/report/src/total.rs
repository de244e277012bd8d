//! What `verify` adds to the JSON object.

use serde::Serialize;

/// What was tried out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TotalReport {
    /// Executions that were made to see another way of the threads, the first one included.
    pub test_cases: u64,
}
