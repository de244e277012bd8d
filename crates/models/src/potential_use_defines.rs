//! What a read could have seen in another order of the same steps (§3.13, potential use-defines).
//!
//! A write can be the one whose value is read unless it comes after the read in every order, or another write
//! comes between the two in every order. Orders are those that creation, join, barriers and messages enforce; two
//! critical sections of the same lock can come in either order but not mix.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use threadbare_happens_before::{HeldLock, LockSets, Rules, Stamp, ThreadClocks};
use threadbare_trace::Event;

use super::operation::Location;
use super::use_define::{Use, UseDefine};
use super::variables::{VariableId, Variables};

/// An access, or the first or last of many that nothing distinguishes.
#[derive(Clone)]
struct Access {
    event: usize,
    at: Location,
    stamp: Stamp,
    held: Arc<Vec<HeldLock>>,
}

impl Access {
    fn is_before(&self, other: &Access) -> bool {
        if self.at.thread == other.at.thread {
            return self.event < other.event;
        }
        self.stamp.precedes(&other.stamp)
    }

    /// Whether nothing but the event distinguishes two accesses.
    fn is_like(&self, other: &Access) -> bool {
        self.at == other.at
            && Arc::ptr_eq(&self.stamp.clock, &other.stamp.clock)
            && self.held.iter().map(|it| it.since).eq(other.held.iter().map(|it| it.since))
    }

    /// A critical section of this thread that both accesses are in keeps `outsider` out of the time between them.
    fn keeps_out(&self, later: &Access, outsider: &Access) -> bool {
        let spans =
            |held: &&HeldLock| later.held.iter().any(|it| it.lock == held.lock && it.since == held.since);
        let excludes = |held: &HeldLock| {
            outsider.held.iter().any(|it| it.lock == held.lock && it.mode.excludes(held.mode))
        };
        self.held.iter().filter(spans).any(excludes)
    }
}

#[derive(Default)]
struct Variable {
    uses: Vec<Access>,
    defines: Vec<Access>,
}

/// All accesses of a trace that may matter.
pub(super) struct Potential<'a> {
    variables: &'a Variables,
    accesses: BTreeMap<VariableId, Variable>,
}

/// Adds an access; of a row of accesses that are alike the first and the last one say all.
fn push(list: &mut Vec<Access>, access: Access) {
    let mut alike =
        list.iter().enumerate().rev().filter(|(_, it)| it.is_like(&access)).map(|(place, _)| place);
    if let (Some(last), Some(_)) = (alike.next(), alike.next()) {
        list.remove(last);
    }
    list.push(access);
}

impl<'a> Potential<'a> {
    pub(super) fn of(events: &[Event], variables: &'a Variables) -> Potential<'a> {
        let mut order = ThreadClocks::new(Rules::Awaited);
        let mut locks = LockSets::default();
        let mut all = Potential { variables, accesses: BTreeMap::new() };
        for (index, event) in events.iter().enumerate() {
            let Some(kind) = event.kind() else { continue };
            order.before(event, kind);
            if let Some((touch, pieces)) = &variables.touched[index] {
                let access = Access {
                    event: index,
                    at: Location::of(event),
                    stamp: order.stamp(event.thread),
                    held: Arc::clone(locks.held(event.thread)),
                };
                for piece in pieces {
                    let variable = all.accesses.entry(*piece).or_default();
                    if touch.reads {
                        push(&mut variable.uses, access.clone());
                    }
                    if touch.writes {
                        push(&mut variable.defines, access.clone());
                    }
                }
            }
            order.after(event, kind);
            locks.observe(index, event, kind);
        }
        all
    }

    /// Everything that reads could see.
    pub(super) fn found(&self) -> BTreeSet<UseDefine> {
        let mut found = BTreeSet::new();
        for (id, variable) in &self.accesses {
            let address = self.variables.addresses[*id];
            for read in &variable.uses {
                let used = Use { variable: address, at: read.at };
                if !variable.defines.iter().any(|define| is_settled(define, read)) {
                    found.insert(UseDefine { used, defined: None });
                }
                for define in &variable.defines {
                    let it = UseDefine { used, defined: Some(define.at) };
                    if !found.contains(&it) && variable.can_see(read, define) {
                        found.insert(it);
                    }
                }
            }
        }
        found
    }
}

/// Whether a write comes before a read in every order. An access that reads and writes does not see itself.
fn is_settled(define: &Access, read: &Access) -> bool {
    define.event != read.event && define.is_before(read)
}

impl Variable {
    fn can_see(&self, read: &Access, define: &Access) -> bool {
        if define.event == read.event || read.is_before(define) {
            return false;
        }
        self.defines.iter().filter(|it| it.event != define.event && it.event != read.event).all(|other| {
            let is_between = define.is_before(other) && other.is_before(read);
            // The reader has overwritten it, and the writer cannot come in between.
            let was_overwritten = other.at.thread == read.at.thread
                && define.at.thread != read.at.thread
                && other.is_before(read)
                && other.keeps_out(read, define);
            // The writer overwrites it before the reader can come.
            let is_overwritten = other.at.thread == define.at.thread
                && define.at.thread != read.at.thread
                && define.is_before(other)
                && define.keeps_out(other, read);
            !(is_between || was_overwritten || is_overwritten)
        })
    }
}
