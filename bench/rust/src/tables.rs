//! The two tables.

use threadbare_sched::ClosureStrategy;

use crate::Args;
use crate::peer_process::{self, Peer};
use crate::peers::shuttle::PROGRAMS;
use crate::shuttle_side::Scheduler;
use crate::threadbare_side::{Programs, Way};

/// The first programs are for speed; all others fail.
const FOR_SPEED: usize = 3;

/// The preemption bounds that loom is run with.
const BOUNDS: [(&str, Option<usize>); 2] = [("loom, bound 2", Some(2)), ("loom, no bound", None)];

/// What is tried of threadbare.
const OURS: [(&str, Way); 7] = [
    ("in process: mixed", Way::InProcess(ClosureStrategy::Mixed)),
    ("urw", Way::InProcess(ClosureStrategy::Urw)),
    ("pos", Way::InProcess(ClosureStrategy::Pos)),
    ("pct", Way::InProcess(ClosureStrategy::Pct)),
    ("random", Way::InProcess(ClosureStrategy::Random)),
    ("from outside: auto", Way::Strategy("auto")),
    ("ars", Way::Strategy("ars")),
];

/// shuttle's schedulers.
const THEIRS: [(&str, Scheduler); 3] =
    [("shuttle: random", Scheduler::Random), ("pct", Scheduler::Pct), ("urw", Scheduler::Urw)];

fn names(args: &Args) -> Vec<&'static str> {
    let wanted = |name: &&str| name.contains(&args.only);
    PROGRAMS.iter().map(|(name, _)| *name).filter(wanted).collect()
}

fn failing(args: &Args) -> impl Iterator<Item = &'static str> {
    let fails = |name: &&str| PROGRAMS[FOR_SPEED..].iter().any(|(known, _)| known == name);
    names(args).into_iter().filter(fails)
}

fn row(cells: impl IntoIterator<Item = String>) {
    println!("| {} |", cells.into_iter().collect::<Vec<_>>().join(" | "));
}

fn head(cells: impl IntoIterator<Item = &'static str>) {
    let cells: Vec<_> = cells.into_iter().map(str::to_string).collect();
    let width = cells.len();
    row(cells);
    println!("|{}", "---|".repeat(width));
}

/// Executions a second of processor time: everybody in turn, several times, since a machine is not always as fast.
pub fn speed(args: &Args) {
    const ROUNDS: usize = 5;
    let Some(programs) = built() else { return };
    println!(
        "Executions a second of one processor: median of {ROUNDS} rounds, and the median of how mixed compares in each\n"
    );
    head(["", "threadbare: mixed", "random", "shuttle: random", BOUNDS[0].0, "mixed to shuttle"]);
    let is_speed = |name: &&str| PROGRAMS[..FOR_SPEED].iter().any(|(known, _)| known == name);
    for name in names(args).into_iter().filter(is_speed) {
        let rounds: [[Option<f64>; 4]; ROUNDS] = std::array::from_fn(|_| {
            [
                programs.speed(name, ClosureStrategy::Mixed, args.seconds),
                programs.speed(name, ClosureStrategy::Random, args.seconds),
                peer_process::speed(name, Peer::Shuttle(Scheduler::Random), args.seconds),
                peer_process::speed(name, Peer::Loom(BOUNDS[0].1), args.seconds),
            ]
        });
        let middle = |of: &dyn Fn(&[Option<f64>; 4]) -> Option<f64>| {
            let mut figures: Vec<f64> = rounds.iter().filter_map(of).collect();
            figures.sort_unstable_by(f64::total_cmp);
            figures.get(figures.len() / 2).copied()
        };
        let figure = |speed: Option<f64>| speed.map_or("-".to_string(), |speed| format!("{speed:.0}"));
        let mut cells = vec![name.to_string()];
        cells.extend((0..4).map(|column| figure(middle(&|round| round[column]))));
        let ratio = middle(&|round| Some(round[0]? / round[2]?));
        cells.push(ratio.map_or("-".to_string(), |ratio| format!("{ratio:.2}")));
        row(cells);
    }
    println!();
}

/// Executions to the first failure: the median over seeds.
pub fn failures(args: &Args) {
    let Some(programs) = built() else { return };
    println!("Executions to the first failure: median of {} seeds\n", args.trials);
    let outside = |way: &Way| matches!(way, Way::Strategy(_));
    let default = |way: &Way| *way == OURS[0].1;
    let wanted = |way: &Way| !(args.in_process_only && outside(way)) && (!args.default_only || default(way));
    let ours: Vec<_> = OURS.into_iter().filter(|(_, way)| wanted(way)).collect();
    let columns = ours.iter().map(|(name, _)| *name).chain(THEIRS.iter().map(|(name, _)| *name));
    head(std::iter::once("").chain(columns).chain(BOUNDS.map(|(name, _)| name)));
    for name in failing(args) {
        let mut cells = vec![name.to_string()];
        let seeds = 1..=args.trials;
        cells.extend(ours.iter().map(|(_, way)| {
            median(seeds.clone().map(|seed| programs.first_failure(name, *way, seed, args.executions)))
        }));
        cells.extend(THEIRS.iter().map(|(_, scheduler)| {
            let peer = Peer::Shuttle(*scheduler);
            median(seeds.clone().map(|seed| peer_process::first_failure(name, peer, seed, args.executions)))
        }));
        cells.extend(BOUNDS.map(|(_, bound)| {
            // It is systematic: there is one trial.
            let first = peer_process::first_failure(name, Peer::Loom(bound), 1, args.executions);
            median(std::iter::once(first))
        }));
        row(cells);
    }
}

/// The median, where trials without a failure count as longer than all others.
fn median(trials: impl Iterator<Item = Option<u64>>) -> String {
    let mut counts: Vec<u64> = trials.map(|count| count.unwrap_or(u64::MAX)).collect();
    counts.sort_unstable();
    let (low, high) = (counts[(counts.len() - 1) / 2], counts[counts.len() / 2]);
    match (low, high) {
        (_, u64::MAX) => "-".to_string(),
        (low, high) if (low + high) % 2 == 0 => ((low + high) / 2).to_string(),
        (low, high) => format!("{}.5", (low + high) / 2),
    }
}

fn built() -> Option<Programs> {
    Programs::build().map_err(|error| eprintln!("the programs do not build: {error}")).ok()
}
