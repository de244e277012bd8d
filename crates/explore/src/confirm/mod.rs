//! Driving what was predicted to happen.

mod counterfactual;
mod occurrence;

use std::ops::ControlFlow;
use std::sync::Arc;

use threadbare_detect::{Certainty, Finding, FindingKind};
use threadbare_sched::Rng;
use threadbare_target::Execution;
use threadbare_trace::Event;
use threadbare_wire::flags;

pub use self::counterfactual::{Trial, Verdict, trials};
pub(crate) use self::occurrence::{back_to_back, fails_because_of, happens, settle_in};
pub use self::occurrence::{directed, find_shown, pointed_out, shown};
use crate::campaign::observer::{Examiner, Observed, Observer, Unexamined};
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

/// Drops what two variables have to do with a failure if it is one variable's doing: where three accesses to one are in the
/// wrong order, many others are in an order that they do not have otherwise.
fn leave_out_what_accompanies(findings: &mut Vec<Examined>) {
    let is_about_one = |it: &Examined| it.fails && it.finding.accesses.len() < 4;
    let simple: Vec<Finding> =
        findings.iter().filter(|it| is_about_one(it)).map(|it| it.finding.clone()).collect();
    findings.retain(|examined| {
        let Examined { finding, confirmed, fails, .. } = examined;
        let accompanies =
            |run: &Arc<Execution>| finding.accesses.len() > 3 && simple.iter().any(|it| happens(it, run));
        !(*fails && confirmed.as_ref().is_some_and(accompanies))
    });
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
            let mut confirming = self.confirm(&finding, &run)?;
            // If the program fails in another order, the failure's own cause says so better.
            if finding.kind == FindingKind::Order {
                continue;
            }
            let caused = match &confirming {
                Some(failing) if fails_because_of(&finding, failing) => {
                    self.failing_because_of(&finding, &run, failing)?
                }
                _ => None,
            };
            let fails = caused.is_some();
            // It is serial but for the finding, so it says most.
            confirming = caused.or(confirming);
            // What was enabled at the same time nothing has ordered, whatever it looked like.
            let came_together = finding.kind == FindingKind::Race && confirming.is_some();
            if suspected && !fails && !came_together {
                self.account.note_library(&finding, &run);
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
        leave_out_what_accompanies(&mut self.account.check.findings);
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

impl Drive<'_, '_> {
    /// An execution that fails because of a finding that was seen in one execution, and happened in one that failed; none if the
    /// failure is not the finding's doing.
    fn failing_because_of(
        &mut self,
        finding: &Finding,
        seen: &Execution,
        failing: &Arc<Execution>,
    ) -> Result<Option<Arc<Execution>>, ExploreError> {
        if finding.kind == FindingKind::Deadlock {
            return Ok(Some(Arc::clone(failing)));
        }
        let mut settled = finding.clone();
        if settle_in(&mut settled, &failing.events) {
            let verdict = self.try_out(&settled, failing)?;
            if verdict.is_decided() {
                return Ok(verdict.failing());
            }
        }
        Ok(self.try_out(finding, seen)?.failing())
    }

    fn try_out(&mut self, finding: &Finding, run: &Execution) -> Result<Verdict, ExploreError> {
        let trials = trials(finding, run);
        let mut listed = Listed { trials: &trials, next: 0 };
        let mut experiment = Experiment { finding, trials: &trials, verdict: Verdict::default() };
        self.follow(&mut listed, &phase(trials.len() as u64, Arc::new(Unexamined)), &mut experiment)?;
        Ok(experiment.verdict)
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

/// Trials, one after the other.
struct Listed<'a> {
    trials: &'a [Trial],
    next: usize,
}

impl Strategy for Listed<'_> {
    fn plan(&mut self, _first: u64, count: usize, _history: &History) -> Vec<Plan> {
        let numbered = self.trials.iter().enumerate().skip(self.next).take(count);
        let plans: Vec<Plan> =
            numbered.map(|(number, trial)| Plan { tag: number as u64, ..trial.plan.clone() }).collect();
        self.next += plans.len();
        plans
    }
}

/// What trials come to.
struct Experiment<'a> {
    finding: &'a Finding,
    trials: &'a [Trial],
    verdict: Verdict,
}

impl Observer for Experiment<'_> {
    fn observe(&mut self, seen: &Observed<'_>) -> ControlFlow<()> {
        self.verdict.enter(self.finding, &self.trials[seen.plan.tag as usize], seen.run);
        ControlFlow::Continue(())
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
