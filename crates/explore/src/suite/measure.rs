//! One execution per input (more only where it fails), of which only calls and synchronization are seen: a campaign whose
//! examiner reads the calls.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use threadbare_code::Code;
use threadbare_coverage::cfp::{
    CallInstance, CallLock, ExecutionCalls, FunctionAddress, FunctionPair, OrderClocks, concurrent_pairs,
};
use threadbare_detect::Finding;
use threadbare_sched::{Prefix, Random, RoundRobin};
use threadbare_target::{Execution, Modules, Program, RunError};
use threadbare_trace::Outcome;
use threadbare_wire::{CallRecord, LockSetRecord, flags};

use super::input_outcome::InputOutcome;
use super::run_limits::RunLimits;
use super::watch::Watch;
use super::{has_no_end, start_failure};
use crate::campaign::observer::{Examiner, Observed, Observer};
use crate::campaign::{Phase, conduct};
use crate::error::ExploreError;
use crate::history::History;
use crate::options::Options;
use crate::runner::Servers;
use crate::strategy::{Plan, Strategy};

/// Steps after which measuring gives up; only synchronization counts.
const MOST_STEPS: u64 = 20_000_000;

/// How many steps a thread makes before the next one runs, where they take turns.
const TURN: u32 = 4;

/// How many executions are tried until one passes.
const MOST_ATTEMPTS: u64 = 8;

/// What was measured of one input.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The functions that can run at the same time.
    pub pairs: BTreeSet<FunctionPair>,
    /// The functions that ran, as far as they touch more than their stack.
    pub executed: BTreeSet<FunctionAddress>,
    /// How many kinds of calls were written down.
    pub kinds: usize,
    /// How it ended. What was seen up to a failure counts all the same.
    pub ending: InputOutcome,
    /// The program waits for memory to change without any synchronization, so its accesses had to be watched.
    pub with_accesses: bool,
    /// The program ended before it started a second thread.
    pub single_threaded: bool,
    /// Executions that were made.
    pub executions: u64,
    /// Steps that were made.
    pub steps: u64,
    /// Threads that were created, main included.
    pub threads: u32,
    /// What is loaded where.
    pub modules: Modules,
    /// How long it took.
    pub elapsed: Duration,
}

/// Runs the program once with this input and measures its concurrent function pairs. A program that starts no thread has
/// none.
pub fn measure(
    watch: &Watch,
    program: &Program,
    limits: &RunLimits,
    stop: &Arc<AtomicBool>,
) -> Result<Measured, ExploreError> {
    let begin = Instant::now();
    let uninstrumented = Program { uninstrument: watch.announcements(), ..program.clone() };
    let mut measured = once(watch, &uninstrumented, limits, stop)?;
    if has_no_end(&measured.ending.outcome) && !measured.single_threaded {
        let full = Program { uninstrument: Arc::default(), ..program.clone() };
        measured = Measured { with_accesses: true, ..once(watch, &full, limits, stop)? };
    }
    measured.elapsed = begin.elapsed();
    Ok(measured)
}

fn once(
    watch: &Watch,
    program: &Program,
    limits: &RunLimits,
    stop: &Arc<AtomicBool>,
) -> Result<Measured, ExploreError> {
    let options = Options { max_steps: MOST_STEPS, ..limits.options() };
    let mut measuring = Measuring {
        measured: Measured {
            pairs: BTreeSet::new(),
            executed: BTreeSet::new(),
            kinds: 0,
            ending: InputOutcome::of(Outcome::Passed),
            with_accesses: false,
            single_threaded: false,
            executions: 0,
            steps: 0,
            threads: 1,
            modules: Modules::default(),
            elapsed: Duration::ZERO,
        },
        is_done: false,
    };
    let examiner = Arc::new(CallReader { code: watch.shared_code() });
    let phase = Phase { executions: MOST_ATTEMPTS, largest_batch: 1, examiner };
    let launch = Servers::new(program, &options, flags::CALLS, stop);
    let result = conduct(&launch, &options, &|_| {}, stop, |campaign| {
        campaign.follow(&mut UntilPassed, &phase, &mut [&mut measuring])
    });
    let Measuring { mut measured, is_done } = measuring;
    match result {
        Err(ExploreError::Start(error)) => {
            measured.ending = InputOutcome::of(start_failure::outcome(error, limits.any_exit)?);
            measured.single_threaded = true;
            return Ok(measured);
        }
        result => result?,
    }
    // There is no limit of time, so nothing else ends it before.
    if !is_done {
        return Err(RunError::Stopped.into());
    }
    watch.complete(&mut measured.pairs, &mut measured.executed);
    Ok(measured)
}

