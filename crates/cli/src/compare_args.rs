//! The options of `compare`.

use std::path::PathBuf;

use clap::{Arg, Args, Command};

use crate::args::HuntArgs;
use crate::numbers::trial_count;
use crate::strategy_args::StrategyName;

/// The end of its help.
pub const COMPARE_AFTER: &str = "\
WHAT IS COMPARED
  A trial is a hunt that ends at its first failure, or when its budget (--executions, --time) is
  spent. Trial number r has the same seed with every strategy. For each strategy the table has how
  many trials failed, the executions that the first failure took (mean, median, quartiles,
  standard deviation) and the time of a trial; and for all but the first, a Wilcoxon signed-rank
  test (with Bonferroni's correction) and Cliff's delta against the first.

STRATEGIES
  Those of `hunt`; `threadbare hunt --help` lists them.

EXIT STATUS
  0  no trial found a failure
  1  some trial found a failure
  2  the tool could not do its job: an unknown strategy, a program that does not build

EXAMPLES
  threadbare compare examples/lost_update.c --strategies pos,random,pct --runs 100
  threadbare compare ./server --strategies random,delay-10ms --csv trials.csv -- --port 0";

/// Options of `compare`: those of `hunt` for every trial, and which strategies.
#[derive(Args, Debug)]
pub struct CompareArgs {
    /// What `hunt` takes as well.
    #[command(flatten)]
    pub hunt: HuntArgs,

    /// The strategies, separated by commas; all others are compared with the first
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', required = true)]
    #[arg(value_parser = StrategyName, hide_possible_values = true)]
    pub strategies: Vec<String>,

    /// Trials of each strategy
    #[arg(long, value_name = "R", default_value_t = 30, value_parser = trial_count)]
    #[arg(allow_negative_numbers = true)]
    pub runs: u64,

    /// Write every trial as a line of a CSV file, or to standard output with `-`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub csv: Option<PathBuf>,
}

/// Options of `hunt` that make no sense for a comparison, and are refused.
pub const MEANINGLESS: [&str; 8] =
    ["strategy", "keep_going", "no_minimise", "explain_time", "sarif", "verbose", "full", "uncovered"];

/// Words the options that mean something else here, and hides those that mean nothing.
pub fn adapt(command: Command) -> Command {
    let command = command
        .mut_arg("jobs", |it: Arg| {
            it.help("How many trials run side by side (default: one per core); changes no figure but time")
        })
        .mut_arg("seed", |it| it.help("Same program, input and seed: same trials"))
        .mut_arg("executions", |it| it.help("The most executions of a trial (default: 10000)"))
        .mut_arg("time", |it| it.help("The most time of a trial"))
        .mut_arg("out", |it| it.help("Where a source file is built"))
        .mut_arg("json", |it| {
            it.help("Write the figures and every trial as JSON, or to standard output with `-`")
        });
    MEANINGLESS.iter().fold(command, |command, name| command.mut_arg(name, |it| it.hide(true)))
}
