//! Strategies side by side, as a table for people.

use unicode_width::UnicodeWidthStr as _;

use crate::{CompareReport, Figures, StrategyReport, VersusReport};

/// What is called significant, as in the papers.
const SIGNIFICANT: f64 = 0.05;

/// The table of a comparison, with what is needed to read it.
pub fn compare_table(report: &CompareReport) -> String {
    let first = report.strategies.first().map_or("", |it| &it.strategy);
    let has_others = report.strategies.len() > 1;
    let mut rows = vec![
        ["strategy", "failed", "mean", "median", "quartiles", "sd", "mean time", "p", "δ", ""]
            .map(String::from),
    ];
    rows.extend(report.strategies.iter().map(|it| row(it, first)));
    let columns = if has_others { 10 } else { 7 };
    let mut text = format!(
        "{}: executions to the first failure, {} a strategy, seed {}\n\n",
        report.program,
        count(report.runs, "trial"),
        report.seed
    );
    text.push_str(&aligned(&rows, columns));
    text.push('\n');
    coverage(report, &mut text);
    notes(report, first, &mut text);
    text
}

/// What trials covered on average, where that was asked for.
fn coverage(report: &CompareReport, text: &mut String) {
    let criteria = report.strategies.first().map_or_else(Vec::new, |it| it.covered.keys().collect());
    for criterion in &criteria {
        let mean = |it: &StrategyReport| {
            let covered = it.covered.get(**criterion).filter(|_| it.trials > 0);
            format!("{} {}", it.strategy, covered.map_or("–".to_string(), |it| format!("{:.1}", it.mean)))
        };
        let means: Vec<String> = report.strategies.iter().map(mean).collect();
        text.push_str(&format!("Covered by a trial on average ({criterion}): {}.\n", means.join(", ")));
    }
    if !criteria.is_empty() {
        text.push('\n');
    }
}

fn row(it: &StrategyReport, first: &str) -> [String; 10] {
    let bounds = it.lower_bounds;
    let marked = |is_bound: bool, figure: String| if is_bound { format!("≥ {figure}") } else { figure };
    let Figures { mean, median, sd, q1, q3, .. } = it.executions;
    let (p, delta, words) = match &it.first_versus_this {
        Some(versus) => (
            probability(versus.p_corrected),
            format!("{:+.2}", versus.cliffs_delta),
            verdict(versus, first, &it.strategy),
        ),
        None => Default::default(),
    };
    if it.trials == 0 {
        let dash = || "–".to_string();
        return [it.strategy.clone(), "0/0".into(), dash(), dash(), dash(), dash(), dash(), p, delta, words];
    }
    [
        it.strategy.clone(),
        format!("{}/{}", it.failed, it.trials),
        marked(bounds.mean, format!("{mean:.2}")),
        marked(bounds.median, short(median)),
        format!("{}–{}", marked(bounds.q1, short(q1)), marked(bounds.q3, short(q3))),
        format!("{sd:.2}"),
        seconds(it.time_s.mean),
        p,
        delta,
        words,
    ]
}

/// Which one needs fewer executions, if the difference is significant.
fn verdict(versus: &VersusReport, first: &str, other: &str) -> String {
    if versus.p_corrected >= SIGNIFICANT || versus.cliffs_delta == 0.0 {
        return "no significant difference".to_string();
    }
    let better = if versus.cliffs_delta < 0.0 { first } else { other };
    format!("{better} needs fewer ({})", versus.magnitude)
}

fn notes(report: &CompareReport, first: &str, text: &mut String) {
    text.push_str(
        "What the threads share was found out before the trials, in executions that count for nobody.\n",
    );
    if report.strategies.len() > 1 {
        text.push_str(&format!(
            "p: Wilcoxon signed-rank test against {first} on trials of the same seed, after Bonferroni's \
             correction.\nδ: Cliff's delta against {first}, negative where {first} needs fewer executions.\n"
        ));
    }
    let unfailed: usize = report.strategies.iter().map(|it| it.trials - it.failed).sum();
    if unfailed > 0 {
        text.push_str(&format!(
            "≥: {} found no failure within {} ({} s). Such a trial counts as if the next execution had failed; \
             where it is not certain which of two trials is longer, they count as equal.\n",
            count(unfailed as u64, "trial"),
            count(report.executions, "execution"),
            report.time_s
        ));
    }
    let timed = report.trials.iter().filter(|trial| trial.end == "time").count();
    if timed > 0 {
        text.push_str(&format!(
            "{} ended by the time limit; on another machine, or with other --jobs, that can come out \
             differently.\n",
            count(timed as u64, "trial")
        ));
    }
    if report.interrupted {
        text.push_str("It was interrupted: only the trials that had ended count.\n");
    }
}

/// The columns below each other: names to the left, numbers to the right.
fn aligned(rows: &[[String; 10]], columns: usize) -> String {
    let widths: Vec<usize> =
        (0..columns).map(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().take(columns).enumerate() {
            let gap = " ".repeat(widths[column] - cell.width());
            let is_text = column == 0 || column == 9;
            line.push_str(&if is_text { format!("{cell}{gap}") } else { format!("{gap}{cell}") });
            line.push_str("  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn short(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_string() } else { format!("{p:.3}") }
}

fn seconds(time: f64) -> String {
    if time < 1.0 { format!("{:.1} ms", time * 1000.0) } else { format!("{time:.2} s") }
}
