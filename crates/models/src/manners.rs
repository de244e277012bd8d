//! Access-manners (§3.9): how a thread accesses shared variables, lock by lock.
//!
//! An individual access-manner is *usual* if it begins with the lock that makes the number of held locks `L(Ti)` one, and ends
//! with the unlock that makes it zero again. What a thread does while it holds no lock is *unusual*, each such access or unlock by itself
//! (as in Figure 29); so is a manner that the end of its thread, or of the trace, cuts off. No two overlap.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use threadbare_happens_before::Mode;
use threadbare_trace::{Event, EventKind, ThreadId};

use super::operation::{Operation, OperationKind};

/// An individual access-manner, by what is done in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AccessManner(Arc<[Operation]>);

impl AccessManner {
    /// The access-manner of these locks, unlocks, reads and writes.
    pub fn new(operations: impl Into<Arc<[Operation]>>) -> AccessManner {
        AccessManner(operations.into())
    }

    /// What is done, in order.
    pub fn operations(&self) -> &[Operation] {
        &self.0
    }

    /// Whether it begins with taking a lock and ends with releasing the last one.
    pub fn is_usual(&self) -> bool {
        let mut locks = ActiveLocks::default();
        self.0.iter().for_each(|operation| locks.observe(operation));
        self.0.first().is_some_and(|first| first.act.acquires_lock()) && locks.count() == 0
    }

    /// Its accesses to memory, each with the locks that are active then.
    pub fn accesses(&self) -> Vec<(Operation, BTreeMap<u64, Mode>)> {
        let mut locks = ActiveLocks::default();
        let mut accesses = Vec::new();
        for operation in self.0.iter() {
            if operation.act.accesses() {
                accesses.push((*operation, locks.modes()));
            }
            locks.observe(operation);
        }
        accesses
    }
}

/// The locks that a thread holds, recursive ones with their depth.
#[derive(Default)]
struct ActiveLocks {
    held: BTreeMap<u64, (Mode, u32)>,
}

impl ActiveLocks {
    /// `L(Ti)`, where a recursive lock counts once.
    fn count(&self) -> usize {
        self.held.len()
    }

    fn modes(&self) -> BTreeMap<u64, Mode> {
        self.held.iter().map(|(lock, (mode, _))| (*lock, *mode)).collect()
    }

    fn observe(&mut self, operation: &Operation) {
        let lock = operation.operand;
        match operation.act {
            OperationKind::Lock => self.acquire(lock, Mode::Exclusive),
            OperationKind::ReadLock => self.acquire(lock, Mode::Shared),
            OperationKind::Unlock => self.release(lock),
            OperationKind::Read | OperationKind::Write | OperationKind::AtomicRead => {}
            OperationKind::AtomicWrite | OperationKind::Other(_) => {}
        }
    }

    fn acquire(&mut self, lock: u64, mode: Mode) {
        let (held, depth) = self.held.entry(lock).or_insert((mode, 0));
        *held = (*held).max(mode);
        *depth += 1;
    }

    /// To release what is not held changes nothing.
    fn release(&mut self, lock: u64) {
        if let Some((_, depth)) = self.held.get_mut(&lock) {
            *depth -= 1;
            if *depth == 0 {
                self.held.remove(&lock);
            }
        }
    }
}

/// An access-manner at its place in a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MannerOccurrence {
    /// Who acts.
    pub thread: ThreadId,
    /// What is done.
    pub manner: AccessManner,
    /// The event with which it begins.
    pub first: usize,
    /// The event with which it ends.
    pub last: usize,
}

#[derive(Default)]
struct Open {
    locks: ActiveLocks,
    operations: Vec<Operation>,
    first: usize,
    last: usize,
}

impl Open {
    /// Takes an operation in; says whether the manner ends with it.
    fn add(&mut self, index: usize, operation: Operation) -> bool {
        if self.operations.is_empty() {
            self.first = index;
        }
        self.last = index;
        self.locks.observe(&operation);
        self.operations.push(operation);
        self.locks.count() == 0
    }

    fn close(&mut self, thread: ThreadId) -> Option<MannerOccurrence> {
        let operations = std::mem::take(&mut self.operations);
        self.locks = ActiveLocks::default();
        let (first, last) = (self.first, self.last);
        (!operations.is_empty()).then(|| MannerOccurrence {
            thread,
            manner: AccessManner::new(operations),
            first,
            last,
        })
    }
}

/// The access-manners of an execution, in the order in which they begin. Those with the same operations share their memory.
pub fn manner_occurrences(events: &[Event]) -> Vec<MannerOccurrence> {
    let mut open: BTreeMap<ThreadId, Open> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, event) in events.iter().enumerate() {
        let Some(operation) = Operation::of(event) else { continue };
        let thread = event.thread;
        let own = open.entry(thread).or_default();
        let is_over = if let OperationKind::Other(kind) = operation.act {
            kind == EventKind::Exit as u8
        } else {
            own.add(index, operation)
        };
        if is_over {
            found.extend(own.close(thread));
        }
    }
    found.extend(open.iter_mut().filter_map(|(thread, own)| own.close(*thread)));
    found.sort_by_key(|it| it.first);
    let mut shared: HashMap<AccessManner, AccessManner> = HashMap::new();
    for it in &mut found {
        it.manner = shared.entry(it.manner.clone()).or_insert_with(|| it.manner.clone()).clone();
    }
    found
}

/// `MANNERS`: for every thread, the set `Mi` of its distinct access-manners. Two executions with equal ones are race-equivalent
/// (§3.10): they use the same locks for the same accesses, however often and in whatever order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Manners(BTreeMap<ThreadId, BTreeSet<AccessManner>>);

impl Manners {
    /// Those of an execution.
    pub fn of(events: &[Event]) -> Manners {
        Manners::of_occurrences(&manner_occurrences(events))
    }

    /// Those of occurrences that are known already.
    pub fn of_occurrences(occurrences: &[MannerOccurrence]) -> Manners {
        let mut manners = Manners::default();
        for it in occurrences {
            manners.0.entry(it.thread).or_default().insert(it.manner.clone());
        }
        manners
    }

    /// `Mi`.
    pub fn of_thread(&self, thread: ThreadId) -> Option<&BTreeSet<AccessManner>> {
        self.0.get(&thread)
    }

    /// All threads with theirs.
    pub fn threads(&self) -> impl Iterator<Item = (ThreadId, &BTreeSet<AccessManner>)> {
        self.0.iter().map(|(thread, manners)| (*thread, manners))
    }
}

/// `PATHS` (§3.7): everything that each thread did, in its order, whoever went first. Equal ones have equal [`Manners`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Paths(BTreeMap<ThreadId, Vec<Operation>>);

impl Paths {
    /// Those of an execution.
    pub fn of(events: &[Event]) -> Paths {
        let mut paths = Paths::default();
        for event in events {
            paths.0.entry(event.thread).or_default().extend(Operation::of(event));
        }
        paths.0.retain(|_, path| !path.is_empty());
        paths
    }

    /// The path of a thread.
    pub fn of_thread(&self, thread: ThreadId) -> &[Operation] {
        self.0.get(&thread).map_or(&[], Vec::as_slice)
    }
}
