//! Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
//!
//! Every thread has a random priority and the highest one that is runnable runs. At `depth - 1`
//! randomly placed steps the running thread drops below all initial priorities. A bug of that
//! depth shows with probability at least 1 / (threads × steps^(depth - 1)).

use threadbare_trace::ThreadId;

use crate::by_thread::ByThread;
use crate::{Candidate, Choice, Malformed, Op, Policy, Rng, Specification, Words};

/// The expected number of steps when nothing is known about the program.
const UNKNOWN_STEPS: u64 = 1000;

/// A step at which the running thread's priority becomes `priority`.
#[derive(Clone, Copy, Debug)]
struct ChangePoint {
    step: u64,
    priority: i64,
}

/// Random priorities, changed at a few random steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pct {
    /// The bug depth: one more than there are change points.
    pub depth: u32,
    /// The expected number of steps; 0 if it is unknown.
    pub expected_steps: u64,
}

/// See [`Pct`].
#[derive(Clone, Debug)]
pub struct PctPolicy {
    rng: Rng,
    /// 0: not drawn yet. Initial priorities lie above those of the change points (1, 2, …), and
    /// those of threads that yielded below them.
    priorities: ByThread<i64>,
    /// Latest first, so that the next one is popped from the end.
    change_points: Vec<ChangePoint>,
    steps_made: u64,
    lowest: i64,
}

/// Initial priorities are drawn above this.
const INITIAL: i64 = 1 << 40;

impl Specification for Pct {
    type Policy = PctPolicy;

    fn name(&self) -> String {
        format!("pct (depth {})", self.depth)
    }

    fn encode(&self, words: &mut Vec<u64>) {
        words.extend([u64::from(self.depth), self.expected_steps]);
    }

    fn decode(words: &mut Words<'_>) -> Result<Pct, Malformed> {
        Ok(Pct { depth: words.number()?, expected_steps: words.word()? })
    }

    fn start(self, seed: u64) -> PctPolicy {
        let mut rng = Rng::new(seed);
        let steps = if self.expected_steps == 0 { UNKNOWN_STEPS } else { self.expected_steps };
        // More change points than steps would only repeat themselves.
        let count = u64::from(self.depth.saturating_sub(1)).min(steps);
        let mut change_points: Vec<ChangePoint> =
            (1..=count as i64).map(|priority| ChangePoint { step: 1 + rng.below(steps), priority }).collect();
        change_points.sort_unstable_by_key(|point| std::cmp::Reverse((point.step, point.priority)));
        PctPolicy { rng, priorities: ByThread::new(), change_points, steps_made: 0, lowest: -1 }
    }
}

impl PctPolicy {
    fn priority(&mut self, thread: ThreadId) -> i64 {
        let priority = self.priorities.of(thread);
        if *priority == 0 {
            *priority = INITIAL + (self.rng.next_u64() >> 2) as i64;
        }
        *priority
    }

    fn highest(&mut self, candidates: &[Candidate<'_>]) -> ThreadId {
        let mut best = candidates[0].thread;
        let mut best_priority = self.priority(best);
        for candidate in &candidates[1..] {
            let priority = self.priority(candidate.thread);
            if priority > best_priority {
                (best, best_priority) = (candidate.thread, priority);
            }
        }
        best
    }

    /// Takes the next change point off the list if it lies at or before `step`.
    fn change_at(&mut self, step: u64) -> Option<ChangePoint> {
        self.change_points.pop_if(|point| point.step <= step)
    }
}

impl Policy for PctPolicy {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        loop {
            let best = self.highest(choice.candidates);
            // The thread that is about to make the marked step drops, and the choice is made anew.
            match self.change_at(self.steps_made + 1) {
                Some(point) => *self.priorities.of(best) = point.priority,
                None => return best,
            }
        }
    }

    fn created(&mut self, thread: ThreadId, _parent: ThreadId) {
        self.priority(thread);
    }

    fn executed(&mut self, thread: ThreadId, _op: &Op) {
        self.steps_made += 1;
        while let Some(point) = self.change_at(self.steps_made) {
            *self.priorities.of(thread) = point.priority;
        }
    }

    fn yielded(&mut self, thread: ThreadId) {
        *self.priorities.of(thread) = self.lowest;
        self.lowest -= 1;
    }
}
