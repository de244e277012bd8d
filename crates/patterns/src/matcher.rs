//! Finds the patterns of a trace while it grows.
//!
//! # When a pattern is present
//!
//! Accesses of the trace, in order, match the steps of a pattern: the same thread wherever the role is the
//! same and another one wherever it is not, the same for variables. It is present if between any two of its
//! accesses to the same variable that follow each other nobody writes that variable. That
//! is the rule of the ARS paper (§III: a pattern "should not step over write operations on the same shared
//! variable"). It holds for each variable by itself: in a pattern of two variables, x may be
//! written again after the pattern's last access to x.
//!
//! A pattern is known by its number, its sites and its variables; which threads play the roles
//! does not matter. A read-modify-write is a read and then a write.
//!
//! # How they are found
//!
//! Patterns 1 to 3 are *links*: two accesses to a variable by different threads, one of which writes, with no
//! write in between. Patterns 4 to 8 end with a link whose first access is by another thread than the one before
//! that. Every pattern of two variables is a pair of links between the same two threads, in
//! opposite directions and of reversed kind (write-write with write-write, read-write with write-read),
//! and any such pair is a pattern: which one depends on how the two lie in time. So when an access
//! ends a link, its partners are among the links of the other direction:
//!
//! * *disjoint* (9, 12, 14): the partner had ended when this link began. Of each partner the earliest end counts. Each
//!   link remembers up to when it has been joined with earlier ones, so no pair is looked at twice.
//! * *nested* (11, 16, 17): the partner began after this link did. Of each partner the latest beginning
//!   counts, and only partners that ended since this link was last seen can be news.
//! * *crossing* (10, 13, 15): the partner began before this link did and ended in between. That is noted with the
//!   access that began this link, at the moment when the partner ends.
//!
//! What is kept is bounded by the variables in use and by [`Limits`]; a step costs what has changed since the same
//! link was last seen, and never more than the limits allow. Copies share what they have in common.

use std::hash::{BuildHasherDefault, Hash};
use std::sync::Arc;

use rpds::HashTrieMapSync;
use threadbare_trace::ThreadId;

use super::AccessType;
use super::ending::{Crossed, Ending, Map, end_triples, entry};
use super::key::{Link, LinkKind, ObjectId};
use super::limits::{Dropped, Limits};
use super::links::{Links, Recent};
use super::object::{Object, Span, Time};
use super::occurrence::{MemoryAccess, Occurrence, Sink};
use super::set::PatternSet;

fn map<K: Eq + Hash, V>() -> Map<K, V> {
    HashTrieMapSync::new_with_hasher_and_ptr_kind(BuildHasherDefault::default())
}

/// Finds the patterns of a trace, one access at a time. Cheap to copy at any moment.
#[derive(Clone)]
pub struct Matcher {
    limits: Limits,
    now: Time,
    patterns: PatternSet,
    objects: Map<ObjectId, Object>,
    /// By the threads of the first and the second access.
    links: Map<(ThreadId, ThreadId), Links>,
    recent: Map<ThreadId, Recent>,
    dropped: Dropped,
    work: u64,
    /// How many accesses the event in progress is so far.
    pieces: u32,
}

/// How many accesses of one event are followed as the second one of patterns 10, 13 and 15. One copy of a
/// long range shall not push everything else out of the recent ones.
const FOLLOWED_PIECES: u32 = 16;

impl Default for Matcher {
    fn default() -> Self {
        Matcher::new(Limits::default())
    }
}

impl Matcher {
    /// A matcher that has seen nothing.
    pub fn new(limits: Limits) -> Matcher {
        Matcher {
            limits,
            now: Time::default(),
            patterns: PatternSet::default(),
            objects: map(),
            links: map(),
            recent: map(),
            dropped: Dropped::default(),
            work: 0,
            pieces: 0,
        }
    }

    /// The patterns that are present.
    pub fn patterns(&self) -> &PatternSet {
        &self.patterns
    }

