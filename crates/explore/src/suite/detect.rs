//! Looking for races and atomicity violations under one input, only in the functions that were selected.

use std::collections::{BTreeSet, HashMap};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use threadbare_coverage::cfp::{FunctionPair, functions_of};
use threadbare_detect::{Atomicity, Detector, Finding, FindingSet, Hybrid, Key};
use threadbare_sched::{Pct, PolicySpec, Random, Rng};
use threadbare_target::{Execution, Modules, Program, RunError};
use threadbare_trace::{Event, Outcome, kinds};

use super::common_memory::meeting;
use super::identity::identity;
use super::input_outcome::InputOutcome;
use super::run_limits::RunLimits;
use super::watch::Watch;
use super::{has_no_end, start_failure};
use crate::campaign::observer::{Observed, Observer, Unexamined};
use crate::campaign::{Conduct, Phase, conduct};
use crate::error::ExploreError;
use crate::history::History;
use crate::runner::Servers;
use crate::strategy::{Plan, Strategy};

/// How often an execution is made again because it showed much shared memory that was not known before.
const MOST_LOOKS: u64 = 4;
/// How often priorities change in an execution that goes by them, and once more.
const PRIORITIES: u32 = 3;
/// How many executions are tried until one passes.
const MOST_ATTEMPTS: u64 = 8;
/// An execution that fails counts as whole if it lacks no more than one in so many of the steps that the furthest made.
const LACKING: usize = 8;
/// How much of what is known may be new in an execution that is examined: one in so many.
const NEWS: usize = 20;
/// After how many events it is looked whether to stop.
const STOP_EVERY: usize = 1 << 14;

/// How detection is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Detection {
    /// Look for races.
    pub races: bool,
    /// Look for atomicity violations.
    pub atomicity: bool,
    /// How many executions are examined.
    pub runs: u64,
    /// The seed of their orders.
    pub seed: u64,
    /// What holds for each of them.
    pub limits: RunLimits,
}

impl Default for Detection {
    fn default() -> Detection {
        Detection { races: true, atomicity: true, runs: 10, seed: 1, limits: RunLimits::default() }
    }
}

/// A finding, and where it was seen.
#[derive(Clone, Debug)]
pub struct Sighting {
    /// What was found. Its event numbers are those of `run`.
    pub finding: Finding,
    /// What makes it the same as one of another input.
    pub identity: String,
    /// The execution in which it was seen first.
    pub run: Arc<Execution>,
}

/// What was found under one input.
#[derive(Debug)]
pub struct Detected {
    /// The findings, each once, the surest first.
    pub sightings: Vec<Sighting>,
    /// Steps that were shown to the detectors.
    pub events: u64,
    /// Executions that were made.
    pub executions: u64,
    /// Their steps.
    pub steps: u64,
    /// The largest number of threads in one of them, main included.
    pub threads: u32,
    /// How it ended.
    pub ending: InputOutcome,
    /// An unselected function waits for memory to change, so all functions were looked at.
    pub unguided: bool,
    /// What is loaded where.
    pub modules: Modules,
    /// The time that running took.
    pub running: Duration,
    /// The time that looking for races took.
    pub races: Duration,
    /// The time that looking for atomicity violations took.
    pub atomicity: Duration,
}

/// Examines executions of a program under one input; `selected` are the pairs to look for, or none for all that there is. Only their functions
/// are looked at, and once an execution was examined, only what can meet in them; if that is nothing, one execution is enough.
pub fn detect(
    watch: &Watch,
    program: &Program,
    selected: Option<&BTreeSet<FunctionPair>>,
    detection: &Detection,
    stop: &Arc<AtomicBool>,
) -> Result<Detected, ExploreError> {
    let begin = Instant::now();
    let functions = selected.map(functions_of);
    let uninstrument =
        functions.as_ref().map_or_else(Arc::default, |functions| watch.announcements_outside(functions));
    let program = Program { uninstrument, ..program.clone() };
    let options = detection.limits.options();
    let mut detected = Detected {
        sightings: Vec::new(),
        events: 0,
        executions: 0,
        steps: 0,
        threads: 1,
        ending: InputOutcome::of(Outcome::Passed),
        unguided: false,
        modules: Modules::default(),
        running: Duration::ZERO,
        races: Duration::ZERO,
        atomicity: Duration::ZERO,
    };
    let launch = Servers::new(&program, &options, 0, stop);
    let result = conduct(&launch, &options, &|_| {}, stop, |campaign| {
        let mut detecting = Detecting {
            campaign,
            detection,
            watch,
            bias: 0,
            selected,
            left_out: Vec::new(),
            known: 0,
            set: FindingSet::default(),
            steps: 0,
            furthest: 0,
            stop,
        };
        detecting.examine(&mut detected)
    });
    match result {
        Err(ExploreError::Start(error)) => {
            detected.ending = InputOutcome::of(start_failure::outcome(error, detection.limits.any_exit)?);
        }
        result => result?,
    }
    if selected.is_some() && has_no_end(&detected.ending.outcome) {
        let all = detect(watch, &program, None, detection, stop)?;
        let running = begin.elapsed() - all.races - all.atomicity;
        return Ok(Detected { unguided: true, running, ..all });
    }
    detected.running = begin.elapsed() - detected.races - detected.atomicity;
    Ok(detected)
}

