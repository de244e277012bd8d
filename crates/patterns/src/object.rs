//! What has to be remembered of one variable.
//!
//! No pattern steps over a write, so a new access to a variable can only follow the last write and the
//! reads since then; and the access before those, in patterns of three, only the write and the reads
//! just before the last write. Everything older is forgotten. Reads by the same thread at the
//! same site are one *opening* with its first and last time: no other of them makes a
//! pattern that these two and the notes on crossings do not make.

use std::sync::Arc;

use threadbare_trace::ThreadId;

use super::key::{Link, SiteId};
use super::{AccessType, MemoryAccess};

/// When an access was made. The event's place in the trace is part of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Time(u64);

/// How many accesses one event can be.
const ACCESS_BITS: u32 = 12;

impl Time {
    /// The time of the next access, which belongs to this event.
    pub fn next(self, event: usize) -> Time {
        Time(((event as u64) << ACCESS_BITS).max(self.0 + 1))
    }

    pub fn event(self) -> usize {
        (self.0 >> ACCESS_BITS) as usize
    }
}

/// Two linked accesses that were really made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub link: Link,
    pub threads: [ThreadId; 2],
    pub times: [Time; 2],
}

impl Span {
    pub fn accesses(&self) -> [MemoryAccess; 2] {
        let manners = self.link.kind.manners();
        [0, 1].map(|place| MemoryAccess {
            event: self.times[place].event(),
            thread: self.threads[place],
            site: self.link.sites[place],
            object: self.link.object,
            manner: manners[place],
        })
    }
}

/// A link on another variable whose accesses lie before and after an access, the second one by its thread:
/// the first three accesses of patterns 10, 13 and 15.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    pub span: Span,
    /// The access in between.
    pub crossed: Time,
}

/// An access that a pattern can still continue from.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    pub thread: ThreadId,
    pub site: SiteId,
    pub first: Time,
    pub last: Time,
    /// In order of time, each link once. Copies of a matcher share them.
    pub crossings: Arc<Vec<Crossing>>,
}

impl Opening {
    fn new(access: &MemoryAccess, now: Time) -> Opening {
        let MemoryAccess { thread, site, .. } = *access;
        Opening { thread, site, first: now, last: now, crossings: Arc::default() }
    }

    pub fn is_crossed_by(&self, span: &Span) -> bool {
        let same = |crossing: &Crossing| {
            crossing.span.link.key == span.link.key && crossing.span.threads == span.threads
        };
        self.crossings.iter().any(same)
    }
}

/// An access before the last write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past {
    pub thread: ThreadId,
    pub site: SiteId,
    pub manner: AccessType,
    pub time: Time,
}

/// One variable.
#[derive(Clone, Debug, Default)]
pub(super) struct Object {
    /// The last write.
    pub write: Option<Opening>,
    /// The reads since then.
    pub reads: Vec<Opening>,
    /// The write before the last one, and the reads between the two.
    pub before: Vec<Past>,
}

impl Object {
    /// The accesses that can be followed by another one.
    pub fn openings(&self) -> impl Iterator<Item = (AccessType, &Opening)> {
        let write = self.write.iter().map(|opening| (AccessType::Writes, opening));
        write.chain(self.reads.iter().map(|opening| (AccessType::Reads, opening)))
    }

    /// The place of a thread's read at a site.
    pub fn reader(&self, thread: ThreadId, site: SiteId) -> Option<usize> {
        self.reads.iter().position(|opening| opening.thread == thread && opening.site == site)
    }

    /// The opening that an access made, if nobody has written since.
    pub fn opening(&self, thread: ThreadId, site: SiteId, manner: AccessType) -> Option<&Opening> {
        match manner {
            AccessType::Reads => self.reads.get(self.reader(thread, site)?),
            AccessType::Writes => self.write.as_ref().filter(|it| it.thread == thread && it.site == site),
        }
    }

    /// The same, to be changed.
    pub fn opening_mut(
        &mut self,
        thread: ThreadId,
        site: SiteId,
        manner: AccessType,
    ) -> Option<&mut Opening> {
        match manner {
            AccessType::Reads => {
                let place = self.reader(thread, site)?;
                self.reads.get_mut(place)
            }
            AccessType::Writes => self.write.as_mut().filter(|it| it.thread == thread && it.site == site),
        }
    }

    /// Takes in a read; says whether another one was forgotten for it.
    pub fn read(&mut self, access: &MemoryAccess, now: Time, most: usize) -> bool {
        if let Some(place) = self.reader(access.thread, access.site) {
            self.reads[place].last = now;
            return false;
        }
        let full = self.reads.len() >= most;
        if full
            && let Some(oldest) =
                self.reads.iter().enumerate().min_by_key(|(_, it)| it.last).map(|(place, _)| place)
        {
            self.reads.remove(oldest);
        }
        self.reads.push(Opening::new(access, now));
        full
    }

    /// Takes in a write.
    pub fn write(&mut self, access: &MemoryAccess, now: Time) {
        let past = |manner, opening: &Opening| Past {
            thread: opening.thread,
            site: opening.site,
            manner,
            time: opening.last,
        };
        let before = self.openings().map(|(manner, opening)| past(manner, opening)).collect();
        self.before = before;
        self.reads.clear();
        self.write = Some(Opening::new(access, now));
    }
}
