//! From events to steps: what a thread does between two moments at which others may run.

use std::collections::{BTreeMap, HashMap};

use threadbare_trace::{Event, EventKind, LockManner, ThreadId, kinds};

use crate::action::{Action, Kept, MemoryRange};

/// One step as a trace shows it.
#[derive(Clone, Debug)]
pub struct ReadStep {
    /// Who made it.
    pub thread: ThreadId,
    /// Which operation of its thread it is.
    pub op: u32,
    /// The code that announced it.
    pub pc: u64,
    /// A hash of its thread's state; 0 if that is not known.
    pub state_hash: u32,
    /// What it did.
    pub actions: Vec<Action>,
}

/// A trace as steps.
#[derive(Clone, Default, Debug)]
pub struct Reading {
    /// The steps, in the order in which they began.
    pub steps: Vec<ReadStep>,
    /// The step of each event, [`Reading::NO_STEP`] for events that are none.
    pub of_event: Vec<u32>,
    /// What was in memory before, as far as the first access to it shows.
    pub initial: HashMap<MemoryRange, u64>,
    /// How many tokens semaphores had before.
    pub tokens: HashMap<u64, u64>,
}

impl Reading {
    /// Stands for no step.
    pub const NO_STEP: u32 = u32::MAX;

    /// Reads a trace of which it is known for each access whether anything depends on the values.
    pub fn of(events: &[Event], matters: &dyn Fn(&Event) -> bool) -> Reading {
        let mut reading = Reading::default();
        let mut latest: HashMap<ThreadId, u32> = HashMap::new();
        let mut words: HashMap<u64, u64> = HashMap::new();
        let mut touched = Touched::default();
        let mut handed_over = HandedOver::default();
        for event in events {
            let Some(action) = Action::of(event) else {
                reading.of_event.push(Self::NO_STEP);
                continue;
            };
            let action = if matters(event) { action } else { action.without_values() };
            reading.take_note_of(event);
            if let Some((extent, _)) = action.accesses()
                && !reading.initial.contains_key(&extent)
                && touched.touch(extent)
                && extent.len <= 8
            {
                // Even if nothing depends on what this step sees: something may depend on it that another one could see.
                let writes = event.kind().is_some_and(EventKind::writes);
                reading.initial.insert(extent, if writes { event.old } else { event.value });
            }
            let index = match latest.get(&event.thread) {
                Some(&index) if reading.steps[index as usize].op == event.op => index,
                _ => {
                    let index = reading.steps.len() as u32;
                    let (thread, op, pc) = (event.thread, event.op, event.pc);
                    let state_hash = event.state_hash();
                    reading.steps.push(ReadStep { thread, op, pc, state_hash, actions: Vec::new() });
                    latest.insert(thread, index);
                    index
                }
            };
            reading.of_event.push(index);
            let actions = &mut reading.steps[index as usize].actions;
            if event.kind() == Some(EventKind::FutexWait)
                && let Some(&word) = words.get(&event.addr)
            {
                actions.push(Action::Read(MemoryRange { addr: event.addr, len: 4 }, Some(word)));
            }
            match OnceWord::of(event) {
                Some(word) => {
                    reading.initial.entry(word.extent).or_insert(word.before);
                    actions.extend(word.actions(action));
                }
                None => actions.push(action),
            }
            actions.extend(handed_over.action(event));
            actions.extend(of_robust_lock(event));
            let left_behind = action.write().or_else(|| action.read());
            if let Some((MemoryRange { addr, len: 4 }, Some(value))) = left_behind {
                words.insert(addr, value);
            }
        }
        reading
    }

    /// Whoever comes first to a semaphore shows what it was before.
    fn take_note_of(&mut self, event: &Event) {
        if let Some(before) = event.tokens_before() {
            self.tokens.entry(event.addr).or_insert(before);
        }
    }
}

/// Whether a routine that runs once has been run, as a word of memory that only its critical section accesses.
struct OnceWord {
    extent: MemoryRange,
    kind: EventKind,
    /// What was there before this event.
    before: u64,
    /// The routine was left before its end.
    is_left: bool,
}

