//! Strategies side by side: each hunts in many trials, and a trial ends at its first failure.
//!
//! Trial number r of every strategy has the same seed, so trials of the same number are pairs. A trial is a campaign
//! with one worker and what it learns is its own, so its result does not depend on how many trials run at
//! once. (A time limit that is reached does depend on the machine, and is reported.)

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use threadbare_sched::Rng;
use threadbare_target::Program;
use threadbare_trace::FailureKind;
use threadbare_wire::LearnedRecord;

use crate::campaign::given_up::{Ending, within};
use crate::campaign::observer::Unexamined;
use crate::campaign::results::Campaign;
use crate::campaign::{Phase, Progress, conduct, run};
use crate::coverage::Covered;
use crate::error::ExploreError;
use crate::history::History;
use crate::options::Options;
use crate::runner::{Launch, Servers};
use crate::search_effort::SearchEffort;
use crate::statistics::{
    Censored, Magnitude, Measure, Summary, Wilcoxon, bonferroni, cliffs_delta, wilcoxon,
};
use crate::strategies::by_name;
use crate::strategy::{Plan, Strategy};

/// Executions before the trials that only find out what is shared.
pub const WARM_UP: u64 = 32;

/// What ended a trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrialEnd {
    /// A failure of this kind.
    Failed(FailureKind),
    /// All executions were made.
    Executions,
    /// The time was up.
    Time,
    /// There was nothing left to try.
    Exhausted,
    /// All that was measured was saturated, and that was to be the end.
    Saturated,
}

/// One campaign of one strategy.
#[derive(Clone, PartialEq, Debug)]
pub struct Trial {
    /// Its number, counted from 1.
    pub number: u64,
    /// Its seed.
    pub seed: u64,
    /// How many executions the first failure took.
    pub measure: Measure,
    /// What ended it.
    pub end: TrialEnd,
    /// Visible steps of all executions.
    pub steps: u64,
    /// How long it took, the start of the program included.
    pub elapsed: Duration,
    /// What it covered, by the criteria asked for.
    pub coverage: Vec<Covered>,
    /// How much the strategy thought.
    pub effort: SearchEffort,
}

/// All trials of one strategy.
#[derive(Clone, PartialEq, Debug)]
pub struct Contestant {
    /// The strategy.
    pub strategy: String,
    /// Its trials by number; some may be missing after an interrupt.
    pub trials: Vec<Trial>,
}

impl Contestant {
    fn measures(&self) -> Vec<Measure> {
        self.trials.iter().map(|trial| trial.measure).collect()
    }

    /// How many trials found a failure.
    pub fn failed(&self) -> usize {
        self.trials.iter().filter(|trial| trial.measure.failed()).count()
    }

    /// Executions to the first failure.
    pub fn executions(&self) -> Summary {
        Summary::of_measures(&self.measures())
    }

    /// Which of these are lower bounds.
    pub fn lower_bounds(&self) -> Censored {
        Censored::of_measures(&self.measures())
    }

    /// What a trial covered by the criterion at this place.
    pub fn covered(&self, place: usize) -> Summary {
        let covered = |trial: &Trial| trial.coverage.get(place).map(|it| it.covered as f64);
        Summary::of(self.trials.iter().filter_map(covered))
    }

    /// The time of a trial in seconds.
    pub fn seconds(&self) -> Summary {
        Summary::of(self.trials.iter().map(|trial| trial.elapsed.as_secs_f64()))
    }
}

/// The first strategy against another one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Versus {
    /// The test on the differences of pairs, first less other.
    pub test: Wilcoxon,
    /// Its probability, corrected for the number of strategies that the first one is compared with.
    pub corrected_p: f64,
    /// Cliff's delta: negative where the first needs fewer executions.
    pub delta: f64,
    /// What that amounts to.
    pub magnitude: Magnitude,
}

/// What came out.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// The strategies, in the order they were named.
    pub contestants: Vec<Contestant>,
    /// Whether the user ended it before all trials were made.
    pub interrupted: bool,
    /// How long it took.
    pub elapsed: Duration,
}