/// The execution in which each finding was seen first.
type Shown = HashMap<Key, Arc<Execution>>;

struct Detecting<'a, 'c> {
    campaign: &'a mut Conduct<'c>,
    detection: &'a Detection,
    watch: &'a Watch,
    /// What is added to the addresses in the executable.
    bias: u64,
    /// The pairs to look for.
    selected: Option<&'a BTreeSet<FunctionPair>>,
    /// Where functions lie that were not selected, by address.
    left_out: Vec<Range<u64>>,
    /// How many places are known to be shared.
    known: usize,
    set: FindingSet,
    /// Steps of the last execution.
    steps: u64,
    /// How far the execution came that came furthest of those that passed.
    furthest: usize,
    stop: &'a AtomicBool,
}

impl Detecting<'_, '_> {
    fn examine(&mut self, detected: &mut Detected) -> Result<(), ExploreError> {
        let mut shown = Shown::new();
        for number in 0..self.detection.runs.max(1) {
            let Some(run) = self.look(number, detected)? else { break };
            let (races, atomicity) = (self.detection.races, self.detection.atomicity);
            if races {
                let begin = Instant::now();
                self.show(Box::<Hybrid>::default(), &run, &mut shown)?;
                detected.races += begin.elapsed();
            }
            if atomicity {
                let begin = Instant::now();
                self.show(Box::<Atomicity>::default(), &run, &mut shown)?;
                detected.atomicity += begin.elapsed();
            }
            detected.events += self.seen(&run.events).count() as u64;
            detected.ending.take_in(&run);
            // Each hang costs all the time that a hang takes.
            if has_no_end(&run.outcome) {
                break;
            }
            if let (0, Some(pairs)) = (number, self.selected) {
                let seen = self.seen(&run.events).map(|(_, event)| event);
                let meeting = meeting(seen, self.watch.code(), self.bias, pairs);
                if !meeting.any {
                    break;
                }
                self.campaign.uninstrument(&meeting.apart);
            }
        }
        let modules = &detected.modules;
        let sighting = |finding: Finding| {
            let run = Arc::clone(shown.get(&finding.key())?);
            Some(Sighting { identity: identity(&finding, modules), finding, run })
        };
        let findings = std::mem::take(&mut self.set).into_sorted();
        detected.sightings = findings.into_iter().filter_map(sighting).collect();
        Ok(())
    }

    /// An execution to examine; none if the program fails on its own. One that fails long before the end says little, so
    /// others are tried; of executions that all do, the longest says most.
    fn look(&mut self, number: u64, detected: &mut Detected) -> Result<Option<Arc<Execution>>, ExploreError> {
        let seed = Rng::derive(self.detection.seed, number);
        let mut longest: Option<Arc<Execution>> = None;
        for attempt in 0..MOST_ATTEMPTS {
            let mut policy = PolicySpec::new(Random, Rng::derive(seed, attempt));
            // Where all threads advance alike, the one with the most work is always the last; by priorities it need not be. What
            // fails in one of these ways may pass in the other.
            if (number + attempt) % 2 == 1 {
                policy.parameters = Pct { depth: PRIORITIES, expected_steps: self.steps }.into();
            }
            let Some(run) = self.run(policy, detected)? else { return Ok(None) };
            self.steps = run.steps;
            let progress = progress(&run);
            if run.outcome.failure().is_none() {
                self.furthest = self.furthest.max(progress);
                return Ok(Some(run));
            }
            let is_whole = self.furthest > 0 && progress + self.furthest / LACKING >= self.furthest;
            if is_whole || has_no_end(&run.outcome) {
                return Ok(Some(run));
            }
            detected.ending.take_in(&run);
            if longest.as_ref().is_none_or(|longest| run.events.len() > longest.events.len()) {
                longest = Some(run);
            }
        }
        Ok(longest)
    }

