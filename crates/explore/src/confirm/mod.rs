//! Driving what was predicted to happen.

mod occurrence;

use std::ops::ControlFlow;
use std::sync::Arc;

use threadbare_detect::{Certainty, Finding, FindingKind};
use threadbare_sched::Rng;
use threadbare_target::Execution;
use threadbare_trace::Event;
use threadbare_wire::flags;

pub(crate) use self::occurrence::{back_to_back, fails_because_of, happens, settle_in};
pub use self::occurrence::{directed, find_shown, pointed_out, shown};
use crate::campaign::observer::{Examiner, Observed, Observer};
use crate::check::{Examined, Met};
use crate::drive::{Drive, phase};
use crate::error::ExploreError;
use crate::finding_rank::rank;
use crate::history::History;
use crate::options::Timers;
use crate::strategy::{Plan, Strategy};

/// How often a predicted finding is driven to happen.
const ATTEMPTS: u64 = 24;

/// The same for accesses that may come in either order: there are many of them, and they are easy to turn.
const TURNS: u64 = 6;
/// How many suspicions are driven to happen, surest first.
const SUSPICIONS: usize = 100;

/// Whether a finding is reported only if it does harm: correct programs, too, read under a lock what they write
/// under it later, and use variables together that need not agree.
pub fn is_suspicion(finding: &Finding) -> bool {
    finding.certainty == Certainty::Suspected
        || finding.kind == FindingKind::Atomicity && (!finding.locks.is_empty() || finding.accesses.len() > 3)
}

impl Drive<'_, '_> {
    /// Tries to make each finding happen. What is only suspected is reported if it makes the program fail.
    /// Each comes with an execution in which it was seen.
    pub(crate) fn confirm_all(
        &mut self,
        findings: Vec<(Finding, Arc<Execution>)>,
    ) -> Result<(), ExploreError> {
        let mut suspicions = 0;
        for (finding, run) in findings {
            let suspected = is_suspicion(&finding);
            if self.is_over() {
                // To look at traces takes time as well.
                self.account.check.untried.push(finding.key());
                if !suspected && finding.kind != FindingKind::Order {
                    self.account.check.findings.push(Examined::predicted(finding, run));
                }
                continue;
            }
            suspicions += usize::from(suspected);
            if suspected && (suspicions > SUSPICIONS || self.account.is_common(&finding)) {
                continue;
            }
            let confirming = self.confirm(&finding, &run)?;
            let fails = confirming.as_ref().is_some_and(|run| fails_because_of(&finding, run))
                && !self.account.is_harmless(&finding);
            // If the program fails in another order, the failure's own cause says so better.
            if suspected && !fails || finding.kind == FindingKind::Order {
                continue;
            }
            let mut examined = Examined { finding, run, confirmed: confirming, fails, follows_from: None };
            if let Some(run) = &examined.confirmed
                && settle_in(&mut examined.finding, &run.events)
            {
                examined.run = Arc::clone(run);
            }
            if examined.confirmed.is_some() {
                self.tell(&examined);
            }
            self.account.check.findings.push(examined);
        }
        rank(&mut self.account.check.findings);
        Ok(())
    }

    /// Tries to make a finding happen that was seen in this execution.
    fn confirm(
        &mut self,
        finding: &Finding,
        seen: &Execution,
    ) -> Result<Option<Arc<Execution>>, ExploreError> {
        let shows_it = |met: &&Met| happens(finding, &met.run) && fails_because_of(finding, &met.run);
        let met = self.account.check.failures.iter().find(shows_it).map(|met| Arc::clone(&met.run));
        let most = if finding.kind == FindingKind::Order { TURNS } else { ATTEMPTS };
        let seed = self.options().seed;
        let is_mixed = self.options().timers() == Timers::Mixed;
        let mut attempts = Attempts { finding, events: &seen.events, seed, next: 0, most, is_mixed };
        let occurs = Arc::new(Occurs(finding.clone()));
        let mut witness = Witness::default();
        self.follow(&mut attempts, &phase(most, occurs), &mut witness)?;
        if let Some(failing) = witness.failing {
            return Ok(Some(failing));
        }
        let made = witness.executions;
        let is_cut = self.is_over() && made < most && directed(finding, &seen.events, made).is_some();
        if is_cut && witness.any.is_none() && met.is_none() {
            self.account.check.untried.push(finding.key());
        }
        Ok(met.or(witness.any))
    }
}

/// Attempts to make a finding happen.
struct Attempts<'a> {
    finding: &'a Finding,
    /// Of the execution in which it was seen.
    events: &'a [Event],
    seed: u64,
    next: u64,
    most: u64,
    /// Every other attempt lets sleeps end at any point.
    is_mixed: bool,
}

impl Strategy for Attempts<'_> {
    fn plan(&mut self, _first: u64, count: usize, _history: &History) -> Vec<Plan> {
        let plan = |attempt| {
            let mut plan = directed(self.finding, self.events, attempt)?;
            plan.policy.seed = Rng::derive(self.seed, attempt);
            plan.flags |= if self.is_mixed && attempt % 2 == 1 { flags::LOOSE_TIME } else { 0 };
            Some(plan)
        };
        let end = self.most.min(self.next + count as u64);
        let plans: Vec<Plan> = (self.next..end).map_while(plan).collect();
        self.next += plans.len() as u64;
        plans
    }
}

/// Reports whether a finding happens; the first execution that fails because of it is enough.
struct Occurs(Finding);

impl Examiner for Occurs {
    fn examine(&self, run: &Execution) -> Vec<Finding> {
        if happens(&self.0, run) { vec![self.0.clone()] } else { Vec::new() }
    }

    fn ends_with(&self, run: &Execution, found: &[Finding]) -> bool {
        !found.is_empty() && fails_because_of(&self.0, run)
    }
}

/// The executions in which a finding happened.
#[derive(Default)]
struct Witness {
    executions: u64,
    any: Option<Arc<Execution>>,
    /// One that fails says more than one that passes.
    failing: Option<Arc<Execution>>,
}

impl Observer for Witness {
    fn observe(&mut self, seen: &Observed<'_>) -> ControlFlow<()> {
        self.executions += 1;
        if let Some(finding) = seen.found.first() {
            self.any.get_or_insert_with(|| Arc::clone(seen.run));
            if fails_because_of(finding, seen.run) {
                self.failing = Some(Arc::clone(seen.run));
            }
        }
        ControlFlow::Continue(())
    }
}
