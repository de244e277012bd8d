//! A serial execution, but for a few operations whose order is given.
//!
//! Threads are not preempted, except that each *turn* lets one thread run up to an operation, or until it has made it. So an
//! execution differs from a serial one in hardly more than the order of these operations, and two executions with different
//! turns differ in hardly more than that from each other: what one of them comes to and the other one does not is the
//! order's doing.
//!
//! A thread whose turn comes later is held back before its operation, or before the lock of the critical section that it
//! is in. When nobody else is runnable, all turns that are left are given up.

use threadbare_trace::ThreadId;

use crate::{Candidate, Choice, Malformed, Op, Policy, Specification, Words};

/// An operation of a thread, known by its code and how often the thread has made it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instance {
    /// The code address that announces it.
    pub site: u64,
    /// What it is made on; 0 if that does not matter.
    pub object: u64,
    /// The how many-th by its thread, counted from 1.
    pub number: u32,
}

impl Instance {
    fn fits(&self, op: &Op) -> bool {
        self.site == op.site && (self.object == 0 || self.object == op.object)
    }

    fn encode(&self, words: &mut Vec<u64>) {
        words.extend([self.site, self.object, u64::from(self.number)]);
    }

    fn decode(words: &mut Words<'_>) -> Result<Instance, Malformed> {
        Ok(Instance { site: words.word()?, object: words.word()?, number: words.number()? })
    }
}

/// What a thread does before the next turn begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// The thread.
    pub thread: ThreadId,
    /// How far it runs.
    pub operation: Instance,
    /// The operation before which it waits for its turn; the same if it can wait anywhere.
    pub gate: Instance,
    /// It makes the operation; otherwise it only comes to the gate.
    pub makes: bool,
}

/// Nobody is preempted but for these turns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turns {
    turns: Vec<Turn>,
    first: ThreadId,
}

impl Turns {
    /// More turns than this are hardly ever taken.
    const MOST: usize = 8;

    /// These turns; after them this thread goes first whenever it can. None if there are too many.
    pub fn new(turns: Vec<Turn>, first: ThreadId) -> Option<Turns> {
        (turns.len() <= Self::MOST).then_some(Turns { turns, first })
    }
}

impl Specification for Turns {
    type Policy = TurnsPolicy;

    fn name(&self) -> String {
        "turns".to_string()
    }

    fn encode(&self, words: &mut Vec<u64>) {
        words.extend([u64::from(self.first.0), self.turns.len() as u64]);
        for turn in &self.turns {
            words.extend([u64::from(turn.thread.0), u64::from(turn.makes)]);
            turn.operation.encode(words);
            turn.gate.encode(words);
        }
    }

    fn decode(words: &mut Words<'_>) -> Result<Turns, Malformed> {
        let first = words.thread()?;
        let turns = words.list(|words| {
            let (thread, makes) = (words.thread()?, words.flag()?);
            let (operation, gate) = (Instance::decode(words)?, Instance::decode(words)?);
            Ok(Turn { thread, operation, gate, makes })
        })?;
        Turns::new(turns, first).ok_or(Malformed)
    }

    fn start(self, _seed: u64) -> TurnsPolicy {
        let made = vec![(0, 0); self.turns.len()];
        TurnsPolicy { turns: self.turns, first: self.first, next: 0, made }
    }
}

/// See the module's description.
#[derive(Clone, Debug)]
pub struct TurnsPolicy {
    turns: Vec<Turn>,
    first: ThreadId,
    /// The turn that is being taken.
    next: usize,
    /// How often the thread of each turn has made its operation and its gate.
    made: Vec<(u32, u32)>,
}

impl TurnsPolicy {
    /// Whether the thread of a turn is about to make its operation, or is at its gate.
    fn is_there(&self, place: usize, op: &Op) -> bool {
        let (turn, (made, gates)) = (&self.turns[place], self.made[place]);
        let is_next = |instance: &Instance, made: u32| instance.fits(op) && made + 1 == instance.number;
        is_next(&turn.operation, made) || is_next(&turn.gate, gates)
    }

    /// Whether a thread waits for a later turn.
    fn is_held(&self, candidate: &Candidate<'_>) -> bool {
        let rest = self.turns.iter().enumerate().skip(self.next);
        let mut own = rest.filter(|(_, turn)| turn.thread == candidate.thread);
        own.next().is_some_and(|(place, _)| place > self.next && self.is_there(place, candidate.op))
    }

    /// Ends turns that only lead up to an operation.
    fn end_turns(&mut self, choice: &Choice<'_>) {
        while let Some(turn) = self.turns.get(self.next).filter(|turn| !turn.makes) {
            match choice.candidate(turn.thread) {
                Some(candidate) if self.is_there(self.next, candidate.op) => self.next += 1,
                _ => break,
            }
        }
    }
}

impl Policy for TurnsPolicy {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        self.end_turns(choice);
        let turn = self.turns.get(self.next).map(|turn| turn.thread);
        let preferred = turn.into_iter().chain([self.first, choice.current]);
        let mut ready = preferred.filter_map(|thread| choice.candidate(thread)).chain(choice.candidates);
        if let Some(next) = ready.find(|candidate| !self.is_held(candidate)) {
            return next.thread;
        }
        self.next = self.turns.len();
        choice.stay_or_first()
    }

    fn executed(&mut self, thread: ThreadId, op: &Op) {
        for (turn, (made, gates)) in self.turns.iter().zip(&mut self.made) {
            if turn.thread == thread {
                *made += u32::from(turn.operation.fits(op));
                *gates += u32::from(turn.gate.fits(op));
            }
        }
        let is_over = |turn: &Turn, (made, _): (u32, u32)| turn.makes && made >= turn.operation.number;
        while self.turns.get(self.next).is_some_and(|turn| is_over(turn, self.made[self.next])) {
            self.next += 1;
        }
    }
}
