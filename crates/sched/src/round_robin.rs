//! Each thread in turn.

use threadbare_trace::ThreadId;

use crate::{Choice, Op, Policy, PolicySpec};

/// Lets every thread make the same number of steps before the next one has its turn.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    turn: u32,
    running: ThreadId,
    made: u32,
}

impl RoundRobin {
    /// Turns of `spec.size` steps (0 counts as 1).
    pub fn new(spec: &PolicySpec) -> RoundRobin {
        RoundRobin { turn: spec.size.max(1), running: ThreadId::MAIN, made: 0 }
    }
}

impl Policy for RoundRobin {
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

    fn gave_way(&mut self, thread: ThreadId) {
        if thread == self.running {
            self.made = self.turn;
        }
    }
}