impl OnceWord {
    fn of(event: &Event) -> Option<OnceWord> {
        let kind = event.kind().filter(|kind| matches!(kind, kinds!(once)))?;
        let extent = MemoryRange { addr: event.addr | MemoryRange::ELSEWHERE, len: 4 };
        Some(OnceWord {
            extent,
            kind,
            before: u64::from(kind == EventKind::OnceSeen),
            is_left: event.value != 0,
        })
    }

    /// What a step does with the word, and with the lock around it.
    fn actions(&self, locks: Action) -> Vec<Action> {
        match (self.kind, locks) {
            (EventKind::OnceBegin, _) => vec![locks, Action::Read(self.extent, Some(0))],
            (EventKind::OnceSeen, Action::Acquire { lock, .. }) => {
                vec![locks, Action::Read(self.extent, Some(1)), Action::Release(lock)]
            }
            // Only the end of the routine is left: `of` lets no other kind through.
            _ if self.is_left => vec![locks],
            _ => vec![Action::Write(self.extent, Some(1)), locks],
        }
    }
}

/// A lock that tells what became of its last owner: who is that, and what was done about it, is only known in recorded order.
fn of_robust_lock(event: &Event) -> Option<Action> {
    let manner = LockManner::from_number(event.old);
    let is_robust = event.kind() == Some(EventKind::Lock) && manner.is_robust;
    is_robust.then(|| Action::Keep(Kept::Lock(event.addr), u64::from(manner.owner_died)))
}

/// What threads hand to each other past memory, as words that one writes and the other one reads: the argument of a thread, and
/// its result. A thread that was given something else is in another state, and so is one that joined a thread with
/// another result.
#[derive(Default)]
struct HandedOver {
    arguments: HashMap<ThreadId, u64>,
    results: HashMap<ThreadId, u64>,
}

impl HandedOver {
    /// What a step does with such a word, besides what it is recorded for.
    fn action(&mut self, event: &Event) -> Option<Action> {
        use EventKind::*;
        let kind = event.kind().filter(|kind| matches!(kind, kinds!(thread)))?;
        let other = ThreadId(event.value as u16);
        match kind {
            Create => {
                self.arguments.insert(other, event.addr);
                Some(Action::Write(Self::word(other, 0), Some(event.addr)))
            }
            // Main is not created here.
            Start => {
                let argument = self.arguments.get(&event.thread)?;
                Some(Action::Read(Self::word(event.thread, 0), Some(*argument)))
            }
            Exit => {
                self.results.insert(event.thread, event.value);
                Some(Action::Write(Self::word(event.thread, 1), Some(event.value)))
            }
            Join if event.size != 0 => {
                Some(Action::Read(Self::word(other, 1), Some(*self.results.get(&other)?)))
            }
            Join | Detach | JoinFailed | Cancel => None,
            // The filter lets nothing else through.
            _ => None,
        }
    }

    fn word(thread: ThreadId, which: u64) -> MemoryRange {
        MemoryRange { addr: MemoryRange::ELSEWHERE | 1 << 62 | u64::from(thread.0) << 4 | which << 3, len: 8 }
    }
}

/// The memory that has been accessed, as stretches that do not overlap.
#[derive(Default)]
struct Touched {
    /// By beginning: the end.
    stretches: BTreeMap<u64, u64>,
}

impl Touched {
    /// Notes an access; says whether none of its bytes had been accessed before.
    fn touch(&mut self, extent: MemoryRange) -> bool {
        let (mut begin, mut end) = (extent.addr, extent.end());
        let mut is_first = true;
        while let Some((&other_begin, &other_end)) = self.stretches.range(..end).next_back() {
            if other_end <= extent.addr {
                break;
            }
            is_first = false;
            self.stretches.remove(&other_begin);
            (begin, end) = (begin.min(other_begin), end.max(other_end));
        }
        self.stretches.insert(begin, end);
        is_first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u16, op: u32, kind: EventKind, addr: u64, value: u64) -> Event {
        let size = if kind.accesses_memory() { 4 } else { 0 };
        Event { thread: ThreadId(thread), op, kind: kind as u8, addr, value, size, ..Event::default() }
    }

