//! What a campaign has found so far, and its final account.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use threadbare_target::{Execution, Modules};
use threadbare_trace::{Failure, FailureKind, Outcome};

use super::control::{Control, Unfinished};
use super::given_up::Heard;
use super::observer::{Observed, Observer};
use super::progress::FailedJustNow;
use super::unheard_panics::UnheardPanics;
use crate::claims::Doubt;
use crate::coverage::Covered;
use crate::error::ExploreError;
use crate::kept_events::KeptEvents;
use crate::options::Options;
use crate::search_effort::SearchEffort;

/// How many different failures are kept with their traces.
pub(crate) const MOST_FOUND: usize = 100;

/// The answer of a campaign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CampaignVerdict {
    /// At least one execution failed.
    Failure,
    /// No execution failed; there may be others.
    Clean,
    /// No execution failed, and there are no others (within [`Campaign::bound`]).
    Exhausted,
}

/// A failure, with the first execution that showed it.
#[derive(Clone, Debug)]
pub struct Found {
    /// The number of the execution, counted from 1.
    pub execution: u64,
    /// The policy that found it.
    pub policy: String,
    /// The execution.
    pub run: Arc<Execution>,
    /// How many executions showed it.
    pub count: u64,
}

/// The account of a campaign.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The answer.
    pub verdict: CampaignVerdict,
    /// Executions made; up to the failing one, if the campaign ended with it.
    pub executions: u64,
    /// Visible steps of all of them.
    pub steps: u64,
    /// The largest number of threads in one execution, main included.
    pub threads: u32,
    /// How long it took.
    pub elapsed: Duration,
    /// The different failures (by kind, place and message), first seen first.
    pub found: Vec<Found>,
    /// How many executions failed, by kind, in the order of the kinds' numbers.
    pub failures: Vec<(FailureKind, u64)>,
    /// How many executions could not be kept under control; they count as executions.
    pub uncontrolled: u64,
    /// How many were ended at their limit of steps or time; they count as executions, and are no failures.
    pub cut: u64,
    /// Partial runs from snapshots; they are no executions.
    pub snapshots: u64,
    /// What was covered, by the criteria asked for.
    pub coverage: Vec<Covered>,
    /// How much the strategy thought.
    pub effort: SearchEffort,
    /// Whether every interleaving was run (within `bound`).
    pub exhausted: bool,
    /// The number of preemptions beyond which interleavings were left out, if any were.
    pub bound: Option<u32>,
    /// What speaks against a claim that nothing is left, or what it rests on.
    pub doubts: Vec<Doubt>,
    /// What the user should know; doubts are said here as well.
    pub warnings: Vec<String>,
    /// Where threads of a test panicked in every execution, without the test asking how they ended: that is what it wants.
    pub wanted_panics: Vec<String>,
    /// How much memory is known to be shared, in units of the runtime's grain.
    pub shared_locations: usize,
    /// Whether the user ended it.
    pub interrupted: bool,
    /// Whether it ended because all that was measured was saturated.
    pub saturated: bool,
    /// How many workers ran executions side by side. Nothing else depends on it but the time.
    pub workers: u64,
    /// What is loaded where, for names of the places that coverage is about.
    pub modules: Arc<Modules>,
}

impl Campaign {
    /// The account of a campaign that was given up.
    pub(crate) fn given_up(heard: Heard) -> Campaign {
        let mut ledger = Ledger::default();
        ledger.warn(&heard.warning());
        let mut failed = heard.failed;
        failed.sort_by_key(|failed| failed.execution);
        for FailedJustNow { execution, run } in failed {
            // Whoever looks for it finds it under the number that it has.
            ledger.executions = execution - 1;
            ledger.enter("unknown", run);
        }
        let mut campaign = ledger.close(heard.elapsed, heard.interrupted);
        let last = heard.last.unwrap_or_default();
        campaign.executions = campaign.executions.max(last.executions);
        campaign.steps = last.steps;
        campaign.threads = campaign.threads.max(last.threads);
        campaign
    }
}

/// What makes two failures the same.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Signature {
    kind: FailureKind,
    site: Option<u64>,
    message: String,
}

impl Signature {
    pub(crate) fn of(failure: &Failure) -> Signature {
        let site = failure.stack.first().copied();
        // Where the other threads were when they were looked at is arbitrary.
        let lines = if failure.kind == FailureKind::Hang { 1 } else { usize::MAX };
        let message = failure.message.lines().take(lines).collect::<Vec<_>>().join("\n");
        Signature { kind: failure.kind, site, message }
    }
}

/// The account while it is being kept.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) executions: u64,
    pub(crate) steps: u64,
    pub(crate) threads: u32,
    pub(crate) found: Vec<Found>,
    pub(crate) failures: Vec<(FailureKind, u64)>,
    unfinished: Unfinished,
    pub(crate) warnings: Vec<String>,
    pub(crate) modules: Arc<Modules>,
    places: HashMap<Signature, usize>,
    left_out: bool,
    kept: KeptEvents,
    unheard: UnheardPanics,
    wanted_panics: Vec<String>,
    /// Whether the first failure is enough.
    until_failure: bool,
}

