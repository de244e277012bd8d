//! Holds threads back before lock operations, and lets them go in the order that covers synchronization pairs which no
//! execution has shown (Algorithm 1 of Hong et al., "Testing concurrent programs to achieve high synchronization
//! coverage", ISSTA 2012).
//!
//! A thread that is about to take a lock at a place of an uncovered pair is *paused*. When all runnable threads
//! are paused, three rules say whom to let go: one that covers a pair at once, else one that will make another one
//! cover a pair, else the one that has the least to wait for. So a pause never makes a deadlock.
//!
//! Where the paper leaves a choice, the seed makes it. Between lock operations, which the paper leaves to the
//! system, the walk is random.

use std::sync::Arc;

use threadbare_trace::{EventKind, ThreadId};

use super::requirements::{PlaceId, Requirements};
use crate::by_thread::ByThread;
use crate::{COUNTERS, Candidate, Choice, Malformed, Op, Policy, Rng, Specification, Words};

/// A thread that may be let go.
#[derive(Clone, Copy, Debug)]
struct Paused {
    thread: ThreadId,
    lock: u64,
    place: Option<PlaceId>,
}

/// Pauses threads before locks to cover synchronization pairs.
#[derive(Clone, PartialEq, Debug)]
pub struct Tsa {
    /// Whether the third rule holds; without it, one of those paused is drawn.
    pub third_rule: bool,
    /// How likely the running thread continues up to its next lock.
    pub stay_probability: f64,
    /// The pairs to be covered.
    pub requirements: Arc<Requirements>,
}

impl Specification for Tsa {
    type Policy = TsaPolicy;

    fn name(&self) -> String {
        "tsa".to_string()
    }

    fn encode(&self, words: &mut Vec<u64>) {
        words.extend([u64::from(self.third_rule), self.stay_probability.to_bits()]);
        self.requirements.encode(words);
    }

    fn decode(words: &mut Words<'_>) -> Result<Tsa, Malformed> {
        Ok(Tsa {
            third_rule: words.flag()?,
            stay_probability: words.probability()?,
            requirements: Arc::new(Requirements::decode(words)?),
        })
    }

    fn start(self, seed: u64) -> TsaPolicy {
        TsaPolicy {
            rng: Rng::new(seed),
            requirements: Arc::unwrap_or_clone(self.requirements),
            third_rule: self.third_rule,
            paused_before: ByThread::new(),
            last: Vec::new(),
            somebody_spins: false,
            fired: [0; COUNTERS],
            stay_probability: self.stay_probability,
            paused: Vec::with_capacity(64),
            free: Vec::with_capacity(64),
        }
    }
}

/// See the module's description.
#[derive(Clone, Debug)]
pub struct TsaPolicy {
    rng: Rng,
    requirements: Requirements,
    third_rule: bool,
    /// The operation that each thread is paused before.
    paused_before: ByThread<Option<u32>>,
    /// Where each lock was taken last (`loc_last`), in order of the locks; none where no pair begins there.
    last: Vec<(u64, Option<PlaceId>)>,
    /// Somebody spins: it may wait for one that is paused.
    somebody_spins: bool,
    /// How often each rule let a thread go. Without the third rule, its number is that of threads that were drawn.
    fired: [u64; COUNTERS],
    stay_probability: f64,
    /// Scratch: those that may be let go, and the places among the candidates of those that need not be.
    paused: Vec<Paused>,
    free: Vec<usize>,
}

impl TsaPolicy {
    fn is_paused(&mut self, candidate: &Candidate<'_>) -> bool {
        *self.paused_before.of(candidate.thread) == Some(candidate.op.index)
    }

    /// Whether a thread shall wait before its operation (lines 5 to 14).
    fn is_to_pause(&mut self, choice: &Choice<'_>, candidate: &Candidate<'_>) -> bool {
        if !is_lock(candidate.op) {
            return false;
        }
        let place = self.requirements.id(candidate.op.place);
        if place.is_some_and(|place| self.requirements.relevant(place) > 0) {
            return true;
        }
        // Of words that are updated, only those count that are known to be locks.
        if place.is_none() && candidate.op.kind == EventKind::AtomicUpdate {
            return false;
        }
        // It must not get in the way of one that is paused before the same lock.
        let lock = candidate.op.object;
        choice.candidates.iter().any(|other| other.op.object == lock && self.is_paused(other))
    }

