//! Directed testing for synchronization pairs (Hong et al., "Testing concurrent programs to achieve high synchronization
//! coverage", ISSTA 2012): estimate from one execution which pairs the program can show, then pause threads before
//! locks so that uncovered ones are shown.
//!
//! The controller is a policy (`threadbare_sched::Tsa`); here the sets are carried from one execution to the next. The
//! estimate comes from an execution in which no thread is preempted: it goes through most of the program, where in others
//! threads may fail half-way.
//!
//! Pairs that cannot be shown after all stay uncovered for ever, and with them the third rule tends to make one
//! execution like the other. So executions first aim at the pairs of the refined estimate, which is all but free of
//! such, and once they bring nothing new, each of them aims at some of all pairs only, at times at none. The published
//! form (`published/tsa.rs`) always aims at all.

use std::collections::BTreeSet;
use std::sync::Arc;

use threadbare_coverage::sync_pairs::{Precision, estimate, shown};
use threadbare_coverage::{ObservedExecution, PlacePair};
use threadbare_sched::{self as sched, Prefix, Requirements, Rng};
use threadbare_target::Execution;
use threadbare_trace::{Event, EventKind};

use crate::error::ExploreError;
use crate::history::History;
use crate::search_effort::SearchEffort;
use crate::strategies::sampled::probe;
use crate::strategy::{Plan, Strategy};

/// Executions in a row without a new pair after which they aim at some pairs only.
const MOST_WITHOUT_NEW_PAIR: u64 = 4;

/// How likely the running thread is scheduled again between locks; which of these is drawn for each execution, since bugs
/// differ in how long a thread has to run.
const STAY_PROBABILITIES: [f64; 3] = [0.0, 0.5, 0.9];

/// Which form of the technique.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::strategies) struct Form {
    /// The third of the paper's rules decides too which thread is released.
    pub third_rule: bool,
    /// Every execution aims at all uncovered pairs of the paper's estimate.
    pub aims_at_all: bool,
}

impl Form {
    /// As described above.
    pub const FULL: Form = Form { third_rule: true, aims_at_all: false };
}

/// See the module's description.
pub(crate) struct Tsa {
    name: &'static str,
    form: Form,
    seed: u64,
    /// What is possible by the paper's estimate.
    estimated: BTreeSet<PlacePair>,
    /// What is possible by the refined one, too.
    likely: BTreeSet<PlacePair>,
    covered: BTreeSet<PlacePair>,
    /// The places where locks were taken.
    places: BTreeSet<u64>,
    /// What has been estimated and not covered.
    uncovered: Vec<(u64, u64)>,
    /// What executions aim at as long as that brings something new.
    requirements: Arc<Requirements>,
    /// Executions since the last one that covered a new pair.
    since_new_pair: u64,
    effort: SearchEffort,
}

impl Tsa {
    pub(in crate::strategies) fn new(name: &'static str, form: Form, seed: u64) -> Tsa {
        Tsa {
            name,
            form,
            seed,
            estimated: BTreeSet::new(),
            likely: BTreeSet::new(),
            covered: BTreeSet::new(),
            places: BTreeSet::new(),
            uncovered: Vec::new(),
            requirements: Arc::default(),
            since_new_pair: 0,
            effort: SearchEffort::default(),
        }
    }

    fn plan_one(&self, number: u64) -> Plan {
        let seed = Rng::derive(self.seed, number);
        if number == 1 {
            return Plan { trace: true, ..Plan::new(Prefix::default(), seed, self.name) };
        }
        let mut rng = Rng::new(Rng::derive(seed, 1));
        let stay_probability = STAY_PROBABILITIES[rng.below(STAY_PROBABILITIES.len() as u64) as usize];
        let aims_at_all = self.form.aims_at_all || self.since_new_pair < MOST_WITHOUT_NEW_PAIR;
        let requirements = if aims_at_all { Arc::clone(&self.requirements) } else { self.some(&mut rng) };
        let controller = sched::Tsa { third_rule: self.form.third_rule, stay_probability, requirements };
        Plan { trace: true, flags: probe(number), ..Plan::new(controller, seed, self.name) }
    }

    /// Some of the uncovered pairs: all, about a half, a quarter and so on, or none, each as likely.
    fn some(&self, rng: &mut Rng) -> Arc<Requirements> {
        let steps = u64::from(self.uncovered.len().checked_ilog2().map_or(0, |log| log + 1));
        let halvings = rng.below(steps + 1);
        let share = if halvings == steps { 0.0 } else { 0.5f64.powi(halvings as i32) };
        Arc::new(Requirements::new(self.uncovered.iter().copied().filter(|_| rng.unit() < share)))
    }

    fn learn_one(&mut self, run: &Execution) {
        for (sum, fired) in self.effort.rules.iter_mut().zip(run.policy_counters) {
            *sum += fired;
        }
        let place = |event: &Event| run.place(event);
        let seen = ObservedExecution::new(&run.events, &place);
        let before = (self.covered.len(), self.places.len());
        self.covered.extend(shown(&seen));
        self.places.extend(run.events.iter().filter(|event| is_lock(event)).map(place));
        let shows_more = before.0 < self.covered.len();
        self.since_new_pair = if shows_more { 0 } else { self.since_new_pair + 1 };
        // It took another path than those before, on which there may be more.
        if before.1 < self.places.len() || (shows_more && !self.covered.is_subset(&self.estimated)) {
            self.estimated.extend(estimate(&seen, Precision::Paper));
            self.estimated.extend(&self.covered);
            if !self.form.aims_at_all {
                self.likely.extend(estimate(&seen, Precision::Refined));
            }
        }
    }
}

fn is_lock(event: &Event) -> bool {
    event.kind().is_some_and(EventKind::acquires_lock)
}

impl Strategy for Tsa {
    /// Executions of one batch know the same pairs to be uncovered, so there is only one in it as long as new ones are
    /// shown.
    fn plan(&mut self, first: u64, count: usize, _history: &History) -> Vec<Plan> {
        let is_over = first > 1 && self.uncovered.is_empty();
        let together =
            if is_over { u64::MAX } else { 1 + self.since_new_pair.saturating_sub(MOST_WITHOUT_NEW_PAIR) };
        let count = together.min(count as u64);
        (first..first + count).map(|number| self.plan_one(number)).collect()
    }

    fn learn(
        &mut self,
        runs: &[(&Plan, &Execution)],
        _sharing_grew: bool,
        _is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        let before = (self.estimated.len(), self.covered.len());
        runs.iter().for_each(|(_, run)| self.learn_one(run));
        if before != (self.estimated.len(), self.covered.len()) {
            let left = |set: &BTreeSet<PlacePair>| -> Vec<(u64, u64)> {
                set.difference(&self.covered).map(|pair| (pair.first, pair.second)).collect()
            };
            let likely = left(&self.likely);
            self.uncovered = left(&self.estimated);
            let aims = if likely.is_empty() { &self.uncovered } else { &likely };
            self.requirements = Arc::new(Requirements::new(aims.iter().copied()));
        }
        Ok(())
    }

    fn effort(&self) -> SearchEffort {
        self.effort
    }
}
