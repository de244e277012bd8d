//! The tables: who claimed how much, what kept them from it, what was false.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::clock::Spent;

use super::races::Races;
use super::trial::{CLAIMING, Kind, Said, Trial};

/// How many doubts are listed.
const MOST_DOUBTS: usize = 60;
/// How much of each: names of C++ functions have no end.
const LONGEST_REASON: usize = 110;

/// Prints them.
pub fn print(trials: &[Trial], not_tried: usize, spent: Spent) {
    let all: Vec<&Trial> = trials.iter().collect();
    println!("\nPrograms, and how many of those that dfs claims the others claim as well\n");
    print!("{:<42} {:>8} {:>9} {:>9} {:>7}", "", "programs", "dfs ended", "claimed", "fail");
    CLAIMING[1..].iter().for_each(|by| print!(" {by:>7}"));
    println!(" {:>6}", "false");
    row("all", &all);
    let names: BTreeSet<&String> = trials.iter().flat_map(|trial| &trial.features).collect();
    for name in names {
        let with: Vec<&Trial> = trials.iter().filter(|trial| trial.features.contains(name)).collect();
        row(name, &with);
    }
    doubts(trials);
    println!("\nWhat cannot be true\n");
    print!("{:<12}", "");
    CLAIMING.iter().for_each(|by| print!(" {by:>7}"));
    println!();
    for kind in [Kind::FalseClaim, Kind::Different, Kind::Error] {
        print!("{:<12}", format!("{kind:?}"));
        for by in CLAIMING {
            let is_it = |trial: &&Trial| trial.disagreements.iter().any(|it| it.kind == kind && it.by == by);
            print!(" {:>7}", trials.iter().filter(is_it).count());
        }
        println!();
    }
    races(trials);
    let tried = trials.len() as f64;
    println!(
        "\n{} programs, {not_tried} not tried; {:.1} s, {:.2} programs/s; {:.1} s of processor time, {:.2} programs in a second of it",
        trials.len(),
        spent.wall,
        tried / spent.wall,
        spent.cpu,
        tried / spent.cpu
    );
    let mut parts: BTreeMap<&str, Duration> = BTreeMap::new();
    for (what, time) in trials.iter().flat_map(|trial| &trial.spent) {
        *parts.entry(what).or_default() += *time;
    }
    let parts: Vec<String> =
        parts.iter().map(|(what, time)| format!("{what} {:.1}", time.as_secs_f64())).collect();
    println!("seconds: {}", parts.join(", "));
}

/// What `check` says of the races that there are.
fn races(trials: &[Trial]) {
    let compared: Vec<&Races> = trials.iter().filter_map(|trial| trial.races.as_ref()).collect();
    let sum = |count: &dyn Fn(&Races) -> usize| compared.iter().map(|races| count(races)).sum::<usize>();
    println!(
        "\n{} programs of which all interleavings were run have {} races, pairs of places; check reports {} of them, {} confirmed; of what it \
         reports, {} are none, {} of them confirmed",
        compared.len(),
        sum(&|it| it.all.len()),
        sum(&|it| it.all.intersection(&it.reported).count()),
        sum(&|it| it.all.intersection(&it.confirmed).count()),
        sum(&|it| it.reported.difference(&it.all).count()),
        sum(&|it| it.false_alarms().count()),
    );
}

fn row(name: &str, trials: &[&Trial]) {
    let count = |is_it: &dyn Fn(&Trial) -> bool| trials.iter().filter(|trial| is_it(trial)).count();
    let claimed = count(&|trial| trial.said[0].exhausted);
    print!(
        "{name:<42} {:>8} {:>9} {claimed:>9} {:>7}",
        trials.len(),
        count(&|trial| trial.said[0].ended),
        count(&|trial| trial.said.iter().any(|said| !said.failures().is_empty())),
    );
    for place in 1..CLAIMING.len() {
        let also = count(&|trial| trial.said[0].exhausted && trial.said[place].exhausted);
        match claimed {
            0 => print!(" {:>7}", "-"),
            _ => print!(" {:>6.0}%", 100.0 * also as f64 / claimed as f64),
        }
    }
    println!(" {:>6}", count(&|trial| trial.disagreements.iter().any(|it| it.kind == Kind::FalseClaim)));
}

/// What strategies say when they claim nothing, and of how many programs.
fn doubts(trials: &[Trial]) {
    let mut counts: BTreeMap<String, [usize; CLAIMING.len()]> = BTreeMap::new();
    for trial in trials {
        for (place, said) in trial.said.iter().enumerate().filter(|(_, said)| !said.exhausted) {
            let reasons: BTreeSet<String> = reasons(said).collect();
            for reason in reasons {
                counts.entry(reason).or_default()[place] += 1;
            }
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.iter().max().copied()));
    println!("\nWhy nothing was claimed, in how many programs\n");
    CLAIMING.iter().for_each(|by| print!("{by:>7} "));
    println!();
    for (reason, counts) in counts.iter().take(MOST_DOUBTS) {
        counts.iter().for_each(|count| print!("{count:>7} "));
        println!(" {reason}");
    }
    if counts.len() > MOST_DOUBTS {
        println!("and {} more", counts.len() - MOST_DOUBTS);
    }
}

/// The reasons without places.
fn reasons(said: &Said) -> impl Iterator<Item = String> + '_ {
    let unsaid = said.warnings.is_empty() && said.error.is_none();
    let unsaid =
        unsaid.then(|| if said.ended { "(no reason given)" } else { "(too many executions)" }.to_string());
    let warnings = said.warnings.iter().flat_map(|warning| {
        let reason =
            ["because ", "have tried everything: "].iter().find_map(|mark| Some(warning.split_once(mark)?.1));
        reason.unwrap_or(warning).lines().next().unwrap_or_default().split("; ").map(without_place)
    });
    let error = said.error.iter().map(|error| error.lines().next().unwrap_or_default().to_string());
    warnings.chain(unsaid).chain(error)
}

fn without_place(reason: &str) -> String {
    let reason = reason.trim_start_matches("not all is tried out that can happen with: ");
    let reason = match reason.rsplit_once(" (") {
        Some((reason, place)) if place.ends_with(')') => reason,
        _ => reason,
    };
    reason.chars().take(LONGEST_REASON).collect()
}
