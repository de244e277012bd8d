//! What an execution suggests to try: reads that could see something else, and uses after free.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use threadbare_order::{Action, Forest, Goal, MemoryRange, Path, StepId};
use threadbare_trace::ThreadId;

/// How often in a row a thread may read the same value and wait for another before its next read is not varied any more.
const MOST_REPEATS: u32 = 3;

/// How often it is tried to let a thread continue after its last step.
const MOST_TRIES: u32 = 16;

/// A value that a thread could read with its next operation. It identifies the resulting state in all executions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ReadValue {
    thread: ThreadId,
    /// The thread's step before the operation.
    after: Option<StepId>,
    extent: MemoryRange,
    value: u64,
}

/// Something to try.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(super) goal: Goal,
    /// What identifies the target; each is tried once.
    pub(super) key: Key,
    /// How likely it shows something new, the smaller the better.
    pub(super) class: u8,
    /// The thread that shall run then.
    pub(super) then: Option<Continuation>,
}

impl Target {
    /// Whether two accesses shall race, on paths that threads are known to take.
    pub(crate) fn is_race(&self) -> bool {
        matches!(self.key, Key::Race(..))
    }
}

/// A thread that shall continue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Continuation {
    pub(super) thread: ThreadId,
    /// The goal's steps are all there were, in the order in which they were recorded.
    pub(super) as_recorded: bool,
}

/// What makes two targets the same.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Key {
    /// A thread reads a value.
    Value(ReadValue),
    /// Memory or an object is used after or before its lifetime: the code that comes first, and the code that comes
    /// then.
    Lifetime(u64, u64),
    /// Two accesses race: the code of both.
    Race(u64, u64),
    /// A thread continues after a step, or starts. Where it is blocked, it may be runnable in other states of the other threads, so
    /// the number counts up.
    Continues(ThreadId, Option<StepId>, u32),
}

/// What all executions so far have shown.
#[derive(Default)]
pub(super) struct SeenReads {
    /// Values by the code that read them.
    values: HashSet<(u64, u64)>,
    /// The code that read a value and the code that wrote it.
    flows: HashSet<(u64, u64)>,
    /// How often it was tried to let a thread continue after a step.
    tries: HashMap<(ThreadId, Option<StepId>), u32>,
}

/// The targets of an execution, and whether loops were cut short. These threads may have more to do.
pub(super) fn of(
    forest: &Forest,
    path: &Path,
    threads: &[ThreadId],
    seen: &mut SeenReads,
) -> (Vec<Target>, bool) {
    note_flows(forest, path, seen);
    let mut writes: BTreeMap<MemoryRange, BTreeMap<u64, BTreeSet<u64>>> = BTreeMap::new();
    for step in path.steps.iter().map(|id| forest.step(*id)) {
        for (extent, value) in step.actions.iter().filter_map(Action::write) {
            if let Some(value) = value {
                writes.entry(extent).or_default().entry(value).or_default().insert(step.pc);
            }
        }
    }
    let (mut targets, mut cut) = (Vec::new(), false);
    for &id in &path.steps {
        let step = forest.step(id);
        for (extent, _) in step.actions.iter().filter_map(Action::read) {
            let Some(values) = writes.get(&extent) else { continue };
            let known = values_seen(forest, id, extent);
            let initial = path.initial(extent).filter(|value| !values.contains_key(value));
            let none = BTreeSet::new();
            let values = values.iter().map(|(value, sites)| (*value, sites));
            for (value, sites) in values.chain(initial.map(|value| (value, &none))) {
                if known.contains(&value) {
                    continue;
                }
                if step.repeats.max(forest.repeats_with(id, extent, value)) > MOST_REPEATS {
                    cut = true;
                    continue;
                }
                let is_new_value = !seen.values.contains(&(step.pc, value));
                let is_new_flow = sites.iter().any(|site| !seen.flows.contains(&(step.pc, *site)));
                let key = Key::Value(ReadValue { thread: step.thread, after: step.parent, extent, value });
                let class = 2 - u8::from(is_new_value) - u8::from(is_new_flow);
                targets.push(Target { goal: Goal::sees(id, extent, value), key, class, then: None });
            }
        }
    }
    targets.extend(uses_after_free(forest, path));
    targets.extend(unfinished(forest, path, threads, seen));
    (targets, cut)
}

