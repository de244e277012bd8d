//! The concurrent dependency graphs of a program: what can come to decide its branches, its locks and its addresses.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use threadbare_models::graph::{DependencyGraph, Root};
use threadbare_models::{Location, UseDefines, branch_instances, manner_occurrences};

use threadbare_target::Execution;

use super::Relevance;

/// A graph with more nodes is cut; the search does not depend on it.
const MOST_NODES: usize = 1_000;

/// The longest execution that graphs are made of.
const LONGEST: usize = 2_000;

/// The time after which no more executions are looked at.
const LONG_ENOUGH: Duration = Duration::from_millis(500);

/// The graphs of all executions, each branch and each access-manner once.
#[derive(Default)]
pub struct Graphs {
    /// Those that leave a choice, without what leaves none (Algorithm 8).
    pub graphs: Vec<DependencyGraph>,
    /// The most branches of one execution that interleavings decide, each as often as it was come to.
    pub affected: usize,
    /// An execution that addresses in them are of.
    pub run: Option<Arc<Execution>>,
}

/// The graphs of all branches that an execution came to, and of all its access-manners, without what leaves no choice.
pub(in crate::strategies) fn of_execution(
    run: &Execution,
    seen: &UseDefines,
    relevance: &Relevance,
) -> Vec<DependencyGraph> {
    let branches = branch_instances(&run.events, relevance);
    let branches =
        branches.iter().map(|branch| DependencyGraph::of_branch(branch, seen, relevance, MOST_NODES));
    let manners = manner_occurrences(&run.events);
    let of_manner = |it| DependencyGraph::of_manner(it, &manners, seen, relevance, MOST_NODES);
    let all = branches.chain(manners.iter().map(of_manner));
    all.map(|graph| graph.optimised()).filter(|graph| graph.nodes().len() > 1).collect()
}

impl Graphs {
    /// The graphs of all executions.
    pub(crate) fn of(relevance: &Relevance) -> Graphs {
        let mut largest: BTreeMap<(bool, Location), DependencyGraph> = BTreeMap::new();
        let mut affected = 0;
        let begin = Instant::now();
        for run in relevance.executions().iter().filter(|run| run.events.len() <= LONGEST) {
            // They are for people to look at, and most of them are alike.
            if begin.elapsed() > LONG_ENOUGH {
                break;
            }
            let found = of_execution(run, &UseDefines::of(&run.events), relevance);
            let is_branch = |graph: &&DependencyGraph| matches!(graph.root(), Root::Branch(_));
            affected = affected.max(found.iter().filter(is_branch).count());
            for graph in found {
                let key = match *graph.root() {
                    Root::Branch(at) => (false, at),
                    Root::Manner(at) => (true, at),
                };
                let known = largest.get(&key).map_or(0, |known| known.nodes().len());
                if graph.nodes().len() > known {
                    largest.insert(key, graph);
                }
            }
        }
        let graphs = largest.into_values().collect();
        Graphs { graphs, affected, run: relevance.executions().first().cloned() }
    }

    /// How many nodes they have.
    pub fn nodes(&self) -> usize {
        self.graphs.iter().map(|graph| graph.nodes().len()).sum()
    }

    /// How much memory they take.
    pub fn bytes(&self) -> usize {
        self.graphs.iter().map(DependencyGraph::bytes).sum()
    }

    /// How many guidelines they give.
    pub fn guidelines(&self) -> usize {
        self.graphs.iter().map(|graph| graph.guidelines().len()).sum()
    }
}
