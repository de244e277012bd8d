//! An execution without preemptions, and where it shows that others could come in between.

use threadbare_trace::{Event, EventKind, ThreadId};

use super::between::OpId;
use crate::{Choice, Malformed, Op, Policy, Rng, Specification, Words};

/// Operations that are kept: what comes after them is not looked at.
const MOST_OPERATIONS: usize = 4_000;

/// Nobody is preempted, and what is done to memory is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Journaled;

impl Specification for Journaled {
    type Policy = Journal;

    fn name(&self) -> String {
        "nobody interrupted".to_string()
    }

    fn encode(&self, _words: &mut Vec<u64>) {}

    fn decode(_words: &mut Words<'_>) -> Result<Journaled, Malformed> {
        Ok(Journaled)
    }

    fn start(self, _seed: u64) -> Journal {
        Journal::default()
    }
}

/// What an execution without preemptions does to memory, and the policy that records it.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    accesses: Vec<Access>,
    /// Who was created by whom, and how many accesses there had been.
    births: Vec<(ThreadId, ThreadId, usize)>,
}

#[derive(Clone, Copy, Debug)]
struct Access {
    id: OpId,
    kind: EventKind,
    object: u64,
    /// How many there had been before.
    position: usize,
}

impl Access {
    fn is_update(&self) -> bool {
        self.kind == EventKind::AtomicUpdate
    }
}

impl Policy for Journal {
    fn choose(&mut self, choice: &Choice<'_>) -> ThreadId {
        choice.stay_or_first()
    }

    fn executed(&mut self, thread: ThreadId, op: &Op) {
        self.note(OpId { thread, op: op.index }, op.kind, op.object);
    }

    fn created(&mut self, thread: ThreadId, parent: ThreadId) {
        self.births.push((thread, parent, self.accesses.len()));
    }

    fn journal(&self) -> Option<&Journal> {
        Some(self)
    }
}

impl Journal {
    /// The journal of an execution that was made already.
    pub fn of(events: &[Event]) -> Journal {
        let mut journal = Journal::default();
        for event in events {
            match event.kind() {
                Some(EventKind::Create) => journal.created(ThreadId(event.value as u16), event.thread),
                Some(kind) => journal.note(OpId { thread: event.thread, op: event.op }, kind, event.addr),
                None => {}
            }
        }
        journal
    }

    fn note(&mut self, id: OpId, kind: EventKind, object: u64) {
        if kind.accesses_memory() && self.accesses.len() < MOST_OPERATIONS {
            self.accesses.push(Access { id, kind, object, position: self.accesses.len() });
        }
    }

    /// Whether an access was made by the thread's creator before it was there.
    fn precedes(&self, access: &Access, thread: ThreadId) -> bool {
        self.births.iter().any(|(born, parent, position)| {
            (*born, *parent) == (thread, access.id.thread) && access.position < *position
        })
    }
}

/// Where a thread could be held, and what another one could do meanwhile, so that two accesses to the same memory are
/// no longer as if nobody had come in between.
#[derive(Clone, Debug, Default)]
pub struct Intrusions {
    /// Those to be tried first are last.
    left: Vec<(OpId, OpId)>,
}

impl Intrusions {
    /// The most that are kept of each sort.
    const MOST: usize = 64;
    /// The most that are looked at.
    const MOST_DRAWN: u64 = 200_000;

    /// Those that an execution shows, in random order. Those between what a thread reads and what it then writes
    /// come first: there it acts on what it has seen. An update fails if it finds something else, so nothing is
    /// expected of a write that cannot have put back what was there.
    pub fn shown_by(journal: &Journal, seed: u64) -> Intrusions {
        let mut rng = Rng::new(seed);
        let [mut acting, mut unlikely, mut others] = [Drawn::default(), Drawn::default(), Drawn::default()];
        let mut accesses = journal.accesses.clone();
        // Stable: each thread's accesses stay in order.
        accesses.sort_by_key(|access| (access.object, access.id.thread.0));
        for same in accesses.chunk_by(|one, next| one.object == next.object) {
            for pair in same.windows(2) {
                let [before, after] = [&pair[0], &pair[1]];
                if before.id.thread != after.id.thread || (before.is_update() && after.is_update()) {
                    continue;
                }
                let acts = !before.kind.writes() && after.kind.writes();
                let both_write = before.kind.writes() && after.kind.writes();
                let thread = after.id.thread;
                // Between two writes, a read sees what it should not; everywhere else it takes a write.
                let intrudes = |other: &&Access| {
                    other.id.thread != thread
                        && other.kind.writes() != both_write
                        && !journal.precedes(other, thread)
                };
                for other in same.iter().filter(intrudes) {
                    if acting.seen + unlikely.seen + others.seen > Self::MOST_DRAWN {
                        break;
                    }
                    let sort = match acts {
                        true if after.is_update() && is_first_write(other, same) => &mut unlikely,
                        true => &mut acting,
                        false => &mut others,
                    };
                    sort.offer((after.id, other.id), &mut rng);
                }
            }
        }
        let mut left = others.shuffled(&mut rng);
        left.extend(unlikely.shuffled(&mut rng));
        left.extend(acting.shuffled(&mut rng));
        Intrusions { left }
    }

    /// The next one to try.
    pub fn take(&mut self) -> Option<(OpId, OpId)> {
        self.left.pop()
    }
}

fn is_first_write(access: &Access, same: &[Access]) -> bool {
    let writes = |one: &&Access| one.id.thread == access.id.thread && one.kind.writes();
    same.iter().find(writes).is_some_and(|first| first.position == access.position)
}

/// A fair choice of a few out of many.
#[derive(Default)]
struct Drawn {
    kept: Vec<(OpId, OpId)>,
    seen: u64,
}

impl Drawn {
    fn offer(&mut self, intrusion: (OpId, OpId), rng: &mut Rng) {
        self.seen += 1;
        if self.kept.len() < Intrusions::MOST {
            self.kept.push(intrusion);
            return;
        }
        let place = rng.below(self.seen) as usize;
        if let Some(kept) = self.kept.get_mut(place) {
            *kept = intrusion;
        }
    }

    fn shuffled(mut self, rng: &mut Rng) -> Vec<(OpId, OpId)> {
        rng.shuffle(&mut self.kept);
        self.kept
    }
}
