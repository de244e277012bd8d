//! How coverage and detection grow with a suite: what each further input costs, and what it adds.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde::Deserialize;
use threadbare_code::Code;
use threadbare_coverage::cfp::select;
use threadbare_explore::suite::{Detection, Optimizations, RunLimits, Watch, detect, measure};
use threadbare_target::{Program, resolve};

use crate::Result;
use crate::clock::{Clock, Spent};

/// A suite as the program prints it.
#[derive(Deserialize)]
struct Suite {
    input: Vec<Input>,
}

#[derive(Deserialize)]
struct Input {
    args: Vec<String>,
}

/// Prints a line for every tenth of a suite of generated inputs.
pub fn print(inputs: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../subjects/cfp/growth");
    let program = resolve(&home.join("growth.c"), &["-lm".into()], folder.path())?;
    let printed = Command::new(&program.executable).arg(format!("-g{inputs},1")).output()?.stdout;
    let suite: Suite = toml::from_str(&String::from_utf8(printed)?)?;
    let watch = Watch::new(Code::read(&program.executable)?, Optimizations::default());
    println!("A suite of {} inputs of `growth`, drawn at random (times by processor)\n", suite.input.len());
    println!("inputs  pairs  selected  findings  found in full  guided (s)  full (s)  speed-up");
    let (mut pairs, mut programs) = (Vec::new(), Vec::new());
    let (mut measuring, mut full) = (Spent::default(), Spent::default());
    let mut all = BTreeSet::new();
    for (place, input) in suite.input.into_iter().enumerate() {
        let program = Program { args: input.args, ..program.clone() };
        let clock = Clock::start();
        pairs.push(measure(&watch, &program, &RunLimits::default(), &Arc::default())?.pairs);
        measuring += clock.spent();
        let clock = Clock::start();
        let detected = detect(&watch, &program, None, &Detection::default(), &Arc::default())?;
        full += clock.spent();
        all.extend(detected.sightings.into_iter().map(|it| it.identity));
        programs.push(program);
        let number = place + 1;
        if number % (inputs / 10).max(1) != 0 && number != inputs {
            continue;
        }
        let clock = Clock::start();
        let selected = select(&pairs);
        let mut found = BTreeSet::new();
        for it in &selected {
            let (program, detection) = (&programs[it.input], Detection::default());
            let detected = detect(&watch, program, Some(&it.pairs), &detection, &Arc::default())?;
            found.extend(detected.sightings.into_iter().map(|it| it.identity));
        }
        let guided = measuring + clock.spent();
        let aggregated: BTreeSet<_> = pairs.iter().flatten().collect();
        println!(
            "{number:>6}  {:>5}  {:>8}  {:>8}  {:>13}  {:>10.2}  {:>8.2}  {:>8.1}",
            aggregated.len(),
            selected.len(),
            found.len(),
            all.len(),
            guided.cpu,
            full.cpu,
            full.cpu / guided.cpu
        );
    }
    Ok(())
}
