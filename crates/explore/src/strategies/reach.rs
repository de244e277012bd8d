//! Reachability testing (`reach`) and thread-pair interleaving (`tpair`): the baselines of total replay.
//!
//! Each execution is turned into a variant graph (Hwang, Tai and Huang, "Reachability testing: an approach to testing
//! concurrent software"), extended with locks and waits. Each variant is a prefix to be forced; what comes then shows new variants. A prefix
//! that some execution has shown, in whatever order of independent steps, is not run again. `tpair` only varies the
//! order of two threads at a time (Lu, Jiang and Zhou, "A study of interleaving coverage criteria").

use std::collections::{BTreeSet, HashSet, VecDeque};

use threadbare_models::variants::{
    Ending, Scope, ShownClasses, Variant, VariantGraph, VariantKey, VariantKind,
};
use threadbare_order::{Forest, Path, SolvedSchedule, StepId};
use threadbare_target::Execution;
use threadbare_trace::{Event, Outcome, ThreadId};

use crate::follow_schedule;
use crate::omission::{Omission, warning};
use crate::solved::{Entry, Next, Notes, Reasoning, Solved, batch};
use crate::strategy::Plan;

/// Varies the order of all threads.
pub(crate) type Reach = Solved<Variants<false>>;

/// Varies the order of every two threads.
pub(crate) type Tpair = Solved<Variants<true>>;

/// Nodes beyond which a variant graph is given up.
const MOST_NODES: usize = 200_000;

/// Cases beyond which no more are kept.
const MOST_CASES: usize = 200_000;

/// A variant that has not been run.
struct Case {
    schedule: SolvedSchedule,
    then: Option<ThreadId>,
    key: VariantKey,
}

/// The variants of all executions.
pub(crate) struct Variants<const PAIRS: bool> {
    cases: VecDeque<Case>,
    known: HashSet<VariantKey>,
    shown: Vec<ShownClasses>,
    omissions: BTreeSet<Omission>,
}

impl<const PAIRS: bool> Variants<PAIRS> {
    fn scopes(threads: u16) -> Vec<Scope> {
        if !PAIRS {
            return vec![Scope::All];
        }
        let pairs = |one: u16| (one + 1..threads).map(move |two| Scope::Pair(ThreadId(one), ThreadId(two)));
        (0..threads).flat_map(pairs).collect()
    }

    /// Adds the variants of an execution.
    fn derive(&mut self, notes: &mut Notes<()>, run: &Execution, path: &Path) {
        let events = &run.events;
        let brought_down_by = follow_schedule::brought_down_by(run);
        let ending = Ending { threads: run.threads as u16, brought_down_by, ended_by: run.ended_by };
        self.shown.push(ShownClasses::of(events));
        let mut size = (0, 0);
        for scope in Self::scopes(ending.threads) {
            let graph = VariantGraph::of(events, &ending, scope, MOST_NODES);
            size = (size.0 + graph.nodes() as u64, size.1 + graph.bytes() as u64);
            if graph.is_cut() {
                self.omissions.insert(Omission::TooMany);
            }
            if graph.keeps_order() {
                self.omissions.insert(Omission::Kept);
            }
            for variant in graph.variants() {
                self.add(variant, &graph, events, path);
            }
        }
        let known = &mut notes.effort.graph;
        known.nodes = known.nodes.max(size.0);
        known.bytes = known.bytes.max(size.1);
    }

    fn add(&mut self, variant: &Variant, graph: &VariantGraph, events: &[Event], path: &Path) {
        let key = graph.key(variant, events);
        if self.known.contains(&key) || self.is_shown(&key) {
            return;
        }
        if self.cases.len() >= MOST_CASES {
            self.omissions.insert(Omission::TooMany);
            return;
        }
        self.known.insert(key.clone());
        let then = match variant.kind {
            VariantKind::GoesOn(thread) => Some(thread),
            VariantKind::Sees(_) | VariantKind::Stuck => None,
        };
        self.cases.push_back(Case { schedule: schedule(&graph.events_of(variant), path), then, key });
    }

    fn is_shown(&self, key: &VariantKey) -> bool {
        // What is like the latest executions is the most likely.
        self.shown.iter().rev().any(|shown| shown.shows(key))
    }
}

/// The steps of some events of an execution, in another order.
fn schedule(events: &[usize], path: &Path) -> SolvedSchedule {
    let mut steps: Vec<StepId> = Vec::new();
    for id in events.iter().filter_map(|event| path.step_of(*event)) {
        if steps.last() != Some(&id) {
            steps.push(id);
        }
    }
    SolvedSchedule { steps }
}

fn doubts(forest: &Forest) -> impl Iterator<Item = Omission> + '_ {
    forest.doubts().iter().copied().map(Omission::Doubt)
}

impl<const PAIRS: bool> Reasoning for Variants<PAIRS> {
    type Aim = ();

    fn new(_jobs: usize) -> Self {
        Variants {
            cases: VecDeque::new(),
            known: HashSet::new(),
            shown: Vec::new(),
            omissions: BTreeSet::new(),
        }
    }

    fn follows_loops() -> bool {
        false
    }

    fn opening(&mut self, notes: &mut Notes<()>) -> Plan {
        notes.undisturbed()
    }

    fn learn(&mut self, notes: &mut Notes<()>, run: &Execution, entry: Entry<()>) {
        if let Outcome::Uncontrolled(_) = run.outcome {
            self.omissions.insert(Omission::Uncontrolled);
        }
        let Entry::Read(path, planned) = entry else {
            self.omissions.insert(Omission::TooLong);
            return;
        };
        if let Some(planned) = planned {
            notes.effort.aimed += 1;
            if follow_schedule::followed(&planned.schedule.steps, &path, &notes.forest) {
                notes.effort.met += 1;
            } else {
                self.omissions.insert(Omission::Diverged);
            }
        }
        self.omissions.extend(doubts(&notes.forest));
        self.derive(notes, run, &path);
    }

    fn next(&mut self, notes: &mut Notes<()>, _is_over: &dyn Fn() -> bool) -> Next {
        let mut plans = VecDeque::new();
        while plans.len() < batch(notes.made)
            && let Some(case) = self.cases.pop_front()
        {
            // An execution that was made since may have shown it.
            if !self.is_shown(&case.key) {
                plans.extend(notes.follow(case.schedule, case.then, ()));
            }
        }
        if plans.is_empty() { Next::Nothing } else { Next::Plans(plans) }
    }

    /// All orders of two threads are not all orders.
    fn is_complete(&self) -> bool {
        !PAIRS && self.omissions.is_empty()
    }

    fn warning(&self, speaker: &str) -> Option<String> {
        warning(speaker, &self.omissions)
    }
}
