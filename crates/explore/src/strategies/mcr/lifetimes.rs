//! Memory and objects that could be used after the end of their lifetime, or before its beginning.

use std::collections::{BTreeMap, HashSet};

use threadbare_order::{Forest, Goal, MemoryRange, StepId};
use threadbare_trace::ThreadId;

use super::targets::{Key, Target};

/// How many pairs of steps are asked about for the same two places in the code.
const MOST_PAIRS: usize = 256;

/// The longest access that is looked for.
const LONGEST_ACCESS: u64 = 1 << 16;

/// A step that uses memory or an object.
#[derive(Clone, Copy)]
struct Use {
    id: StepId,
    thread: ThreadId,
    end: u64,
}

/// A step with which a lifetime begins or ends.
struct LifetimeChange {
    id: StepId,
    thread: ThreadId,
    what: MemoryRange,
    ends: bool,
}

/// The uses in these steps that could come too late or too early and that nobody has asked about, and whether some were left out.
pub(super) fn of(forest: &Forest, steps: &[StepId], asked: &HashSet<Key>) -> (Vec<Target>, bool) {
    let mut uses: BTreeMap<u64, Vec<Use>> = BTreeMap::new();
    let mut changes = Vec::new();
    for &id in steps {
        let step = forest.step(id);
        let thread = step.thread;
        for action in &step.actions {
            let change = action.lifetime_change();
            changes.extend(change.map(|(what, ends)| LifetimeChange { id, thread, what, ends }));
            let memory = action.accesses().map(|(extent, _)| extent).or(change.map(|(what, _)| what));
            let objects = action.object().into_iter().chain(action.mutex());
            let objects = objects.map(|object| MemoryRange { addr: object, len: 1 });
            for extent in memory.into_iter().chain(objects) {
                uses.entry(extent.addr).or_default().push(Use { id, thread, end: extent.end() });
            }
        }
    }
    let mut by_place: BTreeMap<(u64, u64), Vec<Target>> = BTreeMap::new();
    let mut is_cut = false;
    for change in &changes {
        let first = change.what.addr.saturating_sub(LONGEST_ACCESS);
        let near = uses.range(first..change.what.end()).flat_map(|(_, uses)| uses);
        for other in near.filter(|other| other.thread != change.thread && other.end > change.what.addr) {
            let (early, late) = if change.ends { (change.id, other.id) } else { (other.id, change.id) };
            let sites = (forest.step(early).pc, forest.step(late).pc);
            let key = Key::Lifetime(sites.0, sites.1);
            if asked.contains(&key) {
                continue;
            }
            let pairs = by_place.entry(sites).or_default();
            if pairs.len() >= MOST_PAIRS {
                is_cut = true;
                continue;
            }
            pairs.push(Target { goal: Goal::in_order(&[early, late]), key, class: 1, then: None });
        }
    }
    (by_place.into_values().flatten().collect(), is_cut)
}
