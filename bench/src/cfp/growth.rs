//! How coverage and detection grow with a suite: what each further input costs, and what it adds.

use std::collections::BTreeSet;
use std::sync::Arc;

use threadbare_analysis::cfp::select;
use threadbare_code::Code;
use threadbare_explore::suite::{Detection, Optimizations, Terms, Watch, detect, measure};
use threadbare_sched::Rng;
use threadbare_target::Program;

use super::clock::Clock;
use super::subject::Subject;
use crate::Result;

/// The scripts that inputs are put together from are those of this subject's own suite.
const SUBJECT: &str = "script";
/// How many of them an input has.
const REQUESTS: u64 = 8;

/// Prints a line for every tenth of a suite of generated inputs.
pub fn print(inputs: usize) -> Result<()> {
    let subject = Subject::build(SUBJECT)?;
    let scripts: BTreeSet<&String> = subject.programs.iter().flat_map(|it| &it.args).collect();
    let scripts: Vec<&String> = scripts.into_iter().collect();
    let base = subject.programs.first().ok_or("the suite has no inputs")?;
    let watch = Watch::new(Code::read(&base.executable)?, Optimizations::default());
    let mut random = Rng::new(1);
    println!(
        "{inputs} inputs of {SUBJECT}, {REQUESTS} requests each, put together from {} scripts\n",
        scripts.len()
    );
    println!("inputs  pairs  selected  findings  full findings  guided (s)  full (s)  speed-up");
    let (mut pairs, mut programs) = (Vec::new(), Vec::new());
    let (mut measuring, mut full_s) = (0.0, 0.0);
    let mut all = BTreeSet::new();
    for number in 1..=inputs {
        let request = |_| scripts[random.below(scripts.len() as u64) as usize].clone();
        let program = Program { args: (0..REQUESTS).map(request).collect(), ..base.clone() };
        let clock = Clock::start();
        pairs.push(measure(&watch, &program, &Terms::default(), &Arc::default())?.pairs);
        measuring += clock.spent().wall;
        let clock = Clock::start();
        let detected = detect(&watch, &program, None, &Detection::default(), &Arc::default())?;
        full_s += clock.spent().wall;
        all.extend(detected.sightings.into_iter().map(|it| it.identity));
        programs.push(program);
        if number % (inputs / 10).max(1) != 0 && number != inputs {
            continue;
        }
        let clock = Clock::start();
        let selected = select(&pairs);
        let mut found = BTreeSet::new();
        for it in &selected {
            let detection = Detection::default();
            let detected =
                detect(&watch, &programs[it.input], Some(&it.functions), &detection, &Arc::default())?;
            found.extend(detected.sightings.into_iter().map(|it| it.identity));
        }
        let guided_s = measuring + clock.spent().wall;
        let aggregated: BTreeSet<_> = pairs.iter().flatten().collect();
        println!(
            "{number:>6}  {:>5}  {:>8}  {:>8}  {:>13}  {guided_s:>10.2}  {full_s:>8.2}  {:>8.1}",
            aggregated.len(),
            selected.len(),
            found.len(),
            all.len(),
            full_s / guided_s
        );
    }
    Ok(())
}
