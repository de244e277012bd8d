//! What has not been asked yet, by the places that it is about.

use std::collections::BTreeMap;

use threadbare_order::Forest;

use super::Values;
use super::targets::{Key, Target};

/// What may be possible.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum OpenKind {
    /// A read sees a value that it was not seen to see.
    SeesAnother,
    /// Two accesses race.
    Race,
    /// Memory or an object is used after or before its lifetime.
    Lifetime,
    /// A thread continues after its last step.
    Continues,
    /// No thread is runnable.
    Deadlock,
}

/// Questions of one kind about the same places that nobody has answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenQuestion {
    /// What may be possible.
    pub kind: OpenKind,
    /// The code that it is about, in the order in which it would run; none where it is about all threads, or about one that was not
    /// seen to begin.
    pub places: Vec<u64>,
    /// How many there are: with other values, or other steps before.
    pub count: u64,
}

impl Values {
    /// All that is still to be asked, the most first.
    pub(crate) fn open(&self, forest: &Forest) -> Vec<OpenQuestion> {
        let mut counts: BTreeMap<(OpenKind, Vec<u64>), u64> = BTreeMap::new();
        for aim in self.queue.wanted() {
            let about = aim.as_ref().map_or((OpenKind::Deadlock, Vec::new()), |target| about(target, forest));
            *counts.entry(about).or_default() += 1;
        }
        let question = |((kind, places), count)| OpenQuestion { kind, places, count };
        let mut open: Vec<OpenQuestion> = counts.into_iter().map(question).collect();
        open.sort_by_key(|it| std::cmp::Reverse(it.count));
        open
    }
}

fn about(target: &Target, forest: &Forest) -> (OpenKind, Vec<u64>) {
    let code = |id| forest.step(id).pc;
    match &target.key {
        Key::Value(_) => {
            (OpenKind::SeesAnother, target.goal.steps().first().copied().map(code).into_iter().collect())
        }
        Key::Lifetime(first, then) => (OpenKind::Lifetime, vec![*first, *then]),
        Key::Race(one, other) => (OpenKind::Race, vec![*one, *other]),
        Key::Continues(_, after, _) => (OpenKind::Continues, after.map(code).into_iter().collect()),
    }
}
