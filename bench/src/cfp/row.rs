//! All that is measured of one subject.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use threadbare_analysis::cfp::{Function, Selected, select};
use threadbare_code::Code;
use threadbare_explore::Options;
use threadbare_explore::suite::{
    Detected, Detection, Measured, Optimizations, Terms, Watch, detect, drive_to_happen, measure,
};

use super::clock::{Clock, Spent};
use super::subject::Subject;
use crate::Result;

/// One kind of detection over several inputs.
#[derive(Default)]
pub struct Pass {
    /// What it took, by input.
    pub spent: BTreeMap<usize, Spent>,
    /// Steps shown to the detector.
    pub events: u64,
    /// What was reported, by input.
    pub reports: BTreeMap<usize, Vec<String>>,
}

impl Pass {
    /// What it took in all.
    pub fn total(&self) -> Spent {
        self.spent.values().copied().sum()
    }

    /// All reports, repeats included.
    pub fn all(&self) -> usize {
        self.reports.values().map(Vec::len).sum()
    }

    /// The different ones.
    pub fn unique(&self) -> BTreeSet<String> {
        self.reports.values().flatten().cloned().collect()
    }

    /// The number of inputs that report a finding, on average.
    pub fn duplication(&self) -> f64 {
        self.all() as f64 / self.unique().len().max(1) as f64
    }
}

/// Both ways to detect one kind of findings.
#[derive(Default)]
pub struct Kind {
    /// All functions under all inputs.
    pub full: Pass,
    /// Selected functions under selected inputs.
    pub guided: Pass,
    /// Findings that made the program fail.
    pub failing: BTreeSet<String>,
}

/// One way to measure.
pub struct Step1 {
    /// What it took.
    pub spent: Spent,
    /// Kinds of calls written down.
    pub kinds: usize,
}

/// Everything about one subject.
pub struct Row {
    /// Its name.
    pub name: String,
    /// How many inputs it has.
    pub inputs: usize,
    /// Its functions.
    pub functions: usize,
    /// Those that ran under some input.
    pub executed: usize,
    /// The same, summed over inputs.
    pub executed_in_all: usize,
    /// The pairs of all inputs.
    pub aggregated: usize,
    /// The selection.
    pub selected: Vec<Selected>,
    /// Running it without instrumentation.
    pub base: Spent,
    /// Measuring: without optimizations, with the first, with the second, with both.
    pub step1: [Step1; 4],
    /// Selecting.
    pub step2: Spent,
    /// Races.
    pub races: Kind,
    /// Atomicity violations.
    pub atomicity: Kind,
}

/// How it is measured.
pub struct Settings {
    /// How often the uninstrumented program and each measurement are repeated.
    pub times: u32,
    /// How long findings of one input are driven to happen.
    pub time: Duration,
}

/// Measures one subject.
pub fn row(subject: &Subject, settings: &Settings) -> Result<Row> {
    let base = subject.base(settings.times)?;
    let ways = [(false, false), (true, false), (false, true), (true, true)];
    let mut step1 = Vec::new();
    let mut last = None;
    for (skip_stack_only, skip_inherited) in ways {
        let code = Code::read(&subject.programs[0].executable)?;
        let watch = Watch::new(code, Optimizations { skip_stack_only, skip_inherited });
        let (spent, measured) = measure_all(subject, &watch, settings.times)?;
        step1.push(Step1 { spent, kinds: measured.iter().map(|it| it.kinds).sum() });
        last = Some((watch, measured));
    }
    let (Some((watch, measured)), Ok(step1)) = (last, <[Step1; 4]>::try_from(step1)) else {
        return Err("nothing was measured".into());
    };
    let clock = Clock::start();
    let pairs: Vec<_> = measured.iter().map(|it| it.pairs.clone()).collect();
    let selected = select(&pairs);
    let step2 = clock.spent();
    let mut races = kind(subject, &watch, &selected, true)?;
    let mut atomicity = kind(subject, &watch, &selected, false)?;
    let failing = failing(subject, &watch, &races, &atomicity, settings.time)?;
    let of = |kind: &Kind| {
        let known: BTreeSet<String> = kind.full.unique().union(&kind.guided.unique()).cloned().collect();
        failing.intersection(&known).cloned().collect::<BTreeSet<String>>()
    };
    races.failing = of(&races);
    atomicity.failing = of(&atomicity);
    let aggregated: BTreeSet<_> = pairs.iter().flatten().collect();
    let executed: BTreeSet<&Function> = measured.iter().flat_map(|it| &it.executed).collect();
    Ok(Row {
        name: subject.name.clone(),
        inputs: subject.inputs.len(),
        functions: subject.functions,
        executed: executed.len(),
        executed_in_all: measured.iter().map(|it| it.executed.len()).sum(),
        aggregated: aggregated.len(),
        selected,
        base,
        step1,
        step2,
        races,
        atomicity,
    })
}

