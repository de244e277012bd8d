//! Looking for races and atomicity violations under one input, only in the functions that were selected.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use threadbare_coverage::cfp::{FunctionPair, functions_of};
use threadbare_detect::{Atomicity, Detector, Finding, FindingSet, Hybrid, Key};
use threadbare_sched::{PolicyKind, PolicySpec, Rng};
use threadbare_target::{Execution, Modules, Program, RunError, Script, Server, ServerOptions};
use threadbare_trace::{Event, EventKind, Outcome};

use super::common_memory::meeting;
use super::identity::identity;
use super::input_outcome::InputOutcome;
use super::run_limits::RunLimits;
use super::watch::Watch;
use super::{is_hang, start_failure};
use crate::error::ExploreError;

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
    let options = ServerOptions {
        max_steps: detection.limits.max_steps,
        flags: detection.limits.flags(),
        stall: detection.limits.stall,
        stop: Arc::clone(stop),
    };
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
    match Server::start(&program, &options) {
        Ok(server) => {
            let bias = server.modules().all().first().map_or(0, |executable| executable.bias);
            let left_out = functions.map_or_else(Vec::new, |functions| watch.outside(&functions, bias));
            detected.modules = server.modules().clone();
            let mut detecting = Detecting {
                server,
                detection,
                watch,
                bias,
                selected,
                left_out,
                known: 0,
                set: FindingSet::default(),
                steps: 0,
                furthest: 0,
                stop,
            };
            detecting.examine(&mut detected)?;
        }
        Err(error) => {
            detected.ending = InputOutcome::of(start_failure::outcome(error, detection.limits.any_exit)?)
        }
    }
    if selected.is_some() && is_hang(&detected.ending.outcome) {
        let all = detect(watch, &program, None, detection, stop)?;
        let running = begin.elapsed() - all.races - all.atomicity;
        return Ok(Detected { unguided: true, running, ..all });
    }
    detected.running = begin.elapsed() - detected.races - detected.atomicity;
    Ok(detected)
}

/// The execution in which each finding was seen first.
type Shown = HashMap<Key, Arc<Execution>>;

struct Detecting<'a> {
    server: Server,
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

impl Detecting<'_> {
    fn examine(&mut self, detected: &mut Detected) -> Result<(), ExploreError> {
        let mut shown = Shown::new();
        for number in 0..self.detection.runs.max(1) {
            let run = Arc::new(self.look(number, detected)?);
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
            if is_hang(&run.outcome) {
                break;
            }
            if let (0, Some(pairs)) = (number, self.selected) {
                let seen = self.seen(&run.events).map(|(_, event)| event);
                let meeting = meeting(seen, self.watch.code(), self.bias, pairs);
                if !meeting.any {
                    break;
                }
                self.server.uninstrument(&meeting.apart);
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

    /// An execution to examine. One that fails long before the end says little, so others are tried; of executions that all
    /// do, the longest says most.
    fn look(&mut self, number: u64, detected: &mut Detected) -> Result<Execution, ExploreError> {
        let seed = Rng::derive(self.detection.seed, number);
        let mut longest: Option<Execution> = None;
        for attempt in 0..MOST_ATTEMPTS {
            let mut policy = PolicySpec::new(PolicyKind::Random, Rng::derive(seed, attempt));
            // Where all threads advance alike, the one with the most work is always the last; by priorities it need not be. What
            // fails in one of these ways may pass in the other.
            if (number + attempt) % 2 == 1 {
                policy = PolicySpec {
                    kind: PolicyKind::Pct as u32,
                    size: PRIORITIES,
                    steps: self.steps,
                    ..policy
                };
            }
            let run = self.run(policy, detected)?;
            self.steps = run.steps;
            let progress = progress(&run);
            if run.outcome.failure().is_none() {
                self.furthest = self.furthest.max(progress);
                return Ok(run);
            }
            let is_whole = self.furthest > 0 && progress + self.furthest / LACKING >= self.furthest;
            if is_whole || is_hang(&run.outcome) {
                return Ok(run);
            }
            detected.ending.take_in(&run);
            if longest.as_ref().is_none_or(|longest| run.events.len() > longest.events.len()) {
                longest = Some(run);
            }
        }
        longest.ok_or_else(|| RunError::Stopped.into())
    }

    /// An execution, made again as long as it shows much that was not known to be shared: what was done to memory
    /// before is not in its trace.
    fn run(&mut self, policy: PolicySpec, detected: &mut Detected) -> Result<Execution, ExploreError> {
        let mut looks = 1;
        loop {
            let run = self.server.run(policy, &Script::None, 0)?;
            self.server.learn(&run.discovered);
            self.server.set_pool(run.peak_threads.saturating_sub(1));
            detected.executions += 1;
            detected.steps += run.steps;
            detected.threads = detected.threads.max(run.threads);
            let is_much = run.discovered.len() * NEWS > self.known;
            self.known += run.discovered.len();
            if !is_much || looks == MOST_LOOKS || is_hang(&run.outcome) {
                return Ok(run);
            }
            looks += 1;
        }
    }

    /// The events that are examined. Functions of the C library announce the memory they touch themselves, wherever
    /// they are called from.
    fn seen<'e>(&self, events: &'e [Event]) -> impl Iterator<Item = (usize, &'e Event)> + use<'e, '_> {
        use EventKind::{Read, ReadRange, Write, WriteRange};
        let is_left_out = |event: &Event| {
            let at = event.pc.wrapping_sub(1);
            let after = self.left_out.partition_point(|range| range.start <= at);
            after > 0
                && self.left_out[after - 1].contains(&at)
                && matches!(event.kind(), Some(Read | Write | ReadRange | WriteRange))
        };
        events.iter().enumerate().filter(move |(_, event)| self.left_out.is_empty() || !is_left_out(event))
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

/// How far an execution came, whatever accesses are looked at: its steps that synchronize.
fn progress(run: &Execution) -> usize {
    run.events.iter().filter_map(Event::kind).filter(|kind| !kind.accesses_memory()).count()
}
