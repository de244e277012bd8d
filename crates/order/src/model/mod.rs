//! The steps of one execution, or of all, with everything that binds them resolved: who may follow whom in a
//! thread, which bytes hold what, which critical sections there are, who can wake whom.

mod build;
mod lifetimes;
mod memory;
mod sync;

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use threadbare_trace::ThreadId;

use crate::action::{Kept, MemoryRange};
use crate::doubt::Doubt;
use crate::forest::{Forest, Path, StepId};

/// The place of a step in a model. Steps are numbered in recorded order.
pub type Ix = u32;

/// The content of a segment of memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// These bytes.
    Known(u64),
    /// Whatever that step left there.
    Of(Ix),
}

impl Value {
    /// What was there before the first step, where nobody says.
    pub const UNKNOWN: Value = Value::Of(Ix::MAX);
}

/// What a step does to one segment of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touch {
    /// The segment.
    pub segment: u32,
    /// What it saw there, if it reads.
    pub reads: Option<Value>,
    /// Who had written that when it was recorded, if somebody had.
    pub source: Option<Ix>,
    /// What it leaves there, if it writes.
    pub writes: Option<Value>,
    /// How often the segment had been freed or initialised before.
    pub epoch: u32,
    /// It frees the segment or initialises it.
    pub renews: bool,
}

/// What a step does to other threads otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// Begins a critical section.
    Acquire(u32),
    /// Ends a critical section.
    Release(u32),
    /// Is refused a lock; readers keep it from it too, or not.
    Refused {
        /// The lock.
        lock: u32,
        /// Readers count.
        by_readers: bool,
    },
    /// Begins to wait.
    Wait(u32),
    /// Ends the wait that began with that step.
    Wake(u32, Ix),
    /// Wakes one waiter or all.
    Signal(u32, bool),
    /// Arrives for a round of a barrier, and completes it or not.
    Arrive(u32, bool),
    /// Leaves after a round of a barrier.
    Leave(u32),
    /// Takes a token.
    Take(u32),
    /// Adds a token.
    Post(u32),
    /// Ends its thread.
    Exit,
    /// Sees that a thread has ended.
    Join(ThreadId),
    /// Sees that a thread has not ended.
    Unended(ThreadId),
    /// Comes at this place of a chain.
    Keep(u32, u32),
    /// Comes after everything that came before it.
    Watershed(u32),
}

/// A step.
#[derive(Clone, Debug)]
pub struct ModelStep {
    /// Its name.
    pub id: StepId,
    /// Who makes it.
    pub thread: ThreadId,
    /// The step before it in its thread.
    pub parent: Option<Ix>,
    /// What may follow in its thread.
    pub children: Vec<Ix>,
    /// How many steps of its thread come before it.
    pub depth: u32,
    /// In [`Model::touches`].
    pub touches: Range<u32>,
    /// In [`Model::acts`].
    pub acts: Range<u32>,
}

/// A critical section.
#[derive(Clone, Debug)]
pub struct Section {
    /// The lock.
    pub lock: u32,
    /// Others may be inside as well.
    pub shared: bool,
    /// Whoever wants it does not wait for ever.
    pub tries: bool,
    /// It is the first thing in its step: what the step sees, it sees inside.
    pub comes_first: bool,
    /// Who is inside.
    pub thread: ThreadId,
    /// The step that begins it.
    pub acquire: Ix,
    /// The steps that may end it: one, unless the thread may go different ways.
    pub releases: Vec<Ix>,
}

/// A round of a barrier.
#[derive(Clone, Default, Debug)]
pub struct Round {
    /// Those who arrive and wait.
    pub arrivals: Vec<Ix>,
    /// The one who completes it.
    pub last: Option<Ix>,
    /// Those who leave after it.
    pub leaves: Vec<Ix>,
    /// The round before.
    pub previous: Option<u32>,
}

/// Steps on a thing that are kept in order.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The thing.
    pub of: Kept,
    /// The steps in order.
    pub steps: Vec<Ix>,
}

/// A condition variable.
#[derive(Clone, Default, Debug)]
pub struct Condition {
    /// The steps that signal, and whether they signal to all.
    pub signals: Vec<(Ix, bool)>,
    /// The steps that end a wait, with those that began it.
    pub wakes: Vec<(Ix, Ix)>,
}

/// A semaphore.
#[derive(Clone, Default, Debug)]
pub struct Semaphore {
    /// Tokens at the beginning.
    pub tokens: u64,
    /// The steps that take one.
    pub takes: Vec<Ix>,
    /// The steps that add one.
    pub posts: Vec<Ix>,
}

