//! The accesses of a trace to variables that threads share.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use threadbare_order::{MemoryRange, Path, StepId};
use threadbare_patterns::{AccessType, Limits, MemoryAccess, ObjectId, Objects, SiteId, VariableChange};
use threadbare_trace::{Event, EventKind, ThreadId};

/// How many accesses from one site to one variable by one thread patterns are made of. Those of long loops are alike.
const MOST_ALIKE: usize = 4;

/// Memory and what was in it. Values of different memory say nothing about each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Content {
    addr: u64,
    size: u8,
    value: u64,
}

/// One access of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Access {
    /// Where it comes among all accesses of the trace.
    pub(super) place: usize,
    /// The step it belongs to.
    pub(super) step: StepId,
    pub(super) thread: ThreadId,
    pub(super) site: SiteId,
    pub(super) object: ObjectId,
    pub(super) manner: AccessType,
    /// What it saw or left; none if that is not known.
    content: Option<Content>,
    /// It is half of an operation that reads and writes at once.
    pub(super) updates: bool,
}

impl Access {
    pub(super) fn writes(&self) -> bool {
        self.manner == AccessType::Writes
    }

    /// The value it saw or left.
    pub(super) fn value(&self) -> Option<u64> {
        self.content.map(|content| content.value)
    }

    /// The memory, and the value it saw or left there.
    pub(super) fn content(&self) -> Option<(MemoryRange, u64)> {
        self.content.map(|it| (MemoryRange { addr: it.addr, len: u64::from(it.size) }, it.value))
    }

    /// Whether a read that follows this write would see just what it saw.
    pub(super) fn leaves_what_was_seen_by(&self, read: &Access) -> bool {
        self.content.is_some() && self.content == read.content
    }
}

/// The accesses of a trace.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    /// In order.
    all: Vec<Access>,
    /// By variable that more than one thread accesses, and somebody writes: the accesses that patterns are made of.
    shared: BTreeMap<ObjectId, Vec<usize>>,
    /// By variable and thread: all accesses.
    of_thread: HashMap<(ObjectId, ThreadId), Vec<usize>>,
    /// Some were left out.
    pub(super) is_cut: bool,
}

impl Accesses {
    /// Reads them from a trace whose steps are known.
    pub(super) fn of(events: &[Event], path: &Path) -> Accesses {
        let limits = Limits::default();
        let mut objects = Objects::new(Vec::new(), &limits);
        let mut accesses = Accesses::default();
        let mut changes = Vec::new();
        for (index, event) in events.iter().enumerate() {
            objects.observe(index, event, &mut changes);
            for change in changes.drain(..) {
                if let (VariableChange::Access(access), Some(step)) = (change, path.step_of(index)) {
                    accesses.add(access, event, step);
                }
            }
        }
        accesses.choose();
        accesses
    }

    fn add(&mut self, access: MemoryAccess, event: &Event, step: StepId) {
        let MemoryAccess { thread, site, object, manner, .. } = access;
        let updates = event.kind() == Some(EventKind::AtomicUpdate);
        let value = if updates && manner == AccessType::Reads { event.old } else { event.value };
        let Event { addr, size, .. } = *event;
        let content = (1..=8).contains(&size).then_some(Content { addr, size, value });
        let place = self.all.len();
        self.all.push(Access { place, step, thread, site, object, manner, content, updates });
        self.of_thread.entry((object, thread)).or_default().push(place);
    }

    fn choose(&mut self) {
        let mut threads: HashMap<ObjectId, BTreeSet<ThreadId>> = HashMap::new();
        let mut written: BTreeSet<ObjectId> = BTreeSet::new();
        for access in &self.all {
            threads.entry(access.object).or_default().insert(access.thread);
            if access.writes() {
                written.insert(access.object);
            }
        }
        let mut alike: HashMap<(ObjectId, ThreadId, SiteId, AccessType), usize> = HashMap::new();
        for access in &self.all {
            let is_shared = written.contains(&access.object) && threads[&access.object].len() > 1;
            if !is_shared {
                continue;
            }
            let count = alike.entry((access.object, access.thread, access.site, access.manner)).or_default();
            *count += 1;
            if *count <= MOST_ALIKE {
                self.shared.entry(access.object).or_default().push(access.place);
            } else {
                self.is_cut = true;
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Access> {
        self.all.iter()
    }

    pub(super) fn get(&self, place: usize) -> &Access {
        &self.all[place]
    }

    /// The variables that threads share, with the accesses that patterns are made of.
    pub(super) fn shared(&self) -> impl Iterator<Item = &[usize]> {
        self.shared.values().map(Vec::as_slice)
    }

    /// The reads that saw what another thread wrote, each with what they would have seen if no other thread had written:
    /// what their own thread wrote, or what was there at the beginning.
    pub(super) fn disturbed<'a>(
        &'a self,
        path: &'a Path,
    ) -> impl Iterator<Item = (&'a Access, MemoryRange, u64)> {
        let chosen = self.shared.values().flatten().map(|place| &self.all[*place]);
        chosen.filter(|access| !access.writes()).filter_map(|read| {
            let Content { addr, size, value } = read.content?;
            let extent = MemoryRange { addr, len: u64::from(size) };
            let own = self.of_thread.get(&(read.object, read.thread))?.iter().map(|place| &self.all[*place]);
            let own = own.take_while(|it| it.place < read.place).filter(|it| it.writes()).last();
            let undisturbed = match own {
                Some(write) => write.content.filter(|it| (it.addr, it.size) == (addr, size))?.value,
                None => path.initial(extent)?,
            };
            (undisturbed != value).then_some((read, extent, undisturbed))
        })
    }

    /// All accesses of a thread to a variable between two places.
    pub(super) fn between(
        &self,
        object: ObjectId,
        thread: ThreadId,
        (from, to): (usize, usize),
    ) -> impl Iterator<Item = &Access> {
        let own = self.of_thread.get(&(object, thread)).map_or(&[][..], Vec::as_slice);
        let first = own.partition_point(|place| *place <= from);
        own[first..].iter().take_while(move |place| **place < to).map(|place| &self.all[*place])
    }
}
