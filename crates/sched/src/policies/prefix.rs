//! A list of choices, then no further preemption.

use threadbare_trace::ThreadId;

use crate::divergence::{Divergence, DivergenceReason};
use crate::{Choice, Malformed, Policy, Specification, Words};

/// Follows a list of threads, one per decision, then stays with whoever runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Prefix {
    /// Who runs at each of the first decisions.
    pub choices: Vec<ThreadId>,
}

impl Specification for Prefix {
    type Policy = PrefixPolicy;

    fn name(&self) -> String {
        "prefix".to_string()
    }

    fn encode(&self, words: &mut Vec<u64>) {
        words.push(self.choices.len() as u64);
        words.extend(self.choices.iter().map(|thread| u64::from(thread.0)));
    }

    fn decode(words: &mut Words<'_>) -> Result<Prefix, Malformed> {
        Ok(Prefix { choices: words.list(Words::thread)? })
    }

    fn start(self, _seed: u64) -> PrefixPolicy {
        PrefixPolicy { threads: self.choices, next: 0, divergence: None }
    }
}

/// See [`Prefix`].
#[derive(Clone, Debug)]
pub struct PrefixPolicy {
    threads: Vec<ThreadId>,
    next: usize,
    divergence: Option<Divergence>,
}

impl Policy for PrefixPolicy {
    const OBSERVES_STEPS: bool = false;

    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        let Some(&wanted) = self.threads.get(self.next) else { return choice.stay_or_first() };
        self.next += 1;
        if choice.candidate(wanted).is_some() {
            return wanted;
        }
        let reason = DivergenceReason::NotRunnable { thread: wanted };
        self.divergence.get_or_insert(Divergence { number: self.next as u64, reason });
        choice.stay_or_first()
    }

    fn divergence(&self) -> Option<Divergence> {
        self.divergence
    }

    fn awaits_choices(&self) -> bool {
        self.next == self.threads.len()
    }

    fn append_choices(&mut self, choices: &[ThreadId]) {
        self.threads.extend_from_slice(choices);
    }
}
