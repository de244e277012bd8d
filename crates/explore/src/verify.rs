//! Trying out every way that threads can go, and saying so when that is done.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use threadbare_detect::{Examination, Finding, FindingKind, Key};
use threadbare_models::Checks;
use threadbare_target::{Execution, Program};

use crate::campaign::given_up::{Ending, Heard, within};
use crate::campaign::observer::{Observed, Observer, Unexamined};
use crate::campaign::{Phase, Progress};
use crate::check::{CONFIRMING, Check, Examined};
use crate::checkpoints::Spared;
use crate::claims::with_those_of_one_heap;
use crate::common_heap::CommonHeap;
use crate::confirm::{back_to_back, happens, settle_in};
use crate::dead_registers::with_dead_registers;
use crate::drive::{Drive, examine, phase, servers};
use crate::error::ExploreError;
use crate::options::{ORDERED_IS_NOT_ALL, Options, Timers};
use crate::runner::Launch;
use crate::strategies::dfs::Dfs;
use crate::strategies::mcr::OpenQuestion;
use crate::strategies::total::{Graphs, Total};
use crate::strategies::{DEFAULT, OF_VERIFY, STATES, by_name};
use crate::strategy::Strategy;

/// The account of a verification.
pub struct Verification {
    /// What was found and what it took. Races and failures have all happened.
    pub check: Check,
    /// Executions that were made to see another way, the first one included. Those that only looked for shared memory
    /// do not count.
    pub test_cases: u64,
    /// How many questions were left when it ended.
    pub left: u64,
    /// What they were about.
    pub open: Vec<OpenQuestion>,
    /// How many race-equivalent groups the executions were of.
    pub groups: u64,
    /// What had to be checked for races.
    pub checked: Checked,
    /// How many groups were known after so many executions: a point for each that showed a new one.
    pub history: Vec<GroupsPoint>,
    /// What decides how threads go.
    pub graphs: Graphs,
    /// Every way that threads can go has been tried.
    pub exhausted: bool,
    /// What continuing from checkpoints saved.
    pub spared: Spared,
    /// How many executions were made at random because that cannot be said.
    pub sampled: u64,
}

/// How many groups were known at some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupsPoint {
    /// After this many executions.
    pub executions: u64,
    /// And after this time.
    pub elapsed: Duration,
    /// This many groups were known.
    pub groups: u64,
}

/// What had to be checked for races (§5.4 of the thesis).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checked {
    /// Pairs of access-manners that can come at the same time.
    pub pairs: u64,
    /// How often such a pair came again in another execution, so that the answer was known.
    pub known: u64,
    /// Executions that no race detector had to look at, since none of their pairs can race.
    pub cleared: u64,
}

/// How many executions are made at random where nothing can be claimed.
const SAMPLES: u64 = 200;

/// How many executions questions may suggest before states are counted instead. Where few things matter this is enough, and
/// where it is not each question costs more than the one before: those of 2 threads that take a lock 4 times each take
/// seconds, and its states 9 executions (`threadbare-bench verify-growth`).
const FIRST_QUESTIONS: u64 = 10;

/// How much of the time may have been spent when states are counted, and when that is given up, in percent. Either may have no hope, and the
/// other one may have some.
const ASKING: u32 = 25;
const COUNTING: u32 = 60;

/// How many executions may be made to count states, at some seconds for all of them, if questions were cut short.
const FIRST_STATES: u64 = 10_000;

/// Tries out every way that threads can go.
pub fn verify(
    program: &Program,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &Arc<AtomicBool>,
) -> Result<Verification, ExploreError> {
    let (program, own, stopped) = (program.clone(), options.clone(), Arc::clone(stop));
    let campaign = move |progress: &dyn Fn(&Progress)| {
        run(&servers(&with_dead_registers(&program), &own, &stopped), &own, progress, &stopped)
    };
    match within(options.time, stop, true, progress, campaign)? {
        Ending::Whole(result) => result,
        Ending::GivenUp(heard) => Ok(Verification::given_up(heard)),
    }
}

