//! Looking at what could go wrong: executions are examined by the detectors, and what they predict
//! is driven to happen.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use threadbare_analysis::{
    Certainty, Detector as _, EitherOrder, Examination, Finding, FindingKind, FindingSet, Key,
};
use threadbare_sched::Rng;
use threadbare_target::{Execution, Modules, Program, Server, ServerOptions};
use threadbare_trace::Outcome;

use crate::campaign::{Options, Progress};
use crate::coverage::{Covered, Measuring};
use crate::error::ExploreError;
use crate::follows::rank;
use crate::happening::{directed, fails_of, happens, settle_in};
use crate::history::History;
use crate::minimise::is_same_failure;
use crate::sampled::RoundRobin;
use crate::strategy::{Plan, by_name};

/// How often a predicted finding is driven to happen.
const ATTEMPTS: u64 = 24;

/// The same for accesses that may come in either order: there are many of them, and they are easy to turn.
const TURNS: u64 = 6;
/// How many suspicions are driven to happen, surest first.
const SUSPICIONS: usize = 100;
/// The longest trace in which accesses are looked for that may come in either order.
const LONGEST_TURNED: usize = 20_000;

/// How many executions that passed and that failed are kept to compare them, and how many events of each.
const COMPARED: usize = 40;
const COMPARED_EVENTS: usize = 400_000;
/// How often the same hang is met before nothing more is tried: each costs all the time that a hang takes.
const COSTLY: u64 = 3;
/// How many executions are tried until there are this many that pass.
const TRIES: u64 = 200;
const WANTED: usize = 8;

/// A finding, with the execution that it is to be shown on.
pub struct Examined {
    /// What was found. Event numbers are those of `run`.
    pub finding: Finding,
    /// The execution to show it on.
    pub run: Rc<Execution>,
    /// An execution in which it happened.
    pub confirmed: Option<Rc<Execution>>,
    /// The program failed when it happened, and hardly ever passes when it does.
    pub fails: bool,
    /// The place of the finding without which this one would not be, as its memory is reached by what that one is
    /// about.
    pub follows_from: Option<usize>,
}

/// A failure that was met.
pub struct Met {
    /// The number of the first execution that failed in this way.
    pub execution: u64,
    /// That execution.
    pub run: Execution,
    /// How many executions failed in this way.
    pub count: u64,
}

/// The account of a check.
#[derive(Default)]
pub struct Check {
    /// What is worth telling, surest first.
    pub findings: Vec<Examined>,
    /// Failures met on the way.
    pub failures: Vec<Met>,
    /// Executions that passed, to compare with those that failed.
    pub passing: Vec<Rc<Execution>>,
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
    /// The same hang was met so often that nothing more was tried.
    pub given_up: bool,
    /// What was covered, by the criteria asked for.
    pub coverage: Vec<Covered>,
    /// No more executions were examined because all that was measured was saturated.
    pub saturated: bool,
    /// What is loaded where, for names of the places that coverage is about.
    pub modules: Arc<Modules>,
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
        failing: Vec::new(),
        shown: Vec::new(),
        measuring: options.measuring()?,
        check: Check::default(),
    };
    checking.examine(progress)?;
    if !checking.check.failures.is_empty() {
        checking.look_for_passing()?;
    }
    checking.confirm_all(progress)?;
    checking.check.elapsed = checking.begin.elapsed();
    checking.check.interrupted = stop.load(Ordering::Relaxed);
    checking.check.coverage = checking.measuring.account();
    checking.check.modules = Arc::new(checking.server.modules().clone());
    Ok(checking.check)
}

struct Checking<'a> {
    server: Server,
    options: &'a Options,
    stop: &'a AtomicBool,
    begin: Instant,
    history: History,
    set: FindingSet,
    /// Executions that failed, to compare with those that passed.
    failing: Vec<Rc<Execution>>,
    /// The execution in which each finding was first seen.
    shown: Vec<(Key, Rc<Execution>)>,
    measuring: Measuring,
    check: Check,
}

