//! The variant graph of reachability testing (Hwang, Tai and Huang; Algorithm 2), extended with locks, waits and notifications
//! so that no variant is produced that cannot happen (§5.2).
//!
//! A node stands for the orders in which each thread has made some number of its recorded steps, all of them with the versions
//! of variables that they saw. Where a thread's next step would see or replace another version, an *execution-variant* begins: its prefix is
//! forced, and what comes then is up to the program. Three things are added so that nothing is missed when
//! executions fail or deadlock: a node where no thread is enabled although steps are left is a variant; so is one where a thread is
//! enabled beyond what was recorded of it; and a thread that tries to get a lock or a token without waiting may find it otherwise.
//!
//! Restricted to [`Scope::Pair`], only the order of two threads is varied, and all others stay as recorded: the
//! thread-pair-interleaving criterion (TPAIR; Lu, Jiang and Zhou).

mod count;
mod enabled_steps;
mod fixed_order;
mod key;
mod order_count;
mod step_effects;
mod steps;

use std::collections::HashSet;

use threadbare_trace::{Event, ThreadId};

pub use self::count::{Count, Size, size};
use self::enabled_steps::{EnabledSteps, Move, State};
pub use self::key::{ShownClasses, VariantKey};
pub use self::order_count::pair_orders;
use self::steps::Steps;

/// Whose steps are put in another order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scope {
    /// Those of all threads.
    All,
    /// Those of two threads.
    Pair(ThreadId, ThreadId),
}

/// How an execution ended, as far as its events do not show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ending {
    /// How many threads there were, whether or not they came to do anything; they are numbered from 0.
    pub threads: u16,
    /// The thread whose last step brought the process down.
    pub brought_down_by: Option<ThreadId>,
    /// The thread that ended the process in order, once the others had made their steps.
    pub ended_by: Option<ThreadId>,
}

/// Why a variant is another execution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum VariantKind {
    /// Its last step, made by this thread, sees or replaces another version than it did.
    Sees(ThreadId),
    /// This thread runs on where nothing is known of it.
    GoesOn(ThreadId),
    /// No thread is enabled.
    Stuck,
}

/// An execution-variant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variant {
    /// Why it is one.
    pub kind: VariantKind,
    node: usize,
}

struct DependencyNode {
    state: State,
    /// The node before, and which thread made the step from there.
    from: Option<(usize, usize)>,
}

/// See the module's description.
pub struct VariantGraph {
    enabled: EnabledSteps,
    nodes: Vec<DependencyNode>,
    variants: Vec<Variant>,
    is_cut: bool,
}

impl VariantGraph {
    /// The variant graph of an execution, with at most so many nodes.
    pub fn of(events: &[Event], ending: &Ending, scope: Scope, most_nodes: usize) -> VariantGraph {
        let enabled = EnabledSteps::new(Steps::of(events, ending, scope), scope);
        let start = enabled.start();
        let mut known: HashSet<State> = HashSet::from([start.clone()]);
        let mut graph = VariantGraph {
            enabled,
            nodes: vec![DependencyNode { state: start, from: None }],
            variants: Vec::new(),
            is_cut: false,
        };
        let mut at = 0;
        while at < graph.nodes.len() {
            let state = graph.nodes[at].state.clone();
            let found = graph.enabled.look(&state);
            graph.variants.extend(found.variants.into_iter().map(|kind| Variant { kind, node: at }));
            for (lane, after) in found.children {
                if known.contains(&after) {
                    continue;
                }
                if graph.nodes.len() + graph.variants.len() >= most_nodes {
                    graph.is_cut = true;
                    return graph;
                }
                known.insert(after.clone());
                graph.nodes.push(DependencyNode { state: after, from: Some((at, lane)) });
            }
            at += 1;
        }
        graph
    }

    /// The variants, those with the shortest prefixes first.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// How many nodes there are, variants included.
    pub fn nodes(&self) -> usize {
        let ends = self.variants.iter().filter(|it| matches!(it.kind, VariantKind::Sees(_)));
        self.nodes.len() + ends.count()
    }

    /// How much memory the nodes take as the method has them: an index for each thread and a version for each shared variable, four
    /// bytes each, and a flag for each lock and each thread that may wait.
    pub fn bytes(&self) -> usize {
        self.nodes() * self.enabled.node_bytes()
    }

    /// Whether there were more nodes than wanted, so that variants are missing.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Whether something that several threads do is kept in the order in which it was recorded, so that variants may be missing.
    pub fn keeps_order(&self) -> bool {
        self.enabled.steps.keeps_order
    }

