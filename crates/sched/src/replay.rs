//! A list of switches named by events, then no further preemption.

use threadbare_trace::ThreadId;

use crate::divergence::{Divergence, Reason};
use crate::{Choice, Policy};

/// One switch: `from` stops before its operation number `op`, and `to` goes on. If both are the same there
/// is no switch: the thread goes on at least that far, and what comes then is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// The thread that stops.
    pub from: ThreadId,
    /// The operation it was about to make, counted from 1 in its thread.
    pub op: u32,
    /// The thread that goes on.
    pub to: ThreadId,
}

/// Follows a list of switches and notes where that was not possible.
///
/// The engine asks [`Replay::stop_at`] where the running thread has to stop, even at an operation
/// that is no scheduling point otherwise; it tells [`Replay::at`] where the running thread stands
/// before every call of `choose`, which it makes even if only one thread can go on.
///
/// After a divergence the rest of the list is followed as far as it applies.
#[derive(Clone, Debug)]
pub struct Replay {
    turns: Vec<Turn>,
    next: usize,
    /// The running thread and the operation before which it stands.
    place: (ThreadId, u32),
    divergence: Option<Divergence>,
    /// After the list, main goes on only where nobody else can.
    main_last: bool,
}

impl Replay {
    /// Follows these switches.
    pub fn new(turns: Vec<Turn>) -> Replay {
        Replay { turns, next: 0, place: (ThreadId::MAIN, 0), divergence: None, main_last: false }
    }

    /// Follows these switches, and then lets everybody else come to an end before main: when main ends the
    /// process ends, and what others would have done is not seen.
    pub fn with_main_last(turns: Vec<Turn>) -> Replay {
        Replay { main_last: true, ..Replay::new(turns) }
    }

    fn choose_freely(&self, choice: &Choice<'_>) -> ThreadId {
        if !self.main_last {
            return choice.stay_or_first();
        }
        let runs_on = Some(choice.current).filter(|thread| choice.candidate(*thread).is_some());
        let others = choice.candidates.iter().map(|candidate| candidate.thread);
        let mut ready = runs_on.into_iter().chain(others);
        ready.find(|thread| *thread != ThreadId::MAIN).unwrap_or(ThreadId::MAIN)
    }

    /// The operation before which `thread` has to stop next; `u32::MAX` if the next switch is not
    /// about this thread.
    #[inline]
    pub fn stop_at(&self, thread: ThreadId) -> u32 {
        match self.turns.get(self.next) {
            Some(turn) if turn.from == thread => turn.op,
            _ => u32::MAX,
        }
    }

    /// The running thread stands before its operation number `index` (it may be unable to make it).
    pub fn at(&mut self, current: ThreadId, index: u32) {
        self.place = (current, index);
        while let Some(&turn) = self.turns.get(self.next) {
            if turn.from != current || turn.op >= index {
                break;
            }
            self.diverge(Reason::WentPast { thread: turn.from, op: turn.op });
            self.next += 1;
        }
    }

    /// The first switch that did not happen as asked.
    pub fn divergence(&self) -> Option<Divergence> {
        self.divergence
    }

    /// How many switches have not been made yet. What is left when the run ends did not happen.
    pub fn left(&self) -> usize {
        self.turns.len() - self.next
    }

    /// Notes why the switch about to be made, or just taken from the list, cannot be made.
    fn diverge(&mut self, reason: Reason) {
        let number = self.next as u64 + u64::from(!matches!(reason, Reason::CannotGoOn { .. }));
        self.divergence.get_or_insert(Divergence { number, reason });
    }
}

impl Policy for Replay {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        let (current, index) = self.place;
        let Some(&turn) = self.turns.get(self.next) else { return self.choose_freely(choice) };
        if (turn.from, turn.op) == (current, index) {
            self.next += 1;
            if turn.to == turn.from && choice.candidate(current).is_some() {
                return current;
            }
            let mut to = turn.to;
            while choice.candidate(to).is_none() {
                // A thread that cannot go on hands over at once to the one it would have gone to.
                match self.turns.get(self.next) {
                    Some(passing) if passing.from == to => to = passing.to,
                    _ => {
                        self.diverge(Reason::CannotGoOn { thread: turn.to });
                        return choice.stay_or_first();
                    }
                }
                self.diverge(Reason::CannotGoOn { thread: turn.to });
                self.next += 1;
            }
            return to;
        } else if choice.candidate(current).is_none() {
            self.diverge(Reason::StoppedElsewhere {
                thread: current,
                op: index,
                expected: turn.from,
                expected_op: turn.op,
            });
            // The thread that the schedule stops next brings the run closest to it.
            if choice.candidate(turn.from).is_some() {
                return turn.from;
            }
        }
        choice.stay_or_first()
    }

    /// Wherever the original gave way there is a switch in the list. Only where the list does not
    /// fit may a thread spin for nothing, and then not for ever. After the list it is as under any other policy.
    fn patience(&self) -> u32 {
        const USUAL: u32 = 16;
        if self.left() == 0 { USUAL } else { 2000 }
    }
}
