//! Looking at what could go wrong: executions are examined by the detectors, and what they predict
//! is driven to happen.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use threadbare_analysis::{Access, Certainty, Examination, Finding, FindingKind, FindingSet, Key};
use threadbare_sched::{Goal, PolicyKind, Rng};
use threadbare_target::{Execution, Program, Server, ServerOptions};
use threadbare_trace::{Event, EventKind, FailureKind};

use crate::campaign::{Options, Progress};
use crate::error::ExploreError;
use crate::history::History;
use crate::minimise::is_same_failure;
use crate::strategy::{Plan, by_name};

/// How often a predicted finding is driven to happen.
const ATTEMPTS: u64 = 24;

/// A finding, with the execution that it is to be shown on.
pub struct Examined {
    /// What was found. Event numbers are those of `run`.
    pub finding: Finding,
    /// The execution to show it on.
    pub run: Rc<Execution>,
    /// An execution in which it happened.
    pub confirmed: Option<Rc<Execution>>,
}

impl Examined {
    /// Whether it happened and the program failed of it.
    pub fn fails(&self) -> bool {
        self.confirmed.as_ref().is_some_and(|run| fails_of(&self.finding, run))
    }
}

/// The account of a check.
#[derive(Default)]
pub struct Check {
    /// What is worth telling, surest first.
    pub findings: Vec<Examined>,
    /// Failures met on the way, each with the number of the execution.
    pub failures: Vec<(u64, Execution)>,
    /// Executions made, attempts to confirm included.
    pub executions: u64,
    /// Visible steps of all of them.
    pub steps: u64,
    /// The largest number of threads in one execution, main included.
    pub threads: u32,
    /// How long it took.
    pub elapsed: Duration,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// A signal ended it early.
    pub interrupted: bool,
}

/// Examines executions of a program and tries to confirm what is found.
pub fn check(
    program: &Program,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &Arc<AtomicBool>,
) -> Result<Check, ExploreError> {
    let server_options = ServerOptions {
        max_steps: options.max_steps,
        flags: options.flags(),
        stall: options.stall,
        stop: stop.clone(),
    };
    let server = Server::start(program, &server_options)?;
    let mut checking = Checking {
        server,
        options,
        stop,
        begin: Instant::now(),
        history: History::default(),
        set: FindingSet::default(),
        shown: Vec::new(),
        check: Check::default(),
    };
    checking.examine(progress)?;
    checking.confirm_all(progress)?;
    checking.check.elapsed = checking.begin.elapsed();
    checking.check.interrupted = stop.load(Ordering::Relaxed);
    Ok(checking.check)
}

struct Checking<'a> {
    server: Server,
    options: &'a Options,
    stop: &'a AtomicBool,
    begin: Instant,
    history: History,
    set: FindingSet,
    /// The execution in which each finding was first seen.
    shown: Vec<(Key, Rc<Execution>)>,
    check: Check,
}

