//! Whether claims are true: small generated programs, all of whose interleavings can be run, and what each strategy claims of them.

mod features;
mod mutations;
mod program;
mod races;
mod summary;
mod trial;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use clap::Args;
use threadbare_library::Dependence;

use self::features::FEATURES;
use self::trial::{Effort, Kind, Trial};
use crate::Result;
use crate::clock::Clock;

/// After how many programs there is a word on how far it is.
const SHOWN: u64 = 250;

/// What can be said about it.
#[derive(Args)]
pub struct SoundnessArgs {
    /// How many programs
    #[arg(long, default_value_t = 200)]
    programs: u64,
    /// What they are drawn by
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only the program with this number, which is kept in any case
    #[arg(long)]
    only: Option<u64>,
    /// Only programs over these features; the table has their names
    #[arg(long, value_delimiter = ',')]
    features: Vec<String>,
    /// Programs that are tried side by side
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Where programs are kept that show something wrong; a temporary folder otherwise
    #[arg(long)]
    keep: Option<PathBuf>,
    /// The most executions of a strategy
    #[arg(long, default_value_t = 1_000)]
    executions: u64,
    /// Executions by random, pct and pos together, where dfs claims to have run everything
    #[arg(long, default_value_t = 2_000)]
    samples: u64,
    /// Runs of the program by itself
    #[arg(long, default_value_t = 50)]
    native: u32,
    /// A kind of doubt that is passed over (Clock, Refusal, …): if there is nothing false to find then, nobody needs it
    #[arg(long, value_parser = kind_of_doubt)]
    overlook: Option<Dependence>,
    /// Pass over each kind of doubt in turn, or only that of `--overlook`, until that makes a claim false
    #[arg(long)]
    mutate: bool,
}

fn kind_of_doubt(name: &str) -> std::result::Result<Dependence, String> {
    let all = || Dependence::ALL.into_iter().filter(|kind| kind.is_doubt());
    all().find(|kind| format!("{kind:?}") == name).ok_or_else(|| {
        let names: Vec<String> = all().map(|kind| format!("{kind:?}")).collect();
        format!("the kinds are {}", names.join(", "))
    })
}

/// Tries programs and prints what is wrong; says whether every claim was true.
pub fn print(args: &SoundnessArgs) -> Result<bool> {
    if let Some(name) = args.features.iter().find(|name| FEATURES.iter().all(|it| it.name != **name)) {
        return Err(format!("there is no feature `{name}`; the table has the names").into());
    }
    let keep = match &args.keep {
        Some(folder) => folder.clone(),
        None => tempfile::tempdir()?.keep(),
    };
    let clock = Clock::start();
    let numbers = match args.only {
        Some(number) => number..number + 1,
        None => 1..args.programs + 1,
    };
    if args.mutate {
        let SoundnessArgs { seed, programs, executions, samples, native, overlook, .. } = *args;
        let effort = Effort { executions, samples, native, overlook: None, keeps_all: false };
        return mutations::print(seed, programs, overlook, effort, &keep);
    }
    let begin = Instant::now();
    let next = AtomicU64::new(numbers.start);
    let done: Mutex<Vec<std::result::Result<Trial, String>>> = Mutex::default();
    let SoundnessArgs { executions, samples, native, overlook, .. } = *args;
    let effort = Effort { executions, samples, native, overlook, keeps_all: args.only.is_some() };
    thread::scope(|scope| {
        for _ in 0..args.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        break;
                    }
                    let trial = trial::run(args.seed, number, &args.features, effort, &keep);
                    let trial =
                        trial.map_err(|error| format!("program {number} of seed {}: {error}", args.seed));
                    show(args.seed, &trial);
                    if number.is_multiple_of(SHOWN) {
                        eprintln!(
                            "{number} programs of seed {} after {:.0} s",
                            args.seed,
                            begin.elapsed().as_secs_f64()
                        );
                    }
                    done.lock().expect("no thread panics while it holds this").push(trial);
                }
            });
        }
    });
    let done = done.into_inner().expect("no thread panics while it holds this");
    let (trials, failed): (Vec<_>, Vec<_>) = done.into_iter().partition(|trial| trial.is_ok());
    let trials: Vec<Trial> = trials.into_iter().flatten().collect();
    summary::print(&trials, failed.len(), clock.spent());
    let is_false = |kind: Kind| matches!(kind, Kind::FalseClaim | Kind::FalseRace);
    Ok(!trials.iter().flat_map(|trial| &trial.disagreements).any(|it| is_false(it.kind)))
}

/// Prints what is wrong with one program.
fn show(seed: u64, trial: &std::result::Result<Trial, String>) {
    let trial = match trial {
        Ok(trial) => trial,
        Err(error) => return println!("not tried: {error}\n"),
    };
    let Some(kept) = &trial.kept else { return };
    println!("program {} of seed {seed}: {} ({})", trial.number, kept.display(), trial.features.join(", "));
    for it in &trial.disagreements {
        println!("  {:?} of {}: {}", it.kind, it.by, it.against.replace('\n', "\n    "));
    }
}
