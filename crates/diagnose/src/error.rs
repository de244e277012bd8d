//! Why a failure could not be run again.

use threadbare_target::{RunError, StartError};

/// Why a failure could not be run again.
#[derive(Debug, thiserror::Error)]
pub enum DiagnoseError {
    /// The program could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The program was lost during a replay.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Control was lost.
    #[error("the run could not be controlled: {0}")]
    Uncontrolled(String),
}
