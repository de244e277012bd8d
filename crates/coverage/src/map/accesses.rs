//! Who accesses a variable, from where, and what excludes others meanwhile.
//!
//! Facts of several executions are put together: what is said to exclude others has done so every time.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use threadbare_happens_before::{HeldLock, LockSets, Mode};
use threadbare_patterns::{AccessType, MemoryAccess, ObjectId, SiteId};
use threadbare_trace::{Event, EventKind, ThreadId};

use super::access_order::{AccessOrder, Moment};

/// An access that a thread makes at a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct SiteAccess {
    pub thread: ThreadId,
    pub manner: AccessType,
    pub site: SiteId,
}

/// Locks that are held, with how.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Locks(Vec<(u64, Mode)>);

impl Locks {
    fn of(held: &[HeldLock]) -> Locks {
        Locks(held.iter().map(|it| (it.lock, it.mode)).collect())
    }

    /// Those of one critical section that reaches from one moment to the other.
    pub fn throughout(before: &[HeldLock], after: &[HeldLock]) -> Locks {
        let goes_on =
            |it: &&HeldLock| after.iter().any(|other| (other.lock, other.since) == (it.lock, it.since));
        Locks(before.iter().filter(goes_on).map(|it| (it.lock, it.mode)).collect())
    }

    /// Leaves what is in both, held in the weaker of the two ways.
    pub fn keep_common(&mut self, other: &Locks) {
        self.0.retain_mut(|(lock, mode)| {
            let same = other.0.iter().find(|(it, _)| it == lock);
            *mode = same.map_or(*mode, |(_, other)| *other.min(mode));
            same.is_some()
        });
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether nobody can hold these while somebody holds the others.
    pub fn exclude(&self, others: &Locks) -> bool {
        let excludes = |(lock, mode): &(u64, Mode)| {
            others.0.iter().any(|(other, way)| lock == other && mode.excludes(*way))
        };
        self.0.iter().any(excludes)
    }
}

/// What is true of an access every time that it is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Circumstances {
    /// Where in the program's own code it is made, as a code address.
    pub place: u64,
    /// The locks that are held.
    pub locks: Locks,
    /// Its thread writes the variable again before it gives these up; none if it may not write again.
    pub rewritten_under: Locks,
    /// Its thread has written the variable since it took these.
    pub written_under: Locks,
    /// It is the reading half of an atomic update.
    pub is_updated: bool,
    /// Threads that have been joined by then.
    pub joined: BTreeSet<ThreadId>,
    /// Threads that cannot have begun by then.
    pub unborn: BTreeSet<ThreadId>,
    /// Threads that had been joined when its thread last wrote the variable, before this.
    pub written_joined: BTreeSet<ThreadId>,
    /// Threads that cannot have begun when its thread writes the variable next.
    pub rewritten_unborn: BTreeSet<ThreadId>,
}

impl Circumstances {
    fn keep_common(&mut self, other: &Circumstances) {
        self.locks.keep_common(&other.locks);
        self.rewritten_under.keep_common(&other.rewritten_under);
        self.written_under.keep_common(&other.written_under);
        self.is_updated &= other.is_updated;
        let keep = |own: &mut BTreeSet<ThreadId>, theirs: &BTreeSet<ThreadId>| {
            own.retain(|it| theirs.contains(it));
        };
        keep(&mut self.joined, &other.joined);
        keep(&mut self.unborn, &other.unborn);
        keep(&mut self.written_joined, &other.written_joined);
        keep(&mut self.rewritten_unborn, &other.rewritten_unborn);
    }
}

/// What is known of one variable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Variable {
    /// The fewest bytes that were accessed with it, and where they begin.
    pub bytes: (u64, u64),
    /// All accesses to it.
    pub site_accesses: BTreeMap<SiteAccess, Circumstances>,
    /// Two accesses of one thread between which it does not write, with the locks that it keeps all the time.
    pub spans: BTreeMap<(SiteAccess, SiteAccess), Locks>,
}

