//! The thread model (§2.2.1): the lock actions of one run, each with what the acceptance conditions ask of it.
//!
//! A *lock action* is a step that takes a mutex, a spin lock or a read-write lock, in either way, or a word of
//! memory that is used as a lock (see [`super::lock_words`]). An attempt that got the lock is one, an
//! attempt that failed is none. Taking a re-entrant lock again is one: in the paper's programs each nested
//! `synchronized` is a lock statement. A condition wait takes its mutex again, but is none: as in the paper
//! only lock statements are, and `wait` is not one of them. For the locks that are held it counts.
//!
//! Loops execute the same few statements again and again in the same circumstances. So actions that no condition
//! can distinguish are one *group*.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use threadbare_happens_before::{HeldLock, LockSetId, LockSets, Mode, Rules, Stamp, ThreadClocks};
use threadbare_trace::{EventKind, ThreadId};

use super::Precision;
use super::lock_names::LockNames;
use super::lock_words::with_lock_words;
use crate::{ObservedExecution, PlacePair};

/// A moment of a thread, by its number in [`Model::moments`].
pub(super) type Moment = usize;

/// A neighbour of an action: one of the same thread on the same lock, with none between them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Neighbour {
    /// The locks that the thread holds from the one action to the other: lockset(p, p').
    pub(super) guards: LockSetId,
    /// When it was; the same for all where only thread creation counts, so that they are not distinguished.
    pub(super) moment: Moment,
}

/// Lock actions that no condition can distinguish.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Group {
    /// thread(p).
    pub(super) thread: ThreadId,
    /// operand(p).
    pub(super) lock: u64,
    /// loc(p).
    pub(super) place: u64,
    /// Whether it is taken alone.
    pub(super) mode: Mode,
    /// lockset(p): what the thread holds when it begins.
    pub(super) held: LockSetId,
    /// When it is.
    pub(super) moment: Moment,
    /// prev(p).
    pub(super) previous: Option<Neighbour>,
    /// next(p).
    pub(super) next: Option<Neighbour>,
}

/// The lock actions of one run.
pub(super) struct Model {
    /// All groups, in the order of their first actions.
    pub(super) groups: Vec<Group>,
    /// Pairs that one thread executes one after the other (AC1).
    pub(super) successive: BTreeSet<PlacePair>,
    /// All sets of locks.
    pub(super) locks: LockSets,
    /// Moments, with what is known to have come before each.
    pub(super) moments: Vec<Stamp>,
}

/// The last action of a thread on a lock.
struct Pending {
    group: Group,
    /// What the thread held when it had the lock.
    then: Arc<Vec<HeldLock>>,
}

impl Model {
    /// The model of a run.
    pub(super) fn of(seen: &ObservedExecution<'_>, precision: Precision) -> Model {
        let mut builder = Builder::new(precision);
        for (index, event) in with_lock_words(seen.events).iter().enumerate() {
            let Some(kind) = event.kind() else { continue };
            builder.names.observe(event, kind);
            builder.order.before(event, kind);
            if let Some(named) = builder.names.named(event, kind) {
                let mode = match kind {
                    EventKind::Lock => Some(Mode::Exclusive),
                    EventKind::ReadLock => Some(Mode::Shared),
                    // The others that name a lock release it, or take it again after a wait: no acquisition of the paper's.
                    _ => None,
                };
                let action =
                    mode.map(|mode| builder.begin(named.thread, named.addr, seen.place(event), mode));
                builder.locks.observe(index, &named, kind);
                action.into_iter().for_each(|group| builder.end(group));
            }
            builder.order.after(event, kind);
        }
        builder.finish()
    }

    /// Whether one moment comes before another one, by what the model's order counts.
    pub(super) fn precedes(&self, earlier: Moment, later: Moment) -> bool {
        let (earlier, later) = (&self.moments[earlier], &self.moments[later]);
        earlier.epoch.thread != later.epoch.thread && earlier.precedes(later)
    }
}

struct Builder {
    precision: Precision,
    names: LockNames,
    locks: LockSets,
    order: ThreadClocks,
    moments: Vec<Stamp>,
    /// The last moment of each thread.
    latest: HashMap<ThreadId, Moment>,
    pending: HashMap<(ThreadId, u64), Pending>,
    known: HashSet<Group>,
    groups: Vec<Group>,
    successive: BTreeSet<PlacePair>,
}

impl Builder {
    fn new(precision: Precision) -> Builder {
        let rules = match precision {
            Precision::Paper => Rules::Created,
            Precision::Refined => Rules::Awaited,
        };
        Builder {
            precision,
            names: LockNames::default(),
            locks: LockSets::default(),
            order: ThreadClocks::new(rules),
            moments: Vec::new(),
            latest: HashMap::new(),
            pending: HashMap::new(),
            known: HashSet::new(),
            groups: Vec::new(),
            successive: BTreeSet::new(),
        }
    }

    fn moment(&mut self, thread: ThreadId) -> Moment {
        let stamp = self.order.stamp(thread);
        if let Some(latest) = self.latest.get(&thread)
            && Arc::ptr_eq(&self.moments[*latest].clock, &stamp.clock)
        {
            return *latest;
        }
        self.moments.push(stamp);
        self.latest.insert(thread, self.moments.len() - 1);
        self.moments.len() - 1
    }

    /// A thread is about to take a lock: the action before it has got its next one.
    fn begin(&mut self, thread: ThreadId, lock: u64, place: u64, mode: Mode) -> Group {
        let moment = self.moment(thread);
        let neighbour = |guards, moment| {
            let moment = if self.precision == Precision::Refined { moment } else { 0 };
            Neighbour { guards, moment }
        };
        let mut previous = None;
        if let Some(Pending { mut group, then }) = self.pending.remove(&(thread, lock)) {
            let now = Arc::clone(self.locks.held(thread));
            let guards = self.locks.kept(&then, &now);
            previous = Some(neighbour(guards, group.moment));
            group.next = Some(neighbour(guards, moment));
            self.successive.insert(PlacePair { first: group.place, second: place });
            self.add(group);
        }
        let held = self.locks.current(thread);
        Group { thread, lock, place, mode, held, moment, previous, next: None }
    }

    /// The thread has the lock.
    fn end(&mut self, group: Group) {
        let then = Arc::clone(self.locks.held(group.thread));
        self.pending.insert((group.thread, group.lock), Pending { group, then });
    }

    fn add(&mut self, group: Group) {
        if self.known.insert(group) {
            self.groups.push(group);
        }
    }

    fn finish(mut self) -> Model {
        let mut last: Vec<Group> = self.pending.drain().map(|(_, pending)| pending.group).collect();
        last.sort_by_key(|group| (group.thread, group.lock));
        last.into_iter().for_each(|group| self.add(group));
        let Builder { groups, successive, locks, moments, .. } = self;
        Model { groups, successive, locks, moments }
    }
}
