//! What stays in the order in which it was recorded: joins and barriers, things whose other orders are not known, and, where
//! only two threads are varied, everything else.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Scope;
use super::step_effects::{Kept, StepEffect};
use super::steps::Steps;

/// Adds to every step what has to come before it.
pub(super) fn keep_order(steps: &mut Steps, scope: Scope) {
    let recorded = steps.recorded.clone();
    let mut arrived: HashMap<u64, Vec<(usize, u32)>> = HashMap::new();
    let mut rounds: HashMap<(u64, u64), Vec<(usize, u32)>> = HashMap::new();
    let mut last_kept: BTreeMap<Kept, (usize, u32)> = BTreeMap::new();
    let mut keepers: BTreeMap<Kept, BTreeSet<usize>> = BTreeMap::new();
    for (lane, place) in recorded {
        let step = &steps.lanes[lane].steps[place as usize];
        let mut needs: Vec<(usize, u32)> = Vec::new();
        for effect in &step.effects {
            match *effect {
                StepEffect::Join { thread } => needs.extend(steps.end_of(thread)),
                StepEffect::Arrive { barrier } => arrived.entry(barrier).or_default().push((lane, place + 1)),
                StepEffect::Leave { barrier, round } => {
                    // The first one to leave is the last one to arrive.
                    let all = rounds
                        .entry((barrier, round))
                        .or_insert_with(|| arrived.remove(&barrier).unwrap_or_default());
                    needs.extend(all.iter().copied());
                }
                // The order of these may vary, except for what `Steps::kept` lists.
                StepEffect::Access { .. } | StepEffect::Counts { .. } => {}
                StepEffect::Lock { .. } | StepEffect::Unlock { .. } => {}
                StepEffect::Refused { .. } | StepEffect::Wait { .. } | StepEffect::Wake { .. } => {}
                StepEffect::Notify { .. } | StepEffect::Take { .. } | StepEffect::Post { .. } => {}
                StepEffect::Empty { .. } | StepEffect::Keep(_) | StepEffect::Marks => {}
            }
        }
        for kept in Steps::kept(step) {
            needs.extend(last_kept.insert(kept, (lane, place + 1)));
            keepers.entry(kept).or_default().insert(lane);
        }
        let begins_after = steps.lanes[lane].begins_after.filter(|_| place == 0);
        let step = &mut steps.lanes[lane].steps[place as usize];
        for (other, count) in needs.into_iter().chain(begins_after) {
            if other != lane {
                step.need(other, count);
            }
        }
    }
    // The last thread to arrive at a barrier learns that it was the last, and that is not varied.
    // What is done to the world is done to others, too.
    let is_for_several = |(kept, lanes): (&Kept, &BTreeSet<usize>)| lanes.len() > 1 || *kept == Kept::World;
    steps.keeps_order = !rounds.is_empty() || keepers.iter().any(is_for_several);
    if let Scope::Pair(one, other) = scope {
        let varied = [steps.lane(one), steps.lane(other)];
        keep_others(steps, varied);
    }
}

/// What threads other than these two do stays where it was.
fn keep_others(steps: &mut Steps, varied: [usize; 2]) {
    // By object and thread: after how many steps the thread last accessed it, and last changed it.
    let mut last: HashMap<(bool, u64), BTreeMap<usize, (u32, u32)>> = HashMap::new();
    let mut last_other: Option<(usize, u32)> = None;
    for (lane, place) in steps.recorded.clone() {
        let is_varied = varied.contains(&lane);
        let step = &steps.lanes[lane].steps[place as usize];
        let mut needs: Vec<(usize, u32)> = Vec::new();
        if !is_varied {
            needs.extend(last_other.replace((lane, place + 1)));
        }
        for effect in &step.effects {
            let object = match effect {
                StepEffect::Access { variable, writes, .. } => Some(((true, *variable as u64), *writes)),
                StepEffect::Counts { variable } => Some(((true, *variable as u64), true)),
                _ => effect.object().map(|(object, changes)| ((false, object), changes)),
            };
            let Some((object, changes)) = object else { continue };
            let known = last.entry(object).or_default();
            for (other, (accessed, changed)) in known.iter() {
                if !(is_varied && varied.contains(other)) {
                    needs.push((*other, if changes { *accessed } else { *changed }));
                }
            }
            let own = known.entry(lane).or_default();
            own.0 = place + 1;
            if changes {
                own.1 = place + 1;
            }
        }
        let step = &mut steps.lanes[lane].steps[place as usize];
        needs.into_iter().filter(|(other, count)| *other != lane && *count > 0).for_each(|(other, count)| {
            step.need(other, count);
        });
    }
}
