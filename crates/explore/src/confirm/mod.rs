//! Driving what was predicted to happen.

mod occurrence;

use std::rc::Rc;

use threadbare_detect::{Certainty, Finding, FindingKind};
use threadbare_sched::Rng;
use threadbare_target::Execution;

pub use self::occurrence::{directed, find_shown, pointed_out, shown};
pub(crate) use self::occurrence::{fails_of, happens, settle_in};
use crate::campaign::Progress;
use crate::check::{Examined, Met};
use crate::drive::Drive;
use crate::error::ExploreError;
use crate::finding_rank::rank;

/// How often a predicted finding is driven to happen.
const ATTEMPTS: u64 = 24;

/// The same for accesses that may come in either order: there are many of them, and they are easy to turn.
const TURNS: u64 = 6;
/// How many suspicions are driven to happen, surest first.
const SUSPICIONS: usize = 100;

/// Whether a finding is worth telling only if it does harm: correct programs, too, read under a lock what they write
/// under it later, and use variables together that need not agree.
pub fn is_suspicion(finding: &Finding) -> bool {
    finding.certainty == Certainty::Suspected
        || finding.kind == FindingKind::Atomicity && (!finding.locks.is_empty() || finding.accesses.len() > 3)
}

impl Drive<'_> {
    /// Tries to make each finding happen. What is only suspected is told if it makes the program fail.
    /// Each comes with an execution in which it was seen.
    pub(crate) fn confirm_all(
        &mut self,
        findings: Vec<(Finding, Rc<Execution>)>,
        progress: &dyn Fn(&Progress),
    ) -> Result<(), ExploreError> {
        let mut suspicions = 0;
        for (finding, run) in findings {
            let suspected = is_suspicion(&finding);
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
                if happened.is_none() && met.is_none() {
                    self.check.untried.push(finding.key());
                }
                break;
            }
            plan.policy.seed = Rng::derive(self.options.seed, attempt);
            let Some(run) = self.run(&plan)? else { break };
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
