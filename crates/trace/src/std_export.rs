//! The STD format of the RAPID tools: one operation a line, `thread|op(arg)|loc`.
//!
//! STD knows reads, writes, exclusive locks, fork and join. Everything else is written as the
//! nearest thing that orders and excludes the same steps:
//!
//! * An access becomes one `r` or `w` for each *cell* it covers. Cells are the pieces into which all
//!   accesses of the trace cut the memory, so two accesses share a variable exactly where they overlap.
//!   A freed block is written; memory that is allocated again gets new variables.
//! * An atomic access happens under a lock of its cell: atomics do not race with each other, but do
//!   with plain accesses. An update is a read and a write under that lock.
//! * A mutex is a lock; of a recursive one only the outermost pair is written.
//! * A reader-writer lock is one lock for each thread that reads, and one more: a reader takes
//!   its own, a writer takes them all. Readers do not exclude readers.
//! * A condition wait releases its mutex and takes it again. Signal and wake each take and release
//!   a lock of the condition, and so do the two sides of a semaphore, a barrier, a futex.
//! * A once-routine runs under a lock; whoever comes later takes and releases it.
//!
//! What has no counterpart is left out, and the map says how often and why.

mod cells;
mod locks;
mod map;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use crate::{Event, EventKind, ThreadId, TraceFile};
use cells::Cells;
use locks::{Duty, Locks};

/// A trace in the STD format, and what its numbers stand for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StdExport {
    /// The lines of the trace.
    pub trace: String,
    /// What threads, variables, locks and locations are called, and what was left out.
    pub map: String,
}

impl StdExport {
    /// Writes the events of an execution in the STD format.
    pub fn new(file: &TraceFile) -> StdExport {
        let mut writer = Writer {
            file,
            trace: String::new(),
            cells: Cells::of(file.events()),
            locks: Locks::default(),
            readers: readers(file.events()),
            locations: Locations::default(),
            threads: BTreeSet::new(),
            notes: BTreeMap::new(),
            waiting: HashMap::new(),
        };
        for (index, event) in file.events().iter().enumerate() {
            writer.event(index, event);
        }
        let map = map::text(&writer);
        StdExport { trace: writer.trace, map }
    }
}

/// Which threads read under which lock.
fn readers(events: &[Event]) -> HashMap<u64, BTreeSet<ThreadId>> {
    let mut readers: HashMap<u64, BTreeSet<ThreadId>> = HashMap::new();
    for event in events.iter().filter(|event| event.kind() == Some(EventKind::ReadLock)) {
        readers.entry(event.addr).or_default().insert(event.thread);
    }
    readers
}

/// Numbers for places in the code; 0 is for those without a name.
#[derive(Default)]
struct Locations {
    numbers: HashMap<String, usize>,
    names: Vec<(String, Option<String>)>,
}

/// The trace so far.
struct Writer<'a> {
    file: &'a TraceFile,
    trace: String,
    cells: Cells,
    locks: Locks,
    readers: HashMap<u64, BTreeSet<ThreadId>>,
    locations: Locations,
    threads: BTreeSet<ThreadId>,
    /// What was left out or added, why, and how often.
    notes: BTreeMap<[&'static str; 3], usize>,
    /// How deep the mutex of a condition wait was held.
    waiting: HashMap<(ThreadId, u64), usize>,
}

