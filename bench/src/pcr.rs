//! The evaluation of the PCR paper again: Tables 4 to 6 and Figure 6, for pcr, map-random and mcr.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use threadbare_explore::{Comparison, Contestant, Options, compare};
use threadbare_target::Program;

use crate::Result;
use crate::classes::{self, Class};
use crate::pcr_budget::{self, Spent};

/// The strategies, in the order of the columns.
pub const STRATEGIES: [&str; 3] = ["pcr", "map-random", "mcr"];
const MAP_RANDOM: usize = 1;
const MCR: usize = 2;

/// Executions after which a trial gives up.
const EXECUTIONS: u64 = 1000;
/// The time after which it does.
const TIME: Duration = Duration::from_secs(20);

/// How the tables are made.
#[derive(Args)]
pub struct PcrArgs {
    /// Trials of each strategy on each class
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Only these classes
    #[arg(long, value_delimiter = ',')]
    subjects: Vec<String>,
    /// Executions of a campaign that continues after failures, for Table 5 and Figure 6
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    budget: u64,
    /// Where to draw Figure 6
    #[arg(long, value_name = "FILE", default_value = "target/pcr-coverage.svg")]
    svg: PathBuf,
}

/// What was measured of one class.
struct Row {
    class: Class,
    first: Comparison,
    spent: Vec<Spent>,
}

/// Prints the tables, and draws the figure.
pub fn print(args: &PcrArgs) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    for class in classes::all(&args.subjects)? {
        let program = class.build(folder.path())?;
        let first = trials(&program, args.runs)?;
        let spent = pcr_budget::spend(&program, args.runs, args.budget)?;
        rows.push(Row { class, first, spent });
    }
    println!(
        "{} trials each, at most {EXECUTIONS} executions and {} s. In brackets: the paper's figure.\n",
        args.runs,
        TIME.as_secs()
    );
    table_4(&rows);
    table_5(&rows, args.budget);
    table_6(&rows);
    let classes: Vec<_> = rows.iter().map(|row| (row.class.name.as_str(), row.spent.as_slice())).collect();
    pcr_budget::draw(&classes, args.budget, &args.svg)
}

fn trials(program: &Program, runs: u64) -> Result<Comparison> {
    let options = Options { executions: EXECUTIONS, time: Some(TIME), ..Options::default() };
    Ok(compare(program, &STRATEGIES.map(String::from), runs, &options, &|_| {}, &Arc::default())?)
}

/// How much smaller the first is than the second, in percent of the larger (formulas 3 and 4).
fn reduction(first: f64, second: f64) -> f64 {
    (second - first) / first.max(second).max(f64::MIN_POSITIVE) * 100.0
}

/// How many times faster the first is; negative where it is slower (formulas 5 and 6).
fn speedup(first: f64, second: f64) -> f64 {
    if second >= first { second / first } else { -first / second }
}

fn milliseconds(it: &Contestant) -> f64 {
    it.seconds().mean * 1000.0
}

fn questions(it: &Contestant) -> f64 {
    let all: u64 = it.trials.iter().map(|trial| trial.effort.questions).sum();
    all as f64 / it.trials.len().max(1) as f64
}

/// The share of executions that showed the pattern that they aimed at.
fn intended(it: &Contestant) -> f64 {
    let sum = |of: fn(&threadbare_explore::SearchEffort) -> u64| -> u64 {
        it.trials.iter().map(|trial| of(&trial.effort)).sum()
    };
    sum(|effort| effort.met) as f64 / sum(|effort| effort.aimed).max(1) as f64
}

fn success(it: &Contestant) -> f64 {
    it.failed() as f64 / it.trials.len().max(1) as f64 * 100.0
}

