//! Tables 2 to 5 of the paper on synchronization pairs again, beside its own figures.

use threadbare_coverage::PairSets;

use crate::tsa::Row;
use crate::tsa_trials::{Measured, RANDOM, Saturated, Tried};

/// A figure that may be missing, and the paper's.
fn beside(ours: Option<f64>, paper: Option<f64>) -> String {
    let word = |figure: Option<f64>| figure.map_or("-".to_string(), |figure| format!("{figure:.1}"));
    format!("{} ({})", word(ours), word(paper))
}

fn mean(of: &[f64]) -> Option<f64> {
    (!of.is_empty()).then(|| of.iter().sum::<f64>() / of.len() as f64)
}

/// Covered requirements: the random techniques over their probabilities, and tsa.
pub fn table_2(rows: &[Row], executions: u64) {
    println!("Table 2: requirements covered after {executions} executions");
    print!("{:13}", "");
    for (name, _) in RANDOM {
        print!(" {:>16} {:>16} {:>16}", format!("{name} AVG"), "MIN", "MAX");
    }
    println!(" {:>16} {:>8} {:>10} {:>22} {:>8}", "tsa", "tsa-h", "tsa-paper", "best of random", "p");
    let (mut as_many, mut with_tsa) = (0, 0);
    for Row { subject, measured } in rows {
        print!("{:13}", subject.title());
        for place in 0..RANDOM.len() {
            let covered: Vec<f64> = measured.variants(place).map(Tried::covered).collect();
            let paper = subject.paper.covered.random(place);
            let least = covered.iter().copied().reduce(f64::min);
            let most = covered.iter().copied().reduce(f64::max);
            print!(" {:>16}", beside(mean(&covered), paper.map(|it| it.avg)));
            print!(" {:>16}", beside(least, paper.map(|it| it.min)));
            print!(" {:>16}", beside(most, paper.map(|it| it.max)));
        }
        let (tsa, best) = (measured.of("tsa"), measured.best_random());
        print!(" {:>16}", beside(tsa.map(Tried::covered), Some(subject.paper.covered.tsa)));
        let other =
            |name: &str| measured.of(name).map_or("-".to_string(), |it| format!("{:.1}", it.covered()));
        print!(" {:>8} {:>10}", other("tsa-h"), other("tsa-paper"));
        let label =
            best.map_or("-".to_string(), |it| format!("{} {:.1}", it.technique.label(), it.covered()));
        let p = tsa.zip(best).map_or("-".to_string(), |(tsa, best)| format!("{:.4}", tsa.p_against(best)));
        println!(" {label:>22} {p:>8}");
        if let (Some(tsa), Some(best)) = (tsa, best) {
            with_tsa += 1;
            as_many += usize::from(tsa.covered() >= best.covered());
        }
    }
    if with_tsa > 0 {
        println!(
            "tsa covers at least as many as the best random variant on {as_many} of {with_tsa} (wanted: 11 of 13)"
        );
    }
    println!();
}

/// Of the variants of a technique the one that is saturated with the most covered; first, if several are.
fn best_saturated<'a>(variants: impl Iterator<Item = &'a Tried>) -> Option<Saturated> {
    let saturated = variants.filter_map(Tried::saturation);
    saturated.max_by(|a, b| a.covered.total_cmp(&b.covered).then(b.executions.total_cmp(&a.executions)))
}

fn words(ours: Option<Saturated>) -> String {
    ours.map_or("-".to_string(), |it| {
        format!("{:.1} / {:.0} / {:.2}s", it.covered, it.executions, it.seconds)
    })
}

fn saturated(ours: Option<Saturated>, paper: Option<(f64, f64)>) -> String {
    let ours = words(ours);
    let paper = paper.map_or("-".to_string(), |(covered, seconds)| format!("{covered:.1} / {seconds:.0}s"));
    format!("{ours} ({paper})")
}

