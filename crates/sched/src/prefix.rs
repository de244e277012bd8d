//! A list of choices, then no further preemption.

use threadbare_trace::ThreadId;

use crate::divergence::{Divergence, Reason};
use crate::{Choice, Policy};

/// Follows a list of threads, one per decision, then stays with whoever runs.
#[derive(Clone, Debug)]
pub struct Prefix {
    threads: Vec<ThreadId>,
    next: usize,
    divergence: Option<Divergence>,
}

impl Prefix {
    /// Follows these choices.
    pub fn new(threads: Vec<ThreadId>) -> Prefix {
        Prefix { threads, next: 0, divergence: None }
    }

    /// Whether all choices have been made.
    pub fn is_used_up(&self) -> bool {
        self.next == self.threads.len()
    }

    /// Follows these choices after the others.
    pub fn extend(&mut self, threads: impl IntoIterator<Item = ThreadId>) {
        self.threads.extend(threads);
    }

    /// The first choice that could not be followed.
    pub fn divergence(&self) -> Option<Divergence> {
        self.divergence
    }
}

impl Policy for Prefix {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        let Some(&wanted) = self.threads.get(self.next) else { return choice.stay_or_first() };
        self.next += 1;
        if choice.candidate(wanted).is_some() {
            return wanted;
        }
        let reason = Reason::CannotGoOn { thread: wanted };
        self.divergence.get_or_insert(Divergence { number: self.next as u64, reason });
        choice.stay_or_first()
    }
}
