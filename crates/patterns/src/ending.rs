//! What an access brings to an end: patterns of three accesses, and links with their partners.

use std::hash::BuildHasherDefault;

use rpds::HashTrieMapSync;
use threadbare_happens_before::NumberHasher;
use threadbare_trace::ThreadId;

use super::key::{PatternKey, Relation, SiteId};
use super::limits::Limits;
use super::links::{Links, Recent, RecentAccess};
use super::object::{Crossing, Object, Opening, Span, Time};
use super::occurrence::{MemoryAccess, Sink};
use super::{AccessType, triple};

/// A map that is cheap to copy.
pub(super) type Map<K, V> = HashTrieMapSync<K, V, BuildHasherDefault<NumberHasher>>;

/// The value of a key, made if there is none.
pub(super) fn entry<K: Eq + std::hash::Hash + Copy, V: Default + Clone>(
    map: &mut Map<K, V>,
    key: K,
) -> &mut V {
    if !map.contains_key(&key) {
        map.insert_mut(key, V::default());
    }
    map.get_mut(&key).expect("it has just been put there")
}

/// A crossing to be noted with the access that was crossed.
pub(super) struct Crossed {
    pub access: RecentAccess,
    pub crossing: Crossing,
}

/// Adds the patterns of three accesses that this access ends; gives the number of things looked at.
pub(super) fn end_triples(object: &Object, access: &MemoryAccess, now: Time, sink: &mut Sink<'_>) -> u64 {
    let mut work = 0;
    let mut add = |first: (SiteId, AccessType, Time), middle: (&Opening, AccessType)| {
        let writes = |manner: AccessType| manner == AccessType::Writes;
        let Some(pattern) = triple(writes(first.1), writes(middle.1), writes(access.manner)) else { return };
        let key = PatternKey::of_triple(pattern, access.object, [first.0, middle.0.site, access.site]);
        sink.add((pattern, key), || {
            let step = |thread, site, manner, time: Time| MemoryAccess {
                event: time.event(),
                thread,
                site,
                object: access.object,
                manner,
            };
            [
                step(access.thread, first.0, first.1, first.2),
                step(middle.0.thread, middle.0.site, middle.1, middle.0.last),
                step(access.thread, access.site, access.manner, now),
            ]
        });
    };
    let Some(write) = &object.write else { return work };
    if write.thread == access.thread {
        for read in object.reads.iter().filter(|read| read.thread != access.thread) {
            work += 1;
            add((write.site, AccessType::Writes, write.last), (read, AccessType::Reads));
        }
    } else {
        for past in object.before.iter().filter(|past| past.thread == access.thread) {
            work += 1;
            add((past.site, past.manner, past.time), (write, AccessType::Writes));
        }
    }
    work
}

/// What the end of a link needs and changes.
pub(super) struct Ending<'a> {
    pub links: &'a mut Map<(ThreadId, ThreadId), Links>,
    /// The recent accesses of the thread that ends the link.
    pub recent: Option<&'a Recent>,
    pub crossed: &'a mut Vec<Crossed>,
    pub work: &'a mut u64,
}

impl Ending<'_> {
    /// Joins a link that ends now with its partners, and remembers it as one; says whether another one was
    /// forgotten for it.
    pub fn end(&mut self, span: &Span, opening: &Opening, limits: &Limits, sink: &mut Sink<'_>) -> bool {
        let [from, to] = span.threads;
        let partner_kind = span.link.kind.reversed();
        let line = self.links.get(&(from, to)).map(|links| &links.of(span.link.kind).seen);
        let known = line.and_then(|seen| seen.iter().find(|it| it.link.key == span.link.key));
        let (last_end, joined_until) = known.map_or_else(Default::default, |it| (it.end, it.joined_until));
        if let Some(partners) = self.links.get(&(to, from)).map(|links| links.of(partner_kind)) {
            let others = || partners.seen.iter().filter(|it| it.link.object != span.link.object);
            if partners.newest > joined_until {
                let later = Span { times: [opening.last, span.times[1]], ..*span };
                for partner in others() {
                    *self.work += 1;
                    if partner.earliest[1] > joined_until && partner.earliest[1] < opening.last {
                        sink.add_joined(&partner.at_first([to, from]), &later, Relation::Apart);
                    }
                }
            }
            for partner in others().take_while(|it| it.end > last_end.max(opening.first)) {
                *self.work += 1;
                if partner.latest[0] > opening.first {
                    sink.add_joined(span, &partner.at_last([to, from]), Relation::Nested);
                }
            }
        }
        for crossing in opening.crossings.iter().rev().take_while(|it| it.span.times[1] > last_end) {
            *self.work += 1;
            let x = &crossing.span;
            if x.threads == [to, from] && x.link.kind == partner_kind {
                let y = Span { times: [crossing.crossed, span.times[1]], ..*span };
                sink.add_joined(x, &y, Relation::Crossing);
            }
        }
        self.cross(span, last_end);
        let (now, joined_until) = (span.times[1], joined_until.max(opening.last));
        let times = [opening.first, opening.last];
        entry(self.links, (from, to)).enter(span.link, times, now, joined_until, limits.partners)
    }

    /// Finds the accesses of the same thread that the link crosses and did not cross when it was last
    /// seen.
    fn cross(&mut self, span: &Span, last_end: Time) {
        let manner = span.link.kind.manners()[1];
        let since = span.times[0].max(last_end);
        let recent = self.recent.iter().flat_map(|recent| &recent.0);
        for access in recent.take_while(|access| access.time > since) {
            *self.work += 1;
            if access.manner == manner && access.object != span.link.object {
                let crossing = Crossing { span: *span, crossed: access.time };
                self.crossed.push(Crossed { access: *access, crossing });
            }
        }
    }
}