/// All that is not known of the reads in all executions together.
pub(super) fn of_all(forest: &Forest) -> (Vec<Target>, bool) {
    let mut values: BTreeMap<MemoryRange, BTreeSet<u64>> = BTreeMap::new();
    for step in forest.ids().map(|id| forest.step(id)) {
        for (extent, value) in step.actions.iter().filter_map(Action::write) {
            values.entry(extent).or_default().extend(value.into_iter().chain(forest.initial(extent)));
        }
    }
    let (mut targets, mut cut) = (Vec::new(), false);
    for id in forest.ids().filter(|id| forest.siblings(*id).first() == Some(id)) {
        let step = forest.step(id);
        for (extent, _) in step.actions.iter().filter_map(Action::read) {
            let known = values_seen(forest, id, extent);
            for &value in values.get(&extent).into_iter().flatten().filter(|value| !known.contains(value)) {
                if step.repeats.max(forest.repeats_with(id, extent, value)) > MOST_REPEATS {
                    cut = true;
                    continue;
                }
                let key = Key::Value(ReadValue { thread: step.thread, after: step.parent, extent, value });
                targets.push(Target { goal: Goal::sees(id, extent, value), key, class: 0, then: None });
            }
        }
    }
    (targets, cut)
}

/// What the operation of a step was seen to see, in all executions, there or in an earlier round of the loop that
/// it is in.
fn values_seen(forest: &Forest, id: StepId, extent: MemoryRange) -> Vec<u64> {
    let siblings = forest.rounds(id).flat_map(|id| forest.siblings(id));
    let actions = siblings.flat_map(|sibling| forest.step(*sibling).actions.iter());
    actions.filter_map(Action::read).filter(|(other, _)| *other == extent).filter_map(|(_, v)| v).collect()
}

/// Whether a target has come true in some execution.
pub(super) fn is_reached(forest: &Forest, target: &Target) -> bool {
    match (&target.key, target.goal.steps()) {
        (Key::Value(read_value), [read]) => {
            values_seen(forest, *read, read_value.extent).contains(&read_value.value)
        }
        (Key::Continues(thread, None, _), _) => !forest.roots(*thread).is_empty(),
        (Key::Continues(_, Some(after), _), _) => !forest.step(*after).children.is_empty(),
        // These are judged by how their execution ended, or by whether it followed its schedule.
        (Key::Value(_) | Key::Lifetime(..) | Key::Race(..), _) => true,
    }
}

/// Notes which code reads what which code wrote.
fn note_flows(forest: &Forest, path: &Path, seen: &mut SeenReads) {
    let mut writers: HashMap<MemoryRange, u64> = HashMap::new();
    for step in path.steps.iter().map(|id| forest.step(*id)) {
        for action in &step.actions {
            if let Some((extent, value)) = action.read() {
                seen.values.extend(value.map(|value| (step.pc, value)));
                seen.flows.extend(writers.get(&extent).map(|writer| (step.pc, *writer)));
            }
            if let Some((extent, _)) = action.write() {
                writers.insert(extent, step.pc);
            }
        }
    }
}

/// Accesses that came before the memory was freed by another thread, one for each pair of places in the code.
fn uses_after_free(forest: &Forest, path: &Path) -> Vec<Target> {
    let mut targets: BTreeMap<(u64, u64), Target> = BTreeMap::new();
    let is_free = |id: &&StepId| forest.step(**id).actions.iter().any(|a| matches!(a, Action::Free(_)));
    for &free in path.steps.iter().filter(is_free) {
        let step = forest.step(free);
        let blocks = step.actions.iter().filter(|action| matches!(action, Action::Free(_)));
        for (block, _) in blocks.filter_map(Action::write) {
            for &other in path.steps.iter().take_while(|other| **other != free) {
                let user = forest.step(other);
                let accesses = user.actions.iter().filter_map(Action::accesses);
                let overlaps = |extent: MemoryRange| extent.addr < block.end() && block.addr < extent.end();
                if user.thread != step.thread && accesses.map(|(extent, _)| extent).any(overlaps) {
                    let goal = Goal::in_order(&[free, other]);
                    let key = Key::Lifetime(step.pc, user.pc);
                    targets.insert((step.pc, user.pc), Target { goal, key, class: 1, then: None });
                }
            }
        }
    }
    targets.into_values().collect()
}