impl Variable {
    /// Takes in what other executions have shown of it.
    pub fn merge(&mut self, other: Variable) {
        if self.site_accesses.is_empty() || other.bytes < self.bytes {
            self.bytes = other.bytes;
        }
        for (site_access, facts) in other.site_accesses {
            self.site_accesses
                .entry(site_access)
                .and_modify(|known| known.keep_common(&facts))
                .or_insert(facts);
        }
        for (span, locks) in other.spans {
            self.spans.entry(span).and_modify(|known| known.keep_common(&locks)).or_insert(locks);
        }
    }
}

/// An access after which its thread has not written the variable yet.
#[derive(Clone)]
struct Open {
    site_access: SiteAccess,
    event: usize,
    held: Arc<Vec<HeldLock>>,
    joined: Arc<BTreeSet<ThreadId>>,
}

/// How many threads somebody had created at the latest, of all times that an access was made.
#[derive(Clone, Copy, Default)]
struct Created {
    /// When it was made.
    by_then: usize,
    /// When the thread wrote the variable next; the largest number if it did not.
    when_rewritten: usize,
}

/// A variable in the execution that is looked at.
#[derive(Clone, Default)]
struct Touched {
    variable: Variable,
    /// For each thread its last write and what it has read since.
    open: HashMap<ThreadId, Vec<Open>>,
    created: HashMap<SiteAccess, Created>,
}

impl Touched {
    /// What is open now is not followed by a write.
    fn end(&mut self) {
        for open in self.open.drain().flat_map(|(_, open)| open) {
            if let Some(facts) = self.variable.site_accesses.get_mut(&open.site_access) {
                facts.rewritten_under = Locks::default();
            }
            self.created.entry(open.site_access).or_default().when_rewritten = usize::MAX;
        }
    }
}

/// What one execution shows, event by event.
#[derive(Default)]
pub(super) struct Observed {
    variables: HashMap<ObjectId, Touched>,
    locks: LockSets,
    joined: HashMap<ThreadId, Arc<BTreeSet<ThreadId>>>,
    /// The threads that each thread has created, in order.
    children: HashMap<ThreadId, Vec<ThreadId>>,
    access_orders: BTreeMap<ThreadId, AccessOrder>,
    accesses: usize,
}

impl Observed {
    /// Takes in an event, before the accesses that it is made of.
    pub fn event(&mut self, index: usize, event: &Event) {
        let Some(kind) = event.kind() else { return };
        self.locks.observe(index, event, kind);
        let Ok(other) = u16::try_from(event.value).map(ThreadId) else { return };
        match kind {
            EventKind::Create => {
                let known = self.joined.get(&event.thread).cloned().unwrap_or_default();
                self.joined.insert(other, known);
                self.children.entry(event.thread).or_default().push(other);
            }
            EventKind::Join => {
                let theirs = self.joined.get(&other).cloned().unwrap_or_default();
                let known = Arc::make_mut(self.joined.entry(event.thread).or_default());
                known.extend(theirs.iter());
                known.insert(other);
            }
            // Only creation and join order all that two threads do.
            _ => {}
        }
    }