impl Observer for Ledger {
    fn observe(&mut self, seen: &Observed<'_>) -> ControlFlow<()> {
        self.enter(&seen.plan.name, Arc::clone(seen.run));
        let is_enough = self.until_failure && !self.found.is_empty();
        match is_enough || self.unfinished.is_hopeless(self.executions) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn crashed(&mut self, run: &Arc<Execution>) {
        self.enter("start-up", Arc::clone(run));
    }
}

impl Ledger {
    /// Empty, with as much room as the options allow.
    pub(crate) fn of(options: &Options) -> Ledger {
        Ledger { kept: KeptEvents::of(options), until_failure: !options.keep_going, ..Ledger::default() }
    }

    /// Enters executions of which nothing is known but that they passed, and that all threads made their steps.
    pub(crate) fn enter_passed(&mut self, number: u64) {
        self.executions += number;
        if number > 0 {
            self.unheard.learn_of_passed();
            self.unheard.proven().into_iter().for_each(|found| self.keep_unheard(found));
        }
    }

    /// Enters one execution.
    pub(crate) fn enter(&mut self, policy: &str, run: Arc<Execution>) {
        self.executions += 1;
        self.steps += run.steps;
        self.threads = self.threads.max(run.threads);
        self.modules = Arc::clone(&run.modules);
        for warning in &run.warnings {
            self.warn(warning);
        }
        self.unfinished.enter(&run.outcome);
        let is_held = self.unheard.learn(&run);
        if let Outcome::Failed(failure) = &run.outcome {
            let signature = Signature::of(failure);
            let (execution, policy) = (self.executions, policy.to_string());
            let found = Found { execution, policy, run, count: 1 };
            match is_held {
                true => self.unheard.hold(signature, found),
                false => self.keep(signature, found),
            }
        }
        self.unheard.proven().into_iter().for_each(|found| self.keep_unheard(found));
    }

    /// Keeps a failure that was held back.
    fn keep_unheard(&mut self, found: Found) {
        if let Some(failure) = found.run.outcome.failure() {
            self.keep(Signature::of(failure), found);
        }
    }

    /// No execution follows: what was held back is a failure, or wanted.
    fn settle(&mut self) {
        self.unheard.settle().into_iter().for_each(|found| self.keep_unheard(found));
        self.wanted_panics = self.unheard.wanted();
        if !self.wanted_panics.is_empty() {
            let wanted = self.wanted_panics.join(", ");
            self.warn(&format!(
                "a thread that the test does not join panics at {wanted} in every interleaving, which is taken for what the \
                 test wants; to have it fail, join the thread"
            ));
        }
    }

    /// How many executions were cut.
    pub(crate) fn cut(&self) -> u64 {
        self.unfinished.cut
    }

    /// An error if nothing was under control; warns if not everything was.
    pub(crate) fn judge_control(&mut self, interrupted: bool) -> Result<(), ExploreError> {
        let control = Control {
            executions: self.executions,
            unfinished: &self.unfinished,
            steps: self.steps,
            threads: self.threads,
            has_result: interrupted || !self.found.is_empty(),
        };
        for warning in control.judge()? {
            self.warn(&warning);
        }
        Ok(())
    }

    /// The account of a campaign that has ended, as far as it follows from the executions.
    pub(crate) fn close(mut self, elapsed: Duration, interrupted: bool) -> Campaign {
        self.settle();
        Campaign {
            verdict: if self.found.is_empty() { CampaignVerdict::Clean } else { CampaignVerdict::Failure },
            executions: self.executions,
            steps: self.steps,
            threads: self.threads,
            elapsed,
            found: self.found,
            failures: self.failures,
            uncontrolled: self.unfinished.uncontrolled,
            cut: self.unfinished.cut,
            snapshots: 0,
            coverage: Vec::new(),
            effort: SearchEffort::default(),
            exhausted: false,
            bound: None,
            doubts: Vec::new(),
            warnings: self.warnings,
            wanted_panics: self.wanted_panics,
            shared_locations: 0,
            interrupted,
            saturated: false,
            workers: 1,
            modules: self.modules,
        }
    }

    /// Adds a warning, once.
    pub(crate) fn warn(&mut self, warning: &str) {
        if !self.warnings.iter().any(|known| known == warning) {
            self.warnings.push(warning.to_string());
        }
    }

    fn count(&mut self, kind: FailureKind, times: u64) {
        match self.failures.binary_search_by_key(&(kind as u8), |(kind, _)| *kind as u8) {
            Ok(place) => self.failures[place].1 += times,
            Err(place) => self.failures.insert(place, (kind, times)),
        }
    }

    fn keep(&mut self, signature: Signature, found: Found) {
        self.count(signature.kind, found.count);
        if let Some(&place) = self.places.get(&signature) {
            self.found[place].count += found.count;
        } else if self.found.len() < MOST_FOUND {
            self.places.insert(signature, self.found.len());
            let run = self.kept.keep(found.run);
            self.found.push(Found { run, ..found });
        } else if !self.left_out {
            self.left_out = true;
            self.warn(&format!(
                "more than {MOST_FOUND} different failures were found; the others are only counted"
            ));
        }
    }
}