/// Where coverage is saturated: covered requirements, executions and seconds.
pub fn table_3(rows: &[Row], window: u64) {
    println!(
        "Table 3: where coverage is saturated (window of {window} executions): covered / executions / time"
    );
    print!("{:13}", "");
    RANDOM.iter().for_each(|(name, _)| print!(" {name:>42}"));
    println!(" {:>42} {:>28}", "tsa", "tsa-paper");
    let (mut first, mut as_good, mut with_tsa) = (0, 0, 0);
    for Row { subject, measured } in rows {
        print!("{:13}", subject.title());
        let paper = &subject.paper.saturation;
        let mut random = Vec::new();
        for place in 0..RANDOM.len() {
            let best = best_saturated(measured.variants(place));
            random.extend(best);
            print!(" {:>42}", saturated(best, paper.random(place).map(|it| (it.covered, it.seconds))));
        }
        let tsa = measured.of("tsa").and_then(Tried::saturation);
        print!(" {:>42}", saturated(tsa, Some((paper.tsa.covered, paper.tsa.seconds))));
        println!(" {:>28}", words(measured.of("tsa-paper").and_then(Tried::saturation)));
        with_tsa += usize::from(measured.of("tsa").is_some());
        let Some(tsa) = tsa else { continue };
        first += usize::from(random.iter().all(|it| tsa.executions <= it.executions));
        let is_beaten = |it: &Saturated| it.covered >= tsa.covered && it.executions < tsa.executions;
        as_good += usize::from(!random.iter().any(is_beaten));
    }
    if with_tsa > 0 {
        println!("tsa is saturated first, in executions, on {first} of {with_tsa} (wanted: all);");
        println!("before all others that cover as much by then, on {as_good} of {with_tsa}");
    }
    println!();
}

/// The estimate against what was covered.
pub fn table_4(rows: &[Row]) {
    println!("Table 4: what was estimated from one execution, and what all campaigns covered");
    println!(
        "{:13} {:>14} {:>14} {:>10} {:>10} {:>8} | {:>9} {:>6} {:>6} {:>8}",
        "", "estimated", "covered", "false +", "false -", "differ", "refined", "+", "-", "differ"
    );
    let differ = |it: &PairSets| {
        let (estimated, covered) = (it.estimated.len() as f64, it.covered.len() as f64);
        (estimated - covered).abs() / covered.max(1.0) * 100.0
    };
    let (mut within, mut simple) = (0, 0);
    for Row { subject, measured: Measured { estimates: [paper, refined], .. } } in rows {
        let theirs = &subject.paper.estimation;
        let pair = |ours: usize, theirs: u64| format!("{ours} ({theirs})");
        println!(
            "{:13} {:>14} {:>14} {:>10} {:>10} {:>7.1}% | {:>9} {:>6} {:>6} {:>7.1}%",
            subject.title(),
            pair(paper.estimated.len(), theirs.estimated),
            pair(paper.covered.len(), theirs.covered),
            pair(paper.uncovered().count(), theirs.false_positives),
            pair(paper.unexpected().count(), theirs.false_negatives),
            differ(paper),
            refined.estimated.len(),
            refined.uncovered().count(),
            refined.unexpected().count(),
            differ(refined),
        );
        simple += usize::from(subject.is_simple());
        within += usize::from(subject.is_simple() && differ(paper) <= 2.0);
    }
    println!("The estimate is within 2 % on {within} of the {simple} simple containers (wanted: all)\n");
}

/// What Rule 3 does.
pub fn table_5(rows: &[Row]) {
    if rows.iter().all(|row| row.measured.of("tsa").is_none()) {
        return;
    }
    println!("Table 5: with and without Rule 3, where saturated: covered / executions / time");
    println!("{:13} {:>44} {:>44} {:>18}", "", "tsa-h", "tsa", "Rule 3");
    for Row { subject, measured } in rows {
        let paper = &subject.paper.saturation;
        let of = |name: &str| measured.of(name).and_then(Tried::saturation);
        println!(
            "{:13} {:>44} {:>44} {:>18}",
            subject.title(),
            saturated(of("tsa-h"), paper.tsa_h.map(|it| (it.covered, it.seconds))),
            saturated(of("tsa"), Some((paper.tsa.covered, paper.tsa.seconds))),
            format!(
                "{:.1}% ({:.1}%)",
                measured.of("tsa").map_or(0.0, Tried::rule_3) * 100.0,
                paper.rule_3 * 100.0
            ),
        );
    }
    println!();
}
