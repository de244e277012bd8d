//! The plain random walk.

use threadbare_trace::ThreadId;

use crate::{Choice, Malformed, Policy, Rng, Specification, Words};

/// Picks uniformly among the runnable threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Random;

impl Specification for Random {
    type Policy = RandomPolicy;

    fn name(&self) -> String {
        "random".to_string()
    }

    fn encode(&self, _words: &mut Vec<u64>) {}

    fn decode(_words: &mut Words<'_>) -> Result<Random, Malformed> {
        Ok(Random)
    }

    fn start(self, seed: u64) -> RandomPolicy {
        RandomPolicy { rng: Rng::new(seed) }
    }
}

/// See [`Random`].
#[derive(Clone, Debug)]
pub struct RandomPolicy {
    rng: Rng,
}

impl Policy for RandomPolicy {
    const OBSERVES_STEPS: bool = false;

    #[inline]
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        let pick = self.rng.below(choice.candidates.len() as u64) as usize;
        choice.candidates[pick].thread
    }
}
