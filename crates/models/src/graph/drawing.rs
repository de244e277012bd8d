//! The graph as people see it: what its nodes and edges are called.

use super::super::operation::Location;
use super::{DependencyGraph, DependencyNode, NodeId, Root};

/// A node to draw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DrawnNode {
    /// A selection of defines is round, a statement is not.
    pub is_round: bool,
    /// Its text, line by line.
    pub lines: Vec<String>,
}

/// An edge to draw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DrawnEdge {
    /// Where it begins.
    pub from: NodeId,
    /// Where it leads.
    pub to: NodeId,
    /// Its text.
    pub label: String,
}

/// A graph to draw; the root is the first node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drawing {
    /// The nodes.
    pub nodes: Vec<DrawnNode>,
    /// The edges, those of a node in their order.
    pub edges: Vec<DrawnEdge>,
}

impl DependencyGraph {
    /// The graph in words. `variable` and `site` say what people call memory and places in the code.
    pub fn drawing(&self, variable: &dyn Fn(u64) -> String, site: &dyn Fn(u64) -> String) -> Drawing {
        let place = |at: &Location| format!("{}: {}", at.thread, site(at.site));
        let mut drawing = Drawing { nodes: Vec::new(), edges: Vec::new() };
        for (id, node) in self.nodes.iter().enumerate() {
            let lines = match node {
                DependencyNode::Box { .. } if id == 0 => match &self.root {
                    Root::Branch(at) => vec!["branch".to_string(), place(at)],
                    Root::Manner(at) => vec!["access-manner".to_string(), place(at)],
                },
                DependencyNode::Box { open, .. } if open.is_empty() => vec!["constant".to_string()],
                DependencyNode::Box { open, .. } => {
                    let names: Vec<String> = open.iter().map(|used| variable(used.variable)).collect();
                    vec![names.join(", ")]
                }
                DependencyNode::Circle { used, .. } => vec![variable(used.variable)],
            };
            drawing.nodes.push(DrawnNode { is_round: matches!(node, DependencyNode::Circle { .. }), lines });
            match node {
                DependencyNode::Box { child: Some(child), .. } => {
                    let DependencyNode::Circle { used, .. } = &self.nodes[*child] else { continue };
                    let label = format!("read at {}", place(&used.at));
                    drawing.edges.push(DrawnEdge { from: id, to: *child, label });
                }
                DependencyNode::Box { child: None, .. } => {}
                DependencyNode::Circle { defines, .. } => {
                    for (define, to) in defines {
                        let written = |at: &Location| format!("written at {}", place(at));
                        let label = define.as_ref().map_or("as it was".to_string(), written);
                        drawing.edges.push(DrawnEdge { from: id, to: *to, label });
                    }
                }
            }
        }
        drawing
    }
}
