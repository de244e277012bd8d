//! What detectors find in the executions of a campaign: they run in the workers, and what they find is collected in order.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use threadbare_detect::{Finding, FindingKind, FindingSet, Key};
use threadbare_target::Execution;

use crate::campaign::observer::{Examiner, Observed, Observer};
use crate::check::Examined;
use crate::confirm::is_suspicion;
use crate::kept_events::KeptEvents;
use crate::options::Options;

/// Shows executions to detectors.
pub(crate) struct Detectors(pub(crate) fn(&Execution) -> Vec<Finding>);

impl Examiner for Detectors {
    fn examine(&self, run: &Execution) -> Vec<Finding> {
        if is_partial(run) { Vec::new() } else { (self.0)(run) }
    }

    fn finds_results(&self) -> bool {
        true
    }
}

/// What was done to memory before it was found to be shared is not in the trace, and a lock that no thread was seen to take
/// protects nothing. Later executions show all of it.
fn is_partial(run: &Execution) -> bool {
    !run.discovered.is_empty()
}

/// The findings so far, each with the execution to show it on.
pub(crate) struct Detected {
    detectors: Arc<Detectors>,
    /// How many partial traces may still be left out. A program that shows new memory in every execution
    /// has no others.
    may_leave_out: u64,
    set: FindingSet,
    /// The execution in which each finding was seen first as surely as it is known.
    shown: HashMap<Key, Arc<Execution>>,
    kept: KeptEvents,
    /// The execution that was kept last.
    last_kept: Option<Arc<Execution>>,
    /// Findings for whose executions there was no room.
    left_out: u64,
    /// What was found here rather than by a worker, and not told of yet.
    news: Vec<Examined>,
}

impl Detected {
    /// Nothing yet, in a campaign with these options.
    pub(crate) fn by(detectors: &Arc<Detectors>, options: &Options) -> Detected {
        Detected {
            detectors: Arc::clone(detectors),
            may_leave_out: options.executions / 2,
            set: FindingSet::default(),
            shown: HashMap::new(),
            kept: KeptEvents::of(options),
            last_kept: None,
            left_out: 0,
            news: Vec::new(),
        }
    }

    /// What the user should know.
    pub(crate) fn warning(&self) -> Option<String> {
        (self.left_out > 0).then(|| {
            format!(
                "{} times a finding was left out, since the execution that shows it does not fit into the memory that may be used; \
                 --memory-limit allows more",
                self.left_out
            )
        })
    }

    /// The findings, surest first.
    pub(crate) fn into_sorted(self) -> Vec<(Finding, Arc<Execution>)> {
        let Detected { set, shown, .. } = self;
        let with_run = |finding: Finding| {
            let run = Arc::clone(shown.get(&finding.key())?);
            Some((finding, run))
        };
        set.into_sorted().into_iter().filter_map(with_run).collect()
    }

    fn add(&mut self, finding: Finding, run: &Arc<Execution>) {
        let key = finding.key();
        let known = self.set.get(&key).map(|known| known.certainty);
        if known.is_none_or(|known| finding.certainty > known) {
            let is_kept = self.last_kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, run));
            if !is_kept && !self.kept.take(run) {
                self.left_out += u64::from(known.is_none());
                return;
            }
            self.last_kept = Some(Arc::clone(run));
            self.shown.insert(key, Arc::clone(run));
        }
        self.set.add(finding);
    }
}

impl Observer for Detected {
    fn reads_events(&self) -> bool {
        true
    }

    fn observe(&mut self, seen: &Observed<'_>) -> ControlFlow<()> {
        if !is_partial(seen.run) {
            seen.found.iter().for_each(|finding| self.add(finding.clone(), seen.run));
        } else if self.may_leave_out > 0 {
            self.may_leave_out -= 1;
        } else {
            for finding in (self.detectors.0)(seen.run) {
                let is_new = self.set.get(&finding.key()).is_none();
                if is_new && !is_suspicion(&finding) && finding.kind != FindingKind::Order {
                    self.news.push(Examined::predicted(finding.clone(), Arc::clone(seen.run)));
                }
                self.add(finding, seen.run);
            }
        }
        ControlFlow::Continue(())
    }

    fn news(&mut self) -> Vec<Examined> {
        std::mem::take(&mut self.news)
    }
}
