//! Selectively uniform random walk (Zhao, Wolff, Mathur, Roychoudhury, ASPLOS 2025).
//!
//! Only the interesting operations count. The thread that shall make the next one (the *intended*
//! thread) is drawn in proportion to how many each thread still has to make; other threads may
//! run as long as their next operation is not interesting. With right counts every interleaving of
//! the interesting operations is equally likely.

use threadbare_trace::{EventKind, ThreadId};

use crate::by_thread::ByThread;
use crate::{Candidate, Choice, Malformed, Op, Policy, Rng, Specification, Words};

/// Decisions for which the intended thread may go without an interesting operation, in a loop that
/// perhaps waits for one of the others, before it is drawn anew.
const STALE: u32 = 1_000;

/// What is known of one thread.
#[derive(Clone, Copy, Default, Debug)]
struct Walker {
    /// Interesting operations left, those of threads it has yet to create included.
    remaining: u64,
    /// Whether the thread exists.
    alive: bool,
}

/// A random walk that is uniform over the interesting operations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Surw {
    /// The address that is interesting; none if every visible operation is.
    pub object: Option<u64>,
    /// How many interesting operations each thread is expected to make, together with all the threads that it creates
    /// (and that those create).
    pub weights: Vec<u32>,
}

impl Specification for Surw {
    type Policy = SurwPolicy;

    fn name(&self) -> String {
        "surw".to_string()
    }

    fn encode(&self, words: &mut Vec<u64>) {
        // Nothing that a program touches lies at address 0.
        words.extend([self.object.unwrap_or(0), self.weights.len() as u64]);
        words.extend(self.weights.iter().map(|weight| u64::from(*weight)));
    }

    fn decode(words: &mut Words<'_>) -> Result<Surw, Malformed> {
        let object = Some(words.word()?).filter(|object| *object != 0);
        Ok(Surw { object, weights: words.list(Words::number)? })
    }

    fn start(self, seed: u64) -> SurwPolicy {
        let mut walkers: ByThread<Walker> = ByThread::new();
        // Every draw goes through all of them.
        let known = self.weights.iter().rposition(|weight| *weight > 0).map_or(0, |last| last + 1);
        for (index, &weight) in self.weights[..known].iter().enumerate() {
            walkers.of(ThreadId(index as u16)).remaining = u64::from(weight);
        }
        walkers.of(ThreadId::MAIN).alive = true;
        SurwPolicy { rng: Rng::new(seed), walkers, object: self.object, intended: None, age: 0 }
    }
}

/// See [`Surw`].
#[derive(Clone, Debug)]
pub struct SurwPolicy {
    rng: Rng,
    walkers: ByThread<Walker>,
    object: Option<u64>,
    intended: Option<ThreadId>,
    /// Decisions since the intended thread was drawn.
    age: u32,
}

impl SurwPolicy {
    fn is_interesting(&self, op: &Op) -> bool {
        let end = op.object.saturating_add(u64::from(op.size.max(1)));
        self.object.is_none_or(|object| (op.object..end).contains(&object))
    }

    /// Draws the intended thread among all that exist; none if no interesting operation is expected.
    fn draw(&mut self) -> Option<ThreadId> {
        let total: u64 = self.walkers.iter_mut().filter(|(_, w)| w.alive).map(|(_, w)| w.remaining).sum();
        let mut ticket = self.rng.below(total);
        let living = self.walkers.iter_mut().filter(|(_, walker)| walker.alive);
        for (thread, walker) in living {
            if ticket < walker.remaining {
                return Some(thread);
            }
            ticket -= walker.remaining;
        }
        None
    }

    /// Draws among these candidates, by what they have left.
    fn draw_among(&mut self, candidates: &[Candidate<'_>]) -> ThreadId {
        let total: u64 = candidates.iter().map(|c| self.walkers.of(c.thread).remaining).sum();
        let mut ticket = self.rng.below(total);
        for candidate in candidates {
            let remaining = self.walkers.of(candidate.thread).remaining;
            if ticket < remaining {
                return candidate.thread;
            }
            ticket -= remaining;
        }
        self.pick_any(candidates)
    }

    fn pick_any(&mut self, candidates: &[Candidate<'_>]) -> ThreadId {
        candidates[self.rng.below(candidates.len() as u64) as usize].thread
    }
}

impl Policy for SurwPolicy {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        for candidate in choice.candidates {
            let interesting = self.is_interesting(candidate.op);
            let walker = self.walkers.of(candidate.thread);
            walker.alive = true;
            if interesting && walker.remaining == 0 {
                // The count was too low: the operation is there to be seen.
                walker.remaining = 1;
            }
        }
        self.age += 1;
        if self.intended.is_none() || self.age > STALE {
            self.intended = self.draw();
            self.age = 0;
        }
        let Some(intended) = self.intended else { return self.pick_any(choice.candidates) };
        let is_free =
            |walk: &SurwPolicy, c: &Candidate<'_>| c.thread == intended || !walk.is_interesting(c.op);
        let free = choice.candidates.iter().filter(|c| is_free(self, c)).count();
        if free == 0 {
            // The intended thread is blocked or gone, and everyone else waits for it.
            let thread = self.draw_among(choice.candidates);
            self.intended = Some(thread);
            return thread;
        }
        let pick = self.rng.below(free as u64) as usize;
        let mut free = choice.candidates.iter().filter(|c| is_free(self, c));
        free.nth(pick).map_or(intended, |candidate| candidate.thread)
    }

    fn created(&mut self, thread: ThreadId, parent: ThreadId) {
        let walker = self.walkers.of(thread);
        walker.alive = true;
        let moved = walker.remaining;
        let left = self.walkers.of(parent);
        left.remaining = left.remaining.saturating_sub(moved);
        let left = left.remaining;
        // The operation that was intended may be one of the new thread's.
        if self.intended == Some(parent) && self.rng.below(left + moved) >= left {
            self.intended = Some(thread);
        }
    }

    fn executed(&mut self, thread: ThreadId, op: &Op) {
        if self.is_interesting(op) {
            let walker = self.walkers.of(thread);
            walker.remaining = walker.remaining.saturating_sub(1);
            self.intended = None;
        }
        if op.kind == EventKind::Exit {
            self.walkers.of(thread).remaining = 0;
            if self.intended == Some(thread) {
                self.intended = None;
            }
        }
    }

    fn yielded(&mut self, thread: ThreadId) {
        if self.intended == Some(thread) {
            self.intended = None;
        }
    }
}
