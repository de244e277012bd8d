//! In which order a thread accesses different variables, and what it keeps locked from one access to another.
//!
//! A *walk* is what one thread did in one execution. Of each access it knows the first and the last time: one access can come
//! before another if its first time comes before the other's last time, and what is held without a break
//! from the one to the other is held between any two times of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use threadbare_happens_before::HeldLock;
use threadbare_patterns::ObjectId;
use threadbare_trace::ThreadId;

use super::accesses::{Locks, SiteAccess};

/// How many walks of one thread are kept: loops make as many as there are numbers of rounds, and they do not differ in what
/// follows what.
const MOST_WALKS: usize = 32;
/// How many times of accesses are kept in all walks together.
const MOST_TIMES: usize = 1 << 18;

/// When an access was made.
#[derive(Clone)]
pub(super) struct Moment {
    /// Its event.
    pub event: usize,
    /// Its place among all accesses: one event may be many.
    pub place: usize,
    /// The locks that were held.
    pub held: Arc<Vec<HeldLock>>,
}

/// What one thread did in one execution.
#[derive(Clone, Default)]
pub(super) struct Walk(HashMap<(ObjectId, SiteAccess), [Moment; 2]>);

impl Walk {
    /// Takes in an access.
    pub fn access(&mut self, object: ObjectId, site_access: SiteAccess, now: Moment) {
        let times = self.0.entry((object, site_access)).or_insert_with(|| [now.clone(), now.clone()]);
        times[1] = now;
    }

    /// What was done to a variable was done to a part of it as well.
    pub fn split(&mut self, whole: ObjectId, part: ObjectId) {
        let own = self.0.iter().filter(|((object, _), _)| *object == whole);
        let parts: Vec<_> =
            own.map(|((_, site_access), times)| ((part, *site_access), times.clone())).collect();
        self.0.extend(parts);
    }
}

/// How close one access has to follow another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// Nobody has to come in between.
    None,
    /// Others come in between, so both cannot be one step.
    Some,
}

/// The walks of a campaign.
#[derive(Default)]
pub(super) struct Walks {
    walks: BTreeMap<ThreadId, Vec<Walk>>,
    times: usize,
    /// Some were not kept.
    pub is_cut: bool,
}

impl Walks {
    /// Takes in a walk that is not like the others.
    pub fn add(&mut self, thread: ThreadId, walk: Walk) {
        let own = self.walks.entry(thread).or_default();
        if own.len() >= MOST_WALKS || self.times + walk.0.len() > MOST_TIMES {
            self.is_cut = true;
            return;
        }
        self.times += walk.0.len();
        own.push(walk);
    }

    /// What the thread keeps locked all the time from one access to another; none if it never makes them in this order. Adds to
    /// `work` how many walks were looked at.
    pub fn held_between(
        &self,
        first: (ObjectId, SiteAccess),
        second: (ObjectId, SiteAccess),
        gap: Gap,
        work: &mut usize,
    ) -> Option<Locks> {
        let mut throughout: Option<Locks> = None;
        for walk in self.walks.get(&first.1.thread)? {
            *work += 1;
            let (Some([from, _]), Some([_, to])) = (walk.0.get(&first), walk.0.get(&second)) else {
                continue;
            };
            if from.place >= to.place || (gap == Gap::Some && from.event == to.event) {
                continue;
            }
            let mut locks = Locks::throughout(&from.held, &to.held);
            if let Some(known) = &throughout {
                locks.keep_common(known);
            }
            let is_settled = locks.is_empty();
            throughout = Some(locks);
            // Other walks can only take locks away.
            if is_settled {
                break;
            }
        }
        throughout
    }
}
