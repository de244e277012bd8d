//! The plain random walk.

use threadbare_trace::ThreadId;

use crate::{Choice, Policy, PolicySpec, Rng};

/// Picks uniformly among the threads that can go on.
#[derive(Clone, Debug)]
pub struct Random {
    rng: Rng,
}

impl Random {
    /// A walk with the plan's seed.
    pub fn new(spec: &PolicySpec) -> Random {
        Random { rng: Rng::new(spec.seed) }
    }
}

impl Policy for Random {
    #[inline]
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        let pick = self.rng.below(choice.candidates.len() as u64) as usize;
        choice.candidates[pick].thread
    }
}
