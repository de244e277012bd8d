//! Drives chosen operations together, to see whether a predicted finding can happen.
//!
//! A thread that is about to make one of the wanted operations is held back until the others are
//! there too; everything else is a random walk. When nobody else is runnable, one of those held
//! back is let go: the policy never makes a deadlock of its own.

use threadbare_trace::ThreadId;

use crate::{Candidate, Choice, Malformed, Op, Policy, Rng, Specification, Words};

/// What the wanted operations have to do to each other; the numbers are part of the shared-memory layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum DirectedGoal {
    /// All of them are about to be made at the same time, by different threads.
    Together = 1,
    /// The first and the third by one thread, the second by another in between, on one object.
    Between = 2,
}

/// A random walk that brings chosen operations together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Directed {
    goal: DirectedGoal,
    sites: Vec<u64>,
}

impl Directed {
    /// More operations than this hardly ever come together.
    const MOST: usize = 8;

    /// Directs towards the operations at these code addresses. None if there are too many.
    pub fn new(goal: DirectedGoal, sites: Vec<u64>) -> Option<Directed> {
        (sites.len() <= Self::MOST).then_some(Directed { goal, sites })
    }
}

impl Specification for Directed {
    type Policy = DirectedPolicy;

    fn name(&self) -> String {
        "directed".to_string()
    }

    fn encode(&self, words: &mut Vec<u64>) {
        words.extend([self.goal as u64, self.sites.len() as u64]);
        words.extend(&self.sites);
    }

    fn decode(words: &mut Words<'_>) -> Result<Directed, Malformed> {
        let number = words.word()?;
        let goals = [DirectedGoal::Together, DirectedGoal::Between];
        let goal = goals.into_iter().find(|goal| *goal as u64 == number).ok_or(Malformed)?;
        Directed::new(goal, words.list(Words::word)?).ok_or(Malformed)
    }

    fn start(self, seed: u64) -> DirectedPolicy {
        let Directed { goal, sites } = self;
        DirectedPolicy { rng: Rng::new(seed), goal, sites, queue: Vec::with_capacity(4), armed: None }
    }
}

/// See the module's description.
#[derive(Clone, Debug)]
pub struct DirectedPolicy {
    rng: Rng,
    goal: DirectedGoal,
    sites: Vec<u64>,
    /// Threads that go next, in this order: the wanted operations back to back.
    queue: Vec<ThreadId>,
    /// For `Between`: who made the first operation, and on what.
    armed: Option<(ThreadId, u64)>,
}

impl DirectedPolicy {
    /// Whether a thread waits for the others.
    fn is_held(&self, candidate: &Candidate<'_>) -> bool {
        match self.goal {
            DirectedGoal::Together => self.sites.contains(&candidate.op.site),
            DirectedGoal::Between => match self.armed {
                Some((thread, object)) if thread == candidate.thread => {
                    self.sites.get(2) == Some(&candidate.op.site) && candidate.op.object == object
                }
                _ => self.sites.get(1) == Some(&candidate.op.site),
            },
        }
    }

    /// The threads that make the wanted operations now, if all of them are there.
    fn rendezvous(&mut self, choice: &Choice<'_>) {
        match self.goal {
            DirectedGoal::Together => self.all_together(choice),
            DirectedGoal::Between => self.in_between(choice),
        }
    }

    fn all_together(&mut self, choice: &Choice<'_>) {
        let mut chosen: Vec<&Candidate<'_>> = Vec::with_capacity(self.sites.len());
        for site in &self.sites {
            let fits = |candidate: &&Candidate<'_>| {
                candidate.op.site == *site
                    && chosen.iter().all(|other| other.thread != candidate.thread)
                    && chosen.iter().all(|other| is_together(other.op, candidate.op))
            };
            match choice.candidates.iter().find(fits) {
                Some(candidate) => chosen.push(candidate),
                None => return,
            }
        }
        self.queue = chosen.iter().map(|candidate| candidate.thread).collect();
        // Which of them comes first is drawn: both orders are of interest.
        if self.rng.below(2) == 1 {
            self.queue.reverse();
        }
    }

    fn in_between(&mut self, choice: &Choice<'_>) {
        let Some((first, object)) = self.armed else { return };
        let [_, second_site, third_site] = self.sites[..] else { return };
        let third_is_next = (choice.candidate(first))
            .is_some_and(|candidate| candidate.op.site == third_site && candidate.op.object == object);
        let second = choice.candidates.iter().find(|candidate| {
            candidate.thread != first && candidate.op.site == second_site && candidate.op.object == object
        });
        if let (true, Some(second)) = (third_is_next, second) {
            self.queue = vec![second.thread, first];
            self.armed = None;
        }
    }
}

/// Locks meet wherever they are; accesses have to touch the same memory.
fn is_together(a: &Op, b: &Op) -> bool {
    !a.kind.accesses_memory() || !b.kind.accesses_memory() || a.conflicts_with(b)
}

impl Policy for DirectedPolicy {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        if self.queue.is_empty() {
            self.rendezvous(choice);
        }
        while !self.queue.is_empty() {
            let next = self.queue.remove(0);
            if choice.candidate(next).is_some() {
                return next;
            }
        }
        let free = choice.candidates.iter().filter(|candidate| !self.is_held(candidate)).count() as u64;
        if free == 0 {
            let any = self.rng.below(choice.candidates.len() as u64) as usize;
            return choice.candidates[any].thread;
        }
        let pick = self.rng.below(free) as usize;
        let mut candidates = choice.candidates.iter().filter(|candidate| !self.is_held(candidate));
        candidates.nth(pick).map_or(choice.candidates[0].thread, |candidate| candidate.thread)
    }

    fn executed(&mut self, thread: ThreadId, op: &Op) {
        if self.goal != DirectedGoal::Between {
            return;
        }
        match self.armed {
            // The thread went past the third operation, or touched the object otherwise.
            Some((armed, object)) if armed == thread && op.object == object => self.armed = None,
            _ => {}
        }
        if self.armed.is_none() && self.sites.first() == Some(&op.site) {
            self.armed = Some((thread, op.object));
        }
    }
}
