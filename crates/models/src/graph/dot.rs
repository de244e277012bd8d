//! A drawing as text that Graphviz lays out.

use std::fmt::Write as _;

use super::drawing::Drawing;

/// A text between quotation marks.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

impl Drawing {
    /// The graph in the DOT language.
    pub fn dot(&self) -> String {
        let mut text = String::from("digraph dependencies {\n");
        for (id, node) in self.nodes.iter().enumerate() {
            let shape = if node.is_round { "ellipse" } else { "box" };
            // Writing to a text does not fail.
            let _ = writeln!(text, "  n{id} [shape={shape}, label={}];", quoted(&node.lines.join("\n")));
            for edge in self.edges.iter().filter(|edge| edge.from == id) {
                let _ = writeln!(text, "  n{id} -> n{} [label={}];", edge.to, quoted(&edge.label));
            }
        }
        text + "}\n"
    }
}
