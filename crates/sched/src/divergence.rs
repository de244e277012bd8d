//! Where and why an execution left the schedule that it was to follow.

use std::fmt;

use threadbare_trace::ThreadId;

/// The first place where a forced schedule could not be followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// The number of the switch (or choice) in the script, counted from 1.
    pub number: u64,
    /// What was in the way.
    pub reason: DivergenceReason,
}

/// Why a forced schedule could not be followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DivergenceReason {
    /// The thread that should have run does not exist, is blocked, or has ended.
    NotRunnable {
        /// The thread.
        thread: ThreadId,
    },
    /// The running thread was blocked, ended or yielded at a place where the schedule has it run.
    StoppedElsewhere {
        /// The thread that stopped.
        thread: ThreadId,
        /// The operation before which it stopped.
        op: u32,
        /// The thread that the schedule stops next.
        expected: ThreadId,
        /// The operation before which the schedule stops it.
        expected_op: u32,
    },
    /// The thread went past the operation before which it should have stopped.
    WentPast {
        /// The thread.
        thread: ThreadId,
        /// The operation before which it should have stopped.
        op: u32,
    },
}

impl fmt::Display for DivergenceReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DivergenceReason::NotRunnable { thread } => {
                write!(f, "{thread} should have gone on, but it was blocked, had ended or did not exist")
            }
            DivergenceReason::StoppedElsewhere { thread, op, expected, expected_op } => write!(
                f,
                "{thread} was not runnable before its operation {op}, where the schedule has it run \
                 until {expected} stops before its operation {expected_op}"
            ),
            DivergenceReason::WentPast { thread, op } => {
                write!(f, "{thread} should have stopped before its operation {op}, but was past it")
            }
        }
    }
}