impl Checking<'_> {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || self.options.time.is_some_and(|time| self.begin.elapsed() >= time)
    }

    fn run(&mut self, plan: &Plan) -> Result<Execution, ExploreError> {
        let run = self.server.run(plan.policy, &plan.script, plan.flags)?;
        self.server.learn(&run.discovered);
        self.server.set_pool(run.peak_threads.max(self.history.peak_threads()).saturating_sub(1));
        self.history.absorb(std::iter::once((&run, None, true)));
        let check = &mut self.check;
        check.executions += 1;
        check.steps += run.steps;
        check.threads = check.threads.max(run.threads);
        for warning in &run.warnings {
            if !check.warnings.contains(warning) {
                check.warnings.push(warning.clone());
            }
        }
        if let Some(failure) = run.outcome.failure() {
            let known = (check.failures.iter())
                .any(|(_, other)| other.outcome.failure().is_some_and(|it| is_same_failure(it, failure)));
            if !known {
                check.failures.push((check.executions, run.clone()));
            }
        }
        Ok(run)
    }

    /// Runs the strategy's plans and shows every execution to the detectors.
    fn examine(&mut self, progress: &dyn Fn(&Progress)) -> Result<(), ExploreError> {
        let mut strategy = by_name(self.options)?;
        while self.check.executions < self.options.executions && !self.is_over() {
            let plans = strategy.plan(self.check.executions + 1, 1, &self.history);
            let Some(plan) = plans.first() else { break };
            let run = match self.run(plan) {
                Ok(run) => Rc::new(run),
                Err(_) if self.stop.load(Ordering::Relaxed) => break,
                Err(error) => return Err(error),
            };
            strategy.learn(&[(plan, &run)], !run.discovered.is_empty())?;
            for finding in Examination::of(&run.events) {
                let key = finding.key();
                let surer = self.set.iter().find(|known| known.key() == key);
                if surer.is_none_or(|known| finding.certainty > known.certainty) {
                    self.shown.retain(|(known, _)| *known != key);
                    self.shown.push((key, Rc::clone(&run)));
                }
                self.set.add(finding);
            }
            self.tell(progress);
        }
        Ok(())
    }

    fn tell(&self, progress: &dyn Fn(&Progress)) {
        progress(&Progress {
            executions: self.check.executions,
            budget: self.options.executions,
            steps: self.check.steps,
            failures: self.check.failures.len() as u64,
            elapsed: self.begin.elapsed(),
        });
    }

    /// Tries to make each finding happen. What is only suspected is told if it makes the program fail.
    fn confirm_all(&mut self, progress: &dyn Fn(&Progress)) -> Result<(), ExploreError> {
        for finding in std::mem::take(&mut self.set).into_sorted() {
            // Correct programs, too, read under a lock what they write under it later, and use
            // variables together that need not agree: such findings count only if they do harm.
            let suspected = finding.certainty == Certainty::Suspected
                || finding.kind == FindingKind::Atomicity
                    && (!finding.locks.is_empty() || finding.accesses.len() > 3);
            let confirming = self.confirm(&finding)?;
            self.tell(progress);
            let fails = confirming.as_ref().is_some_and(|run| fails_of(&finding, run));
            if suspected && !fails {
                continue;
            }
            let key = finding.key();
            let shown = self.shown.iter().find(|(known, _)| *known == key).map(|(_, run)| Rc::clone(run));
            let Some(run) = shown else { continue };
            let mut examined = Examined { finding, run, confirmed: confirming.map(Rc::new) };
            if let Some(run) = &examined.confirmed
                && settle_in(&mut examined.finding, &run.events)
            {
                examined.run = Rc::clone(run);
            }
            self.check.findings.push(examined);
        }
        // Those that made a run fail first, then those that happened.
        self.check.findings.sort_by_key(|examined| (!examined.fails(), examined.confirmed.is_none()));
        Ok(())
    }

    fn confirm(&mut self, finding: &Finding) -> Result<Option<Execution>, ExploreError> {
        let Some(plan) = directed(finding) else { return Ok(None) };
        let mut happened = None;
        for attempt in 0..ATTEMPTS {
            if self.is_over() {
                break;
            }
            let mut plan = plan.clone();
            plan.policy.seed = Rng::derive(self.options.seed, attempt);
            let run = match self.run(&plan) {
                Ok(run) => run,
                Err(_) if self.stop.load(Ordering::Relaxed) => break,
                Err(error) => return Err(error),
            };
            if happens(finding, &run) {
                // A run that fails says more than one that passes.
                if fails_of(finding, &run) {
                    return Ok(Some(run));
                }
                happened.get_or_insert(run);
            }
        }
        Ok(happened)
    }
}

/// Whether an execution that shows the finding failed of it. Threads that wait for each other for
/// ever are no consequence of how accesses follow each other.
fn fails_of(finding: &Finding, run: &Execution) -> bool {
    run.outcome.failure().is_some_and(|failure| {
        let waits = matches!(failure.kind, FailureKind::Deadlock | FailureKind::Hang);
        (finding.kind == FindingKind::Deadlock) == waits
    })
}

