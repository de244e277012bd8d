//! What a search that reasons about traces has left out.

use std::collections::BTreeSet;
use std::fmt;

use threadbare_order::Doubt;

/// A reason why not everything has been tried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Omission {
    /// Loops that wait for a value were cut short.
    Spinning,
    /// A question was not answered within its budget.
    Unanswered,
    /// An execution was longer than the search looks at.
    TooLong,
    /// All executions together were too much to be asked.
    TooMany,
    /// The time was up before everything had been asked.
    TimeUp,
    /// An execution did not follow its schedule.
    Diverged,
    /// A thread was never seen to continue after its last step.
    Stalled,
    /// An execution could not be kept under control.
    Uncontrolled,
    /// Something that several threads do is only kept as it was recorded.
    Kept,
    /// Something is only kept as it was recorded.
    Doubt(Doubt),
}

impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Omission::Spinning => {
                write!(f, "loops that wait for a value were followed a few times round only")
            }
            Omission::Unanswered => write!(f, "some questions were not answered within their budget"),
            Omission::TooLong => write!(f, "some executions were too long to be looked at"),
            Omission::TooMany => write!(f, "what all executions together allow was too much to work out"),
            Omission::TimeUp => write!(f, "the time was up"),
            Omission::Diverged => write!(f, "some executions did not follow the schedule they were given"),
            Omission::Stalled => write!(f, "some threads were never seen to continue after their last step"),
            Omission::Uncontrolled => write!(f, "some executions could not be kept under control"),
            Omission::Kept => {
                write!(f, "some things that several threads do are only tried in the order recorded")
            }
            Omission::Doubt(doubt) => write!(f, "not all is tried out that can happen with: {doubt}"),
        }
    }
}

/// What the user should know about a search that found nothing more to try, but left something out.
pub(crate) fn warning(strategy: &str, omissions: &BTreeSet<Omission>) -> Option<String> {
    let reasons: Vec<String> = omissions.iter().map(Omission::to_string).collect();
    (!reasons.is_empty())
        .then(|| format!("{strategy} does not claim to have tried everything: {}", reasons.join("; ")))
}