impl Verification {
    /// The account of a verification that was given up.
    fn given_up(heard: Heard) -> Verification {
        let check = Check::given_up(heard);
        Verification {
            test_cases: check.executions,
            check,
            // At least the one that it was working on.
            left: 1,
            open: Vec::new(),
            groups: 0,
            checked: Checked { pairs: 0, known: 0, cleared: 0 },
            history: Vec::new(),
            graphs: Graphs::default(),
            exhausted: false,
            spared: Spared::default(),
            sampled: 0,
        }
    }
}

/// The same on whatever the launcher starts.
pub(crate) fn run<L: Launch>(
    launch: &L,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &AtomicBool,
) -> Result<Verification, ExploreError> {
    let mut groups = Groups::new(OF_VERIFY, options.seed);
    // Its executions make other steps, and say nothing of groups.
    let mut reached = Groups::new(STATES, options.seed);
    let mut total = Total::new(OF_VERIFY, options.seed, options.jobs, false).overlooking(options.overlooked);
    let mut states = Dfs::over_states(STATES, options.seed, false).overlooking(options.overlooked);
    let mut is_done = false;
    let mut auto = by_name(&Options { strategy: DEFAULT.to_string(), ..options.clone() })?;
    let (mut check, (spared, sampled)) = examine(launch, options, progress, stop, |drive| {
        drive.spend_until(ASKING);
        // Each execution decides which questions are still open, and continues from checkpoints of the one before, which
        // belong to a worker. The jobs are used to answer questions.
        let examiner = Arc::new(Unexamined);
        let asking =
            |executions| Phase { executions, largest_batch: 1, examiner: Arc::clone(&examiner) as _ };
        drive.follow(&mut total, &asking(options.executions.min(FIRST_QUESTIONS)), &mut groups)?;
        let is_cut = drive.made() >= FIRST_QUESTIONS || drive.is_over();
        if !total.exhausted() && total.can_be_settled_by_running_all() {
            // Its questions were too dear, or it has no answer to some: states can be counted, and need no answers.
            let left = options.executions.saturating_sub(drive.made());
            let most = if is_cut { left.div_ceil(2).min(FIRST_STATES) } else { left };
            drive.spend_until(COUNTING);
            match drive.follow(&mut states, &phase(most, Arc::clone(&examiner) as _), &mut reached) {
                // What was found until then counts all the same.
                Err(error @ ExploreError::TooManyThreads { .. }) => {
                    drive.account.check.warnings.push(format!("nothing is claimed to be complete: {error}"));
                }
                result => result?,
            }
        }
        drive.spend_until(CONFIRMING);
        let left = options.executions.saturating_sub(drive.made());
        if is_cut && left > 0 && !total.exhausted() && !total.is_doubted() && !states.exhausted() {
            // There are too many states, but what matters of them may be little. What is shared may be known better now, so
            // all questions are asked anew.
            total = Total::new(OF_VERIFY, options.seed, options.jobs, false).overlooking(options.overlooked);
            groups = Groups {
                met: groups.met.clone(),
                races: std::mem::take(&mut groups.races),
                told: groups.told,
                ..Groups::new(OF_VERIFY, options.seed)
            };
            drive.follow(&mut total, &asking(left), &mut groups)?;
        }
        let left = options.executions.saturating_sub(drive.made());
        is_done = match (total.exhausted(), states.exhausted()) {
            (true, _) => groups.hold_with_common_heap(drive, &phase(left, Arc::clone(&examiner) as _))?,
            (false, true) => {
                reached.hold_with_common_heap(drive, &phase(left, Arc::clone(&examiner) as _))?
            }
            (false, false) => false,
        };
        let before = drive.made();
        if !is_done {
            // What could not be worked out may still show at random.
            let most = SAMPLES.min(options.executions.saturating_sub(before));
            drive.follow(auto.as_mut(), &phase(most, examiner), &mut groups)?;
        }
        Ok((drive.spared(), drive.made() - before))
    })?;
    let also =
        std::mem::take(&mut reached.races).into_iter().filter(|race| groups.met.insert(race.finding.key()));
    groups.races.extend(also);
    check.findings = groups.races;
    // They rest on the same; the one that claims it says on what.
    let rests_on_states = !total.exhausted() && states.exhausted();
    let asked: &dyn Strategy = if rests_on_states { &states } else { &total };
    let again = [groups.again.doubts(), reached.again.doubts()].concat();
    check.doubts = with_those_of_one_heap(asked.doubts(), again);
    check.warnings.extend(check.doubts.iter().map(|doubt| doubt.message.clone()));
    check.warnings.extend(asked.warnings("verify"));
    check.warnings.extend(if is_done { None } else { states.what_is_left() });
    let Groups { checks, history, .. } = groups;
    // How an execution would have ended that was cut is not known.
    let is_loose = options.timers.is_none_or(|timers| timers == Timers::Loose);
    let check_is_whole = check.cut == 0 && is_loose;
    check.warnings.extend((!is_loose).then(|| ORDERED_IS_NOT_ALL.to_string()));
    Ok(Verification {
        check,
        test_cases: total.test_cases(),
        left: total.left(),
        open: total.open(),
        groups: checks.groups() as u64,
        checked: Checked { pairs: checks.made(), known: checks.saved(), cleared: checks.cleared() },
        history,
        graphs: total.graphs(),
        exhausted: is_done && check_is_whole,
        spared,
        sampled,
    })
}

