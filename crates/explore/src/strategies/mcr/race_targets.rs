//! Accesses of two threads that may race.

use std::collections::{BTreeMap, HashMap, HashSet};

use threadbare_order::{AccessMode, Action, Forest, Goal, MemoryRange, SolvedSchedule, StepId};
use threadbare_trace::ThreadId;

use super::targets::{Key, Target};

/// How many pairs of steps are asked about for the same two places in the code.
const MOST_PAIRS: usize = 256;

/// An access to plain memory, with the locks that its thread holds.
struct PlainAccess {
    id: StepId,
    thread: ThreadId,
    pc: u64,
    extent: MemoryRange,
    writes: bool,
    frees: bool,
    atomic: bool,
    locks: Vec<u64>,
}

/// The races of these steps that nobody has asked about, and whether some were left out. Each step comes after those that
/// lead to it.
pub(super) fn of(
    forest: &Forest,
    steps: &[StepId],
    atomic: &HashSet<u64>,
    asked: &HashSet<Key>,
) -> (Vec<Target>, bool) {
    let made = accesses(forest, steps, atomic);
    let mut by_place: BTreeMap<(u64, u64), Vec<Target>> = BTreeMap::new();
    let mut is_cut = false;
    let mut by_memory: BTreeMap<u64, Vec<&PlainAccess>> = BTreeMap::new();
    for access in &made {
        for word in access.extent.addr >> 3..=(access.extent.end() - 1) >> 3 {
            by_memory.entry(word).or_default().push(access);
        }
    }
    for (word, accesses) in by_memory {
        for (place, second) in accesses.iter().enumerate() {
            for first in &accesses[..place] {
                let begins = first.extent.addr.max(second.extent.addr);
                let overlap = begins < first.extent.end().min(second.extent.end());
                // Where they overlap in several words, the first one counts.
                if !overlap || begins >> 3 != word || !can_race(first, second) {
                    continue;
                }
                let sites = (first.pc.min(second.pc), first.pc.max(second.pc));
                let key = Key::Race(sites.0, sites.1);
                if asked.contains(&key) {
                    continue;
                }
                let pairs = by_place.entry(sites).or_default();
                if pairs.len() >= MOST_PAIRS {
                    is_cut = true;
                    continue;
                }
                // The one that frees comes second: the other order is a use after free.
                let (first, second) = if first.frees { (second, first) } else { (first, second) };
                let Some(before) = forest.step(second.id).parent else { continue };
                let goal = Goal::in_order(&[before, first.id, second.id]);
                pairs.push(Target { goal, key, class: 3, then: None });
            }
        }
    }
    (by_place.into_values().flatten().collect(), is_cut)
}

/// Leaves out what the schedule has between the two accesses: neither needs it.
pub(super) fn bring_together(schedule: &mut SolvedSchedule, goal: &Goal) {
    if let [_, first, second] = goal.steps()
        && let Some(place) = schedule.steps.iter().position(|id| id == first)
    {
        schedule.steps.truncate(place + 1);
        schedule.steps.push(*second);
    }
}

fn can_race(first: &PlainAccess, second: &PlainAccess) -> bool {
    first.thread != second.thread
        && (first.writes || second.writes)
        && !(first.atomic && second.atomic)
        && !first.locks.iter().any(|lock| second.locks.contains(lock))
}

fn accesses(forest: &Forest, steps: &[StepId], atomic: &HashSet<u64>) -> Vec<PlainAccess> {
    use Action::*;
    let mut held: HashMap<StepId, Vec<u64>> = HashMap::new();
    let mut made = Vec::new();
    for &id in steps {
        let step = forest.step(id);
        let mut locks = step.parent.and_then(|parent| held.get(&parent)).cloned().unwrap_or_default();
        for action in &step.actions {
            match *action {
                Acquire { lock, shared: false, .. } => locks.push(lock),
                Wake { mutex, .. } | Timeout { mutex, .. } => locks.push(mutex),
                Release(lock) | Wait { mutex: lock, .. } => {
                    if let Some(place) = locks.iter().position(|held| *held == lock) {
                        locks.remove(place);
                    }
                }
                // A lock that is shared does not keep other readers out.
                Acquire { shared: true, .. } | Refused(_) => {}
                Read(..) | Write(..) | Update(..) | Touch(..) | Free(_) | Renew { .. } => {}
                Signal { .. } | Arrive(_) | Leave(..) | Take(_) | Post(_) | Empty(_) => {}
                Create(_) | Start(_) | Exit | Join(_) | Unended(_) | Keep(..) | Watershed(..) | Idle(_) => {}
            }
            let freed = if let Free(block) = action { Some((*block, AccessMode::Writes)) } else { None };
            if let Some((extent, access)) = action.accesses().or(freed).filter(|(it, _)| it.is_memory()) {
                made.push(PlainAccess {
                    id,
                    thread: step.thread,
                    pc: step.pc,
                    extent,
                    writes: access == AccessMode::Writes,
                    frees: freed.is_some(),
                    atomic: atomic.contains(&step.pc),
                    locks: locks.clone(),
                });
            }
        }
        held.insert(id, locks);
    }
    made
}