impl Comparison {
    /// The first strategy against the one at this place; none for itself, and where no two trials make a pair.
    pub fn versus(&self, place: usize) -> Option<Versus> {
        let (first, other) = (self.contestants.first()?, self.contestants.get(place)?);
        let pair = |trial: &Trial| {
            let own = first.trials.iter().find(|own| own.number == trial.number)?;
            Some(own.measure.difference(trial.measure))
        };
        let differences: Vec<i64> = other.trials.iter().filter_map(pair).collect();
        if place == 0 || differences.is_empty() {
            return None;
        }
        let test = wilcoxon(&differences);
        let delta = cliffs_delta(&first.measures(), &other.measures());
        Some(Versus {
            test,
            corrected_p: bonferroni(test.p, self.contestants.len() - 1),
            delta,
            magnitude: Magnitude::of(delta),
        })
    }
}

impl Comparison {
    /// The test on how long trials took, the first strategy less the one at this place.
    pub fn time_versus(&self, place: usize) -> Option<Wilcoxon> {
        let (first, other) = (self.contestants.first()?, self.contestants.get(place)?);
        let micros = |trial: &Trial| trial.elapsed.as_micros() as i64;
        let pair = |trial: &Trial| {
            let own = first.trials.iter().find(|own| own.number == trial.number)?;
            Some(micros(own) - micros(trial))
        };
        let differences: Vec<i64> = other.trials.iter().filter_map(pair).collect();
        (place > 0 && !differences.is_empty()).then(|| wilcoxon(&differences))
    }
}

/// How far a comparison is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CompareProgress {
    /// Trials that ended.
    pub trials: usize,
    /// Those of them that found a failure.
    pub failed: usize,
}

/// Runs every strategy in `runs` trials. `options` holds for each of them; its seed is that of the whole, and its
/// jobs are the trials that run at once. `stop` ends the comparison and keeps the trials that ended.
pub fn compare(
    program: &Program,
    strategies: &[String],
    runs: u64,
    options: &Options,
    progress: &(dyn Fn(&CompareProgress) + Sync),
    stop: &Arc<AtomicBool>,
) -> Result<Comparison, ExploreError> {
    let launch = Servers::new(program, options, 0, stop);
    let trial = |options: &Options| hunt_once(program, options, stop);
    run_all(&launch, &trial, strategies, runs, options, progress, stop)
}

/// A campaign that is given up where it does not end in its time.
fn hunt_once(program: &Program, options: &Options, stop: &Arc<AtomicBool>) -> Result<Campaign, ExploreError> {
    let (program, own, stopped) = (program.clone(), options.clone(), Arc::clone(stop));
    let campaign = move |progress: &dyn Fn(&Progress)| {
        run(&Servers::new(&program, &own, 0, &stopped), &own, progress, &stopped)
    };
    match within(options.time, stop, true, &|_| {}, campaign)? {
        Ending::Whole(result) => result,
        Ending::GivenUp(heard) => Ok(Campaign::given_up(heard)),
    }
}

/// What the workers have to show so far.
#[derive(Default)]
struct Made {
    /// Trials with the places of their strategies.
    trials: Vec<(usize, Trial)>,
    failed: usize,
    error: Option<ExploreError>,
}