/// The race-equivalent groups of executions, and the races that happened in them.
struct Groups {
    checks: Checks,
    history: Vec<GroupsPoint>,
    met: HashSet<Key>,
    races: Vec<Examined>,
    /// How many of them were told of.
    told: usize,
    again: CommonHeap,
}

impl Groups {
    fn new(strategy: &'static str, seed: u64) -> Groups {
        Groups {
            checks: Checks::default(),
            history: Vec::new(),
            met: HashSet::new(),
            races: Vec::new(),
            told: 0,
            again: CommonHeap::new(strategy, seed),
        }
    }

    /// Whether all that was seen goes the same way with one heap for all threads.
    fn hold_with_common_heap(
        &mut self,
        drive: &mut Drive<'_, '_>,
        phase: &Phase,
    ) -> Result<bool, ExploreError> {
        // Whatever races then does so in the first executions, too, or they went another way.
        drive.follow(&mut self.again, phase, &mut Nobody)?;
        Ok(self.again.exhausted())
    }
}

/// Observes nothing.
struct Nobody;

impl Observer for Nobody {
    fn observe(&mut self, _seen: &Observed<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Observer for Groups {
    fn reads_events(&self) -> bool {
        true
    }

    fn observe(&mut self, seen: &Observed<'_>) -> ControlFlow<()> {
        // What was done to memory before it was found to be shared is not in the trace.
        if seen.sharing_grew {
            self.checks = Checks::default();
            self.history.clear();
            self.again.forget();
            return ControlFlow::Continue(());
        }
        self.again.take_in(seen.run);
        // Few executions need a look, and which ones depends on those before: workers would look at all.
        let found = if self.checks.need_a_look(&seen.run.events) { races(seen.run) } else { Vec::new() };
        let groups = self.checks.groups() as u64;
        if self.history.last().is_none_or(|last| last.groups < groups) {
            let (executions, elapsed) = (seen.number, seen.elapsed);
            self.history.push(GroupsPoint { executions, elapsed, groups });
        }
        let new = found.into_iter().filter(|race| self.met.insert(race.key()));
        self.races.extend(new.map(|race| happened(race, seen.run)));
        ControlFlow::Continue(())
    }

    fn news(&mut self) -> Vec<Examined> {
        let news = self.races.get(self.told..).unwrap_or_default().to_vec();
        self.told = self.races.len();
        news
    }
}

/// The races that happened in an execution: both accesses came at once.
pub(crate) fn races(run: &Execution) -> Vec<Finding> {
    // There may be thousands of races, and to look for each in a long trace would take long.
    let together = back_to_back(&run.events);
    let may_be_cut_short = run.outcome.failure().is_some();
    let happened = |finding: &Finding| match &finding.accesses[..] {
        [a, b] if together.contains(&(a.pc.min(b.pc), a.pc.max(b.pc))) => true,
        [_, _] if !may_be_cut_short => false,
        _ => happens(finding, run),
    };
    let races = Examination::of(&run.events).into_iter().filter(|finding| finding.kind == FindingKind::Race);
    races.filter(happened).collect()
}

fn happened(mut finding: Finding, run: &Arc<Execution>) -> Examined {
    settle_in(&mut finding, &run.events);
    let fails = false;
    Examined { finding, run: Arc::clone(run), confirmed: Some(Arc::clone(run)), fails, follows_from: None }
}
