//! Whether threads that go their own ways use things between their beginning and their end.

use std::collections::{HashMap, HashSet};

use threadbare_trace::ThreadId;

use crate::action::Action;
use crate::forest::{Forest, StepId};

/// Whether some thread by itself uses a synchronization object before its beginning or after its end, or begins or
/// ends it twice, or several threads begin one. What happens to such an object cannot be inferred from its operations.
pub(super) fn are_unclear(forest: &Forest) -> bool {
    let mortal = objects_with_lifetimes(forest);
    if mortal.is_empty() {
        return false;
    }
    let mut beginners: HashMap<u64, ThreadId> = HashMap::new();
    // By step: what its thread has used and ended on the way, each with the objects that may begin or end.
    let mut lives: HashMap<StepId, Lives> = HashMap::new();
    for id in forest.ids() {
        let step = forest.step(id);
        let mut own = step.parent.and_then(|parent| lives.get(&parent)).cloned().unwrap_or_default();
        for action in &step.actions {
            for object in objects(action).into_iter().flatten().filter(|object| mortal.contains(object)) {
                let begins = matches!(action, Action::Renew { ends: false, .. });
                let ends = matches!(action, Action::Renew { ends: true, .. });
                if own.ended.contains(&object) || (begins && own.used.contains(&object)) {
                    return true;
                }
                if begins && *beginners.entry(object).or_insert(step.thread) != step.thread {
                    return true;
                }
                own.used.insert(object);
                if ends {
                    own.ended.insert(object);
                }
            }
        }
        lives.insert(id, own);
    }
    false
}

#[derive(Clone, Default)]
struct Lives {
    used: HashSet<u64>,
    ended: HashSet<u64>,
}

fn objects_with_lifetimes(forest: &Forest) -> HashSet<u64> {
    let actions = forest.ids().flat_map(|id| forest.step(id).actions.iter());
    let renewed =
        |action: &Action| if let Action::Renew { object, .. } = action { Some(*object) } else { None };
    actions.filter_map(renewed).collect()
}

/// The synchronization objects that an action uses.
fn objects(action: &Action) -> [Option<u64>; 2] {
    [action.object(), action.mutex()]
}