/// The plan that drives a finding's operations together.
fn directed(finding: &Finding) -> Option<Plan> {
    let mut plan = Plan::new(PolicyKind::Directed, 0, "directed");
    let wanted: Vec<&Access> = match finding.kind {
        FindingKind::Race => finding.accesses.iter().collect(),
        FindingKind::Atomicity if finding.accesses.len() == 3 => finding.accesses.iter().collect(),
        // Each thread holds one lock and is about to take the next.
        FindingKind::Deadlock => finding.accesses.iter().skip(1).step_by(2).collect(),
        _ => return None,
    };
    if wanted.len() > plan.policy.sites.len() {
        return None;
    }
    plan.policy.size = match finding.kind {
        FindingKind::Atomicity => Goal::Between as u32,
        _ => Goal::Together as u32,
    };
    for (place, access) in plan.policy.sites.iter_mut().zip(&wanted) {
        *place = access.pc;
    }
    Some(plan)
}

/// Whether an execution shows the finding happening.
fn happens(finding: &Finding, run: &Execution) -> bool {
    match finding.kind {
        FindingKind::Deadlock => {
            run.outcome.failure().is_some_and(|failure| failure.kind == FailureKind::Deadlock)
        }
        _ => occurrence(finding, &run.events).is_some(),
    }
}

/// The events by which an execution shows a race (two accesses back to back) or an atomicity
/// violation (the remote access between the two local ones).
fn occurrence(finding: &Finding, events: &[Event]) -> Option<Vec<usize>> {
    let sites: Vec<u64> = finding.accesses.iter().map(|access| access.pc).collect();
    // A thread may end right after its access; that does not come between.
    let counts = |kind: EventKind| !kind.only_names() && kind != EventKind::Exit;
    let steps: Vec<usize> =
        (0..events.len()).filter(|index| events[*index].kind().is_some_and(counts)).collect();
    match sites[..] {
        [a, b] => steps.windows(2).find_map(|pair| {
            let (first, second) = (&events[pair[0]], &events[pair[1]]);
            let sites_fit = [(a, b), (b, a)].contains(&(first.pc, second.pc));
            let fits = sites_fit && first.thread != second.thread && overlap(first, second);
            let writes = [first, second].iter().any(|e| e.kind().is_some_and(|kind| kind.writes()));
            (fits && writes).then(|| pair.to_vec())
        }),
        [p, r, c] => steps.iter().enumerate().find_map(|(place, &last)| {
            let end = &events[last];
            if end.pc != c {
                return None;
            }
            let earlier = &steps[..place];
            let is_own =
                |index: &&usize| events[**index].thread == end.thread && overlap(&events[**index], end);
            let first = *earlier.iter().rev().find(is_own)?;
            let remote = *earlier.iter().rev().take_while(|index| **index > first).find(|index| {
                let other = &events[**index];
                other.pc == r && other.thread != end.thread && overlap(other, end)
            })?;
            (events[first].pc == p).then(|| vec![first, remote, last])
        }),
        _ => None,
    }
}

fn overlap(a: &Event, b: &Event) -> bool {
    let length = |event: &Event| if event.size == 0 { event.value.max(1) } else { u64::from(event.size) };
    let is_memory = |event: &Event| event.kind().is_some_and(|kind| kind.accesses_memory());
    is_memory(a) && is_memory(b) && a.addr < b.addr + length(b) && b.addr < a.addr + length(a)
}

/// Moves a finding's event numbers to where the confirming execution shows it, if they can be told.
fn settle_in(finding: &mut Finding, events: &[Event]) -> bool {
    let Some(places) = occurrence(finding, events) else { return false };
    for (place, index) in places.iter().enumerate() {
        let event = &events[*index];
        if let Some(kind) = event.kind() {
            finding.accesses[place] = Access::of(*index, event, kind);
        }
    }
    if let Some(first) = finding.accesses.first() {
        (finding.at, finding.object) = (first.event, first.object);
    }
    true
}
