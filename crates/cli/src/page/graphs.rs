//! The dependency graphs of a verification, as a page shows them.

use std::collections::BTreeSet;

use threadbare_analysis::total::graph::{DependencyGraph, Node, NodeId, Root};
use threadbare_analysis::total::{Location, UseDefine};
use threadbare_explore::Graphs;
use threadbare_report::{GraphCard, GraphCards, GraphNode, GuidelineCard, Names as _};
use threadbare_target::Symbols;

use crate::names::ExecutionNames;

/// What is kept of graphs: nobody reads more.
const MOST_GRAPHS: usize = 40;
const MOST_NODES: usize = 150;
const MOST_GUIDELINES: usize = 60;

/// The graphs with the names of what is in them; none if there are none.
pub fn graph_cards(graphs: &Graphs, symbols: &Symbols) -> Option<GraphCards> {
    let run = graphs.run.as_ref().filter(|_| !graphs.graphs.is_empty())?;
    let names = ExecutionNames::new(symbols, run);
    let words = Words { names: &names };
    Some(GraphCards {
        graphs: graphs.graphs.iter().take(MOST_GRAPHS).map(|graph| words.card(graph)).collect(),
        left_out: graphs.graphs.len().saturating_sub(MOST_GRAPHS),
    })
}

struct Words<'a> {
    names: &'a ExecutionNames<'a>,
}

impl Words<'_> {
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

    fn card(&self, graph: &DependencyGraph) -> GraphCard {
        let title = match graph.root() {
            Root::Branch(at) => format!("branch at {}", self.place(at)),
            Root::Manner(at) => format!("access-manner at {}", self.place(at)),
        };
        let mut nodes: Vec<GraphNode> =
            graph.nodes().iter().enumerate().map(|(id, node)| self.node(id, node, &title)).collect();
        for (id, node) in graph.nodes().iter().enumerate() {
            match node {
                Node::Box { child: Some(child), .. } => {
                    nodes[*child].parent = Some(id);
                    if let Node::Circle { used, .. } = &graph.nodes()[*child] {
                        nodes[*child].edge = format!("read at {}", self.place(&used.at));
                    }
                }
                Node::Box { .. } => {}
                Node::Circle { defines, .. } => {
                    for (define, to) in defines {
                        (nodes[*to].parent, nodes[*to].edge) = (Some(id), self.define(define.as_ref()));
                    }
                }
            }
        }
        let nodes_left_out = nodes.len().saturating_sub(MOST_NODES);
        nodes.truncate(MOST_NODES);
        let mut all = Vec::new();
        ways(graph, 0, &mut Vec::new(), &mut BTreeSet::new(), &mut all);
        let guidelines_left_out = all.len().saturating_sub(MOST_GUIDELINES);
        let guideline = |(leaf, steps): (NodeId, Vec<UseDefine>)| GuidelineCard {
            steps: steps.iter().map(|step| self.step(step)).collect(),
            leaf: (leaf < nodes.len()).then_some(leaf),
        };
        let guidelines = all.into_iter().take(MOST_GUIDELINES).map(guideline).collect();
        GraphCard { title, guidelines, guidelines_left_out, nodes_left_out, nodes }
    }

    fn node(&self, id: NodeId, node: &Node, title: &str) -> GraphNode {
        let (label, is_choice) = match node {
            Node::Box { .. } if id == 0 => (title.to_string(), false),
            Node::Box { open, .. } if open.is_empty() => ("constant".to_string(), false),
            Node::Box { open, .. } => {
                let open: Vec<String> = open.iter().map(|used| self.variable(used.variable)).collect();
                (open.join(", "), false)
            }
            Node::Circle { used, .. } => (self.variable(used.variable), true),
        };
        GraphNode { parent: None, edge: String::new(), label, is_choice }
    }

    fn step(&self, step: &UseDefine) -> String {
        let (variable, at) = (self.variable(step.used.variable), self.place(&step.used.at));
        format!("{variable} read at {at} is {}", self.define(step.defined.as_ref()))
    }
}

/// The ways from a node to its leaves, each set of use-defines once, with the leaf.
fn ways(
    graph: &DependencyGraph,
    node: NodeId,
    path: &mut Vec<UseDefine>,
    known: &mut BTreeSet<BTreeSet<UseDefine>>,
    found: &mut Vec<(NodeId, Vec<UseDefine>)>,
) {
    let circle = match &graph.nodes()[node] {
        Node::Box { child, .. } => child.map(|child| &graph.nodes()[child]),
        Node::Circle { .. } => None,
    };
    let Some(Node::Circle { used, defines }) = circle else {
        if known.insert(path.iter().copied().collect()) {
            found.push((node, path.clone()));
        }
        return;
    };
    for (define, leads_to) in defines {
        path.push(UseDefine { used: *used, defined: *define });
        ways(graph, *leads_to, path, known, found);
        path.pop();
    }
}
