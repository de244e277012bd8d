//! The concurrent dependency graphs of a program: what can come to decide its branches, its locks and its addresses.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use threadbare_analysis::total::graph::DependencyGraph;
use threadbare_analysis::total::{Location, UseDefines, branch_instances, manner_occurrences};

use threadbare_target::Execution;

use super::{Lens, MOST_NODES};

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

impl Graphs {
    /// The graphs of all executions.
    pub(crate) fn of(lens: &Lens) -> Graphs {
        let mut branches: BTreeMap<Location, DependencyGraph> = BTreeMap::new();
        let mut manners: BTreeMap<Location, DependencyGraph> = BTreeMap::new();
        let mut affected = 0;
        let begin = Instant::now();
        for run in lens.executions().iter().filter(|run| run.events.len() <= LONGEST) {
            // They are for people to look at, and most of them are alike.
            if begin.elapsed() > LONG_ENOUGH {
                break;
            }
            let seen = UseDefines::of(&run.events);
            let mut decided = 0;
            for branch in branch_instances(&run.events, lens) {
                let graph = DependencyGraph::of_branch(&branch, &seen, lens, MOST_NODES).optimised();
                decided += usize::from(graph.nodes().len() > 1);
                keep_larger(&mut branches, branch.at, graph);
            }
            affected = affected.max(decided);
            let occurrences = manner_occurrences(&run.events);
            for occurrence in &occurrences {
                let graph =
                    DependencyGraph::of_manner(occurrence, &occurrences, &seen, lens, MOST_NODES).optimised();
                keep_larger(&mut manners, seen.location(occurrence.first), graph);
            }
        }
        let all = branches.into_values().chain(manners.into_values());
        let graphs = all.filter(|graph| graph.nodes().len() > 1).collect();
        Graphs { graphs, affected, run: lens.executions().into_iter().next() }
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

fn keep_larger(graphs: &mut BTreeMap<Location, DependencyGraph>, at: Location, graph: DependencyGraph) {
    let known = graphs.get(&at).map_or(0, |known| known.nodes().len());
    if graph.nodes().len() > known {
        graphs.insert(at, graph);
    }
}
