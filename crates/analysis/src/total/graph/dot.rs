//! The graph as a drawing: text that Graphviz lays out.

use std::fmt::Write as _;

use super::super::operation::Location;
use super::{DependencyGraph, Node, Root};

/// A text between quotation marks.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl DependencyGraph {
    /// The graph in the DOT language. `variable` and `site` say what people call memory and places in the code.
    pub fn dot(&self, variable: &dyn Fn(u64) -> String, site: &dyn Fn(u64) -> String) -> String {
        let place = |at: &Location| format!("{}: {}", at.thread, site(at.site));
        let mut text = String::from("digraph dependencies {\n");
        for (id, node) in self.nodes.iter().enumerate() {
            let (shape, label) = match node {
                Node::Box { .. } if id == 0 => match &self.root {
                    Root::Branch(at) => ("box", format!("branch\n{}", place(at))),
                    Root::Manner(at) => ("box", format!("access-manner\n{}", place(at))),
                },
                Node::Box { open, .. } if open.is_empty() => ("box", "constant".to_string()),
                Node::Box { open, .. } => {
                    let names: Vec<String> = open.iter().map(|used| variable(used.variable)).collect();
                    ("box", names.join(", "))
                }
                Node::Circle { used, .. } => ("ellipse", variable(used.variable)),
            };
            // Writing to a text does not fail.
            let _ = writeln!(text, "  n{id} [shape={shape}, label={}];", quoted(&label).replace('\n', "\\n"));
            match node {
                Node::Box { child: Some(child), .. } => {
                    let Node::Circle { used, .. } = &self.nodes[*child] else { continue };
                    let label = quoted(&format!("read at {}", place(&used.at)));
                    let _ = writeln!(text, "  n{id} -> n{child} [label={label}];");
                }
                Node::Circle { defines, .. } => {
                    for (define, to) in defines {
                        let by = define
                            .as_ref()
                            .map_or("as it was".to_string(), |at| format!("written at {}", place(at)));
                        let _ = writeln!(text, "  n{id} -> n{to} [label={}];", quoted(&by));
                    }
                }
                Node::Box { .. } => {}
            }
        }
        text.push_str("}\n");
        text
    }
}
