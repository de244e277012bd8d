//! Draws shares that grow, as SVG: graphs in rows, with axes from 0, and from 0 to 1 upwards.

use std::fmt::Write as _;

use crate::plot::{line, text};

const GRAPH: (f64, f64) = (360.0, 160.0);
const MARGIN: f64 = 50.0;
const COLOURS: [&str; 4] = ["#1f6fb2", "#d1712a", "#3a8f3d", "#8d4fa8"];

/// One line.
pub struct Curve {
    /// What it shows.
    pub name: String,
    /// Its points from left to right; upwards they go from 0 to 1.
    pub points: Vec<(f64, f64)>,
}

/// One pair of axes.
pub struct Graph {
    /// The text above it.
    pub title: String,
    /// Its lines, which have the same names in all graphs.
    pub curves: Vec<Curve>,
}

/// Draws rows of graphs, and one legend for all above them.
pub fn draw(rows: &[Vec<Graph>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0) as f64;
    let (width, height) =
        (columns * (GRAPH.0 + MARGIN) + MARGIN, rows.len() as f64 * (GRAPH.1 + MARGIN) + 2.0 * MARGIN);
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    );
    let legend = rows.first().and_then(|row| row.first()).map_or(&[][..], |graph| &graph.curves);
    for (number, curve) in legend.iter().enumerate() {
        let x = MARGIN + 130.0 * number as f64;
        line(&mut svg, &[(x, 20.0), (x + 20.0, 20.0)], colour(number), 2.0, &curve.name);
        text(&mut svg, x + 26.0, 24.0, "start", &curve.name);
    }
    for (row, graphs) in rows.iter().enumerate() {
        for (column, graph) in graphs.iter().enumerate() {
            let left = MARGIN + column as f64 * (GRAPH.0 + MARGIN);
            draw_graph(&mut svg, graph, left, 1.4 * MARGIN + row as f64 * (GRAPH.1 + MARGIN));
        }
    }
    svg + "</svg>\n"
}

fn colour(number: usize) -> &'static str {
    COLOURS[number % COLOURS.len()]
}

fn draw_graph(svg: &mut String, graph: &Graph, left: f64, top: f64) {
    let points = graph.curves.iter().flat_map(|curve| &curve.points);
    let most = points.map(|(x, _)| *x).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let place = |(x, y): (f64, f64)| (left + GRAPH.0 * x / most, top + GRAPH.1 * (1.0 - y));
    text(svg, left + GRAPH.0 / 2.0, top - 6.0, "middle", &graph.title);
    for share in [0.0, 0.5, 1.0] {
        line(svg, &[place((0.0, share)), place((most, share))], "#ddd", 1.0, "");
        let (x, y) = place((0.0, share));
        text(svg, x - 6.0, y + 4.0, "end", &format!("{share}"));
    }
    for part in [0.0, 0.5, 1.0] {
        let (x, y) = place((most * part, 0.0));
        text(svg, x, y + 14.0, "middle", &format!("{:.0}", most * part));
    }
    for (number, curve) in graph.curves.iter().enumerate() {
        let points: Vec<_> = curve.points.iter().map(|point| place(*point)).collect();
        line(svg, &points, colour(number), 1.5, &curve.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_goes_from_corner_to_corner() {
        let curve = Curve { name: "a".to_string(), points: vec![(0.0, 0.0), (80.0, 1.0)] };
        let svg = draw(&[vec![Graph { title: "T".to_string(), curves: vec![curve] }]]);
        assert!(svg.contains("points=\"50.0,230.0 410.0,70.0\""), "{svg}");
    }
}
