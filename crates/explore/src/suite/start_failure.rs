//! Inputs under which a program ends before it starts a second thread.

use std::os::unix::process::ExitStatusExt as _;

use threadbare_target::StartError;
use threadbare_trace::{Failure, FailureKind, Outcome, ThreadId};

use crate::error::ExploreError;

/// How an input ended that never came to a second thread. What says nothing about the input is an error still.
pub(super) fn outcome(error: StartError, any_exit: bool) -> Result<Outcome, ExploreError> {
    let failed = |kind, message: String| {
        Ok(Outcome::Failed(Failure { kind, message, thread: ThreadId::MAIN, stack: Vec::new() }))
    };
    match error {
        StartError::NoThreads { .. } => Ok(Outcome::Passed),
        StartError::EndedEarly { status, .. } if any_exit && status.signal().is_none() => Ok(Outcome::Passed),
        StartError::FailedEarly { failure, .. } => Ok(Outcome::Failed(*failure)),
        StartError::EndedEarly { status, .. } => {
            failed(FailureKind::Exit, format!("it ended before it started a second thread: {status}"))
        }
        StartError::TooSlow { seconds, .. } => {
            Ok(Outcome::Cut(format!("it did not start a second thread within {seconds} s")))
        }
        StartError::Uncontrolled { reason, .. } => Ok(Outcome::Uncontrolled(reason)),
        other => Err(other.into()),
    }
}