fn table_4(rows: &[Row]) {
    println!("Table 4: pcr against map-random, to the first failure");
    println!(
        "{:26} {:>11} {:>9} {:>12} {:>4} {:>5} {:>8} {:>16} {:>5} {:>8} {:>9} {:>7} {:>7} {:>7}",
        "",
        "aim met m-r",
        "aim pcr",
        "pcr",
        "max",
        "ok %",
        "ms",
        "map-random",
        "ok %",
        "ms",
        "less %",
        "p",
        "faster",
        "p"
    );
    let (mut fewer, mut within) = (0, 0);
    for Row { class, first, .. } in rows {
        let (pcr, other) = (&first.contestants[0], &first.contestants[MAP_RANDOM]);
        let (mean, theirs) = (pcr.executions().mean, other.executions().mean);
        fewer += usize::from(mean < theirs);
        within += usize::from(pcr.executions().largest <= 12.0 && pcr.failed() == pcr.trials.len());
        let p = |p: Option<f64>| p.map_or("-".to_string(), |p| format!("{p:.3}"));
        println!(
            "{:26} {:>11} {:>9.2} {:>12} {:>4} {:>5.0} {:>8.1} {:>16} {:>5.0} {:>8.1} {:>9.1} {:>7} {:>7.1} {:>7}",
            format!("{} {}", class.paper.subject, class.name),
            format!("{:.2} ({:.2})", intended(other), class.paper.maptest.intended.unwrap_or(0.0)),
            intended(pcr),
            format!("{mean:.1} ({:.1})", class.paper.pcr.schedules),
            pcr.executions().largest,
            success(pcr),
            milliseconds(pcr),
            format!("{theirs:.1} ({:.1})", class.paper.maptest.schedules),
            success(other),
            milliseconds(other),
            reduction(mean, theirs),
            p(first.versus(MAP_RANDOM).map(|versus| versus.test.p)),
            speedup(milliseconds(pcr), milliseconds(other)),
            p(first.time_versus(MAP_RANDOM).map(|test| test.p)),
        );
    }
    println!(
        "pcr needs at most 12 executions in every trial on {within} of {} classes (wanted: all)",
        rows.len()
    );
    println!("pcr needs fewer than map-random on {fewer} of {} (wanted: 18)\n", rows.len());
}

fn table_5(rows: &[Row], budget: u64) {
    println!("Table 5: failing executions of the first {budget}, and memory-access patterns covered by them");
    println!(
        "{:26} {:>14} {:>16} {:>8} {:>8} {:>9} | {:>8} {:>10} {:>8} {:>9}",
        "", "pcr", "map-random", "mcr", "differ", "p", "pcr", "map-random", "mcr", "T_C"
    );
    for Row { class, spent, .. } in rows {
        let mean = |place: usize, of: fn(&pcr_budget::Campaigned) -> f64| spent[place].mean(of);
        let failing = |place| mean(place, |it| it.failing as f64);
        let covered = |place| mean(place, |it| it.covered as f64);
        let bugs = |bugs: Option<f64>| bugs.unwrap_or(0.0);
        println!(
            "{:26} {:>14} {:>16} {:>8.1} {:>8.1} {:>9.3} | {:>8.1} {:>10.1} {:>8.1} {:>9.0}",
            format!("{} {}", class.paper.subject, class.name),
            format!("{:.1} ({:.1})", failing(0), bugs(class.paper.pcr.bugs)),
            format!("{:.1} ({:.1})", failing(MAP_RANDOM), bugs(class.paper.maptest.bugs)),
            failing(MCR),
            failing(0) - failing(MAP_RANDOM),
            spent[0].p_of_failing(&spent[MAP_RANDOM]),
            covered(0),
            covered(MAP_RANDOM),
            covered(MCR),
            mean(0, |it| it.estimated as f64),
        );
    }
    println!();
}

fn table_6(rows: &[Row]) {
    println!("Table 6: pcr against mcr, to the first failure");
    println!(
        "{:26} {:>12} {:>14} {:>8} {:>12} {:>14} {:>8} {:>9} {:>9} {:>7}",
        "", "pcr", "constraints", "ms", "mcr", "constraints", "ms", "less %", "less c %", "faster"
    );
    for Row { class, first, .. } in rows {
        let (pcr, mcr) = (&first.contestants[0], &first.contestants[MCR]);
        let (mean, theirs) = (pcr.executions().mean, mcr.executions().mean);
        println!(
            "{:26} {:>12} {:>14} {:>8.1} {:>12} {:>14} {:>8.1} {:>9.1} {:>9.1} {:>7.1}",
            format!("{} {}", class.paper.subject, class.name),
            format!("{mean:.1} ({:.1})", class.paper.pcr.schedules),
            format!("{:.1} ({:.1})", questions(pcr), class.paper.pcr.constraints.unwrap_or(0.0)),
            milliseconds(pcr),
            format!("{theirs:.1} ({:.1})", class.paper.mcr.schedules),
            format!("{:.1} ({:.1})", questions(mcr), class.paper.mcr.constraints.unwrap_or(0.0)),
            milliseconds(mcr),
            reduction(mean, theirs),
            reduction(questions(pcr), questions(mcr)),
            speedup(milliseconds(pcr), milliseconds(mcr)),
        );
    }
    println!();
}
