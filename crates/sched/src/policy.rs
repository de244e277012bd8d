//! The trait every policy implements, and what it is told.

use threadbare_trace::{EventKind, ThreadId};

use crate::Goal;
use crate::in_order::InOrder;

/// The next operation of a thread, known before it is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Op {
    /// What it will do.
    pub kind: EventKind,
    /// The memory location or synchronization object (an address; equal means the same object).
    pub object: u64,
    /// The size of the access in bytes, 0 where that has no meaning.
    pub size: u32,
    /// The code address that announces it.
    pub site: u64,
    /// Which operation of its thread it is, counted from 1.
    pub index: u32,
    /// For a lock, or an atomic update that may take one, if the policy asks for it: the code address in the program's
    /// own code from which it is made.
    pub place: u64,
}

impl Op {
    /// Whether the order of two operations can matter: both touch the same memory and one writes,
    /// or both concern the same synchronization object.
    pub fn conflicts_with(&self, other: &Op) -> bool {
        if self.kind.accesses_memory() && other.kind.accesses_memory() {
            let overlap = self.object < other.object + u64::from(other.size.max(1))
                && other.object < self.object + u64::from(self.size.max(1));
            overlap && (self.kind.writes() || other.kind.writes())
        } else {
            self.object == other.object && self.object != 0
        }
    }
}

/// A thread that can go on, with the operation it would make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate<'a> {
    /// The thread.
    pub thread: ThreadId,
    /// What it would do next.
    pub op: &'a Op,
}

/// One decision: who goes next?
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// The threads that can go on, in order of their ids; never empty.
    pub candidates: &'a [Candidate<'a>],
    /// The thread that ran last (it may not be among the candidates: blocked, ended, giving way).
    pub current: ThreadId,
    /// How many visible steps were made so far in this execution.
    pub step: u64,
}

impl<'a> Choice<'a> {
    /// The candidate for this thread, if it can go on.
    pub fn candidate(&self, thread: ThreadId) -> Option<&Candidate<'a>> {
        self.candidates.iter().find(|candidate| candidate.thread == thread)
    }

    /// Stay with the running thread if it can go on, else the lowest-numbered one that can.
    pub fn stay_or_first(&self) -> ThreadId {
        self.candidate(self.current).map_or(self.candidates[0].thread, |candidate| candidate.thread)
    }
}

/// Picks the next thread.
///
/// The engine calls `choose` at every scheduling point where at least two threads can go on, and
/// `executed` for every visible step, including those where there was no choice.
pub trait Policy {
    /// Picks one of the candidates.
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId;

    /// A thread came into being.
    fn created(&mut self, _thread: ThreadId, _parent: ThreadId) {}

    /// A visible step is about to be made by `thread`.
    fn executed(&mut self, _thread: ThreadId, _op: &Op) {}

    /// A thread took a lock, or changed a word from zero, which may be a lock.
    fn took(&mut self, _thread: ThreadId, _op: &Op) {}

    /// A thread has been spinning and gave way.
    fn gave_way(&mut self, _thread: ThreadId) {}

    /// How many fruitless re-reads in a row a thread may make before it has to give way.
    fn patience(&self) -> u32 {
        16
    }
}

/// The policies by number; the numbers are part of the shared-memory layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum PolicyKind {
    /// Uniform choice among the threads that can go on.
    Random = 1,
    /// Probabilistic concurrency testing: random priorities and `depth - 1` change points.
    Pct = 2,
    /// Partial order sampling: random priority per pending operation, conflicting ones re-drawn.
    Pos = 3,
    /// Selectively uniform random walk.
    Surw = 4,
    /// Threads run in virtual parallel; some operations are delayed.
    Delay = 5,
    /// Each thread makes the same number of steps in turn.
    RoundRobin = 6,
    /// A list of thread choices, one per decision, then no further preemption.
    Prefix = 7,
    /// A list of switches named by events, then no further preemption.
    Replay = 8,
    /// A random walk that brings chosen operations together.
    Directed = 9,
    /// A list of switches named by events, then everybody comes to an end, main last.
    Follow = 10,
    /// Pauses threads before locks to cover synchronization pairs.
    Tsa = 11,
    /// A random walk that makes reads see the values of chosen writes.
    Guideline = 12,
    /// Threads take turns that end at operations of one class.
    Interruptions = 13,
    /// One thread is held before one of its operations until another one has made one of its own.
    Between = 14,
    /// Nobody is preempted, and accesses are written down.
    Journal = 15,
}

impl PolicyKind {
    /// The kind with this number, if there is one.
    pub fn from_number(number: u32) -> Option<PolicyKind> {
        use PolicyKind::*;
        let all = [
            Random,
            Pct,
            Pos,
            Surw,
            Delay,
            RoundRobin,
            Prefix,
            Replay,
            Directed,
            Follow,
            Tsa,
            Guideline,
            Interruptions,
            Between,
            Journal,
        ];
        all.into_iter().find(|kind| *kind as u32 == number)
    }
}

/// A policy with its parameters, as it travels to the target.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct PolicySpec {
    /// A [`PolicyKind`] by number.
    pub kind: u32,
    /// PCT: the bug depth. Delay: the longest delay in virtual microseconds (0: the thread goes
    /// behind all others that can go on). Round robin: the steps of one turn. Directed: a `Goal`.
    /// TSA: how many of the rules hold. Interruptions: an `Interruption`.
    pub size: u32,
    /// PCT: the expected number of steps; 0 if unknown.
    pub steps: u64,
    /// Delay: the probability of a delay at an operation. TSA: that of staying with a thread between locks.
    /// Interruptions: that of one where one can be.
    pub probability: f64,
    /// The seed.
    pub seed: u64,
    /// SURW: how many interesting operations each thread is expected to make, together with all
    /// the threads that it creates (and that those create).
    pub weights: [u32; PolicySpec::MAX_WEIGHTS],
    /// SURW: the address that is interesting (0: every visible operation).
    pub object: u64,
    /// Directed: the operations to bring together, by their code addresses; 0 for none. To order them:
    /// see [`PolicySpec::in_order`].
    pub sites: [u64; PolicySpec::MAX_SITES],
}

impl PolicySpec {
    /// How many operations can be brought together.
    pub const MAX_SITES: usize = 8;

    /// How many threads SURW can be told about.
    pub const MAX_WEIGHTS: usize = 64;

    /// A policy that has operations made in this order: each by its thread, with its code address and that of
    /// the operation before which the thread waits for its turn. None if there are too many.
    pub fn in_order(operations: &[(ThreadId, u64, u64)]) -> Option<PolicySpec> {
        let mut spec = PolicySpec::new(PolicyKind::Directed, 0);
        spec.size = Goal::InOrder as u32;
        if operations.len() > InOrder::MOST {
            return None;
        }
        for (place, (thread, site, gate)) in operations.iter().enumerate() {
            spec.weights[place] = u32::from(thread.0);
            spec.sites[place] = *site;
            spec.sites[InOrder::MOST + place] = *gate;
        }
        Some(spec)
    }

    /// A policy of this kind with this seed and default parameters.
    pub fn new(kind: PolicyKind, seed: u64) -> PolicySpec {
        PolicySpec {
            kind: kind as u32,
            size: 3,
            steps: 0,
            probability: 0.1,
            seed,
            weights: [0; Self::MAX_WEIGHTS],
            object: 0,
            sites: [0; Self::MAX_SITES],
        }
    }
}
