//! Brings copies of the program to where the search wants them, the cheapest way there is.

use threadbare_sched::Prefix;
use threadbare_target::{Execution, Snapshot, Stop};
use threadbare_trace::ThreadId;

use super::paths::Paths;
use crate::error::ExploreError;
use crate::search::Steer;
use crate::strategy::Plan;

/// A copy of the program that is stopped at a decision.
#[derive(Clone, Copy)]
pub(in crate::strategies) struct StoppedCopy {
    /// The choices that led there.
    pub path: usize,
    snapshot: Snapshot,
    /// It is there only as long as no execution begins anew.
    epoch: u64,
}

/// Where a copy came to a stop, and from where on it reports events.
pub(in crate::strategies) struct Arrival {
    pub stop: Stop,
    pub since: Since,
}

/// From where on a copy reports events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::strategies) enum Since {
    /// The start of the program.
    Start,
    /// Its first decision.
    First,
    /// The decision before.
    Before,
}

/// The copies at hand.
pub(in crate::strategies) struct Navigator<'a> {
    pub steer: &'a mut dyn Steer,
    pub state: &'a mut NavigatorState,
}

/// What lasts from one use of the navigator to the next.
pub(in crate::strategies) struct NavigatorState {
    seed: u64,
    /// Every prefix is run again from the start.
    always_from_start: bool,
    epoch: u64,
    first: Option<StoppedCopy>,
    /// The copy that made the last step.
    last: Option<StoppedCopy>,
    /// Why no copies can be made.
    no_copies: Option<String>,
    /// Failures were met that did not show again.
    lost_failures: bool,
    /// Partial runs made.
    pub partial_runs: u64,
}

impl NavigatorState {
    pub fn new(seed: u64, always_from_start: bool) -> NavigatorState {
        NavigatorState {
            seed,
            always_from_start,
            epoch: 0,
            first: None,
            last: None,
            no_copies: None,
            lost_failures: false,
            partial_runs: 0,
        }
    }

    /// What the user should know.
    pub fn warnings(&self, speaker: &str) -> Vec<String> {
        let slow = self.no_copies.iter().map(|reason| {
            format!("{speaker} ran prefixes again where it would have continued from snapshots: {reason}")
        });
        let lost = "a failure met on a snapshot did not show when its path was run from the start";
        slow.chain(self.lost_failures.then(|| lost.to_string())).collect()
    }

    /// The copy at the first decision, dead or alive.
    pub fn first(&self) -> Option<StoppedCopy> {
        self.first
    }

    fn makes_copies(&self) -> bool {
        !self.always_from_start && self.no_copies.is_none()
    }

    fn alive(&self, copy: Option<StoppedCopy>) -> Option<StoppedCopy> {
        copy.filter(|it| it.epoch == self.epoch)
    }
}

impl Navigator<'_> {
    /// A copy that has just come to a decision.
    pub fn stopped_copy(&self, path: usize, snapshot: Snapshot) -> StoppedCopy {
        StoppedCopy { path, snapshot, epoch: self.state.epoch }
    }

    /// Goes to the program's first decision, from where others are reached later on.
    pub fn go_to_first(&mut self) -> Result<Arrival, ExploreError> {
        let arrival = self.start_over(&[])?;
        if let Stop::Paused(pause) = &arrival.stop {
            self.state.first = Some(self.stopped_copy(Paths::START, pause.snapshot));
        }
        Ok(arrival)
    }

    /// Whether a copy is still stopped at the first decision, or none is needed there.
    pub fn knows_first(&self) -> bool {
        !self.state.makes_copies() || self.state.alive(self.state.first).is_some()
    }

    /// Makes the last step of a path and runs to the decision after it.
    pub fn reach(&mut self, paths: &Paths, path: usize) -> Result<Arrival, ExploreError> {
        let (before, thread) = paths.last(path);
        self.state.partial_runs += 1;
        let last = self.state.last.take();
        let last = self.state.alive(last);
        if let Some(last) = last {
            if last.path == before && !self.state.always_from_start {
                let stop = self.steer.go_on(last.snapshot, &[thread])?;
                return Ok(Arrival { stop, since: Since::Before });
            }
            self.discard(last);
        }
        let choices = paths.choices(path);
        if self.state.makes_copies()
            && let Some(first) = self.state.alive(self.state.first)
            && let Some(stop) = self.split(first, &choices)?
        {
            return Ok(Arrival { stop, since: Since::First });
        }
        self.start_over(&choices)
    }

    /// Makes the last step of a path in a copy of the copy that is stopped before it, which stays there.
    pub fn look_ahead(
        &mut self,
        from: StoppedCopy,
        paths: &Paths,
        path: usize,
    ) -> Result<Arrival, ExploreError> {
        let (_, thread) = paths.last(path);
        self.state.partial_runs += 1;
        if self.state.makes_copies()
            && let Some(from) = self.state.alive(Some(from))
            && let Some(stop) = self.split(from, &[thread])?
        {
            return Ok(Arrival { stop, since: Since::Before });
        }
        self.start_over(&paths.choices(path))
    }

    /// The search continues from here next.
    pub fn stay_at(&mut self, copy: StoppedCopy) {
        if let Some(last) = self.state.last.replace(copy)
            && last.path != copy.path
        {
            self.discard(last);
        }
    }

    /// The search will not continue from here.
    pub fn discard(&mut self, copy: StoppedCopy) {
        let is_first = self.state.first.is_some_and(|first| first.snapshot == copy.snapshot);
        if copy.epoch == self.state.epoch && !is_first {
            self.steer.discard(copy.snapshot);
        }
    }

    /// Runs one plan from beginning to end.
    pub fn run(&mut self, plan: &Plan) -> Result<Execution, ExploreError> {
        self.state.epoch += 1;
        self.steer.run(plan)
    }

    /// The whole of an execution that failed and reported only its last steps: runs it again from the start.
    pub fn in_full(
        &mut self,
        name: &str,
        choices: Vec<ThreadId>,
        run: Execution,
    ) -> Result<Execution, ExploreError> {
        let Some(failure) = run.outcome.failure() else { return Ok(run) };
        let mut plan = Plan::new(Prefix { choices }, self.state.seed, name);
        plan.profile = true;
        let again = self.run(&plan)?;
        if again.outcome.failure().is_some_and(|it| it.kind == failure.kind) {
            return Ok(again);
        }
        self.state.lost_failures = true;
        Ok(run)
    }

    fn start_over(&mut self, choices: &[ThreadId]) -> Result<Arrival, ExploreError> {
        self.state.epoch += 1;
        let stop = self.steer.steer(self.state.seed, choices)?;
        Ok(Arrival { stop, since: Since::Start })
    }

    fn split(&mut self, from: StoppedCopy, choices: &[ThreadId]) -> Result<Option<Stop>, ExploreError> {
        match self.steer.split(from.snapshot, choices)? {
            Stop::Refused(reason) => {
                self.state.no_copies = Some(reason);
                Ok(None)
            }
            stop => Ok(Some(stop)),
        }
    }
}