/// Whether another execution would be of no use. One that fails says nothing of what would have come after; a hang costs
/// all the time that a hang takes.
fn is_enough(outcome: &Outcome) -> bool {
    outcome.failure().is_none() || has_no_end(outcome)
}

/// Attempts at an execution that passes. Threads that advance side by side, as they would on processors of their own, seldom
/// fail; in the second attempt, no thread is preempted; the others are random.
struct UntilPassed;

impl Strategy for UntilPassed {
    fn plan(&mut self, first: u64, count: usize, _history: &History) -> Vec<Plan> {
        let plan = |number: u64| match number {
            1 => Plan::new(RoundRobin { turn: TURN }, 0, "round robin"),
            2 => Plan::new(Prefix::default(), 0, "no preemptions"),
            number => Plan::new(Random, number - 1, "random"),
        };
        (first..first + count as u64).map(plan).collect()
    }
}

/// Reads the calls of executions, up to the first that is enough.
struct CallReader {
    code: Arc<Code>,
}

impl Examiner for CallReader {
    fn read_calls(&self, run: &Execution) -> Option<ExecutedFunctions> {
        Some(ExecutedFunctions::of(run, &self.code))
    }

    fn ends_with(&self, run: &Execution, _found: &[Finding]) -> bool {
        is_enough(&run.outcome)
    }
}

/// Adds up what executions show.
struct Measuring {
    measured: Measured,
    /// Everything was measured that was to be.
    is_done: bool,
}

impl Observer for Measuring {
    fn reads_events(&self) -> bool {
        // The order of threads is in the events.
        true
    }

    fn observe(&mut self, seen: &Observed<'_>) -> ControlFlow<()> {
        let (run, measured) = (seen.run, &mut self.measured);
        if let Some(ExecutedFunctions { executed, pairs, kinds }) = seen.executed {
            measured.executed.extend(executed);
            measured.pairs.extend(pairs);
            measured.kinds = measured.kinds.max(*kinds);
        }
        measured.ending.take_in(run);
        measured.executions += 1;
        measured.steps += run.steps;
        measured.threads = measured.threads.max(run.threads);
        measured.modules = Modules::clone(&run.modules);
        self.is_done = is_enough(&run.outcome) || measured.executions == MOST_ATTEMPTS;
        ControlFlow::Continue(())
    }

    fn crashed(&mut self, run: &Arc<Execution>) {
        self.measured.ending = InputOutcome::of(run.outcome.clone());
        self.measured.single_threaded = true;
        self.is_done = true;
    }
}

/// The functions of the executable that an execution called.
pub(crate) struct ExecutedFunctions {
    executed: BTreeSet<FunctionAddress>,
    /// Those that can run at the same time.
    pairs: BTreeSet<FunctionPair>,
    /// How many kinds of calls were written down.
    kinds: usize,
}

impl ExecutedFunctions {
    fn of(run: &Execution, code: &Code) -> ExecutedFunctions {
        let mut functions: BTreeMap<u64, Option<FunctionAddress>> = BTreeMap::new();
        let mut function_of = |site: u64| {
            *functions.entry(site).or_insert_with(|| {
                let (module, address) = run.modules.find(site.wrapping_sub(1))?;
                let of_executable = module == 0;
                of_executable.then(|| code.function_at(address)).flatten().map(|function| function.start)
            })
        };
        let instance = |record: &CallRecord| {
            let CallRecord { site, at_entry, throughout, entered, left, thread, .. } = *record;
            Some(CallInstance { function: function_of(site)?, thread, at_entry, throughout, entered, left })
        };
        let instances: Vec<CallInstance> = run.calls.iter().filter_map(instance).collect();
        let executed = instances.iter().map(|instance| instance.function).collect();
        let calls = ExecutionCalls { instances, lock_sets: lock_sets(&run.lock_sets) };
        let pairs = concurrent_pairs(&calls, &OrderClocks::of(&run.events));
        ExecutedFunctions { executed, pairs, kinds: run.calls.len() }
    }
}

/// The sets in full; the first is the empty one.
fn lock_sets(records: &[LockSetRecord]) -> Vec<Vec<CallLock>> {
    let mut sets: Vec<Vec<CallLock>> = vec![Vec::new()];
    for record in records {
        let mut set = sets.get(record.others as usize).cloned().unwrap_or_default();
        set.push(CallLock { lock: record.lock, shared: record.shared != 0 });
        sets.push(set);
    }
    sets
}
