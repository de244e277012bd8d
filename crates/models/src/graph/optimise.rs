//! Leaving out what cannot differ (Algorithm 8).

use super::{DependencyGraph, DependencyNode, NodeId};

impl DependencyGraph {
    /// The graph without circles that leave no choice. Where there is no choice at all, only the root is left.
    pub fn optimised(&self) -> DependencyGraph {
        let mut nodes = Vec::new();
        self.copy(0, &mut nodes);
        DependencyGraph { root: self.root.clone(), nodes, is_cut: self.is_cut }
    }

    /// Copies a box as what comes after all circles with one edge.
    fn copy(&self, mut node: NodeId, nodes: &mut Vec<DependencyNode>) -> NodeId {
        let id = nodes.len();
        loop {
            let DependencyNode::Box { open, child } = &self.nodes[node] else { return id };
            let circle = child.map(|child| &self.nodes[child]);
            match circle {
                Some(DependencyNode::Circle { defines, .. }) if defines.len() == 1 => node = defines[0].1,
                Some(DependencyNode::Circle { used, defines }) => {
                    nodes.push(DependencyNode::Box { open: open.clone(), child: Some(id + 1) });
                    nodes.push(DependencyNode::Circle { used: *used, defines: Vec::new() });
                    let edges: Vec<_> = defines.iter().map(|(by, to)| (*by, self.copy(*to, nodes))).collect();
                    nodes[id + 1] = DependencyNode::Circle { used: *used, defines: edges };
                    return id;
                }
                _ => {
                    nodes.push(DependencyNode::Box { open: open.clone(), child: None });
                    return id;
                }
            }
        }
    }
}
