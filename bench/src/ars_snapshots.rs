//! What snapshots save `ars` and `ars-paper` against running every prefix again, and how fast `ars` goes through
//! a program of 100,000 steps.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use threadbare_explore::strategies::StrategyOptions;
use threadbare_explore::{Campaign, Options, hunt};
use threadbare_target::{Program, resolve};

use crate::Result;
use crate::census::{self, Census};
use crate::figure::{Demand, Figure};

/// Steps from which on a program is long enough for the comparison.
const LONG: f64 = 200.0;
/// How often each thing is timed; noise only ever makes things slower.
const TRIES: usize = 2;
/// The strategies, and how many executions are timed.
const TIMED: [(&str, u64); 3] = [("ars", 5), ("ars", 20), ("ars-paper", 2)];
/// Executions that show how long a program is.
const SAMPLE: u64 = 20;
/// The time after which the longest program is left, if its executions are not through.
const LONGEST: Duration = Duration::from_secs(300);

/// Programs and their arguments, from short to long.
const PROGRAMS: [(&str, &str); 6] = [
    ("subjects/ars/account/account.c", ""),
    ("subjects/ars/producer_consumer/producer_consumer.c", ""),
    ("subjects/ars/account/account.c", "20"),
    ("subjects/ars/producer_consumer/producer_consumer.c", "3 8 25"),
    ("bench/programs/mixed.c", "4 40"),
    ("bench/programs/mixed.c", "4 200"),
];

/// The generated program of 100,000 steps and 8 threads.
const GENERATED: (&str, &str) = ("bench/programs/mixed.c", "7 5700");

fn program(path: &str, args: &str, folder: &Path) -> Result<Program> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let mut program = resolve(&source, &[], folder)?;
    program.args = args.split_whitespace().map(str::to_string).collect();
    Ok(program)
}

fn run(program: &Program, options: Options) -> Result<Campaign> {
    let options = Options { keep_going: true, ..options };
    Ok(hunt(program, &options, &|_| {}, &Arc::default())?)
}

/// Gives every figure to `show` as soon as it is known.
pub fn measure(show: &dyn Fn(&Figure)) -> Result<()> {
    let folder = tempfile::tempdir()?;
    for (path, args) in PROGRAMS {
        let program = program(path, args, folder.path())?;
        let sample = Options { strategy: "random".into(), executions: SAMPLE, ..Options::default() };
        let campaign = run(&program, sample)?;
        let steps = campaign.steps as f64 / campaign.executions as f64;
        let name = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{name} {args}");
        show(&Figure::plain(name.trim_end(), steps, "steps"));
        for (strategy, executions) in TIMED {
            compare(&program, strategy, executions, steps, show)?;
        }
    }
    long_program(folder.path(), show)
}

/// The same executions from snapshots and without.
fn compare(
    program: &Program,
    strategy: &str,
    executions: u64,
    steps: f64,
    show: &dyn Fn(&Figure),
) -> Result<()> {
    let with = |snapshots: bool| {
        let strategy_options = StrategyOptions { snapshots, ..StrategyOptions::default() };
        let strategy = strategy.into();
        run(program, Options { strategy, executions, strategy_options, ..Options::default() })
    };
    let (mut fast, mut slow, mut partial_runs) = (f64::MAX, f64::MAX, 0);
    for _ in 0..TRIES {
        let (from_snapshots, again) = (with(true)?, with(false)?);
        if !is_same(&from_snapshots, &again) {
            let name = &program.name;
            return Err(format!("{strategy} makes other executions of {name} without snapshots").into());
        }
        fast = fast.min(from_snapshots.elapsed.as_secs_f64());
        slow = slow.min(again.elapsed.as_secs_f64());
        partial_runs = again.snapshots;
    }
    let of = format!("  {strategy}, {executions} executions, {partial_runs} partial runs");
    show(&Figure::plain(format!("{of}: from snapshots"), fast, "s"));
    show(&Figure::plain("    running prefixes again", slow, "s"));
    let what = "    running again against snapshots";
    show(&match steps > LONG && strategy == "ars" {
        true => Figure::with(what, slow / fast, "times", Demand::AtLeast(5.0)),
        false => Figure::plain(what, slow / fast, "times"),
    });
    Ok(())
}

/// Whether two campaigns made the same executions, as far as their results show.
fn is_same(one: &Campaign, other: &Campaign) -> bool {
    let account = |it: &Campaign| (it.executions, it.steps, it.snapshots, it.failures.clone());
    account(one) == account(other)
}

fn long_program(folder: &Path, show: &dyn Fn(&Figure)) -> Result<()> {
    let program = program(GENERATED.0, GENERATED.1, folder)?;
    let options = |executions| Options {
        strategy: "ars".into(),
        executions,
        time: Some(LONGEST),
        ..Options::default()
    };
    // The first execution is a random one, and finds out what is shared.
    let first = run(&program, options(1))?;
    let (campaign, Census { processes, theirs, own }) = census::during(|| run(&program, options(3)));
    let campaign = campaign?;
    let seconds = campaign.elapsed.saturating_sub(first.elapsed).as_secs_f64();
    show(&Figure::plain(
        format!("generated program, {} threads, ars: an execution", campaign.threads),
        campaign.steps as f64 / campaign.executions as f64,
        "steps",
    ));
    show(&Figure::plain(
        "  complete executions beside the first",
        campaign.executions as f64 - 1.0,
        "executions",
    ));
    show(&Figure::plain("  a second", (campaign.executions as f64 - 1.0) / seconds, "executions/s"));
    show(&Figure::plain("  progress of the search", campaign.snapshots as f64 / seconds, "decisions/s"));
    show(&Figure::plain(
        "  steps of its executions",
        (campaign.steps as f64 - first.steps as f64) / seconds,
        "steps/s",
    ));
    // The server, what it forked for the execution at hand, and the copies.
    let most = StrategyOptions::default().ars_width as f64 + 6.0;
    show(&Figure::with(
        "  processes at any one time",
        processes as f64,
        "processes",
        Demand::Below(most + 1.0),
    ));
    show(&Figure::plain("  their memory", theirs as f64 / 1e6, "MB"));
    show(&Figure::plain("  memory of the search", own as f64 / 1e6, "MB"));
    Ok(())
}
