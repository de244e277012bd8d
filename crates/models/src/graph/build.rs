//! Building the graph (Algorithms 6 and 7).

use std::collections::{BTreeSet, HashMap};

use super::super::affects::DataFlow;
use super::super::operation::Location;
use super::super::use_define::{Use, UseDefine, UseDefines};
use super::{DependencyGraph, DependencyNode, NodeId, Root};

/// Uses in the order in which they come, each once.
pub(super) fn uses(all: impl Iterator<Item = Use>) -> Vec<Use> {
    let mut known = BTreeSet::new();
    all.filter(|used| known.insert(*used)).collect()
}

struct Builder<'a> {
    seen: &'a UseDefines,
    /// The uses whose values go into a define, by the define.
    sources: HashMap<Location, Vec<Use>>,
    nodes: Vec<DependencyNode>,
    most_nodes: usize,
    is_cut: bool,
}

/// The graph of a statement with these uses.
pub(super) fn graph(
    root: Root,
    open: Vec<Use>,
    seen: &UseDefines,
    flow: &dyn DataFlow,
    most_nodes: usize,
) -> DependencyGraph {
    let mut sources: HashMap<Location, Vec<Use>> = HashMap::new();
    for used in uses(seen.instances.iter().map(|it| seen.by_location(it).used)) {
        for site in flow.writes(used.at.site) {
            sources.entry(Location { thread: used.at.thread, site: *site }).or_default().push(used);
        }
    }
    let mut builder = Builder { seen, sources, nodes: Vec::new(), most_nodes, is_cut: false };
    builder.derive(open, &mut Vec::new());
    DependencyGraph { root, nodes: builder.nodes, is_cut: builder.is_cut }
}

impl Builder<'_> {
    /// Makes a box and all that is derived from it.
    fn derive(&mut self, open: Vec<Use>, path: &mut Vec<UseDefine>) -> NodeId {
        let id = self.nodes.len();
        self.nodes.push(DependencyNode::Box { open: open.clone(), child: None });
        // What nobody ever writes is a constant, and has no circle.
        let choice = open.iter().enumerate().find_map(|(place, used)| {
            let mut defines = self.seen.define_set(*used);
            if let Some(chosen) = path.iter().find(|it| it.used == *used) {
                // One place in the code sees one value in a guideline.
                defines = BTreeSet::from([chosen.defined]);
            }
            defines.iter().any(Option::is_some).then_some((place, *used, defines))
        });
        let Some((place, used, defines)) = choice else { return id };
        if self.nodes.len() >= self.most_nodes {
            self.is_cut = true;
            return id;
        }
        let circle = self.nodes.len();
        self.nodes.push(DependencyNode::Circle { used, defines: Vec::new() });
        if let DependencyNode::Box { child, .. } = &mut self.nodes[id] {
            *child = Some(circle);
        }
        let mut edges = Vec::new();
        for defined in defines {
            let mut rest = open.clone();
            rest.remove(place);
            let step = UseDefine { used, defined };
            // A define that is on the way from the root already is not derived again: loops end here.
            if !path.contains(&step) {
                let sources = defined.and_then(|define| self.sources.get(&define)).into_iter().flatten();
                let new: Vec<Use> = sources.filter(|it| !rest.contains(it)).copied().collect();
                rest.extend(new);
            }
            path.push(step);
            edges.push((defined, self.derive(rest, path)));
            path.pop();
        }
        if let DependencyNode::Circle { defines, .. } = &mut self.nodes[circle] {
            *defines = edges;
        }
        id
    }
}