/// The same on whatever the launcher starts; `hunt` makes a trial.
pub(crate) fn run_all<L: Launch>(
    launch: &L,
    hunt: &(dyn Fn(&Options) -> Result<Campaign, ExploreError> + Sync),
    strategies: &[String],
    runs: u64,
    options: &Options,
    progress: &(dyn Fn(&CompareProgress) + Sync),
    stop: &AtomicBool,
) -> Result<Comparison, ExploreError> {
    let of = |strategy: &String| Options { strategy: strategy.clone(), ..options.clone() };
    for strategy in strategies {
        by_name(&of(strategy))?;
    }
    let begin = Instant::now();
    let known = Some(Arc::new(warm_up(launch, options, stop)?));
    let of = |strategy: &String| Options { known: known.clone(), ..of(strategy) };
    // All strategies of one number before the next, so that an interrupt leaves pairs.
    let trials = runs as usize * strategies.len();
    let next = AtomicUsize::new(0);
    let made: Mutex<Made> = Mutex::default();
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let is_broken = || made.lock().unwrap_or_else(PoisonError::into_inner).error.is_some();
            if index >= trials || stop.load(Ordering::Relaxed) || is_broken() {
                return;
            }
            let (number, place) = ((index / strategies.len()) as u64 + 1, index % strategies.len());
            let seed = Rng::derive(options.seed, number);
            let single = Options { seed, jobs: 1, keep_going: false, ..of(&strategies[place]) };
            let result = hunt(&single).map(|campaign| trial(number, &single, &campaign));
            let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
            match result {
                Ok(trial) => {
                    made.failed += usize::from(trial.as_ref().is_some_and(|trial| trial.measure.failed()));
                    made.trials.extend(trial.map(|trial| (place, trial)));
                }
                Err(error) => made.error = made.error.take().or(Some(error)),
            }
            progress(&CompareProgress { trials: made.trials.len(), failed: made.failed });
        }
    };
    thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, trials.max(1)) {
            scope.spawn(work);
        }
    });
    let Made { trials: mut made, error, .. } = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    let interrupted = stop.load(Ordering::Relaxed);
    match error {
        Some(error) if !interrupted || made.is_empty() => return Err(error),
        _ => {}
    }
    made.sort_by_key(|(_, trial)| trial.number);
    let contestant = |(place, strategy): (usize, &String)| Contestant {
        strategy: strategy.clone(),
        trials: made.iter().filter(|(of, _)| *of == place).map(|(_, trial)| trial.clone()).collect(),
    };
    Ok(Comparison {
        contestants: strategies.iter().enumerate().map(contestant).collect(),
        interrupted: interrupted && made.len() < trials,
        elapsed: begin.elapsed(),
    })
}

/// Finds out what is shared. Otherwise the first executions of each trial would do that, and count.
fn warm_up<L: Launch>(
    launch: &L,
    options: &Options,
    stop: &AtomicBool,
) -> Result<Vec<LearnedRecord>, ExploreError> {
    // Each execution is given what those before have found, so none runs beside another. The limits are those of trials.
    let phase = Phase { executions: WARM_UP, largest_batch: 1, examiner: Arc::new(Unexamined) };
    let options = Options { jobs: 1, time: None, known: None, ..options.clone() };
    conduct(launch, &options, &|_| {}, stop, |campaign| {
        // If the program fails before it starts a second thread, every trial does so at once, and says so.
        campaign.follow(&mut WarmUp { seed: options.seed }, &phase, &mut [])?;
        Ok(campaign.history().shared().to_vec())
    })
}

/// Executions that look for shared memory.
struct WarmUp {
    seed: u64,
}

impl Strategy for WarmUp {
    fn plan(&mut self, first: u64, count: usize, _history: &History) -> Vec<Plan> {
        let probe = |number| Plan::probe(Rng::derive(self.seed, number - 1), "warm-up");
        (first..first + count as u64).map(probe).collect()
    }
}

/// What a campaign is as a trial; none if it was cut short.
fn trial(number: u64, options: &Options, campaign: &Campaign) -> Option<Trial> {
    let first = campaign.found.iter().min_by_key(|found| found.execution);
    let failure = first.and_then(|found| Some((found.execution, found.run.outcome.failure()?.kind)));
    let (measure, end) = match failure {
        Some((execution, kind)) => (Measure::Failed(execution), TrialEnd::Failed(kind)),
        None if campaign.interrupted => return None,
        None => {
            let end = match campaign.executions {
                _ if campaign.exhausted => TrialEnd::Exhausted,
                _ if campaign.saturated => TrialEnd::Saturated,
                executions if executions >= options.executions => TrialEnd::Executions,
                // A strategy that has no more plans ends early too, without claiming that there is nothing left.
                _ if options.time.is_some_and(|time| campaign.elapsed >= time) => TrialEnd::Time,
                _ => TrialEnd::Executions,
            };
            (Measure::Unfailed(campaign.executions), end)
        }
    };
    let (steps, elapsed) = (campaign.steps, campaign.elapsed);
    let (coverage, effort) = (campaign.coverage.clone(), campaign.effort);
    Some(Trial { number, seed: options.seed, measure, end, steps, elapsed, coverage, effort })
}
