//! The readings of a trace.

use threadbare_trace::{EventKind, kinds};

/// Which synchronization counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// What enforces an order, and nothing else: what holds in every run that makes the same steps.
    Enforced,
    /// Also the order in which locks happened to be taken: the happens-before of the observed run.
    Observed,
    /// What enforces an order, and values handed over under a lock ([`super::ThreadClocks::hand_over`]): what
    /// holds in every run whose threads see each other's values as they did here.
    HandedOver,
    /// What the program's structure enforces: creation and join, barriers and once-routines. Nobody can make steps that
    /// are ordered by it come the other way round, whatever the threads see.
    Structural,
    /// The same, and condition variables: a wake-up comes after the signal that it used.
    Awaited,
    /// Creation only: what a thread did before it created another one comes before all that one does.
    Created,
}

impl Rules {
    /// Whether steps of this kind do.
    pub(super) fn count(self, kind: EventKind) -> bool {
        use EventKind::*;
        let all = matches!(self, Rules::Enforced | Rules::Observed | Rules::HandedOver);
        all || match kind {
            // Without these, memory that is used again would be taken for what it was before.
            Start | Exit | Frame | kinds!(heap | object) => true,
            Create => true,
            Join | kinds!(barrier | once) => matches!(self, Rules::Structural | Rules::Awaited),
            kinds!(condition) => self == Rules::Awaited,
            Fence | Signal | Detach | JoinFailed | Cancel | kinds!(plain | atomic | lock) => false,
            kinds!(semaphore | futex | pause | outside) => false,
        }
    }

    /// Whether calls of libraries count that may order something where nobody sees it. What they may have ordered in the observed run was not
    /// concurrent beyond doubt, but nothing is known to enforce it.
    pub(super) fn count_libraries(self) -> bool {
        matches!(self, Rules::Observed | Rules::HandedOver)
    }

    /// Whether critical sections count that can only come in one order.
    pub(super) fn count_sections(self) -> bool {
        !matches!(self, Rules::Structural | Rules::Awaited | Rules::Created)
    }
}
