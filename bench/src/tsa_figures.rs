//! Figures 4 and 5 of the paper on synchronization pairs again: coverage over executions, and over time.

use std::path::Path;

use crate::Result;
use crate::curves::{Curve, Graph, draw};
use crate::tsa::Row;
use crate::tsa_trials::{Measured, RANDOM, Tried};

/// Points of a curve.
const POINTS: usize = 100;
/// Graphs in a row.
const COLUMNS: usize = 3;

/// The lines of a graph: tsa where there is one, and the mean of each random technique's variants. `at` says what a
/// technique has covered at a point.
fn curves(measured: &Measured, upto: f64, at: &dyn Fn(&Tried, f64) -> f64) -> Vec<Curve> {
    let all = measured.estimates[0].covered.len().max(1) as f64;
    let xs = || (0..=POINTS).map(|number| upto * number as f64 / POINTS as f64);
    let curve = |name: &str, tried: &[&Tried]| Curve {
        name: name.to_string(),
        points: xs()
            .map(|x| (x, tried.iter().map(|it| at(it, x)).sum::<f64>() / tried.len().max(1) as f64 / all))
            .collect(),
    };
    let tsa = measured.of("tsa").map(|tsa| curve("tsa", &[tsa]));
    let random = RANDOM
        .iter()
        .enumerate()
        .map(|(place, (_, strategy))| curve(strategy, &measured.variants(place).collect::<Vec<_>>()));
    tsa.into_iter().chain(random).collect()
}

fn write(path: &Path, graphs: Vec<Graph>, number: u32) -> Result<()> {
    let mut rows: Vec<Vec<Graph>> = Vec::new();
    for graph in graphs {
        match rows.last_mut() {
            Some(row) if row.len() < COLUMNS => row.push(graph),
            _ => rows.push(vec![graph]),
        }
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, draw(&rows))?;
    println!("Figure {number} is drawn in {}.", path.display());
    Ok(())
}

/// Figure 4: the share of all covered requirements, over executions.
pub fn figure_4(rows: &[Row], executions: u64, path: &Path) -> Result<()> {
    let graph = |Row { subject, measured }: &Row| Graph {
        title: format!("{}: executions", subject.title()),
        curves: curves(measured, executions as f64, &|tried, x| {
            tried.covered_at(|point| point.executions as f64 <= x)
        }),
    };
    write(path, rows.iter().map(graph).collect(), 4)
}

/// Figure 5: the same over time, up to where tsa is saturated (the slowest one, where there is no tsa).
pub fn figure_5(rows: &[Row], path: &Path) -> Result<()> {
    let graph = |Row { subject, measured }: &Row| {
        let ends = |tried: &Tried| tried.saturation().map_or(0.0, |it| it.seconds);
        let slowest = measured.tried.iter().map(ends).fold(0.0, f64::max);
        let upto = measured.of("tsa").map_or(slowest, ends) * 1000.0;
        Graph {
            title: format!("{}: milliseconds", subject.title()),
            curves: curves(measured, upto, &|tried, x| {
                tried.covered_at(|point| point.elapsed.as_secs_f64() * 1000.0 <= x)
            }),
        }
    };
    write(path, rows.iter().map(graph).collect(), 5)
}