impl Writer<'_> {
    fn event(&mut self, index: usize, event: &Event) {
        use EventKind::*;
        self.threads.insert(event.thread);
        let Some(kind) = event.kind() else { return self.leave_out("unknown step", "its kind is not known") };
        let name = self.file.object(index).unwrap_or("memory without a name").to_string();
        let at = Here { thread: event.thread, location: self.location(event), name: &name };
        match kind {
            Read | ReadRange => self.access(&at, event, "r", false),
            Write | WriteRange => self.access(&at, event, "w", false),
            AtomicRead | AtomicFailed => self.access(&at, event, "r", true),
            AtomicWrite => self.access(&at, event, "w", true),
            AtomicUpdate => self.access(&at, event, "rw", true),
            Free => {
                for variable in self.cells.in_use(event.addr, event.value) {
                    self.line(at.thread, "w", 'V', variable, at.location);
                }
            }
            Alloc => self.forget(event.addr, event.value),
            // A new call uses stack that was an earlier call's.
            Frame => self.forget(event.value, event.addr.saturating_sub(event.value)),
            Lock => self.lock(&at, event.addr),
            ReadLock => self.acquire(&at, Duty::Reader(event.thread), event.addr, 1),
            Unlock => self.unlock(&at, event.addr),
            CondWait => {
                let mutex = Here { name: self.file.value_name(index).unwrap_or(at.name), ..at };
                let depth = self.release(&mutex, Duty::Mutex, event.value, usize::MAX);
                self.waiting.insert((at.thread, event.value), depth.unwrap_or(1));
            }
            CondWake | CondTimeout => {
                if kind == CondWake {
                    self.touch(&at, Duty::Condition, event.addr);
                }
                let mutex = Here { name: self.file.value_name(index).unwrap_or(at.name), ..at };
                let depth = self.waiting.remove(&(at.thread, event.value)).unwrap_or(1);
                self.acquire(&mutex, Duty::Mutex, event.value, depth);
            }
            CondSignal | CondBroadcast => self.touch(&at, Duty::Condition, event.addr),
            BarrierArrive | BarrierLeave => self.touch(&at, Duty::Barrier, event.addr),
            SemWait | SemPost => self.touch(&at, Duty::Semaphore, event.addr),
            FutexWoken | FutexWake => self.touch(&at, Duty::Futex, event.addr),
            OnceBegin => self.acquire(&at, Duty::Once, event.addr, 1),
            OnceEnd => {
                self.release(&at, Duty::Once, event.addr, 1);
            }
            OnceSeen => self.touch(&at, Duty::Once, event.addr),
            Create => self.line(at.thread, "fork", 'T', event.value as usize, at.location),
            Join => self.line(at.thread, "join", 'T', event.value as usize, at.location),
            Fence => self.leave_out(kind.word(), "the locks around atomic accesses order more than it does"),
            LockFailed | SemFailed | JoinFailed | FutexWait | FutexTimeout => {
                self.leave_out(kind.word(), "it took nothing and orders nothing");
            }
            Start | Exit => self.leave_out(kind.word(), "fork and join stand for it"),
            Init | Destroy | Detach | Yield | Sleep => self.leave_out(kind.word(), "it orders nothing"),
            Io | Cancel | Signal | Process | End | LibraryCall => {
                self.leave_out(kind.word(), "STD has nothing for it; the order it makes is missing");
            }
        }
    }

    /// Writes a line for each cell of an access.
    fn access(&mut self, at: &Here<'_>, event: &Event, operations: &str, atomic: bool) {
        for (variable, start) in self.cells.covered(event, at.name) {
            let name = self.cells.name(variable).to_string();
            let here = Here { name: &name, ..*at };
            if atomic {
                self.acquire(&here, Duty::Atomic, start, 1);
            }
            for operation in ["r", "w"].into_iter().filter(|operation| operations.contains(operation)) {
                self.line(at.thread, operation, 'V', variable, at.location);
            }
            if atomic {
                self.release(&here, Duty::Atomic, start, 1);
            }
        }
    }

    /// Takes note that memory is used for something else from now on.
    fn forget(&mut self, start: u64, length: u64) {
        self.cells.forget(start, length);
        self.locks.forget(start, length);
    }

    /// Takes a mutex, or a reader-writer lock to write.
    fn lock(&mut self, at: &Here<'_>, address: u64) {
        self.acquire(at, Duty::Mutex, address, 1);
        for reader in self.readers.get(&address).cloned().unwrap_or_default() {
            self.acquire(at, Duty::Reader(reader), address, 1);
        }
    }

    /// Releases whatever the thread holds of a lock.
    fn unlock(&mut self, at: &Here<'_>, address: u64) {
        let readers = self.readers.get(&address).cloned().unwrap_or_default();
        let writes = self.locks.holder(Duty::Mutex, address) == Some(at.thread);
        if readers.contains(&at.thread) && !writes {
            self.release(at, Duty::Reader(at.thread), address, 1);
            return;
        }
        for reader in readers.into_iter().rev() {
            self.release(at, Duty::Reader(reader), address, 1);
        }
        self.release(at, Duty::Mutex, address, 1);
    }

    /// Takes and releases a lock, which orders this step after all earlier ones that did.
    fn touch(&mut self, at: &Here<'_>, duty: Duty, address: u64) {
        self.acquire(at, duty, address, 1);
        self.release(at, duty, address, 1);
    }

    fn acquire(&mut self, at: &Here<'_>, duty: Duty, address: u64, depth: usize) {
        let lock = self.locks.number(duty, address, at.name);
        // A robust mutex whose owner died is taken without having been released.
        if let Some(other) = self.locks.held_by_another(lock, at.thread) {
            self.line(other, "rel", 'L', lock, at.location);
            self.note("added", "unlock", "the lock was taken from a thread that held it");
        }
        if self.locks.acquire(lock, at.thread, depth) {
            self.line(at.thread, "acq", 'L', lock, at.location);
        }
    }

    /// Releases a lock by so many levels; gives how deep it was held.
    fn release(&mut self, at: &Here<'_>, duty: Duty, address: u64, levels: usize) -> Option<usize> {
        let lock = self.locks.number(duty, address, at.name);
        let Some((holder, depth, free)) = self.locks.release(lock, levels) else {
            self.leave_out("unlock", "the lock was not held, or taken before the trace began");
            return None;
        };
        if free {
            self.line(holder, "rel", 'L', lock, at.location);
        }
        Some(depth)
    }

    fn line(&mut self, thread: ThreadId, operation: &str, sort: char, number: usize, location: usize) {
        let _ = writeln!(self.trace, "{thread}|{operation}({sort}{number})|{location}");
    }

    fn leave_out(&mut self, what: &'static str, why: &'static str) {
        self.note("left out", what, why);
    }

    fn note(&mut self, sort: &'static str, what: &'static str, why: &'static str) {
        *self.notes.entry([sort, what, why]).or_default() += 1;
    }

    fn location(&mut self, event: &Event) -> usize {
        let Some(site) = self.file.site(event.pc, event.context) else { return 0 };
        let mut name = site.label.clone();
        site.column.iter().for_each(|column| name.push_str(&format!(":{column}")));
        let next = self.locations.names.len() + 1;
        let number = *self.locations.numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.locations.names.push((name, site.function.clone()));
        }
        number
    }
}

/// Who does something where, and with what.
#[derive(Clone, Copy)]
struct Here<'a> {
    thread: ThreadId,
    location: usize,
    name: &'a str,
}
