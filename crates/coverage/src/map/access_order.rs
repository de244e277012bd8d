//! In which order a thread accesses different variables, and what it keeps locked from one access to another.
//!
//! An *access order* is what one thread did in one execution. Of each access it knows the first and the last time: one access can come
//! before another if its first time comes before the other's last time, and what is held without a break
//! from the one to the other is held between any two times of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use threadbare_happens_before::HeldLock;
use threadbare_patterns::ObjectId;
use threadbare_trace::ThreadId;

use super::accesses::{Locks, SiteAccess};

/// How many access orders of one thread are kept: loops make as many as there are numbers of rounds, and they do not differ in what
/// follows what.
const MOST_WALKS: usize = 32;
/// How many times of accesses are kept in all access orders together.
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
pub(super) struct AccessOrder(HashMap<(ObjectId, SiteAccess), [Moment; 2]>);

impl AccessOrder {
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

/// The access orders of a campaign.
#[derive(Default)]
pub(super) struct AccessOrders {
    access_orders: BTreeMap<ThreadId, Vec<AccessOrder>>,
    times: usize,
    /// Some were not kept.
    pub is_cut: bool,
}

impl AccessOrders {
    /// Takes in an access order that is not like the others.
    pub fn add(&mut self, thread: ThreadId, access_order: AccessOrder) {
        let own = self.access_orders.entry(thread).or_default();
        if own.len() >= MOST_WALKS || self.times + access_order.0.len() > MOST_TIMES {
            self.is_cut = true;
            return;
        }
        self.times += access_order.0.len();
        own.push(access_order);
    }

    /// What the thread keeps locked all the time from one access to another; none if it never makes them in this order. Adds to
    /// `work` how many access orders were looked at.
    pub fn held_between(
        &self,
        first: (ObjectId, SiteAccess),
        second: (ObjectId, SiteAccess),
        gap: Gap,
        work: &mut usize,
    ) -> Option<Locks> {
        let mut throughout: Option<Locks> = None;
        for access_order in self.access_orders.get(&first.1.thread)? {
            *work += 1;
            let (Some([from, _]), Some([_, to])) = (access_order.0.get(&first), access_order.0.get(&second))
            else {
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
            // Other access orders can only take locks away.
            if is_settled {
                break;
            }
        }
        throughout
    }
}
