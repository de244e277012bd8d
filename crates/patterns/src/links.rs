//! The links between two threads, and the recent accesses of one.

use std::sync::Arc;

use threadbare_trace::ThreadId;

use super::key::{Link, LinkKind, ObjectId, SiteId};
use super::object::{Span, Time};
use super::{AccessType, MemoryAccess};

/// A link and when it was seen. One link is seen many times; for the two-variable patterns its earliest
/// end and its latest beginning are enough, and links that cross are noted where they do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub link: Link,
    /// The first time: nothing else of this link ends earlier.
    pub earliest: [Time; 2],
    /// The time with the latest beginning.
    pub latest: [Time; 2],
    /// When it was last seen to end.
    pub end: Time,
    /// Partners that first ended before this have been joined with it as the earlier link.
    pub joined_until: Time,
}

impl Seen {
    /// The link as it happened first.
    pub fn at_first(&self, threads: [ThreadId; 2]) -> Span {
        Span { link: self.link, threads, times: self.earliest }
    }

    /// The link as it happened with its latest beginning.
    pub fn at_last(&self, threads: [ThreadId; 2]) -> Span {
        Span { link: self.link, threads, times: self.latest }
    }
}

/// Links of one kind, the one that ended last in front.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub seen: Vec<Seen>,
    /// When the newest of them ended for the first time.
    pub newest: Time,
}

/// The links from one thread to another one, by kind. Copies share the kinds that did not change.
#[derive(Clone, Debug, Default)]
pub(super) struct Links([Arc<Line>; 3]);

impl Links {
    pub fn of(&self, kind: LinkKind) -> &Line {
        &self.0[kind as usize]
    }

    /// Enters a link that ends now, from the first to the last time of its opening, with what it was
    /// joined with; says whether another one was forgotten for it.
    pub fn enter(
        &mut self,
        link: Link,
        [first, last]: [Time; 2],
        now: Time,
        joined_until: Time,
        most: usize,
    ) -> bool {
        let line = Arc::make_mut(&mut self.0[link.kind as usize]);
        if let Some(place) = line.seen.iter().position(|seen| seen.link.key == link.key) {
            let mut seen = line.seen[place];
            if last > seen.latest[0] {
                seen.latest = [last, now];
            }
            seen.end = now;
            seen.joined_until = joined_until;
            line.seen.copy_within(..place, 1);
            line.seen[0] = seen;
            return false;
        }
        let full = line.seen.len() >= most;
        if full {
            line.seen.pop();
        }
        line.newest = now;
        let seen = Seen { link, earliest: [first, now], latest: [last, now], end: now, joined_until };
        line.seen.insert(0, seen);
        full
    }
}

/// An access that is among the recent ones of its thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecentAccess {
    pub object: ObjectId,
    pub site: SiteId,
    pub manner: AccessType,
    pub time: Time,
}

/// What a thread accessed, each variable and site once, the latest in front.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent(pub Vec<RecentAccess>);

impl Recent {
    /// Takes in an access; gives the one that was forgotten for it.
    pub fn touch(&mut self, access: &MemoryAccess, now: Time, most: usize) -> Option<RecentAccess> {
        let MemoryAccess { object, site, manner, .. } = *access;
        let new = RecentAccess { object, site, manner, time: now };
        let same = |it: &RecentAccess| (it.object, it.site, it.manner) == (object, site, manner);
        if let Some(place) = self.0.iter().position(same) {
            self.0.copy_within(..place, 1);
            self.0[0] = new;
            return None;
        }
        let forgotten = if self.0.len() >= most { self.0.pop() } else { None };
        self.0.insert(0, new);
        forgotten
    }
}
