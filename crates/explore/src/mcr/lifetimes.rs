//! Things that could be used after they are gone, or before they are there.

use std::collections::{BTreeMap, HashSet};

use threadbare_order::{Action, Forest, Goal, MemoryRange, StepId};
use threadbare_trace::ThreadId;

use super::targets::{Key, Target};

/// How many pairs of steps are asked about for the same two places in the code.
const MOST_PAIRS: usize = 256;

/// The longest stretch of memory that is accessed at once, as far as looking for it goes.
const LONGEST_ACCESS: u64 = 1 << 16;

/// A step that uses something.
#[derive(Clone, Copy)]
struct Use {
    id: StepId,
    thread: ThreadId,
    end: u64,
}

/// A step with which something begins or ends to be there.
struct Turn {
    id: StepId,
    thread: ThreadId,
    what: MemoryRange,
    ends: bool,
}

/// The uses in these steps that could come too late or too early and that nobody has asked about, and whether some were left out.
pub(super) fn of(forest: &Forest, steps: &[StepId], asked: &HashSet<Key>) -> (Vec<Target>, bool) {
    let mut uses: BTreeMap<u64, Vec<Use>> = BTreeMap::new();
    let mut turns = Vec::new();
    for &id in steps {
        let step = forest.step(id);
        let thread = step.thread;
        for action in &step.actions {
            let turn = match *action {
                Action::Free(what) => Some((what, true)),
                Action::Renew { object, ends } => Some((MemoryRange { addr: object, len: 1 }, ends)),
                _ => None,
            };
            turns.extend(turn.map(|(what, ends)| Turn { id, thread, what, ends }));
            let memory = action.accesses().map(|(extent, _)| extent).or(turn.map(|(what, _)| what));
            let objects = action.object().into_iter().chain(mutex(action));
            let objects = objects.map(|object| MemoryRange { addr: object, len: 1 });
            for extent in memory.into_iter().chain(objects) {
                uses.entry(extent.addr).or_default().push(Use { id, thread, end: extent.end() });
            }
        }
    }
    let mut by_place: BTreeMap<(u64, u64), Vec<Target>> = BTreeMap::new();
    let mut is_cut = false;
    for turn in &turns {
        let first = turn.what.addr.saturating_sub(LONGEST_ACCESS);
        let near = uses.range(first..turn.what.end()).flat_map(|(_, uses)| uses);
        for other in near.filter(|other| other.thread != turn.thread && other.end > turn.what.addr) {
            let (early, late) = if turn.ends { (turn.id, other.id) } else { (other.id, turn.id) };
            let sites = (forest.step(early).pc, forest.step(late).pc);
            let key = Key::Gone(sites.0, sites.1);
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

/// The mutex that a wait on a condition gives back or takes again.
fn mutex(action: &Action) -> Option<u64> {
    match *action {
        Action::Wait { mutex, .. } | Action::Wake { mutex, .. } | Action::Timeout { mutex, .. } => {
            Some(mutex)
        }
        _ => None,
    }
}