    #[test]
    fn what_has_no_operation_of_its_own_belongs_to_the_one_before() {
        let reading = Reading::of(
            &[
                event(1, 0, EventKind::Start, 0, 0),
                event(1, 1, EventKind::Write, 8, 3),
                event(2, 1, EventKind::Read, 8, 3),
                event(0, 0, EventKind::Alloc, 8, 3),
                event(2, 1, EventKind::Exit, 0, 0),
            ],
            &|_| true,
        );
        assert_eq!(reading.of_event, [0, 1, 2, Reading::NO_STEP, 2]);
        let result = Action::Write(HandedOver::word(ThreadId(2), 1), Some(0));
        assert_eq!(reading.steps[2].actions[1..], [Action::Exit, result]);
    }

    #[test]
    fn threads_are_given_arguments_and_hand_results_over() {
        let joined = |size| Event { size, ..event(1, 2, EventKind::Join, 0, 2) };
        let reading = Reading::of(
            &[
                event(1, 1, EventKind::Create, 7, 2),
                event(2, 0, EventKind::Start, 0, 0),
                event(2, 0, EventKind::Exit, 0, 9),
                joined(0),
                joined(8),
            ],
            &|_| true,
        );
        let [argument, result] = [0, 1].map(|which| HandedOver::word(ThreadId(2), which));
        let made: Vec<Vec<Action>> = reading.steps.into_iter().map(|step| step.actions).collect();
        assert_eq!(made[0], [Action::Create(ThreadId(2)), Action::Write(argument, Some(7))]);
        let of_child =
            [Action::Start(0), Action::Read(argument, Some(7)), Action::Exit, Action::Write(result, Some(9))];
        assert_eq!(made[1], of_child);
        let join = Action::Join(ThreadId(2));
        assert_eq!(made[2], [join, join, Action::Read(result, Some(9))]);
    }

    #[test]
    fn the_first_access_shows_what_was_there_before() {
        let mut first = event(1, 1, EventKind::Write, 8, 3);
        first.old = 7;
        let reading = Reading::of(&[first, event(1, 2, EventKind::SemPost, 16, 1)], &|_| true);
        assert_eq!(reading.initial[&MemoryRange { addr: 8, len: 4 }], 7);
        assert_eq!(reading.tokens[&16], 0);
    }

    #[test]
    fn bytes_that_were_written_before_show_nothing() {
        let mut part = event(1, 2, EventKind::Read, 4, 3);
        part.size = 2;
        let reading = Reading::of(&[event(1, 1, EventKind::Write, 4, 3), part], &|_| true);
        assert_eq!(reading.initial.len(), 1);
        let mut touched = Touched::default();
        let free: Vec<bool> = [(0, 4), (8, 4), (4, 4), (2, 20), (30, 1)]
            .into_iter()
            .map(|(addr, len)| touched.touch(MemoryRange { addr, len }))
            .collect();
        assert_eq!(free, [true, true, true, false, true]);
        assert_eq!(touched.stretches, BTreeMap::from([(0, 22), (30, 31)]));
    }

    #[test]
    fn a_routine_that_runs_once_is_a_critical_section_with_a_word() {
        let reading = Reading::of(
            &[
                event(1, 1, EventKind::OnceBegin, 8, 0),
                event(1, 2, EventKind::OnceEnd, 8, 0),
                event(2, 1, EventKind::OnceSeen, 8, 0),
            ],
            &|_| true,
        );
        let word = MemoryRange { addr: 8 | MemoryRange::ELSEWHERE, len: 4 };
        let enter = Action::Acquire { lock: 8, shared: false, tries: false };
        let made: Vec<Vec<Action>> = reading.steps.into_iter().map(|step| step.actions).collect();
        assert_eq!(made[0], [enter, Action::Read(word, Some(0))]);
        assert_eq!(made[1], [Action::Write(word, Some(1)), Action::Release(8)]);
        assert_eq!(made[2], [enter, Action::Read(word, Some(1)), Action::Release(8)]);
        assert_eq!(reading.initial[&word], 0);
    }

    #[test]
    fn a_sleep_on_a_futex_reads_its_word() {
        let reading = Reading::of(
            &[event(1, 1, EventKind::AtomicWrite, 8, 3), event(1, 2, EventKind::FutexWait, 8, 0)],
            &|_| true,
        );
        assert_eq!(reading.steps[1].actions[0], Action::Read(MemoryRange { addr: 8, len: 4 }, Some(3)));
    }
}
