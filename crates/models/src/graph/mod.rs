//! The concurrent dependency graph (§5.3): for a branch or an access-manner, every way in which the values of shared variables can
//! come to decide it. Its paths are *guidelines*: sets of use-defines, each of which makes a test case.

mod build;
mod dot;
mod drawing;
mod optimise;

use std::collections::BTreeSet;

use threadbare_trace::ThreadId;

pub use drawing::{Drawing, DrawnEdge, DrawnNode};

use super::affects::{BranchInstance, DataFlow};
use super::manners::MannerOccurrence;
use super::operation::Location;
use super::use_define::{Use, UseDefine, UseDefines};

/// What a graph is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Root {
    /// A branch.
    Branch(Location),
    /// An access-manner: which locks and memory it reaches. By its thread and its first step's place.
    Manner(Location),
}

/// The number of a node in its graph.
pub type NodeId = usize;

/// A node. A box's edge leads to a circle, and a circle's edges to boxes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DependencyNode {
    /// A statement in which some variables have been replaced by what defines them.
    Box {
        /// The variables that have not.
        open: Vec<Use>,
        /// The selection of defines for one of them; none at a leaf.
        child: Option<NodeId>,
    },
    /// A selection of defines for a variable.
    Circle {
        /// The variable, and where it is used.
        used: Use,
        /// The defines to choose from, each with what comes of it.
        defines: Vec<(Option<Location>, NodeId)>,
    },
}

/// The steps by whose order a path of the graph is made to happen.
pub type UseDefineGuideline = BTreeSet<UseDefine>;

/// See the module's description.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DependencyGraph {
    root: Root,
    /// The root comes first.
    nodes: Vec<DependencyNode>,
    is_cut: bool,
}

impl DependencyGraph {
    /// The graph of a branch (Algorithms 6 and 7), with at most so many nodes.
    pub fn of_branch(
        branch: &BranchInstance,
        seen: &UseDefines,
        flow: &dyn DataFlow,
        most_nodes: usize,
    ) -> DependencyGraph {
        let decides =
            |at: Location| at.thread == branch.at.thread && flow.branches(at.site).contains(&branch.at.site);
        let reads = seen.instances.iter().filter(|it| it.used <= branch.decided_by);
        let open = build::uses(reads.map(|it| seen.by_location(it).used).filter(|used| decides(used.at)));
        build::graph(Root::Branch(branch.at), open, seen, flow, most_nodes)
    }

    /// The graph of an access-manner: of the reads in it, and of those since the thread's last usual manner, that decide which
    /// locks and memory it reaches.
    pub fn of_manner(
        occurrence: &MannerOccurrence,
        all: &[MannerOccurrence],
        seen: &UseDefines,
        flow: &dyn DataFlow,
        most_nodes: usize,
    ) -> DependencyGraph {
        let thread: ThreadId = occurrence.thread;
        let before = all.iter().filter(|it| it.thread == thread && it.last < occurrence.first);
        let since = before.filter(|it| it.manner.is_usual()).map(|it| it.last + 1).max().unwrap_or(0);
        let reads = seen.instances.iter().filter(|it| (since..=occurrence.last).contains(&it.used));
        let steers = |used: &Use| used.at.thread == thread && flow.steers(used.at.site);
        let open = build::uses(reads.map(|it| seen.by_location(it).used).filter(steers));
        build::graph(Root::Manner(seen.location(occurrence.first)), open, seen, flow, most_nodes)
    }

    /// What it is about.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The nodes; the root is the first.
    pub fn nodes(&self) -> &[DependencyNode] {
        &self.nodes
    }

    /// Whether there were more nodes than wanted, so that guidelines are missing.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// How much memory the nodes take.
    pub fn bytes(&self) -> usize {
        let size = |node: &DependencyNode| match node {
            DependencyNode::Box { open, .. } => open.len() * size_of::<Use>(),
            DependencyNode::Circle { defines, .. } => defines.len() * size_of::<(Option<Location>, NodeId)>(),
        };
        self.nodes.iter().map(|node| size_of::<DependencyNode>() + size(node)).sum()
    }

    /// Algorithm 9: the use-defines from the root to every leaf.
    pub fn guidelines(&self) -> Vec<UseDefineGuideline> {
        let mut found = Vec::new();
        self.descend(0, &mut Vec::new(), &mut found);
        found
    }

    fn descend(&self, node: NodeId, path: &mut Vec<UseDefine>, found: &mut Vec<UseDefineGuideline>) {
        let circle = match &self.nodes[node] {
            DependencyNode::Box { child, .. } => child.map(|child| &self.nodes[child]),
            DependencyNode::Circle { .. } => None,
        };
        let Some(DependencyNode::Circle { used, defines }) = circle else {
            let guideline: UseDefineGuideline = path.iter().copied().collect();
            if !found.contains(&guideline) {
                found.push(guideline);
            }
            return;
        };
        for (define, leads_to) in defines {
            path.push(UseDefine { used: *used, defined: *define });
            self.descend(*leads_to, path, found);
            path.pop();
        }
    }
}

/// Whether the steps of an execution keep to a guideline (formula 4).
pub fn satisfies(seen: &UseDefines, guideline: &UseDefineGuideline) -> bool {
    guideline.is_subset(&seen.actual)
}
