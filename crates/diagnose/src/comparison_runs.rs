//! Executions that are made to explain a failure.

use std::sync::Arc;

use threadbare_explore::{Plan, is_same_failure, neighbours, replay};
use threadbare_sched::{Random, Rng, RoundRobin};
use threadbare_target::{Execution, Manner, Program, Server, ServerOptions};
use threadbare_trace::{Failure, Outcome};
use threadbare_wire::flags;

use crate::cancellation::Cancellation;
use crate::effort::Effort;
use crate::replayer::start;

/// How many passing executions a failing one is compared with, and how many other failing ones.
const COMPARED: usize = 40;
const COMPARED_FAILING: usize = 20;
/// One in so many of them schedules threads round-robin instead of at random.
const TURNS_EVERY: u64 = 4;
/// Always the same executions, for the same program.
const SEED: u64 = 1;
/// How many executions near a failing one are made.
const NEIGHBOURS: usize = 80;
/// How often a schedule is followed to learn from it.
const PASSES: usize = 4;
/// One in so many executions also stops at memory that only one thread has used.
const PROBE_EVERY: u64 = 8;

/// Executions to compare a failing one with.
#[derive(Clone, Default)]
pub struct OtherExecutions {
    /// Those that passed. For a program that hardly ever passes there may be none.
    pub passing: Vec<Arc<Execution>>,
    /// Those that failed, in whichever way.
    pub failing: Vec<Arc<Execution>>,
    /// How many were made to find them.
    pub tried: u64,
}

impl OtherExecutions {
    /// Adds one more.
    pub fn add(&mut self, run: Arc<Execution>) {
        self.tried += 1;
        match run.outcome {
            Outcome::Passed => self.passing.push(run),
            Outcome::Failed(_) => self.failing.push(run),
            Outcome::Cut(_) | Outcome::Uncontrolled(_) => {}
        }
    }

    /// Those that failed like this.
    pub fn failing_like(&self, failure: &Failure) -> impl Iterator<Item = &Arc<Execution>> {
        let is_same =
            |run: &&Arc<Execution>| run.outcome.failure().is_some_and(|it| is_same_failure(it, failure));
        self.failing.iter().filter(is_same)
    }
}

/// A program of its own, so that what is learned here changes no replay.
pub struct ComparisonRuns {
    program: Program,
    options: ServerOptions,
    server: Option<Server>,
    /// What is known before anything is run here.
    known: OtherExecutions,
    /// They are the same for every failure of the program.
    others: Option<OtherExecutions>,
    /// What is left for all of them, for all failures together.
    left: Effort,
    cancellation: Cancellation,
    /// Something was left out for lack of time.
    cut: bool,
}

impl ComparisonRuns {
    /// Starts nothing yet.
    pub fn new(program: &Program, options: &ServerOptions, cancellation: Cancellation) -> ComparisonRuns {
        ComparisonRuns {
            program: program.clone(),
            options: options.clone(),
            server: None,
            known: OtherExecutions::default(),
            others: None,
            left: Effort::most(),
            cancellation,
            cut: false,
        }
    }

    /// How executions are made from now on.
    pub fn set_manner(&mut self, manner: Manner) {
        let wanted = manner.in_flags(self.options.flags);
        if wanted != self.options.flags {
            self.options.flags = wanted;
            self.server = None;
            self.others = None;
        }
    }

    /// Says how much may be spent.
    pub(crate) fn spend_no_more_than(&mut self, effort: Effort) {
        self.left = effort;
    }

    /// Whether nobody waits for an explanation any more.
    pub fn is_over(&self) -> bool {
        self.cancellation.is_requested()
    }

    /// Whether something was left out for lack of time.
    pub fn was_cut(&self) -> bool {
        self.cut
    }

    /// Compares with these executions as well.
    pub fn know(&mut self, passing: &[Arc<Execution>], tried: u64) {
        self.known = OtherExecutions { passing: passing.to_vec(), failing: Vec::new(), tried };
    }

    /// Runs a plan, if something is left for it.
    pub fn run(&mut self, plan: &Plan) -> Option<Arc<Execution>> {
        if self.left.is_spent() || self.cancellation.is_requested() {
            self.cut = true;
            return None;
        }
        if self.server.is_none() {
            self.server = start(&self.program, &self.options).ok();
        }
        let server = self.server.as_mut()?;
        let run = server.run(&plan.policy, plan.flags).ok();
        if let Some(run) = &run {
            server.learn(&run.discovered);
            self.left.spend(run);
        }
        run.map(Arc::new)
    }

    /// Executions to compare any failing one with. This one is followed first: it may be the only one so far that shows
    /// what the threads share.
    pub fn others(&mut self, failing: &Execution) -> OtherExecutions {
        if let Some(others) = &self.others {
            return others.clone();
        }
        for _ in 0..PASSES {
            let run = self.run(&replay(&failing.switches));
            if run.is_none_or(|run| run.discovered.is_empty()) {
                break;
            }
        }
        let mut others = self.known.clone();
        self.sample(&mut others);
        self.others = Some(others.clone());
        others
    }

    /// Adds executions in random order.
    fn sample(&mut self, others: &mut OtherExecutions) {
        let enough = others.passing.len() + COMPARED;
        for seed in 1..=2 * COMPARED as u64 {
            if others.passing.len() == enough {
                break;
            }
            // Some programs never pass when scheduled at random, but do when scheduled round-robin.
            let mut plan = Plan::new(Random, Rng::derive(SEED, seed), "random");
            if seed % TURNS_EVERY == 0 {
                plan = Plan::new(RoundRobin { turn: (seed / TURNS_EVERY) as u32 }, seed, "in turn");
            }
            // Where a thread fails before another one comes to the same memory, only this shows the other order.
            if seed % PROBE_EVERY == 1 {
                plan.flags |= flags::PROBE;
            }
            let Some(run) = self.run(&plan) else { break };
            if run.outcome.failure().is_none() || others.failing.len() < COMPARED_FAILING {
                others.add(run);
            } else {
                others.tried += 1;
            }
        }
    }

    /// Executions to compare this one with: in random order, and near its own.
    pub fn others_of(&mut self, failing: &Execution) -> OtherExecutions {
        let mut others = self.others(failing);
        for plan in neighbours(failing).take(NEIGHBOURS) {
            let Some(run) = self.run(&plan) else { break };
            others.add(run);
        }
        others
    }
}
