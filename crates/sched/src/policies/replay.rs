//! A list of switches named by events, then no further preemption.

use threadbare_trace::{SwitchRecord, ThreadId};

use crate::divergence::{Divergence, DivergenceReason};
use crate::{Choice, Malformed, Policy, Specification, Words};

/// One switch: `from` stops before its operation number `op`, and `to` runs. If both are the same there
/// is no switch: the thread runs at least that far, and what comes then is open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SwitchPoint {
    /// The thread that stops.
    pub from: ThreadId,
    /// The operation it was about to make, counted from 1 in its thread.
    pub op: u32,
    /// The thread that runs from there on.
    pub to: ThreadId,
}

impl SwitchPoint {
    pub(super) fn encode(&self, words: &mut Vec<u64>) {
        words.extend([u64::from(self.from.0), u64::from(self.op), u64::from(self.to.0)]);
    }

    pub(super) fn decode(words: &mut Words<'_>) -> Result<SwitchPoint, Malformed> {
        Ok(SwitchPoint { from: words.thread()?, op: words.number()?, to: words.thread()? })
    }
}

impl From<&SwitchRecord> for SwitchPoint {
    fn from(record: &SwitchRecord) -> SwitchPoint {
        SwitchPoint { from: record.from, op: record.op, to: record.to }
    }
}

/// Follows a list of switches and notes where that was not possible.
///
/// After a divergence the rest of the list is followed as far as it applies.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Replay {
    /// The switches.
    pub switches: Vec<SwitchPoint>,
    /// After the list everybody else comes to an end before main: when main ends the process ends, and what others
    /// would have done is not seen.
    pub main_last: bool,
}

impl Replay {
    /// Follows the switches that an execution made.
    pub fn of(records: &[SwitchRecord]) -> Replay {
        Replay { switches: records.iter().map(SwitchPoint::from).collect(), main_last: false }
    }
}

impl Specification for Replay {
    type Policy = ReplayPolicy;

    fn name(&self) -> String {
        "replay".to_string()
    }

    fn encode(&self, words: &mut Vec<u64>) {
        words.extend([u64::from(self.main_last), self.switches.len() as u64]);
        self.switches.iter().for_each(|switch| switch.encode(words));
    }

    fn decode(words: &mut Words<'_>) -> Result<Replay, Malformed> {
        Ok(Replay { main_last: words.flag()?, switches: words.list(SwitchPoint::decode)? })
    }

    fn start(self, _seed: u64) -> ReplayPolicy {
        ReplayPolicy {
            switches: self.switches,
            next: 0,
            place: (ThreadId::MAIN, 0),
            divergence: None,
            main_last: self.main_last,
        }
    }
}

/// See [`Replay`].
#[derive(Clone, Debug)]
pub struct ReplayPolicy {
    switches: Vec<SwitchPoint>,
    next: usize,
    /// The running thread and the operation that it has reached.
    place: (ThreadId, u32),
    divergence: Option<Divergence>,
    main_last: bool,
}

impl ReplayPolicy {
    fn choose_freely(&self, choice: &Choice<'_>) -> ThreadId {
        if !self.main_last {
            return choice.stay_or_first();
        }
        let runs_on = Some(choice.current).filter(|thread| choice.candidate(*thread).is_some());
        let others = choice.candidates.iter().map(|candidate| candidate.thread);
        let mut ready = runs_on.into_iter().chain(others);
        ready.find(|thread| *thread != ThreadId::MAIN).unwrap_or(ThreadId::MAIN)
    }

    /// How many switches have not been made yet. What is left when the execution ends did not happen.
    fn left(&self) -> usize {
        self.switches.len() - self.next
    }

    /// Notes why the switch about to be made, or just taken from the list, cannot be made.
    fn diverge(&mut self, reason: DivergenceReason) {
        let number = self.next as u64 + u64::from(!matches!(reason, DivergenceReason::NotRunnable { .. }));
        self.divergence.get_or_insert(Divergence { number, reason });
    }
}

impl Policy for ReplayPolicy {
    const OBSERVES_STEPS: bool = false;

    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        let (current, index) = self.place;
        let Some(&switch) = self.switches.get(self.next) else { return self.choose_freely(choice) };
        if (switch.from, switch.op) == (current, index) {
            self.next += 1;
            if switch.to == switch.from && choice.candidate(current).is_some() {
                return current;
            }
            let mut to = switch.to;
            while choice.candidate(to).is_none() {
                // A thread that is not runnable hands over at once to the one it would have switched to.
                match self.switches.get(self.next) {
                    Some(passing) if passing.from == to => to = passing.to,
                    _ => {
                        self.diverge(DivergenceReason::NotRunnable { thread: switch.to });
                        return choice.stay_or_first();
                    }
                }
                self.diverge(DivergenceReason::NotRunnable { thread: switch.to });
                self.next += 1;
            }
            return to;
        } else if choice.candidate(current).is_none() {
            self.diverge(DivergenceReason::StoppedElsewhere {
                thread: current,
                op: index,
                expected: switch.from,
                expected_op: switch.op,
            });
            // The thread that the schedule stops next brings the run closest to it.
            if choice.candidate(switch.from).is_some() {
                return switch.from;
            }
        }
        choice.stay_or_first()
    }

    /// Wherever the original yielded there is a switch in the list. Only where the list does not
    /// fit may a thread spin for nothing, and then not for ever. After the list it is as under any other policy.
    fn spin_limit(&self) -> u32 {
        const USUAL: u32 = 16;
        if self.left() == 0 { USUAL } else { 2000 }
    }

    fn forces_switches(&self) -> bool {
        true
    }

    fn has_switches_left(&self) -> bool {
        self.left() > 0
    }

    fn reached(&mut self, thread: ThreadId, op: u32) {
        self.place = (thread, op);
        while let Some(&switch) = self.switches.get(self.next) {
            if switch.from != thread || switch.op >= op {
                break;
            }
            self.diverge(DivergenceReason::WentPast { thread: switch.from, op: switch.op });
            self.next += 1;
        }
    }

    #[inline]
    fn stop_before(&self, thread: ThreadId) -> Option<u32> {
        self.switches.get(self.next).filter(|switch| switch.from == thread).map(|switch| switch.op)
    }

    fn divergence(&self) -> Option<Divergence> {
        self.divergence
    }
}
