//! The tables, with the paper's figures in brackets.

use super::paper::{Count, Figures, KindFigures};
use super::row::{Kind, Row};
use crate::clock::Spent;

/// What a table is made of: a head, and a line for each subject.
type Line = Vec<String>;

/// A kind of findings, in ours and in the paper's words.
struct Which {
    title: &'static str,
    ours: fn(&Row) -> &Kind,
    theirs: fn(&Figures) -> &KindFigures,
    reports: fn(&Figures) -> [&Count; 2],
}

const KINDS: [Which; 2] = [
    Which {
        title: "races",
        ours: |row| &row.races,
        theirs: |paper| &paper.races,
        reports: |paper| [&paper.full.races, &paper.full.failing_races],
    },
    Which {
        title: "atomicity violations",
        ours: |row| &row.atomicity,
        theirs: |paper| &paper.atomicity,
        reports: |paper| [&paper.full.atomicity, &paper.full.failing_atomicity],
    },
];

/// Prints all tables, and whether our demands are met.
pub fn print(rows: &[Row]) {
    duplicates(rows);
    KINDS.iter().for_each(|which| overall(rows, which));
    selection(rows);
    duplication(rows);
    KINDS.iter().for_each(|which| breakdown(rows, which));
    optimizations(rows);
    sizes(rows);
    function_selection(rows);
    demands(rows);
}

