//! All that is measured of one subject.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use threadbare_code::Code;
use threadbare_coverage::cfp::{FunctionAddress, FunctionPair, Selected, select};
use threadbare_detect::Access;
use threadbare_explore::suite::{
    Detection, Measured, Optimizations, RunLimits, Sighting, Watch, detect, measure,
};
use threadbare_target::Symbols;

use super::paper::Figures;
use super::subject::Subject;
use crate::Result;
use crate::clock::{Clock, Spent};

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
    /// The paper's figures for the program it stands for.
    pub paper: Figures,
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
    /// How many executions of each input are examined.
    pub runs: u64,
}

/// A subject after step 1.
pub struct Prepared {
    subject: Subject,
    base: Spent,
    step1: [Step1; 4],
    watch: Watch,
    measured: Vec<Measured>,
}

impl Prepared {
    /// The subject's name.
    pub fn name(&self) -> &str {
        &self.subject.name
    }
}

/// Runs a subject without instrumentation, and measures its pairs.
pub fn prepare(subject: Subject, settings: &Settings) -> Result<Prepared> {
    let base = subject.base(settings.times)?;
    let ways = [(false, false), (true, false), (false, true), (true, true)];
    let mut step1 = Vec::new();
    let mut last = None;
    for (skip_stack_only, skip_inherited) in ways {
        let code = Code::read(&subject.programs[0].executable)?;
        let watch = Watch::new(code, Optimizations { skip_stack_only, skip_inherited });
        let (spent, measured) = measure_all(&subject, &watch, settings.times)?;
        step1.push(Step1 { spent, kinds: measured.iter().map(|it| it.kinds).sum() });
        last = Some((watch, measured));
    }
    let (Some((watch, measured)), Ok(step1)) = (last, <[Step1; 4]>::try_from(step1)) else {
        return Err("nothing was measured".into());
    };
    Ok(Prepared { subject, base, step1, watch, measured })
}

/// Examines one subject, with and without its pairs.
pub fn row(prepared: Prepared, settings: &Settings) -> Result<Row> {
    let Prepared { subject, base, step1, watch, measured } = prepared;
    let clock = Clock::start();
    let pairs: Vec<_> = measured.iter().map(|it| it.pairs.clone()).collect();
    let selected = select(&pairs);
    let step2 = clock.spent();
    let detection =
        |races: bool| Detection { races, atomicity: !races, runs: settings.runs, ..Detection::default() };
    let races = kind(&subject, &watch, &selected, &detection(true))?;
    let atomicity = kind(&subject, &watch, &selected, &detection(false))?;
    let aggregated: BTreeSet<_> = pairs.iter().flatten().collect();
    let executed: BTreeSet<&FunctionAddress> = measured.iter().flat_map(|it| &it.executed).collect();
    Ok(Row {
        name: subject.name,
        inputs: subject.inputs.len(),
        functions: subject.functions,
        executed: executed.len(),
        executed_in_all: measured.iter().map(|it| it.executed.len()).sum(),
        aggregated: aggregated.len(),
        selected,
        paper: subject.paper.figures,
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
        let mut measured = measure(watch, program, &RunLimits::default(), &Arc::default())?;
        for _ in 1..times {
            measured = measure(watch, program, &RunLimits::default(), &Arc::default())?;
        }
        total += clock.spent().shared_by(times);
        all.push(measured);
    }
    Ok((total, all))
}

fn kind(subject: &Subject, watch: &Watch, selected: &[Selected], detection: &Detection) -> Result<Kind> {
    let mut kind = Kind::default();
    for it in selected {
        pass(subject, watch, it.input, Some(&it.pairs), detection, &mut kind)?;
    }
    for input in 0..subject.programs.len() {
        pass(subject, watch, input, None, detection, &mut kind)?;
    }
    Ok(kind)
}

fn pass(
    subject: &Subject,
    watch: &Watch,
    input: usize,
    pairs: Option<&BTreeSet<FunctionPair>>,
    detection: &Detection,
    kind: &mut Kind,
) -> Result<()> {
    let clock = Clock::start();
    let detected = detect(watch, &subject.programs[input], pairs, detection, &Arc::default())?;
    let spent = clock.spent();
    let symbols = Symbols::new(&detected.modules);
    let fails = |sighting: &&Sighting| {
        let site = |access: &Access| symbols.site(access.pc).to_string();
        let sites: Vec<String> = sighting.finding.accesses.iter().map(site).collect();
        subject.paper.fails(sighting.finding.kind.word(), &sites)
    };
    kind.failing.extend(detected.sightings.iter().filter(fails).map(|it| it.identity.clone()));
    let pass = if pairs.is_some() { &mut kind.guided } else { &mut kind.full };
    pass.spent.insert(input, spent);
    pass.events += detected.events;
    pass.reports.insert(input, detected.sightings.into_iter().map(|it| it.identity).collect());
    Ok(())
}
