//! Each thread in turn.

use threadbare_trace::ThreadId;

use crate::{Choice, Malformed, Op, Policy, Specification, Words};

/// Lets every thread make the same number of steps before the next one has its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoundRobin {
    /// How many; 0 counts as 1.
    pub turn: u32,
}

impl Specification for RoundRobin {
    type Policy = RoundRobinPolicy;

    fn name(&self) -> String {
        let plural = if self.turn == 1 { "" } else { "s" };
        format!("round-robin ({} step{plural} a turn)", self.turn)
    }

    fn encode(&self, words: &mut Vec<u64>) {
        words.push(u64::from(self.turn));
    }

    fn decode(words: &mut Words<'_>) -> Result<RoundRobin, Malformed> {
        Ok(RoundRobin { turn: words.number()? })
    }

    fn start(self, _seed: u64) -> RoundRobinPolicy {
        RoundRobinPolicy { turn: self.turn.max(1), running: ThreadId::MAIN, made: 0 }
    }
}

/// See [`RoundRobin`].
#[derive(Clone, Debug)]
pub struct RoundRobinPolicy {
    turn: u32,
    running: ThreadId,
    made: u32,
}

impl Policy for RoundRobinPolicy {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        let turn_is_over = self.made >= self.turn || choice.current != self.running;
        if !turn_is_over && choice.candidate(self.running).is_some() {
            return self.running;
        }
        let next = choice.candidates.iter().find(|candidate| candidate.thread > choice.current);
        next.unwrap_or(&choice.candidates[0]).thread
    }

    fn executed(&mut self, thread: ThreadId, _op: &Op) {
        if thread != self.running {
            self.running = thread;
            self.made = 0;
        }
        self.made += 1;
    }

    fn yielded(&mut self, thread: ThreadId) {
        if thread == self.running {
            self.made = self.turn;
        }
    }
}