    /// The events of a variant's prefix, as places in the recorded trace, in the order in which they are to happen. The last step of
    /// [`VariantKind::Sees`] is included, and so is all that is known of the thread of [`VariantKind::GoesOn`].
    pub fn events_of(&self, variant: &Variant) -> Vec<usize> {
        let mut path = vec![variant.node];
        while let Some((before, _)) = self.nodes[path[path.len() - 1]].from {
            path.push(before);
        }
        path.reverse();
        let index = |node: usize| &self.nodes[node].state.index;
        let mut events = self.between(&vec![0; self.enabled.steps.lanes.len()], index(path[0]), None);
        for two in path.windows(2) {
            let lane = self.nodes[two[1]].from.map(|(_, lane)| lane);
            events.extend(self.between(index(two[0]), index(two[1]), lane));
        }
        let lane_of = |thread: ThreadId| self.enabled.steps.threads.iter().position(|it| *it == thread);
        match variant.kind {
            VariantKind::Sees(thread) => {
                let state = &self.nodes[variant.node].state;
                let step = lane_of(thread).and_then(|lane| self.enabled.next(state, lane));
                // Who sees something else need not end there.
                let ends = &self.enabled.steps.ends;
                let own = step.iter().flat_map(|step| &step.events);
                events.extend(own.filter(|index| !ends.contains(index)));
            }
            // Only what comes after all that is known of the thread is more.
            VariantKind::GoesOn(thread) => {
                let rest = lane_of(thread).map(|lane| &self.enabled.steps.lanes[lane].rest);
                events.extend(rest.into_iter().flatten());
            }
            VariantKind::Stuck => {}
        }
        events
    }

    /// The events of the steps between two states: that of `first`, and then those of the threads that are not varied, as
    /// they were recorded.
    fn between(&self, before: &[u32], after: &[u32], first: Option<usize>) -> Vec<usize> {
        let steps = &self.enabled.steps;
        let own = first.map(|lane| (lane, before[lane]));
        let rest = steps.recorded.iter().copied().filter(|(lane, place)| {
            (before[*lane]..after[*lane]).contains(place) && Some((*lane, *place)) != own
        });
        let made = own.into_iter().chain(rest);
        made.flat_map(|(lane, place)| steps.lanes[lane].steps[place as usize].events.iter().copied())
            .collect()
    }
}

/// What a state leads to.
struct Found {
    children: Vec<(usize, State)>,
    variants: Vec<VariantKind>,
}

impl EnabledSteps {
    fn node_bytes(&self) -> usize {
        let waits = if self.steps.conditions.is_empty() { 0 } else { self.steps.lanes.len() };
        4 * (self.steps.lanes.len() + self.steps.variables) + self.steps.locks + waits
    }

    fn is_over(&self, state: &State) -> bool {
        self.steps.lanes.iter().zip(&state.index).any(|(lane, made)| {
            let last = made.checked_sub(1).and_then(|last| lane.steps.get(last as usize));
            last.is_some_and(|step| step.is_final)
        })
    }

    fn look(&self, state: &State) -> Found {
        let mut found = Found { children: Vec::new(), variants: Vec::new() };
        if self.is_over(state) {
            return found;
        }
        // A step that takes nothing leaves others as enabled as they were.
        let mut somebody_goes_first = false;
        let mut somebody_waits = false;
        for lane in self.varied() {
            let step = self.next(state, lane);
            match self.make(state, lane) {
                Some(Move::Conforms(after)) => {
                    let gives = |step: &steps::Step| {
                        !step.is_final && !step.effects.iter().any(step_effects::StepEffect::takes)
                    };
                    somebody_goes_first |= step.is_some_and(gives);
                    found.children.push((lane, after));
                }
                Some(Move::Varies) => found.variants.push(VariantKind::Sees(self.steps.threads[lane])),
                None => somebody_waits |= step.is_some(),
            }
        }
        let goes_on: Vec<usize> = self.varied().filter(|lane| self.goes_beyond(state, *lane)).collect();
        if !somebody_goes_first {
            let threads = goes_on.iter().map(|lane| VariantKind::GoesOn(self.steps.threads[*lane]));
            found.variants.extend(threads);
        }
        let is_deadlocked = somebody_waits && found.children.is_empty() && found.variants.is_empty();
        if is_deadlocked && self.waits_for_locks(state) {
            found.variants.push(VariantKind::Stuck);
        }
        found
    }

    /// Whether nothing more is known of a thread from here on.
    fn goes_beyond(&self, state: &State, lane: usize) -> bool {
        let own = &self.steps.lanes[lane];
        own.is_open
            && state.index[lane] as usize == own.steps.len()
            && own.begins_after.is_none_or(|(other, count)| state.index[other] >= count)
    }

    /// Whether those who wait do so for more than the order in which something was recorded.
    fn waits_for_locks(&self, state: &State) -> bool {
        let mut waiting = self.varied().filter_map(|lane| self.next(state, lane));
        waiting.any(|step| step.needs.iter().all(|(other, count)| state.index[*other] >= *count))
    }
}