    /// Takes in an access, made at this place of the program's own code, to bytes of this number and beginning.
    pub fn access(&mut self, access: &MemoryAccess, place: u64, bytes: (u64, u64), is_update: bool) {
        let MemoryAccess { thread, manner, site, .. } = *access;
        let site_access = SiteAccess { thread, manner, site };
        let held = Arc::clone(self.locks.held(thread));
        self.accesses += 1;
        let now = Moment { event: access.event, place: self.accesses, held: Arc::clone(&held) };
        self.access_orders.entry(thread).or_default().access(access.object, site_access, now);
        let touched = self.variables.entry(access.object).or_default();
        if touched.variable.site_accesses.is_empty() || bytes < touched.variable.bytes {
            touched.variable.bytes = bytes;
        }
        let children = self.children.get(&thread).map_or(0, Vec::len);
        touched.created.entry(site_access).or_default().by_then = children;
        let joined = self.joined.get(&thread).cloned().unwrap_or_default();
        let open = touched.open.entry(thread).or_default();
        let write = open.first().filter(|it| it.site_access.manner == AccessType::Writes);
        let facts = Circumstances {
            place,
            locks: Locks::of(&held),
            // Until it is known to be less, see `end` and below.
            rewritten_under: Locks::of(&held),
            written_under: write.map_or_else(Locks::default, |it| Locks::throughout(&it.held, &held)),
            is_updated: is_update && manner == AccessType::Reads,
            joined: BTreeSet::clone(&joined),
            written_joined: write.map_or_else(BTreeSet::new, |it| BTreeSet::clone(&it.joined)),
            // What is created later is known at the end.
            unborn: BTreeSet::new(),
            rewritten_unborn: BTreeSet::new(),
        };
        let Variable { site_accesses, spans, .. } = &mut touched.variable;
        site_accesses.entry(site_access).and_modify(|known| known.keep_common(&facts)).or_insert(facts);
        for earlier in open.iter() {
            let throughout = Locks::throughout(&earlier.held, &held);
            if manner == AccessType::Writes
                && let Some(facts) = site_accesses.get_mut(&earlier.site_access)
            {
                facts.rewritten_under.keep_common(&throughout);
                let created = touched.created.entry(earlier.site_access).or_default();
                created.when_rewritten = created.when_rewritten.max(children);
            }
            // The halves of an update are one step: nobody comes in between.
            if earlier.event != access.event {
                let span = spans.entry((earlier.site_access, site_access));
                span.and_modify(|known| known.keep_common(&throughout)).or_insert(throughout);
            }
        }
        if manner == AccessType::Writes {
            open.clear();
        }
        // Of the same read again the first one stays: it has the longer way to what follows, and fewer locks all along.
        if open.iter().all(|it| it.site_access != site_access) {
            open.push(Open { site_access, event: access.event, held, joined });
        }
    }

    /// A part of a variable is one by itself from now on.
    pub fn split(&mut self, whole: ObjectId, part: ObjectId) {
        if let Some(touched) = self.variables.get(&whole).cloned() {
            self.variables.insert(part, touched);
            self.access_orders.values_mut().for_each(|access_order| access_order.split(whole, part));
        }
    }

    /// The memory of a variable becomes something else.
    pub fn forget(&mut self, object: ObjectId) {
        if let Some(touched) = self.variables.get_mut(&object) {
            touched.end();
        }
    }

    /// What each thread did, one after the other.
    pub fn take_walks(&mut self) -> BTreeMap<ThreadId, AccessOrder> {
        std::mem::take(&mut self.access_orders)
    }

    /// All that was shown of variables.
    pub fn finish(self) -> impl Iterator<Item = (ObjectId, Variable)> {
        let Observed { variables, children, .. } = self;
        variables.into_iter().map(move |(object, mut touched)| {
            touched.end();
            for (site_access, facts) in &mut touched.variable.site_accesses {
                let created = touched.created.get(site_access).copied().unwrap_or_default();
                let own = children.get(&site_access.thread).map_or(&[][..], Vec::as_slice);
                for (since, family) in [
                    (created.by_then, &mut facts.unborn),
                    (created.when_rewritten, &mut facts.rewritten_unborn),
                ] {
                    own.iter().skip(since).for_each(|child| add_family(*child, &children, family));
                }
            }
            (object, touched.variable)
        })
    }
}

/// Adds a thread and all that it has created, and so on.
fn add_family(
    thread: ThreadId,
    children: &HashMap<ThreadId, Vec<ThreadId>>,
    family: &mut BTreeSet<ThreadId>,
) {
    if family.insert(thread) {
        let own = children.get(&thread).into_iter().flatten();
        own.for_each(|child| add_family(*child, children, family));
    }
}
