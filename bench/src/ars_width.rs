//! Figures 3 and 4 of the ARS paper again: executions to the first failure and time, by the number N of
//! sub-traces that the search continues with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use threadbare_explore::strategies::StrategyOptions;
use threadbare_explore::{Options, compare};

use crate::Result;
use crate::ars_table::{EXECUTIONS, executions};
use crate::plot::{Panel, draw};
use crate::subjects::of_the_table;

const WIDTHS: std::ops::RangeInclusive<usize> = 1..=6;
const STRATEGIES: [&str; 2] = ["ars-paper", "ars"];

/// How the study is made.
#[derive(Args)]
pub struct WidthArgs {
    /// Trials for each N of each strategy on each subject
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Only these subjects
    #[arg(long, value_delimiter = ',')]
    subjects: Vec<String>,
    /// Seconds after which a trial gives up
    #[arg(long, default_value_t = 2)]
    seconds: u64,
    /// Where to draw it
    #[arg(long, default_value = "target/ars-width.svg")]
    svg: PathBuf,
}

/// What one strategy needs on one subject, for each N; no number where some trials found nothing.
#[derive(Default)]
struct Curve {
    executions: Vec<f64>,
    shown: Vec<String>,
    seconds: Vec<f64>,
}

/// Prints the table row by row, and draws it.
pub fn print(args: &WidthArgs) -> Result<()> {
    let folder = tempfile::tempdir()?;
    println!(
        "Mean executions to the first failure and mean seconds of a trial for N = 1…6, {} trials each, at most\n\
         {EXECUTIONS} executions and {} s a trial. ≥: some trials found nothing, and count with one more than \
         they made; their\nnumber is in brackets.\n",
        args.runs, args.seconds
    );
    let mut curves: [Vec<(String, Curve)>; 2] = Default::default();
    for subject in of_the_table(&args.subjects)? {
        let program = subject.build(folder.path())?;
        for (strategy, curves) in STRATEGIES.iter().zip(&mut curves) {
            let mut curve = Curve::default();
            for ars_width in WIDTHS {
                let time = Some(Duration::from_secs(args.seconds));
                let strategy_options = StrategyOptions { ars_width, ..StrategyOptions::default() };
                let options =
                    Options { executions: EXECUTIONS, time, strategy_options, ..Options::default() };
                let names = [strategy.to_string()];
                let comparison = compare(&program, &names, args.runs, &options, &|_| {}, &Arc::default())?;
                for it in &comparison.contestants {
                    // A lower bound is no point of the curve.
                    let is_known = it.failed() == it.trials.len();
                    curve.executions.push(if is_known { it.executions().mean } else { f64::NAN });
                    curve.shown.push(executions(it));
                    curve.seconds.push(it.seconds().mean);
                }
            }
            println!("{}", row(&subject.name, strategy, &curve));
            curves.push((subject.name.clone(), curve));
        }
    }
    let is_known =
        |place: usize| curves.iter().all(|it| it[place].1.executions.iter().all(|mean| mean.is_finite()));
    let known: Vec<usize> = (0..curves[0].len()).filter(|place| is_known(*place)).collect();
    println!("\ngeometric means of the {} subjects on which no trial gave up:", known.len());
    for (strategy, curves) in STRATEGIES.iter().zip(&curves) {
        let all = |values: fn(&Curve) -> &Vec<f64>| {
            let of = |n| geometric_mean(known.iter().map(|place| values(&curves[*place].1)[n]));
            (0..WIDTHS.count()).map(of).collect::<Vec<f64>>()
        };
        let (executions, seconds) = (all(|curve| &curve.executions), all(|curve| &curve.seconds));
        let shown = executions.iter().map(|mean| format!("{mean:.2}")).collect();
        println!("{}", row("", strategy, &Curve { executions, shown, seconds }));
    }
    let panels = |what: &str, values: fn(&Curve) -> &Vec<f64>| {
        let panel = |(strategy, curves): (&&str, &Vec<(String, Curve)>)| Panel {
            title: format!("{strategy}: {what} by N"),
            series: curves.iter().map(|(name, curve)| (name.clone(), values(curve).clone())).collect(),
        };
        STRATEGIES.iter().zip(&curves).map(panel).collect::<Vec<_>>()
    };
    let rows = [
        panels("executions to the first failure", |curve| &curve.executions),
        panels("seconds", |curve| &curve.seconds),
    ];
    if let Some(folder) = args.svg.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&args.svg, draw(&rows)).map_err(|error| format!("{}: {error}", args.svg.display()))?;
    println!("\ndrawn in {}", args.svg.display());
    Ok(())
}

fn row(name: &str, strategy: &str, curve: &Curve) -> String {
    let mut line = format!("{name:18} {strategy:9}");
    for shown in &curve.shown {
        line += &format!(" {shown:>12}");
    }
    line += " |";
    for seconds in &curve.seconds {
        line += &format!(" {seconds:>6.3}");
    }
    line
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let logarithms: Vec<f64> = values.map(f64::ln).collect();
    (logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64).exp()
}