    /// A thread that runs because nothing speaks against it; those that shall wait are paused on the way.
    fn free_to_go(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        let mut free = std::mem::take(&mut self.free);
        free.clear();
        free.extend((0..choice.candidates.len()).filter(|index| !self.is_paused(&choice.candidates[*index])));
        let mut chosen = None;
        while !free.is_empty() {
            let pick = self.pick(choice, &free);
            let candidate = choice.candidates[free[pick]];
            if !self.is_to_pause(choice, &candidate) {
                chosen = Some(candidate.thread);
                break;
            }
            *self.paused_before.of(candidate.thread) = Some(candidate.op.index);
            free.swap_remove(pick);
        }
        self.free = free;
        chosen
    }

    fn pick(&mut self, choice: &Choice<'_>, free: &[usize]) -> usize {
        let continues = |index: &usize| {
            let candidate = &choice.candidates[*index];
            candidate.thread == choice.current && !is_lock(candidate.op)
        };
        match free.iter().position(continues) {
            Some(current) if self.rng.unit() < self.stay_probability => current,
            _ => self.rng.below(free.len() as u64) as usize,
        }
    }

    /// Picks the thread to let go among those that are paused (lines 15 to 30); none if nobody is.
    fn let_go(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        let mut paused = std::mem::take(&mut self.paused);
        paused.clear();
        for candidate in choice.candidates {
            if self.is_paused(candidate) {
                let place = self.requirements.id(candidate.op.place);
                paused.push(Paused { thread: candidate.thread, lock: candidate.op.object, place });
            }
        }
        let chosen = self.by_rules(&paused);
        self.paused = paused;
        chosen
    }

    fn by_rules(&mut self, paused: &[Paused]) -> Option<ThreadId> {
        let TsaPolicy { rng, requirements, last, .. } = self;
        let covers_now = |it: &Paused| {
            matches!((last_place(last, it.lock), it.place),
                (Some(first), Some(second)) if requirements.is_uncovered(first, second))
        };
        let makes_cover = |first: &Paused| {
            paused.iter().any(|second| {
                matches!((first.place, second.place), (Some(a), Some(b))
                    if first.lock == second.lock && first.thread != second.thread && requirements.is_uncovered(a, b))
            })
        };
        let relevant = |it: &Paused| it.place.map_or(0, |place| requirements.relevant(place));
        let (rule, chosen) = if let Some(it) = any(rng, paused, covers_now) {
            (0, it)
        } else if let Some(it) = any(rng, paused, makes_cover) {
            (1, it)
        } else if self.third_rule {
            let least = paused.iter().map(relevant).min();
            (2, any(rng, paused, |it| Some(relevant(it)) == least)?)
        } else {
            (2, any(rng, paused, |_| true)?)
        };
        self.fired[rule] += 1;
        Some(chosen.thread)
    }
}

/// One of those that fit, each as likely as the others.
fn any<'a>(rng: &mut Rng, all: &'a [Paused], fits: impl Fn(&Paused) -> bool) -> Option<&'a Paused> {
    let mut chosen = None;
    let mut count = 0;
    for it in all.iter().filter(|it| fits(it)) {
        count += 1;
        if rng.below(count) == 0 {
            chosen = Some(it);
        }
    }
    chosen
}

fn is_lock(op: &Op) -> bool {
    op.kind.acquires_lock() || op.kind == EventKind::AtomicUpdate
}

fn last_place(last: &[(u64, Option<PlaceId>)], lock: u64) -> Option<PlaceId> {
    let index = last.binary_search_by_key(&lock, |(lock, _)| *lock).ok()?;
    last[index].1
}

impl Policy for TsaPolicy {
    const NEEDS_LOCK_PLACES: bool = true;

    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        if std::mem::take(&mut self.somebody_spins)
            && let Some(thread) = self.let_go(choice)
        {
            return thread;
        }
        let chosen = self.free_to_go(choice).or_else(|| self.let_go(choice));
        chosen.unwrap_or(choice.candidates[0].thread)
    }

    fn acquired(&mut self, _thread: ThreadId, op: &Op) {
        let place = self.requirements.id(op.place);
        match self.last.binary_search_by_key(&op.object, |(lock, _)| *lock) {
            Ok(index) => {
                let before = std::mem::replace(&mut self.last[index].1, place);
                if let (Some(first), Some(second)) = (before, place) {
                    self.requirements.cover(first, second);
                }
            }
            Err(index) if place.is_some() => self.last.insert(index, (op.object, place)),
            Err(_) => {}
        }
    }

    fn executed(&mut self, _thread: ThreadId, op: &Op) {
        // Another lock may be made in its memory.
        if op.kind == EventKind::Destroy
            && let Ok(index) = self.last.binary_search_by_key(&op.object, |(lock, _)| *lock)
        {
            self.last.remove(index);
        }
    }

    fn yielded(&mut self, _thread: ThreadId) {
        self.somebody_spins = true;
    }

    fn counters(&self) -> [u64; COUNTERS] {
        self.fired
    }
}
