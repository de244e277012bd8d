//! A small SVG writer: panels side by side, a line for each series, the vertical axis logarithmic.

use std::fmt::Write as _;

const PANEL: (f64, f64) = (420.0, 320.0);
const MARGIN: f64 = 60.0;
const LEGEND: f64 = 170.0;

/// One pair of axes.
pub struct Panel {
    /// The text above it.
    pub title: String,
    /// A name for each line, and its points from left to right; the first is at 1. What is no number is left
    /// out.
    pub series: Vec<(String, Vec<f64>)>,
}

/// Draws rows of panels, all with the same series, and one legend for all.
pub fn draw(rows: &[Vec<Panel>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0) as f64;
    let (width, height) =
        (columns * (PANEL.0 + MARGIN) + LEGEND, rows.len() as f64 * (PANEL.1 + MARGIN) + MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (row, panels) in rows.iter().enumerate() {
        for (column, panel) in panels.iter().enumerate() {
            let left = MARGIN + column as f64 * (PANEL.0 + MARGIN);
            draw_panel(&mut svg, panel, left, MARGIN + row as f64 * (PANEL.1 + MARGIN));
        }
    }
    let series = rows.first().and_then(|panels| panels.first()).map_or(&[][..], |panel| &panel.series);
    for (index, (name, _)) in series.iter().enumerate() {
        let (x, y) = (columns * (PANEL.0 + MARGIN) + 20.0, MARGIN + 16.0 * index as f64);
        line(&mut svg, &[(x, y - 4.0), (x + 20.0, y - 4.0)], &colour(index, series.len()), 2.0, name);
        text(&mut svg, x + 26.0, y, "start", name);
    }
    svg + "</svg>\n"
}

fn draw_panel(svg: &mut String, panel: &Panel, left: f64, top: f64) {
    let values = || panel.series.iter().flat_map(|(_, points)| points).filter(|value| **value > 0.0);
    let low = values().copied().fold(f64::MAX, f64::min).min(1e9).log10().floor();
    let high = values().copied().fold(0.0, f64::max).max(1e-9).log10().ceil().max(low + 1.0);
    let most = panel.series.iter().map(|(_, points)| points.len()).max().unwrap_or(1);
    let x = |number: usize| left + PANEL.0 * (number as f64 + 0.5) / most as f64;
    let y = |value: f64| top + PANEL.1 * (1.0 - (value.log10() - low) / (high - low));
    text(svg, left + PANEL.0 / 2.0, top - 8.0, "middle", &panel.title);
    for power in low as i32..=high as i32 {
        let value = 10f64.powi(power);
        line(svg, &[(left, y(value)), (left + PANEL.0, y(value))], "#ddd", 1.0, "");
        text(svg, left - 6.0, y(value) + 4.0, "end", &format!("{value}"));
    }
    for number in 0..most {
        text(svg, x(number), top + PANEL.1 + 16.0, "middle", &format!("{}", number + 1));
    }
    for (index, (name, points)) in panel.series.iter().enumerate() {
        let points = points.iter().enumerate().filter(|(_, value)| **value > 0.0);
        let points: Vec<_> = points.map(|(number, value)| (x(number), y(*value))).collect();
        line(svg, &points, &colour(index, panel.series.len()), 1.5, name);
    }
}

/// Colours all around the circle; neighbours differ in lightness, too.
fn colour(index: usize, of: usize) -> String {
    format!("hsl({},70%,{}%)", 360 * index / of.max(1), [35, 50, 65][index % 3])
}

/// A line through points.
pub fn line(svg: &mut String, points: &[(f64, f64)], colour: &str, width: f64, title: &str) {
    let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\">\
         <title>{}</title></polyline>",
        points.join(" "),
        escape(title)
    );
}

/// Words at a place.
pub fn text(svg: &mut String, x: f64, y: f64, anchor: &str, content: &str) {
    let content = escape(content);
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{content}</text>");
}

fn escape(content: &str) -> String {
    content.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_of_ten_lies_on_its_grid_line_and_names_are_escaped() {
        let series = vec![("a<b".to_string(), vec![1.0, 100.0]), ("c".to_string(), vec![10.0, 10.0])];
        let svg = draw(&[vec![Panel { title: "P".to_string(), series }]]);
        assert!(svg.contains("<title>a&lt;b</title>"));
        // From 1 at the bottom to 100 at the top of a panel of 320 that begins at 60; 10 is in the middle.
        assert!(svg.contains("points=\"165.0,380.0 375.0,60.0\""), "{svg}");
        assert!(svg.contains("points=\"165.0,220.0 375.0,220.0\""), "{svg}");
    }
}