/// Threads that did not run to their ends, because another one ended the process or all were blocked, and were never
/// seen to continue from there.
fn unfinished(forest: &Forest, path: &Path, threads: &[ThreadId], seen: &mut SeenReads) -> Vec<Target> {
    let mut last: BTreeMap<ThreadId, Option<StepId>> = threads.iter().map(|thread| (*thread, None)).collect();
    let mut creators: HashMap<ThreadId, StepId> = HashMap::new();
    for &id in &path.steps {
        last.entry(forest.step(id).thread).and_modify(|last| *last = Some(id));
        for action in &forest.step(id).actions {
            if let Action::Create(child) = action {
                creators.insert(*child, id);
            }
        }
    }
    let is_over = |id: StepId| {
        let step = forest.step(id);
        let has_continued = forest.rounds(id).any(|id| !forest.step(id).children.is_empty());
        step.is_final || has_continued || step.actions.contains(&Action::Exit)
    };
    let before: Vec<StepId> = path.steps.iter().copied().filter(|id| !forest.step(*id).is_final).collect();
    let mut targets = Vec::new();
    for (thread, after) in last {
        if after.map_or_else(|| !forest.roots(thread).is_empty(), is_over) {
            continue;
        }
        let tries = seen.tries.entry((thread, after)).or_default();
        // With nothing else than what the thread needs, and after each step that may have unblocked it.
        let needed = after.or_else(|| creators.get(&thread).copied());
        let reached = before.iter().position(|id| Some(*id) == needed).map_or(0, |place| place + 1);
        let unblocking = (reached..before.len()).filter(|place| may_unblock(forest, before[*place]));
        let ends = unblocking.map(|place| place + 1).chain([before.len()]);
        let recorded = ends.map(|end| (true, before[..end].to_vec()));
        let minimal = [(false, needed.into_iter().collect::<Vec<StepId>>())];
        for (as_recorded, steps) in minimal.into_iter().chain(recorded) {
            if *tries < MOST_TRIES {
                *tries += 1;
                let key = Key::Continues(thread, after, *tries);
                let then = Some(Continuation { thread, as_recorded });
                targets.push(Target { goal: Goal::in_order(&steps), key, class: 0, then });
            }
        }
    }
    targets
}

/// Whether this step may make a blocked thread runnable.
fn may_unblock(forest: &Forest, id: StepId) -> bool {
    use Action::*;
    let unblocks = |action: &Action| match action {
        Release(_) | Wait { .. } | Signal { .. } | Post(_) | Leave(..) | Exit => true,
        Read(..) | Write(..) | Update(..) | Touch(..) | Free(_) | Renew { .. } | Idle(_) => false,
        Acquire { .. } | Refused(_) | Wake { .. } | Timeout { .. } | Arrive(_) | Take(_) | Empty(_) => false,
        Create(_) | Start(_) | Join(_) | Unended(_) => false,
        // What these unblock is not modelled.
        Keep(..) | Watershed(..) => false,
    };
    forest.step(id).actions.iter().any(unblocks)
}

impl SeenReads {
    /// Whether some thread was never seen to continue after a step.
    pub(super) fn has_stalled(&self, forest: &Forest) -> bool {
        let stalled = |(thread, after): &(ThreadId, Option<StepId>)| match after {
            Some(after) => forest.rounds(*after).all(|id| forest.step(id).children.is_empty()),
            None => forest.roots(*thread).is_empty(),
        };
        self.tries.keys().any(stalled)
    }
}
