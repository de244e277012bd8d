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
use crate::coverage::Covered;
use crate::error::ExploreError;
use crate::kept_events::KeptEvents;
use crate::options::Options;
use crate::search_effort::SearchEffort;

/// How many different failures are kept with their traces.
const MOST_FOUND: usize = 100;

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
    /// What the user should know.
    pub warnings: Vec<String>,
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
}

impl Observer for Ledger {
    fn observe(&mut self, seen: &Observed<'_>) -> ControlFlow<()> {
        self.enter(&seen.plan.name, Arc::clone(seen.run));
        match self.unfinished.is_hopeless(self.executions) {
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
        Ledger { kept: KeptEvents::of(options), ..Ledger::default() }
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
        if let Outcome::Failed(failure) = &run.outcome {
            self.count(failure.kind);
            let signature = Signature::of(failure);
            self.keep(signature, policy, run);
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
    pub(crate) fn close(self, elapsed: Duration, interrupted: bool) -> Campaign {
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
            warnings: self.warnings,
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

    fn count(&mut self, kind: FailureKind) {
        match self.failures.binary_search_by_key(&(kind as u8), |(kind, _)| *kind as u8) {
            Ok(place) => self.failures[place].1 += 1,
            Err(place) => self.failures.insert(place, (kind, 1)),
        }
    }

    fn keep(&mut self, signature: Signature, policy: &str, run: Arc<Execution>) {
        if let Some(&place) = self.places.get(&signature) {
            self.found[place].count += 1;
        } else if self.found.len() < MOST_FOUND {
            self.places.insert(signature, self.found.len());
            let run = self.kept.keep(run);
            self.found.push(Found { execution: self.executions, policy: policy.to_string(), run, count: 1 });
        } else if !self.left_out {
            self.left_out = true;
            self.warn(&format!(
                "more than {MOST_FOUND} different failures were found; the others are only counted"
            ));
        }
    }
}
