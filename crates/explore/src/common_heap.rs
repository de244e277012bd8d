//! Whether executions go the same way with the heap that programs have by themselves.
//!
//! Who reasons about all executions, or compares their states, needs addresses that do not depend on the order of the threads: each thread
//! allocates from a region of its own, and no block is handed out twice. A program by itself has one heap, which hands out the address of a
//! block again that was given back; who still has the old address takes the new block for the old one. So once everything has been
//! run, the same schedules are run again with the C library's heap, if threads allocated in such a way that it could matter.

use threadbare_library::Dependence;
use threadbare_sched::Replay;
use threadbare_target::Execution;
use threadbare_trace::{FailureKind, Outcome};
use threadbare_wire::flags;

use crate::claims::{Doubt, with_those_of_one_heap};
use crate::error::ExploreError;
use crate::history::History;
use crate::search_effort::SearchEffort;
use crate::strategy::{Plan, Strategy};

/// How many schedules are kept: some hundred bytes each.
const MOST: usize = 100_000;

/// Runs the schedules of executions again; see the module's description.
pub(crate) struct CommonHeap {
    name: &'static str,
    seed: u64,
    schedules: Vec<(Replay, End)>,
    next: usize,
    judged: usize,
    /// Some execution allocated after others did, or after a block was given back.
    matters: bool,
    /// Why executions with the other heap do not count.
    difference: Option<String>,
}

/// How an execution ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Passed,
    Failed(FailureKind),
}

impl End {
    /// None if it says nothing: what comes of broken memory depends on what lies where.
    fn of(outcome: &Outcome) -> Option<End> {
        use FailureKind::*;
        match outcome {
            Outcome::Passed => Some(End::Passed),
            Outcome::Failed(failure) => match failure.kind {
                UseAfterFree | Segfault | Abort | Exception => None,
                kind @ (Assertion | Deadlock | Hang | Misuse | Exit) => Some(End::Failed(kind)),
            },
            Outcome::Cut(_) | Outcome::Uncontrolled(_) => None,
        }
    }
}

impl CommonHeap {
    pub(crate) fn new(name: &'static str, seed: u64) -> CommonHeap {
        let schedules = Vec::new();
        CommonHeap { name, seed, schedules, next: 0, judged: 0, matters: false, difference: None }
    }

    /// Remembers an execution.
    pub(crate) fn take_in(&mut self, run: &Execution) {
        self.matters |= run.depended_on.iter().any(|it| it.kind == Dependence::HeapAddress);
        let Some(end) = End::of(&run.outcome) else { return };
        if self.schedules.len() < MOST {
            self.schedules.push((Replay::of(&run.switches), end));
        } else {
            self.difference.get_or_insert_with(|| "there were too many executions to try all".to_string());
        }
    }

    /// What was run so far does not count: it did not stop at all memory that threads share.
    pub(crate) fn forget(&mut self) {
        *self = CommonHeap { matters: self.matters, ..CommonHeap::new(self.name, self.seed) };
    }

    fn judge(&mut self, run: &Execution) {
        let Some((_, expected)) = self.schedules.get(self.judged) else { return };
        self.judged += 1;
        if run.divergence.is_some() || End::of(&run.outcome) != Some(*expected) {
            let difference = "they went another way then".to_string();
            self.difference.get_or_insert(difference);
        }
    }
}

impl Strategy for CommonHeap {
    fn plan(&mut self, _first: u64, count: usize, _history: &History) -> Vec<Plan> {
        if !self.matters || self.difference.is_some() {
            return Vec::new();
        }
        let name = format!("{} (again, with one heap for all threads)", self.name);
        let plans: Vec<Plan> = self.schedules[self.next..]
            .iter()
            .take(count)
            .map(|(replay, _)| Plan::new(replay.clone(), self.seed, name.clone()))
            .collect();
        self.next += plans.len();
        plans
    }

    fn learn(
        &mut self,
        runs: &[(&Plan, &Execution)],
        sharing_grew: bool,
        _is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        runs.iter().for_each(|(_, run)| self.judge(run));
        if sharing_grew {
            self.difference.get_or_insert_with(|| "threads shared more memory then".to_string());
        }
        Ok(())
    }

    fn exhausted(&self) -> bool {
        self.difference.is_none() && (!self.matters || self.judged == self.schedules.len())
    }

    fn doubts(&self) -> Vec<Doubt> {
        let doubt = |difference: &String| Doubt {
            what: Dependence::HeapAddress,
            site: None,
            message: format!(
                "nothing is claimed to be complete, because executions were run again with one heap for all threads, as \
                 programs have it by themselves, and {difference}: the program depends on the addresses of its memory"
            ),
        };
        self.difference.iter().map(doubt).collect()
    }
}

/// A strategy whose executions have a heap for each thread, and which runs them again with one heap before it claims anything.
pub(crate) struct ThenCommonHeap<S> {
    inner: S,
    again: CommonHeap,
    /// The inner strategy is through.
    is_again: bool,
}

impl<S: Strategy> ThenCommonHeap<S> {
    pub(crate) fn new(inner: S, name: &'static str, seed: u64) -> ThenCommonHeap<S> {
        ThenCommonHeap { inner, again: CommonHeap::new(name, seed), is_again: false }
    }
}

impl<S: Strategy> Strategy for ThenCommonHeap<S> {
    fn plan(&mut self, first: u64, count: usize, history: &History) -> Vec<Plan> {
        if !self.is_again {
            let mut plans = self.inner.plan(first, count, history);
            plans.iter_mut().for_each(|plan| plan.flags |= flags::THREAD_HEAPS);
            if !plans.is_empty() || !self.inner.exhausted() {
                return plans;
            }
            self.is_again = true;
        }
        self.again.plan(first, count, history)
    }

    fn learn(
        &mut self,
        runs: &[(&Plan, &Execution)],
        sharing_grew: bool,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        if self.is_again {
            return self.again.learn(runs, sharing_grew, is_over);
        }
        if sharing_grew {
            self.again.forget();
        }
        runs.iter().for_each(|(_, run)| self.again.take_in(run));
        self.inner.learn(runs, sharing_grew, is_over)
    }

    fn exhausted(&self) -> bool {
        self.inner.exhausted() && self.again.exhausted()
    }

    fn bound(&self) -> Option<u32> {
        self.inner.bound()
    }

    fn snapshots(&self) -> u64 {
        self.inner.snapshots()
    }

    fn effort(&self) -> SearchEffort {
        self.inner.effort()
    }

    fn doubts(&self) -> Vec<Doubt> {
        with_those_of_one_heap(self.inner.doubts(), self.again.doubts())
    }

    fn warnings(&self, speaker: &str) -> Vec<String> {
        self.inner.warnings(speaker)
    }
}
