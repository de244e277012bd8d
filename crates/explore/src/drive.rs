//! A program under examination: plans are run on it, what is shared is learned, and account is kept of how the
//! executions ended.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use threadbare_detect::{Finding, FindingKind};
use threadbare_target::{Execution, Program, Server, ServerOptions};
use threadbare_trace::Outcome;
use threadbare_wire::flags;

use crate::campaign::Progress;
use crate::check::{Check, Met};
use crate::checkpoints::{Checkpoints, Spared};
use crate::confirm::happens;
use crate::coverage::Measuring;
use crate::error::ExploreError;
use crate::history::History;
use crate::minimise::is_same_failure;
use crate::options::Options;
use crate::strategy::Plan;

/// How many executions that passed and that failed are kept to compare them, and how many events of each.
const COMPARED: usize = 40;
const COMPARED_EVENTS: usize = 400_000;
/// How often the same hang is met before nothing more is tried: each costs all the time that a hang takes.
const COSTLY: u64 = 3;

/// A server, with the account of what it ran.
pub(crate) struct Drive<'a> {
    server: Server,
    checkpoints: Checkpoints,
    pub(crate) options: &'a Options,
    stop: &'a AtomicBool,
    pub(crate) begin: Instant,
    pub(crate) history: History,
    /// Executions that failed, to compare with those that passed.
    failing: Vec<Rc<Execution>>,
    measuring: Measuring,
    pub(crate) check: Check,
}

impl<'a> Drive<'a> {
    /// Starts the program.
    pub(crate) fn start(
        program: &Program,
        options: &'a Options,
        stop: &'a Arc<AtomicBool>,
    ) -> Result<Drive<'a>, ExploreError> {
        let server_options = ServerOptions {
            max_steps: options.max_steps,
            flags: options.flags(),
            stall: options.stall,
            stop: stop.clone(),
        };
        Ok(Drive {
            server: Server::start(program, &server_options)?,
            checkpoints: Checkpoints::new(options.checkpoint_gap),
            options,
            stop,
            begin: Instant::now(),
            history: History::default(),
            failing: Vec::new(),
            measuring: options.measuring()?,
            check: Check::default(),
        })
    }

    /// What going on from checkpoints came to.
    pub(crate) fn spared(&self) -> Spared {
        self.checkpoints.spared
    }

    /// Whether nothing more shall be run.
    pub(crate) fn is_over(&self) -> bool {
        self.check.given_up
            || self.is_stopped()
            || self.options.time.is_some_and(|time| self.begin.elapsed() >= time)
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether all that is measured is saturated.
    pub(crate) fn is_saturated(&self) -> bool {
        self.measuring.is_saturated()
    }

    /// Whether every server of the program loads it at the same addresses.
    pub(crate) fn has_fixed_addresses(&self) -> bool {
        self.server.has_fixed_addresses()
    }

    /// Runs a plan; none if the user wanted it to end meanwhile.
    pub(crate) fn run(&mut self, plan: &Plan) -> Result<Option<Rc<Execution>>, ExploreError> {
        match self.checkpoints.run(&mut self.server, plan, plan.flags | flags::RECORD_ALL) {
            Ok(run) => Ok(Some(self.take_in(run))),
            Err(_) if self.is_stopped() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn take_in(&mut self, run: Execution) -> Rc<Execution> {
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
            Outcome::Uncontrolled(_) => return run,
        };
        let kept: usize = alike.iter().map(|run| run.events.len()).sum();
        let is_room = alike.len() < COMPARED && kept + run.events.len() <= COMPARED_EVENTS;
        if is_room || alike.is_empty() {
            alike.push(Rc::clone(&run));
        }
        run
    }

    /// Says how far it is.
    pub(crate) fn tell(&self, progress: &dyn Fn(&Progress)) {
        progress(&Progress {
            executions: self.check.executions,
            budget: self.options.executions,
            steps: self.check.steps,
            failures: self.check.failures.len() as u64,
            elapsed: self.begin.elapsed(),
            time: self.options.time,
            coverage: self.measuring.standing(),
            best: None,
        });
    }

    /// Ends the program, and gives the account.
    pub(crate) fn end(mut self) -> Check {
        self.check.elapsed = self.begin.elapsed();
        self.check.interrupted = self.is_stopped();
        self.check.coverage = self.measuring.account();
        self.check.modules = Arc::new(self.server.modules().clone());
        self.check
    }

    /// Whether it happens in so many executions that pass that it cannot make others fail.
    pub(crate) fn is_common(&self, finding: &Finding) -> bool {
        let passing = &self.check.passing;
        2 * passing.iter().filter(|run| happens(finding, run)).count() > passing.len()
    }

    /// Whether executions pass although it happens, too often for it to be what makes others fail. Without any
    /// that pass there is nothing to be said for it either.
    pub(crate) fn is_harmless(&self, finding: &Finding) -> bool {
        let share = |runs: &[Rc<Execution>]| {
            runs.iter().filter(|run| happens(finding, run)).count() as f64 / runs.len().max(1) as f64
        };
        let passing = &self.check.passing;
        finding.kind != FindingKind::Deadlock
            && (passing.is_empty() || 2.0 * share(passing) > share(&self.failing))
    }
}
