//! Which functions run under which inputs, and where they are looked at.

use std::collections::{BTreeMap, BTreeSet};

use threadbare_coverage::cfp::FunctionAddress;
use threadbare_report::{Matrix, MatrixRow};
use threadbare_target::demangle;

use super::Results;
use super::work::Suite;

/// The most functions that a page shows.
const MOST_FUNCTIONS: usize = 300;

/// The matrix of a suite: functions that are looked at under the most inputs come first.
pub fn matrix(suite: &Suite, results: &Results) -> Matrix {
    let selected = |input: usize| -> BTreeSet<FunctionAddress> {
        match results.selected.iter().find(|it| it.input == input) {
            _ if suite.args.full => results
                .measured
                .get(&input)
                .map(|it| it.executed.iter().copied().collect())
                .unwrap_or_default(),
            found => found.map(|it| it.functions()).unwrap_or_default(),
        }
    };
    let rows: Vec<(usize, BTreeSet<FunctionAddress>, BTreeSet<FunctionAddress>)> = (results.measured.iter())
        .map(|(input, record)| (*input, record.executed.iter().copied().collect(), selected(*input)))
        .collect();
    let mut weights: BTreeMap<FunctionAddress, (usize, usize)> = BTreeMap::new();
    for (_, executed, selected) in &rows {
        for function in executed.union(selected) {
            let weight = weights.entry(*function).or_default();
            weight.0 += usize::from(selected.contains(function));
            weight.1 += 1;
        }
    }
    let mut functions: Vec<FunctionAddress> = weights.keys().copied().collect();
    functions.sort_by_key(|function| std::cmp::Reverse(weights[function]));
    let functions_left_out = functions.len().saturating_sub(MOST_FUNCTIONS);
    functions.truncate(MOST_FUNCTIONS);
    let cell = |function: &FunctionAddress,
                executed: &BTreeSet<FunctionAddress>,
                selected: &BTreeSet<FunctionAddress>| {
        if selected.contains(function) {
            's'
        } else if executed.contains(function) {
            'r'
        } else {
            '.'
        }
    };
    let row =
        |(input, executed, selected): &(usize, BTreeSet<FunctionAddress>, BTreeSet<FunctionAddress>)| {
            MatrixRow {
                input: suite.name(*input).to_string(),
                cells: functions.iter().map(|function| cell(function, executed, selected)).collect(),
                selected: results.selected.iter().position(|it| it.input == *input).map(|place| place + 1),
            }
        };
    let name = |function: &FunctionAddress| {
        let known = suite.watch.code().function_from(*function);
        known.map_or_else(|| format!("{function:#x}"), |it| demangle(&it.name))
    };
    Matrix {
        rows: rows.iter().map(row).collect(),
        functions: functions.iter().map(name).collect(),
        functions_left_out,
    }
}
