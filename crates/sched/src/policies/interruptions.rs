//! Threads take turns that end at operations of one class.
//!
//! Most small bugs want a thread to be interrupted at one kind of place: between what it reads and what it writes,
//! after it has published something and before it has published the rest, or with one lock taken and the next one to
//! take. Here everybody is preempted at every such place, and whoever has waited longest runs.

use threadbare_trace::{EventKind, ThreadId, kinds};

use crate::by_thread::ByThread;
use crate::{Candidate, Choice, Malformed, Op, Policy, Rng, Specification, Words};

/// Where a turn ends; the numbers are part of the shared-memory layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Interruption {
    /// Before something is stored: what led to it may no longer hold when it is.
    BeforeStore = 1,
    /// After a store or the release of a lock: others see it, and not yet what follows.
    AfterStore = 2,
    /// After a lock was taken.
    AfterLock = 3,
    /// Before that.
    BeforeLock = 4,
}

impl Interruption {
    /// All of them.
    pub const ALL: [Interruption; 4] = [
        Interruption::BeforeStore,
        Interruption::AfterStore,
        Interruption::AfterLock,
        Interruption::BeforeLock,
    ];

    /// What people call a policy that preempts threads there.
    fn name(self) -> &'static str {
        match self {
            Interruption::BeforeStore => "interrupted before stores",
            Interruption::AfterStore => "interrupted after stores",
            Interruption::AfterLock => "interrupted after locks",
            Interruption::BeforeLock => "interrupted before locks",
        }
    }

    fn from_number(number: u64) -> Option<Interruption> {
        Self::ALL.into_iter().find(|kind| *kind as u64 == number)
    }

    /// Whether the turn ends when this is done.
    fn is_after(self, effect: Option<Effect>) -> bool {
        match self {
            Interruption::AfterStore => matches!(effect, Some(Effect::Stores | Effect::Unlocks)),
            Interruption::AfterLock => effect == Some(Effect::Locks),
            Interruption::BeforeStore | Interruption::BeforeLock => false,
        }
    }

    /// Whether the turn ends before this is done.
    fn is_before(self, effect: Option<Effect>) -> bool {
        match self {
            Interruption::BeforeStore => effect == Some(Effect::Stores),
            Interruption::BeforeLock => effect == Some(Effect::Locks),
            Interruption::AfterStore | Interruption::AfterLock => false,
        }
    }
}

/// Threads are preempted at places of one kind.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interruptions {
    /// Where.
    pub at: Interruption,
    /// How often, where one can be.
    pub probability: f64,
}

impl Specification for Interruptions {
    type Policy = InterruptionsPolicy;

    fn name(&self) -> String {
        self.at.name().to_string()
    }

    fn encode(&self, words: &mut Vec<u64>) {
        words.extend([self.at as u64, self.probability.to_bits()]);
    }

    fn decode(words: &mut Words<'_>) -> Result<Interruptions, Malformed> {
        let at = Interruption::from_number(words.word()?).ok_or(Malformed)?;
        Ok(Interruptions { at, probability: words.probability()? })
    }

    fn start(self, seed: u64) -> InterruptionsPolicy {
        InterruptionsPolicy {
            rng: Rng::new(seed),
            at: self.at,
            probability: self.probability,
            last: ByThread::new(),
            steps: 0,
            running: ThreadId::MAIN,
            made: 0,
            updated: Vec::new(),
            over: None,
        }
    }
}

/// What an operation does, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    Stores,
    Locks,
    Unlocks,
}

/// Steps after which preemptions are drawn, whatever the specification asks for: threads that yield to each other in
/// lockstep would do so for ever.
const LOCKSTEP: u64 = 1_000;

/// See [`Interruptions`].
#[derive(Clone, Debug)]
pub struct InterruptionsPolicy {
    rng: Rng,
    at: Interruption,
    /// How often an interruption is made where one can be.
    probability: f64,
    /// When each thread made its last step, counted from 1.
    last: ByThread<u64>,
    steps: u64,
    /// Whose turn it is.
    running: ThreadId,
    /// Steps of this turn.
    made: u32,
    /// Words that a thread has updated once and not yet again. Locks of many libraries are nothing but such words.
    updated: Vec<(ThreadId, u64)>,
    /// The thread whose turn is over, until another one has done something.
    over: Option<ThreadId>,
}

