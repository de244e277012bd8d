//! Dependency graphs as a picture: boxes and circles in layers, from the root down.

use std::fmt::Write as _;

use threadbare_models::graph::Drawing;

/// The width of a letter.
const LETTER: usize = 7;
/// The height of a line of text.
const LINE: usize = 16;
/// The space within a node, and the least between two.
const PADDING: usize = 8;
/// The space between layers: room for the text of an edge.
const BETWEEN: usize = 56;
/// The space around graphs.
const MARGIN: usize = 24;

/// These graphs, one below the other, as an SVG file.
pub fn graphs_svg(drawings: &[Drawing]) -> String {
    let mut body = String::new();
    let (mut width, mut top) = (0, MARGIN);
    for drawing in drawings {
        let layout = Layout::of(drawing);
        draw(&mut body, drawing, &layout, top);
        width = width.max(layout.width);
        top += layout.height + 2 * MARGIN;
    }
    let (width, height) = (width + 2 * MARGIN, top.max(2 * MARGIN));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"12\">\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

/// Where the nodes of a graph lie: their middles, from the left margin and from the graph's top.
struct Layout {
    x: Vec<usize>,
    y: Vec<usize>,
    width: usize,
    height: usize,
}

impl Layout {
    fn of(drawing: &Drawing) -> Layout {
        let count = drawing.nodes.len();
        let mut layout = Layout { x: vec![0; count], y: vec![0; count], width: 0, height: 0 };
        let mut tree = Tree::of(drawing);
        if count > 0 {
            layout.width = tree.span(0);
            layout.place(&tree, 0, 0);
        }
        let mut top = 0;
        for layer in 0..=tree.depth.iter().copied().max().unwrap_or(0) {
            let members: Vec<usize> = (0..count).filter(|node| tree.depth[*node] == layer).collect();
            let tallest = members.iter().map(|node| height_of(drawing, *node)).max().unwrap_or(0);
            members.iter().for_each(|node| layout.y[*node] = top + tallest / 2);
            layout.height = top + tallest;
            top += tallest + BETWEEN;
        }
        layout
    }

    /// Puts a node in the middle above what hangs on it.
    fn place(&mut self, tree: &Tree, node: usize, left: usize) {
        self.x[node] = left + tree.spans[node] / 2;
        let below: usize = tree.children[node].iter().map(|child| tree.spans[*child]).sum();
        let mut next = left + (tree.spans[node] - below) / 2;
        for &child in &tree.children[node] {
            self.place(tree, child, next);
            next += tree.spans[child];
        }
    }
}

/// The graph without the edges that lead to where another one has led before.
struct Tree {
    children: Vec<Vec<usize>>,
    depth: Vec<usize>,
    /// The room for a node by itself: its text, and that of the edge to it.
    own: Vec<usize>,
    /// The room for a node with all that hangs on it.
    spans: Vec<usize>,
}

impl Tree {
    fn of(drawing: &Drawing) -> Tree {
        let count = drawing.nodes.len();
        let own = (0..count).map(|node| width_of(drawing, node) + 2 * PADDING).collect();
        let mut tree =
            Tree { children: vec![Vec::new(); count], depth: vec![0; count], own, spans: vec![0; count] };
        let mut is_reached = vec![false; count];
        let mut waiting = vec![0];
        while let Some(node) = waiting.pop().filter(|node| *node < count) {
            is_reached[node] = true;
            for edge in drawing.edges.iter().filter(|edge| edge.from == node && edge.to < count) {
                tree.own[edge.to] = tree.own[edge.to].max(letters(&edge.label) * LETTER + 2 * PADDING);
                if !std::mem::replace(&mut is_reached[edge.to], true) {
                    tree.depth[edge.to] = tree.depth[node] + 1;
                    tree.children[node].push(edge.to);
                    waiting.push(edge.to);
                }
            }
        }
        tree
    }

    fn span(&mut self, node: usize) -> usize {
        let below: usize = self.children[node].clone().into_iter().map(|child| self.span(child)).sum();
        self.spans[node] = below.max(self.own[node]);
        self.spans[node]
    }
}

fn letters(text: &str) -> usize {
    text.chars().count()
}

fn width_of(drawing: &Drawing, node: usize) -> usize {
    let node = &drawing.nodes[node];
    let text = node.lines.iter().map(|line| letters(line) * LETTER).max().unwrap_or(0);
    // A circle has less room in its corners.
    text + if node.is_round { 4 * PADDING } else { 2 * PADDING }
}

fn height_of(drawing: &Drawing, node: usize) -> usize {
    drawing.nodes[node].lines.len() * LINE + 2 * PADDING
}

fn draw(body: &mut String, drawing: &Drawing, layout: &Layout, top: usize) {
    let middle = |node: usize| (MARGIN + layout.x[node], top + layout.y[node]);
    // Writing to a text does not fail.
    for edge in &drawing.edges {
        let ((x1, y1), (x2, y2)) = (middle(edge.from), middle(edge.to));
        let (begin, end) = (y1 + height_of(drawing, edge.from) / 2, y2 - height_of(drawing, edge.to) / 2);
        let _ = writeln!(
            body,
            "<path d=\"M{x1} {begin}L{x2} {end}\" fill=\"none\" stroke=\"black\" marker-end=\"url(#tip)\"/>"
        );
        let _ = writeln!(
            body,
            "<text x=\"{x2}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\" stroke=\"white\" stroke-width=\"3\" \
             paint-order=\"stroke\">{}</text>",
            end.saturating_sub(BETWEEN / 3),
            escaped(&edge.label)
        );
    }
    for (id, node) in drawing.nodes.iter().enumerate() {
        let ((x, y), width, height) = (middle(id), width_of(drawing, id), height_of(drawing, id));
        let look = "fill=\"white\" stroke=\"black\"";
        let _ = if node.is_round {
            writeln!(
                body,
                "<ellipse cx=\"{x}\" cy=\"{y}\" rx=\"{}\" ry=\"{}\" {look}/>",
                width / 2,
                height / 2
            )
        } else {
            let (left, upper) = (x.saturating_sub(width / 2), y.saturating_sub(height / 2));
            writeln!(body, "<rect x=\"{left}\" y=\"{upper}\" width=\"{width}\" height=\"{height}\" {look}/>")
        };
        let first = (y + LINE / 4 + LINE / 2).saturating_sub(node.lines.len() * LINE / 2);
        for (number, line) in node.lines.iter().enumerate() {
            let below = first + number * LINE;
            let text = escaped(line);
            let _ = writeln!(body, "<text x=\"{x}\" y=\"{below}\" text-anchor=\"middle\">{text}</text>");
        }
    }
}

/// A text as XML has it. What XML cannot have is shown as a sign that it is missing.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            _ if letter.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&letter) => safe.push('\u{fffd}'),
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use threadbare_models::graph::{DrawnEdge, DrawnNode};

    use super::*;

    fn node(is_round: bool, lines: &[&str]) -> DrawnNode {
        DrawnNode { is_round, lines: lines.iter().map(|line| line.to_string()).collect() }
    }

    fn edge(from: usize, to: usize, label: &str) -> DrawnEdge {
        DrawnEdge { from, to, label: label.to_string() }
    }

    /// A branch that is decided by one of two writes, or by what was there.
    fn branch() -> Drawing {
        Drawing {
            nodes: vec![
                node(false, &["branch", "T1: pool.c:12"]),
                node(true, &["vector<int>::size & more"]),
                node(false, &["constant"]),
                node(false, &["\"quoted\" \u{1}"]),
                node(false, &["constant"]),
            ],
            edges: vec![
                edge(0, 1, "read at T1: pool.c:11"),
                edge(1, 2, "as it was"),
                edge(1, 3, "written at T2: pool.c:20"),
                edge(1, 4, "written at T3: pool.c:20"),
            ],
        }
    }

    #[test]
    fn nodes_of_a_layer_do_not_overlap_and_layers_go_down() {
        let drawing = branch();
        let layout = Layout::of(&drawing);
        let ends = |id: usize| {
            (layout.x[id] - width_of(&drawing, id) / 2, layout.x[id] + width_of(&drawing, id) / 2)
        };
        for pair in [2, 3, 4].windows(2) {
            assert!(ends(pair[0]).1 < ends(pair[1]).0, "{:?}", layout.x);
        }
        assert!(layout.y[0] < layout.y[1] && layout.y[1] < layout.y[2]);
        assert!(ends(4).1 <= layout.width);
    }

    #[test]
    fn a_node_that_two_edges_lead_to_is_drawn_once() {
        let mut drawing = branch();
        drawing.edges.push(edge(3, 1, "once more"));
        let picture = graphs_svg(&[drawing]);
        assert_eq!(picture.matches("<ellipse").count(), 1);
        assert_eq!(picture.matches("<path d=\"M").count(), 1 + 5, "the tip and the edges");
    }

    #[test]
    fn texts_are_escaped() {
        let picture = graphs_svg(&[branch(), branch()]);
        assert!(picture.contains("vector&lt;int&gt;::size &amp; more"));
        assert!(picture.contains("&quot;quoted&quot; \u{fffd}"));
        assert!(!picture.contains("vector<int>"));
        assert_eq!(picture.matches("<ellipse").count(), 2);
    }

    #[test]
    fn nothing_to_draw_is_a_picture_too() {
        assert!(graphs_svg(&[]).starts_with("<svg"));
    }
}
