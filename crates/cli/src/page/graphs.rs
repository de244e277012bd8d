//! The dependency graphs of a verification, as a page shows them.

use std::collections::BTreeSet;

use threadbare_diagnose::ExecutionNames;
use threadbare_explore::Graphs;
use threadbare_models::graph::{DependencyGraph, DependencyNode, NodeId, Root};
use threadbare_models::{Location, UseDefine};
use threadbare_report::{GraphCard, GraphCards, GraphNode, GuidelineCard, Names as _};
use threadbare_target::Symbols;

/// What is kept of graphs: nobody reads more.
const MOST_GRAPHS: usize = 40;
const MOST_NODES: usize = 150;
const MOST_GUIDELINES: usize = 60;
/// The bytes that all graphs together may have: a page is sent around. Nodes and guidelines have a half each.
const MOST_BYTES: usize = 500_000;
/// What a node or a guideline has besides its texts, and a text besides itself.
const FRAME: usize = 60;

/// The graphs with the names of what is in them; none if there are none.
pub fn graph_cards(graphs: &Graphs, symbols: &Symbols) -> Option<GraphCards> {
    let run = graphs.run.as_ref().filter(|_| !graphs.graphs.is_empty())?;
    let names = ExecutionNames::new(symbols, run);
    let maker = CardMaker { names: &names };
    let share = MOST_BYTES / graphs.graphs.len().min(MOST_GRAPHS) / 2;
    Some(GraphCards {
        graphs: graphs.graphs.iter().take(MOST_GRAPHS).map(|graph| maker.card(graph, share)).collect(),
        left_out: graphs.graphs.len().saturating_sub(MOST_GRAPHS),
    })
}

struct CardMaker<'a> {
    names: &'a ExecutionNames<'a>,
}

impl CardMaker<'_> {
    fn variable(&self, address: u64) -> String {
        self.names.object(address).unwrap_or_else(|| format!("{address:#x}"))
    }

    fn place(&self, at: &Location) -> String {
        let site = self.names.place(at.site, 0).map_or_else(|| format!("{:#x}", at.site), |it| it.label);
        format!("{}: {site}", at.thread)
    }

    fn define(&self, define: Option<&Location>) -> String {
        define.map_or_else(|| "as it was".to_string(), |at| format!("written at {}", self.place(at)))
    }

    /// A graph, with as many nodes, and as many guidelines, as have so many bytes.
    fn card(&self, graph: &DependencyGraph, share: usize) -> GraphCard {
        let title = match graph.root() {
            Root::Branch(at) => format!("branch at {}", self.place(at)),
            Root::Manner(at) => format!("access-manner at {}", self.place(at)),
        };
        let mut nodes: Vec<GraphNode> =
            graph.nodes().iter().enumerate().map(|(id, node)| self.node(id, node, &title)).collect();
        for (id, node) in graph.nodes().iter().enumerate() {
            match node {
                DependencyNode::Box { child: Some(child), .. } => {
                    nodes[*child].parent = Some(id);
                    if let DependencyNode::Circle { used, .. } = &graph.nodes()[*child] {
                        nodes[*child].edge = format!("read at {}", self.place(&used.at));
                    }
                }
                DependencyNode::Box { .. } => {}
                DependencyNode::Circle { defines, .. } => {
                    for (define, to) in defines {
                        (nodes[*to].parent, nodes[*to].edge) = (Some(id), self.define(define.as_ref()));
                    }
                }
            }
        }
        let sizes = nodes.iter().map(|it| it.label.len() + it.edge.len() + FRAME);
        let kept = within(share, sizes).min(MOST_NODES);
        let nodes_left_out = nodes.len().saturating_sub(kept);
        nodes.truncate(kept);
        let mut all = Vec::new();
        paths_to_leaves(graph, 0, &mut Vec::new(), &mut BTreeSet::new(), &mut all);
        let number = all.len();
        let guideline = |(leaf, steps): (NodeId, Vec<UseDefine>)| GuidelineCard {
            steps: steps.iter().map(|step| self.step(step)).collect(),
            leaf: (leaf < nodes.len()).then_some(leaf),
        };
        let mut guidelines: Vec<GuidelineCard> =
            all.into_iter().take(MOST_GUIDELINES).map(guideline).collect();
        let size = |it: &GuidelineCard| it.steps.iter().map(|step| step.len() + 3).sum::<usize>() + FRAME;
        guidelines.truncate(within(share, guidelines.iter().map(size)));
        let guidelines_left_out = number - guidelines.len();
        GraphCard { title, guidelines, guidelines_left_out, nodes_left_out, nodes }
    }

    fn node(&self, id: NodeId, node: &DependencyNode, title: &str) -> GraphNode {
        let (label, is_choice) = match node {
            DependencyNode::Box { .. } if id == 0 => (title.to_string(), false),
            DependencyNode::Box { open, .. } if open.is_empty() => ("constant".to_string(), false),
            DependencyNode::Box { open, .. } => {
                let open: Vec<String> = open.iter().map(|used| self.variable(used.variable)).collect();
                (open.join(", "), false)
            }
            DependencyNode::Circle { used, .. } => (self.variable(used.variable), true),
        };
        GraphNode { parent: None, edge: String::new(), label, is_choice }
    }

    fn step(&self, step: &UseDefine) -> String {
        let (variable, at) = (self.variable(step.used.variable), self.place(&step.used.at));
        format!("{variable} read at {at} is {}", self.define(step.defined.as_ref()))
    }
}

/// How many of some things, from the first on, have so many bytes together; one at least.
fn within(bytes: usize, sizes: impl Iterator<Item = usize>) -> usize {
    let sums = sizes.scan(0, |sum, size| {
        *sum += size;
        Some(*sum)
    });
    sums.take_while(|sum| *sum <= bytes).count().max(1)
}

/// The paths from a node to its leaves, each set of use-defines once, with the leaf.
fn paths_to_leaves(
    graph: &DependencyGraph,
    node: NodeId,
    path: &mut Vec<UseDefine>,
    known: &mut BTreeSet<BTreeSet<UseDefine>>,
    found: &mut Vec<(NodeId, Vec<UseDefine>)>,
) {
    let circle = match &graph.nodes()[node] {
        DependencyNode::Box { child, .. } => child.map(|child| &graph.nodes()[child]),
        DependencyNode::Circle { .. } => None,
    };
    let Some(DependencyNode::Circle { used, defines }) = circle else {
        if known.insert(path.iter().copied().collect()) {
            found.push((node, path.clone()));
        }
        return;
    };
    for (define, leads_to) in defines {
        path.push(UseDefine { used: *used, defined: *define });
        paths_to_leaves(graph, *leads_to, path, known, found);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn as_much_is_kept_as_has_room() {
        assert_eq!(within(100, [40, 60, 1].into_iter()), 2);
        assert_eq!(within(100, [40, 50].into_iter()), 2);
        assert_eq!(within(100, [400, 50].into_iter()), 1, "never nothing at all");
    }
}
