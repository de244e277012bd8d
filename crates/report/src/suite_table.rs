//! The inputs of a suite as a table for people.

use unicode_width::UnicodeWidthStr as _;

use crate::{AgainstReport, FullReport, InputReport, SuiteReport};

/// The table of inputs, and below it the comparison with looking at everything.
pub fn suite_table(report: &SuiteReport) -> String {
    let head = ["input", "pairs", "new", "selected", "functions", "findings", "outcome"].map(String::from);
    let rows: Vec<_> = std::iter::once(head).chain(report.inputs.iter().map(row)).collect();
    let mut text = aligned(&rows, &[0, 3, 6]);
    if let Some(full) = &report.full {
        text.push('\n');
        text.push_str(&comparison(full));
    }
    text
}

fn row(input: &InputReport) -> [String; 7] {
    let functions = match input.selected {
        true => format!("{}/{}", input.functions_selected, input.functions_executed),
        false => format!("0/{}", input.functions_executed),
    };
    let selected = match (input.selected, input.unguided) {
        (true, true) => "all of it",
        (true, false) => "yes",
        (false, _) => "",
    };
    [
        input.name.clone(),
        input.pairs.to_string(),
        input.new_pairs.to_string(),
        selected.to_string(),
        functions,
        input.findings.map_or_else(String::new, |findings| findings.to_string()),
        input.outcome.clone(),
    ]
}

fn comparison(full: &FullReport) -> String {
    let head = [
        "against full detection",
        "full",
        "guided",
        "speed-up",
        "findings",
        "missed",
        "failing missed",
        "inputs a finding",
    ];
    let mut rows = vec![head.map(String::from)];
    let kinds = [("races", &full.races), ("atomicity", &full.atomicity)];
    rows.extend(kinds.into_iter().filter_map(|(name, kind)| Some(against(name, kind.as_ref()?))));
    let mut text = aligned(&rows, &[0]);
    text.push_str(&format!(
        "Steps shown to the detectors: {} instead of {} ({:.0} % less).\n",
        full.guided_events,
        full.events,
        100.0 * full.trace_reduction
    ));
    text
}

fn against(name: &str, it: &AgainstReport) -> [String; 8] {
    [
        name.to_string(),
        format!("{:.2} s", it.full_s),
        format!("{:.2} s", it.guided_s),
        format!("{:.1}×", it.speedup),
        it.full_unique.to_string(),
        it.missed.to_string(),
        format!("{}/{}", it.failing_missed, it.failing),
        format!("{:.1} → {:.1}", it.full_duplication, it.duplication),
    ]
}

/// Rows with columns of equal width; numbers are aligned to the right, the columns named here to the left.
fn aligned<const N: usize>(rows: &[[String; N]], left: &[usize]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cell = |column: usize| {
            let space = " ".repeat(widths[column] - row[column].width());
            if left.contains(&column) {
                format!("{}{space}", row[column])
            } else {
                format!("{space}{}", row[column])
            }
        };
        let cells: Vec<String> = (0..N).map(cell).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let rows = [["input", "pairs"], ["größe", "7"]].map(|row| row.map(String::from));
        assert_eq!(aligned(&rows, &[0]), "input  pairs\ngröße      7\n");
    }
}
