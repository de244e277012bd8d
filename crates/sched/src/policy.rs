//! The trait every policy implements, and what it is shown.

use threadbare_trace::{EventKind, ThreadId};

use crate::Journal;
use crate::divergence::Divergence;

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
    /// For a lock, or an atomic update that may take one, if the policy needs it: the code address in the program's
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

/// A runnable thread, with the operation it would make.
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
    /// The runnable threads, in order of their ids; never empty.
    pub candidates: &'a [Candidate<'a>],
    /// The thread that ran last (it may not be among the candidates: blocked, ended, yielding).
    pub current: ThreadId,
    /// How many visible steps were made so far in this execution.
    pub step: u64,
}

impl<'a> Choice<'a> {
    /// The candidate for this thread, if it is runnable.
    pub fn candidate(&self, thread: ThreadId) -> Option<&Candidate<'a>> {
        self.candidates.iter().find(|candidate| candidate.thread == thread)
    }

    /// Stay with the running thread if it is runnable, else the lowest-numbered one that is.
    pub fn stay_or_first(&self) -> ThreadId {
        self.candidate(self.current).map_or(self.candidates[0].thread, |candidate| candidate.thread)
    }
}

/// How many figures of its own a policy may count.
pub const COUNTERS: usize = 3;

/// Picks the next thread.
///
/// The engine calls `choose` at every scheduling point with at least two runnable threads, and `executed` for every
/// visible step, including those where there was no choice. The other methods are hooks: each has a default under which
/// a policy that does not need it is left alone.
pub trait Policy {
    /// Whether [`Policy::executed`] does anything. It is called for every step, so the call is left out where not.
    const OBSERVES_STEPS: bool = true;

    /// Whether the policy looks at [`Op::place`], which costs a walk up the stack for every lock.
    const NEEDS_LOCK_PLACES: bool = false;

    /// Picks one of the candidates.
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId;

    /// A thread came into being.
    fn created(&mut self, _thread: ThreadId, _parent: ThreadId) {}

    /// A visible step is about to be made by `thread`.
    fn executed(&mut self, _thread: ThreadId, _op: &Op) {}

    /// A thread acquired a lock, or changed a word from zero, which may be a lock.
    fn acquired(&mut self, _thread: ThreadId, _op: &Op) {}

    /// A thread has been spinning and yields.
    fn yielded(&mut self, _thread: ThreadId) {}

    /// How many fruitless re-reads in a row a thread may make before it has to yield.
    fn spin_limit(&self) -> u32 {
        16
    }

    /// Whether the policy follows a list of switches at the moment: then it is asked even where only one thread is
    /// runnable, and [`Policy::reached`] comes before every choice.
    fn forces_switches(&self) -> bool {
        false
    }

    /// Whether that list has switches left.
    fn has_switches_left(&self) -> bool {
        false
    }

    /// The running thread has reached its operation number `op`, which it may be unable to make.
    fn reached(&mut self, _thread: ThreadId, _op: u32) {}

    /// The operation before which `thread` has to stop although it may be no scheduling point.
    fn stop_before(&self, _thread: ThreadId) -> Option<u32> {
        None
    }

    /// Where a forced schedule could not be followed for the first time.
    fn divergence(&self) -> Option<Divergence> {
        None
    }

    /// Whether a steered execution has made all the choices that it was given.
    fn awaits_choices(&self) -> bool {
        false
    }

    /// Further choices of a steered execution.
    fn append_choices(&mut self, _choices: &[ThreadId]) {}

    /// A step was made before the policy came into being, in an execution that continues from a checkpoint.
    fn executed_before(&mut self, _thread: ThreadId, _site: u64) {}

    /// Figures of the policy's own, for the strategy that chose it.
    fn counters(&self) -> [u64; COUNTERS] {
        [0; COUNTERS]
    }

    /// What the execution did to memory, if the policy records it.
    fn journal(&self) -> Option<&Journal> {
        None
    }
}