fn table(title: &str, head: &[&str], rows: &[Row], line: impl Fn(&Row) -> Line) {
    println!("{title}\n");
    let mut lines: Vec<Line> =
        vec![std::iter::once("subject").chain(head.iter().copied()).map(String::from).collect()];
    lines.extend(rows.iter().map(|row| std::iter::once(row.name.clone()).chain(line(row)).collect()));
    let columns = lines[0].len();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    for line in &lines {
        let cells = (0..columns).map(|column| match column {
            0 => format!("{:<1$}", line[0], width(0)),
            _ => format!("{:>1$}", line[column], width(column)),
        });
        println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    println!();
}

/// Our figure, with the paper's in brackets.
fn beside<T: std::fmt::Display>(ours: String, row: &Row, theirs: impl Fn(&Figures) -> T) -> String {
    format!("{ours} ({})", theirs(&row.paper))
}

fn duplicates(rows: &[Row]) {
    for which in &KINDS {
        let title = format!("Table 2: {} under all inputs (the paper's figures in brackets)", which.title);
        table(&title, &["reports", "unique", "inputs each", "failing", "failing unique"], rows, |row| {
            let kind = (which.ours)(row);
            let failing =
                kind.full.reports.values().flatten().filter(|it| kind.failing.contains(*it)).count();
            let reports = |at: usize| (which.reports)(&row.paper)[at];
            vec![
                beside(kind.full.all().to_string(), row, |_| reports(0).total),
                beside(kind.full.unique().len().to_string(), row, |_| reports(0).unique),
                beside(format!("{:.1}", kind.full.duplication()), row, |it| {
                    (which.theirs)(it).duplication.full
                }),
                beside(failing.to_string(), row, |_| reports(1).total),
                beside(kind.failing.len().to_string(), row, |_| reports(1).unique),
            ]
        });
    }
}

/// What guided detection takes in all.
fn guided(row: &Row, kind: &Kind) -> Spent {
    row.step1[3].spent + row.step2 + kind.guided.total()
}

fn missed(kind: &Kind) -> usize {
    kind.full.unique().difference(&kind.guided.unique()).count()
}

fn failing_missed(kind: &Kind) -> usize {
    kind.failing.difference(&kind.guided.unique()).count()
}

fn share(part: usize, all: usize) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

fn reduction(kind: &Kind) -> f64 {
    100.0 * (1.0 - kind.guided.events as f64 / kind.full.events.max(1) as f64)
}

fn overall(rows: &[Row], which: &Which) {
    let number = if which.title == "races" { 3 } else { 4 };
    let title = format!("Table {number}: guided detection of {} against full detection", which.title);
    let head = ["speed-up", "by processor time", "missed", "missed %", "failing missed", "trace saved %"];
    table(&title, &head, rows, |row| {
        let kind = (which.ours)(row);
        let (full, guided) = (kind.full.total(), guided(row, kind));
        vec![
            beside(format!("{:.1}", full.wall / guided.wall), row, |it| (which.theirs)(it).speedup),
            format!("{:.1}", full.cpu / guided.cpu),
            beside(missed(kind).to_string(), row, |it| (which.theirs)(it).missed),
            format!("{:.1}", share(missed(kind), kind.full.unique().len())),
            beside(failing_missed(kind).to_string(), row, |_| 0),
            beside(format!("{:.0}", reduction(kind)), row, |it| (which.theirs)(it).trace_reduction_percent),
        ]
    });
}

fn selection(rows: &[Row]) {
    let head = ["inputs", "selected", "functions", "selected", "events (M)", "guided"];
    table("Table 5: what is looked at", &head, rows, |row| {
        let selected: usize = row.selected.iter().map(|it| it.functions().len()).sum();
        let millions = |events: u64| format!("{:.2}", events as f64 / 1e6);
        vec![
            beside(row.inputs.to_string(), row, |it| it.selection.inputs.full),
            beside(row.selected.len().to_string(), row, |it| it.selection.inputs.cfp),
            beside(row.executed_in_all.to_string(), row, |it| it.selection.functions.full),
            beside(selected.to_string(), row, |it| it.selection.functions.cfp),
            millions(row.races.full.events),
            millions(row.races.guided.events),
        ]
    });
}

fn duplication(rows: &[Row]) {
    let head = ["races", "guided", "atomicity", "guided"];
    table("Table 6: inputs that report a finding, on average", &head, rows, |row| {
        let cells = KINDS.iter().flat_map(|which| {
            let kind = (which.ours)(row);
            let (full, guided) = (kind.full.duplication(), kind.guided.duplication());
            [
                beside(format!("{full:.1}"), row, |it| (which.theirs)(it).duplication.full),
                beside(format!("{guided:.1}"), row, |it| (which.theirs)(it).duplication.cfp),
            ]
        });
        cells.collect()
    });
}

fn breakdown(rows: &[Row], which: &Which) {
    let title = format!(
        "Table 7: the time of each step for {}, as a multiple of the base (wall / processor time)",
        which.title
    );
    table(&title, &["base (ms)", "step 1", "step 2", "step 3", "guided", "full"], rows, |row| {
        let kind = (which.ours)(row);
        let times =
            |spent: Spent| format!("{:.2} / {:.2}", spent.wall / row.base.wall, spent.cpu / row.base.cpu);
        vec![
            format!("{:.1} / {:.1}", 1e3 * row.base.wall, 1e3 * row.base.cpu),
            beside(times(row.step1[3].spent), row, |it| it.optimization.step_1.all()[3]),
            times(row.step2),
            beside(times(kind.guided.total()), row, |it| (which.theirs)(it).step_3),
            times(guided(row, kind)),
            beside(times(kind.full.total()), row, |it| (which.theirs)(it).full),
        ]
    });
}

fn optimizations(rows: &[Row]) {
    let head = ["none", "1", "2", "both", "calls: none", "1", "2", "both"];
    table("Table 10: step 1 with each optimization, as a multiple of the base (wall)", &head, rows, |row| {
        let time = |at: usize| {
            let times = row.step1[at].spent.wall / row.base.wall;
            beside(format!("{times:.2}"), row, |it| it.optimization.step_1.all()[at])
        };
        (0..4).map(time).chain((0..4).map(|at| row.step1[at].kinds.to_string())).collect()
    });
}

fn sizes(rows: &[Row]) {
    table("Table 11: sizes", &["functions", "executed", "pairs"], rows, |row| {
        vec![
            beside(row.functions.to_string(), row, |it| it.size.functions),
            beside(row.executed.to_string(), row, |it| it.size.executed),
            beside(row.aggregated.to_string(), row, |it| it.size.pairs),
        ]
    });
}

fn function_selection(rows: &[Row]) {
    let head = ["races", "atomicity", "races, inputs only", "atomicity, inputs only"];
    table("Table 12: speed-up with and without selecting functions", &head, rows, |row| {
        let speedup = |which: &Which| {
            let kind = (which.ours)(row);
            let ours = kind.full.total().wall / guided(row, kind).wall;
            beside(format!("{ours:.1}"), row, |it| (which.theirs)(it).speedup)
        };
        let inputs_only = |which: &Which| {
            let kind = (which.ours)(row);
            let step3: Spent =
                row.selected.iter().filter_map(|it| kind.full.spent.get(&it.input)).copied().sum();
            let all = row.step1[3].spent + row.step2 + step3;
            beside(format!("{:.1}", kind.full.total().wall / all.wall), row, |it| {
                (which.theirs)(it).speedup_inputs_only
            })
        };
        KINDS.iter().map(speedup).chain(KINDS.iter().map(inputs_only)).collect()
    });
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn demands(rows: &[Row]) {
    let verdict = |holds: bool| if holds { "met" } else { "NOT met" };
    for (which, least) in KINDS.iter().zip([4.0, 3.4]) {
        let average = |time: fn(Spent) -> f64| {
            let speedup = |row: &Row| {
                let kind = (which.ours)(row);
                time(kind.full.total()) / time(guided(row, kind))
            };
            mean(rows.iter().map(speedup))
        };
        let (wall, cpu) = (average(|spent| spent.wall), average(|spent| spent.cpu));
        println!(
            "average speed-up, {}: {cpu:.1} by processor time, {wall:.1} by the clock (at least {least}: {})",
            which.title,
            verdict(cpu >= least)
        );
        let kinds = || rows.iter().map(|row| (which.ours)(row));
        let lost: usize = kinds().map(failing_missed).sum();
        println!("failing {} missed: {lost} (none: {})", which.title, verdict(lost == 0));
        let worst = kinds().map(|kind| share(missed(kind), kind.full.unique().len())).fold(0.0, f64::max);
        println!("{} missed at worst: {worst:.1} % (at most 4.5 %: {})", which.title, verdict(worst <= 4.5));
    }
    let step1 = |row: &Row| row.step1[3].spent.cpu / row.base.cpu;
    let (average, worst) = (mean(rows.iter().map(step1)), rows.iter().map(step1).fold(0.0, f64::max));
    println!(
        "step 1 by processor time: {average:.2} times the base on average (below 2: {}), {worst:.2} at worst (at most 4.5: {})",
        verdict(average < 2.0),
        verdict(worst <= 4.5)
    );
}
