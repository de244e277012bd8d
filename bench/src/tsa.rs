//! The evaluation of the paper on synchronization pairs again: Tables 2 to 5 and Figures 4 and 5, on the subjects.

use std::path::PathBuf;

use clap::Args;

use crate::Result;
use crate::tsa_figures::{figure_4, figure_5};
use crate::tsa_overhead::overhead;
use crate::tsa_subjects::{self, Subject};
use crate::tsa_tables::{table_2, table_3, table_4, table_5};
use crate::tsa_trials::{Budget, Measured, measure, techniques};

/// How the tables are made.
#[derive(Args)]
pub struct TsaArgs {
    /// Campaigns of each technique on each program
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Executions of a campaign; it continues after failures
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    executions: u64,
    /// Coverage is saturated if it hardly grows for so many executions
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(2..))]
    window: u64,
    /// Only these programs
    #[arg(long, value_delimiter = ',')]
    subjects: Vec<String>,
    /// Campaigns that run side by side; more than one disturbs times
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Where to draw Figures 4 and 5
    #[arg(long, value_name = "DIR", default_value = "target")]
    figures: PathBuf,
}

/// What was measured of one program.
pub struct Row {
    /// The program.
    pub subject: Subject,
    /// What was measured of it.
    pub measured: Measured,
}

/// Prints the tables, and draws the figures.
pub fn print(args: &TsaArgs) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let TsaArgs { runs, executions, window, jobs, .. } = *args;
    let (mut rows, mut ratios) = (Vec::new(), Vec::new());
    for subject in tsa_subjects::all(&args.subjects)? {
        let program = subject.build(folder.path())?;
        let measured = measure(&program, Budget { runs, executions, window, jobs })?;
        ratios.extend(overhead(&subject, &program, executions)?);
        eprintln!("{} is done", subject.title());
        rows.push(Row { subject, measured });
    }
    let labels: Vec<String> = techniques().iter().map(|it| it.label()).collect();
    println!("{runs} campaigns each of {}. In brackets: the paper's figure.\n", labels.join(", "));
    table_2(&rows, executions);
    table_3(&rows, window);
    table_4(&rows);
    table_5(&rows);
    ratios.iter().for_each(|figure| println!("{figure}"));
    figure_4(&rows, executions, &args.figures.join("tsa-executions.svg"))?;
    figure_5(&rows, &args.figures.join("tsa-time.svg"))
}