impl InterruptionsPolicy {
    fn effect(&self, thread: ThreadId, op: &Op) -> Option<Effect> {
        use EventKind::*;
        match op.kind {
            Write | AtomicWrite | WriteRange => Some(Effect::Stores),
            Lock | ReadLock | SemWait => Some(Effect::Locks),
            Unlock | SemPost => Some(Effect::Unlocks),
            AtomicUpdate if self.updated.contains(&(thread, op.object)) => Some(Effect::Unlocks),
            AtomicUpdate => Some(Effect::Locks),
            Read | ReadRange | AtomicRead | AtomicFailed | LockFailed | SemFailed => None,
            Fence | Signal | Frame | kinds!(condition | barrier | once | futex) => None,
            kinds!(thread | heap | object | pause | outside) => None,
        }
    }

    /// Every second update of a word releases it.
    fn note_update(&mut self, thread: ThreadId, op: &Op) {
        if op.kind == EventKind::AtomicUpdate {
            let update = (thread, op.object);
            match self.updated.iter().position(|known| *known == update) {
                Some(place) => drop(self.updated.swap_remove(place)),
                None => self.updated.push(update),
            }
        }
    }

    fn draw(&mut self) -> bool {
        if self.steps >= LOCKSTEP {
            self.probability = self.probability.min(0.5);
        }
        self.probability >= 1.0 || self.rng.unit() < self.probability
    }

    /// The one that has waited longest, apart from this one; of those that have not run yet, the oldest, or any where
    /// preemptions are drawn.
    fn longest_waiting(
        &mut self,
        candidates: &[Candidate<'_>],
        apart_from: Option<ThreadId>,
    ) -> Option<ThreadId> {
        let mut best: Option<(u64, u64, ThreadId)> = None;
        for candidate in candidates.iter().filter(|it| Some(it.thread) != apart_from) {
            let draw = if self.probability < 1.0 { self.rng.next_u64() } else { 0 };
            let offer = (*self.last.of(candidate.thread), draw, candidate.thread);
            if best.is_none_or(|best| offer < best) {
                best = Some(offer);
            }
        }
        best.map(|(_, _, thread)| thread)
    }
}

impl Policy for InterruptionsPolicy {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        if let Some(current) = choice.candidate(self.running).filter(|_| choice.current == self.running) {
            if self.made > 0
                && self.over.is_none()
                && self.at.is_before(self.effect(self.running, current.op))
                && self.draw()
            {
                self.over = Some(self.running);
            }
            if self.over != Some(self.running) {
                return self.running;
            }
        }
        let next = self.longest_waiting(choice.candidates, self.over);
        let next = next.unwrap_or(choice.candidates[0].thread);
        (self.running, self.made) = (next, 0);
        next
    }

    fn created(&mut self, _thread: ThreadId, parent: ThreadId) {
        // Where stores count, it is left to meet others; where locks do, it goes first.
        match self.at {
            Interruption::AfterLock | Interruption::BeforeLock => self.over = Some(parent),
            Interruption::BeforeStore | Interruption::AfterStore => {}
        }
    }

    fn executed(&mut self, thread: ThreadId, op: &Op) {
        self.steps += 1;
        *self.last.of(thread) = self.steps;
        if thread != self.running {
            (self.running, self.made) = (thread, 0);
        }
        self.made += 1;
        if self.over.is_some_and(|over| over != thread) {
            self.over = None;
        }
        let effect = self.effect(thread, op);
        self.note_update(thread, op);
        if self.at.is_after(effect) && self.draw() {
            self.over = Some(thread);
        }
    }

    fn yielded(&mut self, thread: ThreadId) {
        if self.draw() {
            self.over = Some(thread);
        }
    }
}