impl Checking<'_> {
    fn is_over(&self) -> bool {
        self.check.given_up
            || self.stop.load(Ordering::Relaxed)
            || self.options.time.is_some_and(|time| self.begin.elapsed() >= time)
    }

    fn run(&mut self, plan: &Plan) -> Result<Rc<Execution>, ExploreError> {
        let run = self.server.run(plan.policy, &plan.script, plan.flags)?;
        self.server.learn(&run.discovered);
        self.server.set_pool(run.peak_threads.max(self.history.peak_threads()).saturating_sub(1));
        self.history.absorb(std::iter::once((&run, None, true)));
        self.measuring.observe(&run, self.begin.elapsed());
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
            let same = |met: &&mut Met| {
                met.run.outcome.failure().is_some_and(|known| is_same_failure(known, failure))
            };
            match check.failures.iter_mut().find(same) {
                Some(met) => {
                    met.count += 1;
                    check.given_up |=
                        met.count >= COSTLY && (run.stalled || run.steps > self.options.max_steps);
                }
                None => check.failures.push(Met { execution: check.executions, run: run.clone(), count: 1 }),
            }
        }
        let run = Rc::new(run);
        let alike = match &run.outcome {
            Outcome::Passed => &mut check.passing,
            Outcome::Failed(_) => &mut self.failing,
            Outcome::Uncontrolled(_) => return Ok(run),
        };
        let kept: usize = alike.iter().map(|run| run.events.len()).sum();
        if alike.len() < COMPARED && kept + run.events.len() <= COMPARED_EVENTS {
            alike.push(Rc::clone(&run));
        }
        Ok(run)
    }

    /// Runs the strategy's plans and shows every execution to the detectors.
    fn examine(&mut self, progress: &dyn Fn(&Progress)) -> Result<(), ExploreError> {
        let mut strategy = by_name(self.options)?;
        let mut skipped = 0;
        while self.check.executions < self.options.executions && !self.is_over() {
            if self.options.until_saturated && self.measuring.is_saturated() {
                self.check.saturated = true;
                break;
            }
            let plans = strategy.plan(self.check.executions + 1, 1, &self.history);
            let Some(plan) = plans.first() else { break };
            let run = match self.run(plan) {
                Ok(run) => run,
                Err(_) if self.stop.load(Ordering::Relaxed) => break,
                Err(error) => return Err(error),
            };
            strategy.learn(&[(plan, &run)], !run.discovered.is_empty(), &|| self.is_over())?;
            // What was done to memory before it was found to be shared is not in the trace, and a lock that
            // nobody was seen to take protects nothing. Later executions show all of it.
            if !run.discovered.is_empty() && skipped < self.options.executions / 2 {
                skipped += 1;
                continue;
            }
            let mut found = Examination::of(&run.events);
            if run.events.len() <= LONGEST_TURNED {
                let mut either = Box::<EitherOrder>::default();
                run.events.iter().enumerate().for_each(|(index, event)| either.observe(index, event));
                found.extend(either.findings());
            }
            for finding in found {
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

    /// A program that fails nearly always may still pass under a policy that was not tried yet.
    fn look_for_passing(&mut self) -> Result<(), ExploreError> {
        let options = Options { strategy: "auto".into(), ..self.options.clone() };
        let mut strategy = by_name(&options)?;
        for number in 1..=TRIES {
            if self.check.passing.len() >= WANTED || self.is_over() {
                break;
            }
            let plan = match number % 4 {
                0 => RoundRobin::plan(Rng::derive(self.options.seed, number), (number / 4) as u32),
                _ => match strategy.plan(self.options.executions + number, 1, &self.history).pop() {
                    Some(plan) => plan,
                    None => break,
                },
            };
            match self.run(&plan) {
                Ok(_) => {}
                Err(_) if self.stop.load(Ordering::Relaxed) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Tries to make each finding happen. What is only suspected is told if it makes the program fail.
    fn confirm_all(&mut self, progress: &dyn Fn(&Progress)) -> Result<(), ExploreError> {
        let mut suspicions = 0;
        for finding in std::mem::take(&mut self.set).into_sorted() {
            // Correct programs, too, read under a lock what they write under it later, and use
            // variables together that need not agree: such findings count only if they do harm.
            let suspected = finding.certainty == Certainty::Suspected
                || finding.kind == FindingKind::Atomicity
                    && (!finding.locks.is_empty() || finding.accesses.len() > 3);
            let key = finding.key();
            let shown = self.shown.iter().find(|(known, _)| *known == key).map(|(_, run)| Rc::clone(run));
            let Some(run) = shown else { continue };
            suspicions += usize::from(suspected);
            if suspected && (suspicions > SUSPICIONS || self.is_common(&finding)) {
                continue;
            }
            let confirming = self.confirm(&finding, &run)?;
            self.tell(progress);
            let fails =
                confirming.as_ref().is_some_and(|run| fails_of(&finding, run)) && !self.is_harmless(&finding);
            // If the program does not stand another order, the failure's own cause says so better.
            if suspected && !fails || finding.kind == FindingKind::Order {
                continue;
            }
            let mut examined = Examined { finding, run, confirmed: confirming, fails, follows_from: None };
            if let Some(run) = &examined.confirmed
                && settle_in(&mut examined.finding, &run.events)
            {
                examined.run = Rc::clone(run);
            }
            self.check.findings.push(examined);
        }
        rank(&mut self.check.findings);
        Ok(())
    }

    /// Whether it happens in so many executions that pass that it cannot make others fail.
    fn is_common(&self, finding: &Finding) -> bool {
        let passing = &self.check.passing;
        2 * passing.iter().filter(|run| happens(finding, run)).count() > passing.len()
    }

    /// Whether executions pass although it happens, too often for it to be what makes others fail. Without any
    /// that pass there is nothing to be said for it either.
    fn is_harmless(&self, finding: &Finding) -> bool {
        let share = |runs: &[Rc<Execution>]| {
            runs.iter().filter(|run| happens(finding, run)).count() as f64 / runs.len().max(1) as f64
        };
        let passing = &self.check.passing;
        finding.kind != FindingKind::Deadlock
            && (passing.is_empty() || 2.0 * share(passing) > share(&self.failing))
    }

    /// Tries to make a finding happen that was seen in this execution.
    fn confirm(
        &mut self,
        finding: &Finding,
        seen: &Execution,
    ) -> Result<Option<Rc<Execution>>, ExploreError> {
        let shows_it = |met: &&Met| happens(finding, &met.run) && fails_of(finding, &met.run);
        let met = self.check.failures.iter().find(shows_it).map(|met| Rc::new(met.run.clone()));
        let mut happened = None;
        let attempts = if finding.kind == FindingKind::Order { TURNS } else { ATTEMPTS };
        for attempt in 0..attempts {
            let Some(mut plan) = directed(finding, &seen.events, attempt) else { break };
            if self.is_over() {
                break;
            }
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
        Ok(met.or(happened))
    }
}
