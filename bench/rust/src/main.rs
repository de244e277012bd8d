//! The same programs on threadbare, shuttle and loom, side by side.

mod clock;
mod loom_side;
mod peer_process;
mod peers;
mod shuttle_side;
mod tables;
mod threadbare_side;

use clap::Parser;

/// Prints how many executions a second each tool makes, and how many it needs to the first failure.
#[derive(Parser)]
pub struct Args {
    /// Trials of each program and strategy, with the seeds 1, 2, and so on.
    #[arg(long, default_value_t = 100)]
    trials: u64,
    /// The most executions of a trial.
    #[arg(long, default_value_t = 20_000)]
    executions: u64,
    /// How long each speed is measured in each round, in seconds of processor time.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Leave out the first table.
    #[arg(long)]
    no_speed: bool,
    /// Leave out the second table.
    #[arg(long)]
    no_failures: bool,
    /// Leave out the strategies that look at each execution from outside, which take most of the time.
    #[arg(long)]
    in_process_only: bool,
    /// Leave out all of threadbare's strategies but the default one.
    #[arg(long)]
    default_only: bool,
    #[command(flatten)]
    question: peer_process::Question,
    /// Only programs whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
}

fn main() {
    let args = Args::parse();
    // Every failing execution of the peers is a panic of this process.
    std::panic::set_hook(Box::new(|_| {}));
    if args.question.answer(args.executions, args.seconds) {
        return;
    }
    if !args.no_speed {
        tables::speed(&args);
    }
    if !args.no_failures {
        tables::failures(&args);
    }
}