    /// The bounds.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What was left out because of the bounds.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// How many remembered things were looked at so far, which is what the time depends on.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// How many variables are remembered.
    pub fn objects(&self) -> usize {
        self.objects.size()
    }

    /// Takes in the next access of the trace and adds to `found` what became present by it.
    pub fn observe(&mut self, access: &MemoryAccess, found: &mut Vec<Occurrence>) {
        self.pieces = if self.now.event() == access.event { self.pieces + 1 } else { 1 };
        self.now = self.now.next(access.event);
        let mut crossed = Vec::new();
        let most = self.limits.patterns;
        let mut sink = Sink { patterns: &mut self.patterns, found, most, dropped: 0 };
        if let Some(object) = self.objects.get(&access.object) {
            // What a read at the same site has ended before, it cannot end again.
            let is_repeated =
                access.manner == AccessType::Reads && object.reader(access.thread, access.site).is_some();
            if !is_repeated {
                self.work += end_triples(object, access, self.now, &mut sink);
            }
            for (manner, opening) in object.openings() {
                self.work += 1;
                let Some(kind) = LinkKind::of(manner, access.manner) else { continue };
                if opening.thread == access.thread {
                    continue;
                }
                let span = Span {
                    link: Link::new(kind, access.object, [opening.site, access.site]),
                    threads: [opening.thread, access.thread],
                    times: [opening.first, self.now],
                };
                if !is_repeated {
                    sink.add((span.link.pattern(), span.link.key), || span.accesses());
                }
                let mut ending = Ending {
                    links: &mut self.links,
                    recent: self.recent.get(&access.thread),
                    crossed: &mut crossed,
                    work: &mut self.work,
                };
                if ending.end(&span, opening, &self.limits, &mut sink) {
                    self.dropped.partners += 1;
                }
            }
        }
        self.dropped.patterns += sink.dropped;
        crossed.into_iter().for_each(|crossed| self.note(access.thread, crossed));
        self.remember(access);
    }

    /// Notes that a link crossed an access, if nobody has written the variable since.
    fn note(&mut self, thread: ThreadId, Crossed { access, crossing }: Crossed) {
        let object = self.objects.get(&access.object);
        let Some(opening) = object.and_then(|it| it.opening(thread, access.site, access.manner)) else {
            return;
        };
        self.work += opening.crossings.len() as u64;
        if opening.is_crossed_by(&crossing.span) {
            return;
        }
        if opening.crossings.len() >= self.limits.crossings {
            self.dropped.crossings += 1;
            return;
        }
        let object = self.objects.get_mut(&access.object);
        if let Some(opening) = object.and_then(|it| it.opening_mut(thread, access.site, access.manner)) {
            Arc::make_mut(&mut opening.crossings).push(crossing);
        }
    }

    /// Makes the access one that patterns can continue from.
    fn remember(&mut self, access: &MemoryAccess) {
        let (limits, now) = (self.limits, self.now);
        let object = entry(&mut self.objects, access.object);
        match access.manner {
            AccessType::Reads => self.dropped.readers += u64::from(object.read(access, now, limits.readers)),
            AccessType::Writes => object.write(access, now),
        }
        if self.pieces > FOLLOWED_PIECES {
            self.dropped.recent += 1;
            return;
        }
        let recent = entry(&mut self.recent, access.thread);
        if let Some(forgotten) = recent.touch(access, now, limits.recent) {
            let object = self.objects.get(&forgotten.object);
            let opening = object.and_then(|it| it.opening(access.thread, forgotten.site, forgotten.manner));
            self.dropped.recent += u64::from(opening.is_some());
        }
    }

    /// From now on a part of a variable is one by itself, with the same past: an access of another size has
    /// shown that the two can be accessed separately. (Only crossings are not found with what the part saw before.)
    pub fn split(&mut self, whole: ObjectId, part: ObjectId) {
        if let Some(object) = self.objects.get(&whole).cloned() {
            self.objects.insert_mut(part, object);
        }
    }

    /// Forgets a variable whose memory is about to become something else.
    pub fn forget(&mut self, object: ObjectId) {
        self.objects.remove_mut(&object);
    }
}