/// Everything that binds the steps.
#[derive(Clone, Default, Debug)]
pub struct Model {
    pub(crate) steps: Vec<ModelStep>,
    pub(crate) touches: Vec<Touch>,
    pub(crate) acts: Vec<Act>,
    pub(crate) segments: Vec<MemoryRange>,
    pub(crate) initial: Vec<Value>,
    /// By segment: who writes it, and what.
    pub(crate) writers: Vec<Vec<(Ix, Value)>>,
    /// By segment: the steps that free or initialise it.
    pub(crate) renewals: Vec<Vec<Ix>>,
    pub(crate) creators: HashMap<ThreadId, Vec<Ix>>,
    pub(crate) exits: HashMap<ThreadId, Vec<Ix>>,
    pub(crate) locks: u32,
    pub(crate) sections: Vec<Section>,
    /// By lock.
    pub(crate) sections_of: Vec<Vec<u32>>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) semaphores: Vec<Semaphore>,
    pub(crate) rounds: Vec<Round>,
    pub(crate) chains: Vec<Chain>,
    /// By watershed: the last steps of the other threads before it.
    pub(crate) watersheds: Vec<Vec<Ix>>,
    /// Steps after which nobody makes another.
    pub(crate) finals: Vec<Ix>,
    pub(crate) doubts: BTreeSet<Doubt>,
    /// The steps touch too much memory to be dealt with.
    pub(crate) too_large: bool,
    /// Threads may go different ways.
    pub(crate) branches: bool,
    /// By thread: its steps in recorded order.
    threads: HashMap<ThreadId, Vec<Ix>>,
    places: HashMap<StepId, Ix>,
}

impl Model {
    /// The steps of one execution.
    pub fn of(forest: &Forest, path: &Path) -> Model {
        build::Builder::new(forest, &path.steps).one(path)
    }

    /// The steps of all executions together: a thread may go any of the ways that it was seen to go. Where that
    /// does not show what a thing does, there is none, and these are the reasons.
    pub fn of_all(forest: &Forest) -> Result<Model, BTreeSet<Doubt>> {
        let ids: Vec<StepId> = forest.ids().collect();
        build::Builder::new(forest, &ids).all()
    }

    /// Why "impossible" may be no statement about the program.
    pub fn doubts(&self) -> &BTreeSet<Doubt> {
        &self.doubts
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The place of a step.
    pub fn place(&self, id: StepId) -> Option<Ix> {
        self.places.get(&id).copied()
    }

    pub(crate) fn step(&self, at: Ix) -> &ModelStep {
        &self.steps[at as usize]
    }

    pub(crate) fn threads(&self) -> impl Iterator<Item = ThreadId> {
        self.threads.keys().copied()
    }

    pub(crate) fn thread(&self, thread: ThreadId) -> &[Ix] {
        self.threads.get(&thread).map_or(&[], Vec::as_slice)
    }

    /// The ways that the thread may go in place of this step, and the step itself.
    pub(crate) fn siblings(&self, at: Ix) -> Vec<Ix> {
        match self.step(at).parent {
            Some(parent) => self.step(parent).children.clone(),
            None => self.roots(self.step(at).thread),
        }
    }

    /// The first steps that a thread may make.
    pub(crate) fn roots(&self, thread: ThreadId) -> Vec<Ix> {
        self.thread(thread).iter().copied().filter(|at| self.step(*at).parent.is_none()).collect()
    }

    pub(crate) fn touches_of(&self, at: Ix) -> &[Touch] {
        let range = &self.step(at).touches;
        &self.touches[range.start as usize..range.end as usize]
    }

    pub(crate) fn acts_of(&self, at: Ix) -> &[Act] {
        let range = &self.step(at).acts;
        &self.acts[range.start as usize..range.end as usize]
    }

    pub(crate) fn writes(&self, at: Ix, segment: u32) -> Option<Value> {
        let mut touches = self.touches_of(at).iter().rev();
        touches
            .find(|touch| touch.segment == segment && touch.writes.is_some())
            .and_then(|touch| touch.writes)
    }

    /// Whether the step reads what it replaces.
    pub(crate) fn updates(&self, at: Ix, segment: u32) -> bool {
        let both =
            |touch: &Touch| touch.segment == segment && touch.reads.is_some() && touch.writes.is_some();
        self.touches_of(at).iter().any(both)
    }

    /// Whether the step reads something, there or elsewhere, before it writes there: if it sees something else, it leaves something else
    /// or nothing.
    pub(crate) fn reads_first(&self, at: Ix, segment: u32) -> bool {
        let touches = self.touches_of(at);
        let writes = |touch: &Touch| touch.segment == segment && touch.writes.is_some();
        let write = touches.iter().position(writes);
        write.is_some_and(|write| touches[..=write].iter().any(|touch| touch.reads.is_some()))
    }

    /// How two steps of one thread are ordered, if they are.
    pub(crate) fn order_in_thread(&self, a: Ix, b: Ix) -> InThread {
        let (first, second) = (self.step(a), self.step(b));
        if first.thread != second.thread {
            return InThread::DifferentThreads;
        }
        let (mut low, high) = if first.depth <= second.depth { (b, a) } else { (a, b) };
        let depth = self.step(high).depth;
        // In a thread that goes one way only, depth says all.
        if !self.branches {
            return if first.depth < second.depth { InThread::Before } else { InThread::After };
        }
        while self.step(low).depth > depth {
            match self.step(low).parent {
                Some(parent) => low = parent,
                None => return InThread::Never,
            }
        }
        match (low == high, first.depth < second.depth) {
            (false, _) => InThread::Never,
            (true, true) => InThread::Before,
            (true, false) => InThread::After,
        }
    }
}

/// How two steps are ordered by their thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InThread {
    /// Not at all: different threads make them.
    DifferentThreads,
    /// The first comes first.
    Before,
    /// The second comes first, or they are the same.
    After,
    /// They are on different ways of the thread and never both made.
    Never,
}