fn measure_all(subject: &Subject, watch: &Watch, times: u32) -> Result<(Spent, Vec<Measured>)> {
    let mut total = Spent::default();
    let mut all = Vec::new();
    for program in &subject.programs {
        let clock = Clock::start();
        let mut measured = measure(watch, program, &Terms::default(), &Arc::default())?;
        for _ in 1..times {
            measured = measure(watch, program, &Terms::default(), &Arc::default())?;
        }
        total += clock.spent().shared_by(times);
        all.push(measured);
    }
    Ok((total, all))
}

fn detection(races: bool) -> Detection {
    Detection { races, atomicity: !races, ..Detection::default() }
}

fn kind(subject: &Subject, watch: &Watch, selected: &[Selected], races: bool) -> Result<Kind> {
    let mut kind = Kind::default();
    for it in selected {
        pass(subject, watch, it.input, Some(&it.functions), races, &mut kind.guided)?;
    }
    for input in 0..subject.programs.len() {
        pass(subject, watch, input, None, races, &mut kind.full)?;
    }
    Ok(kind)
}

fn pass(
    subject: &Subject,
    watch: &Watch,
    input: usize,
    functions: Option<&BTreeSet<Function>>,
    races: bool,
    pass: &mut Pass,
) -> Result<()> {
    let clock = Clock::start();
    let detected = look(subject, watch, input, functions, races)?;
    pass.spent.insert(input, clock.spent());
    pass.events += detected.events;
    pass.reports.insert(input, detected.sightings.into_iter().map(|it| it.identity).collect());
    Ok(())
}

fn look(
    subject: &Subject,
    watch: &Watch,
    input: usize,
    functions: Option<&BTreeSet<Function>>,
    races: bool,
) -> Result<Detected> {
    Ok(detect(watch, &subject.programs[input], functions, &detection(races), &Arc::default())?)
}

/// The findings that made the program fail when they were driven to happen, each under the first input that shows it.
fn failing(
    subject: &Subject,
    watch: &Watch,
    races: &Kind,
    atomicity: &Kind,
    time: Duration,
) -> Result<BTreeSet<String>> {
    let mut done: BTreeSet<String> = BTreeSet::new();
    let mut failing = BTreeSet::new();
    let options = Options { time: Some(time), max_steps: Terms::default().max_steps, ..Options::default() };
    for input in 0..subject.programs.len() {
        let mut findings = Vec::new();
        let mut identities = Vec::new();
        for (kind, races) in [(races, true), (atomicity, false)] {
            let new = kind.full.reports.get(&input).is_some_and(|it| it.iter().any(|it| !done.contains(it)));
            if !new {
                continue;
            }
            for sighting in look(subject, watch, input, None, races)?.sightings {
                if done.insert(sighting.identity.clone()) {
                    identities.push((sighting.finding.key(), sighting.identity));
                    findings.push((sighting.finding, sighting.run));
                }
            }
        }
        if findings.is_empty() {
            continue;
        }
        let result = drive_to_happen(&subject.programs[input], findings, &options, &|_| {}, &Arc::default())?;
        for examined in result.findings.iter().filter(|it| it.fails) {
            let key = examined.finding.key();
            let identity = identities.iter().find(|(known, _)| *known == key);
            failing.extend(identity.map(|(_, identity)| identity.clone()));
        }
    }
    Ok(failing)
}
