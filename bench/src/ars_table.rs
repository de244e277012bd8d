//! Table II of the ARS paper again: executions to the first failure and time, by strategy, beside what the
//! paper says.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use threadbare_explore::{Comparison, Contestant, Magnitude, Options, STRATEGIES, Versus, compare};
use threadbare_target::Program;

use crate::Result;
use crate::subjects::{Subject, of_the_table};

/// Executions after which a trial gives up.
pub const EXECUTIONS: u64 = 500;
/// The time after which it does.
const TIME: Duration = Duration::from_secs(20);
/// From here on a difference is significant.
const SIGNIFICANT: f64 = 0.05;

/// How the table is made.
#[derive(Args)]
pub struct TableArgs {
    /// Trials of each strategy on each subject
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Only these subjects
    #[arg(long, value_delimiter = ',')]
    subjects: Vec<String>,
    /// Seconds after which a trial of ars-paper gives up
    #[arg(long, default_value_t = 2)]
    paper_seconds: u64,
}

/// The place of `random` in a comparison.
const RANDOM: usize = 1;

/// Trials of all strategies: `ars` first, `random` second, `ars-paper` last.
fn trials(program: &Program, args: &TableArgs) -> Result<Comparison> {
    let mut strategies = vec!["ars".to_string(), "random".to_string()];
    strategies.extend(STRATEGIES.iter().filter(|name| **name == "mcr").map(|name| name.to_string()));
    let options = Options { executions: EXECUTIONS, time: Some(TIME), ..Options::default() };
    let run = |strategies: &[String], options: &Options| {
        compare(program, strategies, args.runs, options, &|_| {}, &Arc::default())
    };
    let mut comparison = run(&strategies, &options)?;
    // The seeds are the same, so these trials make pairs with those.
    let capped = Options { time: Some(Duration::from_secs(args.paper_seconds)), ..options };
    comparison.contestants.extend(run(&["ars-paper".to_string()], &capped)?.contestants);
    Ok(comparison)
}

/// Prints the table row by row, then what it amounts to.
pub fn print(args: &TableArgs) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let subjects = of_the_table(&args.subjects)?;
    println!(
        "Mean executions to the first failure and mean seconds of a trial, {} trials each, at most {EXECUTIONS} \
         executions\nand {} s a trial ({} s for ars-paper). ≥: some trials found nothing, and count with one more than \
         they made; their\nnumber is in brackets. p and delta: ars against random (negative: ars needs \
         fewer).\n",
        args.runs,
        TIME.as_secs(),
        args.paper_seconds
    );
    let mut outcomes = Vec::new();
    for subject in subjects {
        let comparison = trials(&subject.build(folder.path())?, args)?;
        if outcomes.is_empty() {
            println!("{}", head(&comparison));
        }
        let versus = comparison.versus(RANDOM).ok_or("no trial was made")?;
        println!("{}", row(&subject, &comparison, &versus));
        outcomes.push((subject, versus));
    }
    sum_up(&outcomes);
    Ok(())
}

fn head(comparison: &Comparison) -> String {
    let mut line = format!("{:18}", "");
    for it in &comparison.contestants {
        line += &format!(" {:>14}", it.strategy);
    }
    line += &format!(" {:>8} {:>6} {:10}", "p", "delta", "");
    for it in &comparison.contestants {
        line += &format!(" {:>9}", format!("{} s", it.strategy).replace("ars-paper", "paper"));
    }
    line + &format!(" | {:>6} {:>6} {:>6}", "ARS", "SR", "MCR")
}

fn row(subject: &Subject, comparison: &Comparison, versus: &Versus) -> String {
    let mut line = format!("{:18}", subject.name);
    for it in &comparison.contestants {
        line += &format!(" {:>14}", executions(it));
    }
    line += &format!(" {:>8.1e} {:>6.2} {:10}", versus.corrected_p, versus.delta, versus.magnitude.word());
    for it in &comparison.contestants {
        line += &format!(" {:>9.3}", it.seconds().mean);
    }
    let paper = &subject.paper;
    let mcr = paper.mcr.map_or("-".to_string(), |mcr| format!("{mcr:.2}"));
    line + &format!(" | {:>6.2} {:>6.2} {mcr:>6}", paper.ars, paper.sr)
}

/// The mean, marked where it is a lower bound.
pub fn executions(it: &Contestant) -> String {
    let mean = it.executions().mean;
    match it.trials.len() - it.failed() {
        0 => format!("{mean:.2}"),
        unfailed => format!("≥{mean:.2} ({unfailed})"),
    }
}

fn sum_up(outcomes: &[(Subject, Versus)]) {
    let better = |versus: &Versus| versus.corrected_p < SIGNIFICANT && versus.delta < 0.0;
    let worse = |versus: &Versus| versus.corrected_p < SIGNIFICANT && versus.delta > 0.0;
    let list = |chosen: &dyn Fn(&Subject, &Versus) -> bool| {
        let chosen = outcomes.iter().filter(|(subject, versus)| chosen(subject, versus));
        let names: Vec<&str> = chosen.map(|(subject, _)| subject.name.as_str()).collect();
        match names.is_empty() {
            true => "0".to_string(),
            false => format!("{}: {}", names.len(), names.join(", ")),
        }
    };
    let line = |what: &str, names: String| println!("{what} {names}");
    println!("\nars against random, of {} subjects:", outcomes.len());
    line("significantly fewer executions:", list(&|_, versus| better(versus)));
    line("  of the paper's 17:", list(&|subject, versus| subject.paper.is_better() && better(versus)));
    line(
        "  missing of the paper's 17:",
        list(&|subject, versus| subject.paper.is_better() && !better(versus)),
    );
    line("significantly more executions:", list(&|_, versus| worse(versus)));
    let large = |versus: &Versus| versus.magnitude == Magnitude::Large;
    line("  with a large effect (wanted: 0):", list(&|_, versus| worse(versus) && large(versus)));
}