    /// An execution, made again as long as it shows much that was not known to be shared: what was done to memory
    /// before is not in its trace. None if the program fails on its own.
    fn run(
        &mut self,
        policy: PolicySpec,
        detected: &mut Detected,
    ) -> Result<Option<Arc<Execution>>, ExploreError> {
        let phase = Phase { executions: MOST_LOOKS, largest_batch: 1, examiner: Arc::new(Unexamined) };
        let mut looks = Looks { known: &mut self.known, detected, last: None, crashed: false };
        self.campaign.follow(&mut Same(Plan::of(policy, "suite")), &phase, &mut [&mut looks])?;
        let (last, crashed) = (looks.last, looks.crashed);
        match &last {
            None if !crashed => return Err(RunError::Stopped.into()),
            Some(run) if detected.modules.all().is_empty() => {
                detected.modules = Modules::clone(&run.modules);
                self.bias = run.modules.all().first().map_or(0, |executable| executable.bias);
                let functions = self.selected.map(functions_of);
                self.left_out = functions.map_or_else(Vec::new, |it| self.watch.outside(&it, self.bias));
            }
            _ => {}
        }
        Ok(last)
    }

    /// The events that are examined. Functions of the C library announce the memory they touch themselves, wherever
    /// they are called from.
    fn seen<'e>(&self, events: &'e [Event]) -> impl Iterator<Item = (usize, &'e Event)> + use<'e, '_> {
        let left_out = &self.left_out[..];
        let is_left_out = move |event: &Event| {
            let at = event.pc.wrapping_sub(1);
            let after = left_out.partition_point(|range| range.start <= at);
            after > 0 && left_out[after - 1].contains(&at) && matches!(event.kind(), Some(kinds!(plain)))
        };
        events.iter().enumerate().filter(move |(_, event)| left_out.is_empty() || !is_left_out(event))
    }

    fn show(
        &mut self,
        mut detector: Box<dyn Detector>,
        run: &Arc<Execution>,
        shown: &mut Shown,
    ) -> Result<(), ExploreError> {
        for (index, event) in self.seen(&run.events) {
            // A long trace takes long to look at, and nobody wants to wait for that after Ctrl-C.
            if index % STOP_EVERY == 0 && self.stop.load(Ordering::Relaxed) {
                return Err(RunError::Stopped.into());
            }
            detector.observe(index, event);
        }
        for finding in detector.findings() {
            let key = finding.key();
            if self.set.get(&key).is_none_or(|known| finding.certainty > known.certainty) {
                shown.insert(key, Arc::clone(run));
            }
            self.set.add(finding);
        }
        Ok(())
    }
}

/// The same plan again and again.
struct Same(Plan);

impl Strategy for Same {
    fn plan(&mut self, _first: u64, count: usize, _history: &History) -> Vec<Plan> {
        vec![self.0.clone(); count]
    }
}

/// Counts executions, and asks for the end after one that shows little shared memory that was not known before.
struct Looks<'a> {
    known: &'a mut usize,
    detected: &'a mut Detected,
    last: Option<Arc<Execution>>,
    crashed: bool,
}

impl Observer for Looks<'_> {
    fn reads_events(&self) -> bool {
        true
    }

    fn observe(&mut self, seen: &Observed<'_>) -> ControlFlow<()> {
        let run = seen.run;
        self.detected.executions += 1;
        self.detected.steps += run.steps;
        self.detected.threads = self.detected.threads.max(run.threads);
        let is_much = run.discovered.len() * NEWS > *self.known;
        *self.known += run.discovered.len();
        self.last = Some(Arc::clone(run));
        if is_much && !has_no_end(&run.outcome) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn crashed(&mut self, run: &Arc<Execution>) {
        self.detected.ending = InputOutcome::of(run.outcome.clone());
        self.crashed = true;
    }
}

/// How far an execution came, whatever accesses are looked at: its steps that synchronize.
fn progress(run: &Execution) -> usize {
    run.events.iter().filter_map(Event::kind).filter(|kind| !kind.accesses_memory()).count()
}
