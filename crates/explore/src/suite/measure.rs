//! One execution per input (more only where it fails), of which only calls and synchronization are seen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use threadbare_coverage::cfp::{
    CallInstance, CallLock, ExecutionCalls, FunctionAddress, FunctionPair, OrderClocks, concurrent_pairs,
};
use threadbare_sched::{PolicySpec, Prefix, Random, RoundRobin};
use threadbare_target::{Execution, Modules, Program, Server, ServerOptions};
use threadbare_trace::Outcome;
use threadbare_wire::{CallRecord, LockSetRecord, flags};

use super::input_outcome::InputOutcome;
use super::run_limits::RunLimits;
use super::watch::Watch;
use super::{is_hang, start_failure};
use crate::error::ExploreError;

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
    if is_hang(&measured.ending.outcome) && !measured.single_threaded {
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
    let options = ServerOptions {
        max_steps: MOST_STEPS,
        flags: flags::CALLS | limits.flags(),
        stall: limits.stall,
        stop: Arc::clone(stop),
    };
    let mut measured = Measured {
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
    };
    let mut server = match Server::start(program, &options) {
        Ok(server) => server,
        Err(error) => {
            measured.ending = InputOutcome::of(start_failure::outcome(error, limits.any_exit)?);
            measured.single_threaded = true;
            return Ok(measured);
        }
    };
    measured.modules = server.modules().clone();
    for attempt in 0..MOST_ATTEMPTS {
        // An execution that fails says nothing of what would have come after; threads that advance side by side, as they would on
        // processors of their own, seldom do. In the second, no thread is preempted.
        let policy = match attempt {
            0 => PolicySpec::new(RoundRobin { turn: TURN }, 0),
            1 => PolicySpec::new(Prefix::default(), 0),
            seed => PolicySpec::new(Random, seed),
        };
        let run = server.run(&policy, 0)?;
        take_in(watch, &server, &run, &mut measured);
        if run.outcome.failure().is_none() || is_hang(&run.outcome) {
            break;
        }
    }
    watch.complete(&mut measured.pairs, &mut measured.executed);
    Ok(measured)
}

/// Adds what one execution shows.
fn take_in(watch: &Watch, server: &Server, run: &Execution, measured: &mut Measured) {
    let (records, sets) = server.calls();
    let mut functions: BTreeMap<u64, Option<FunctionAddress>> = BTreeMap::new();
    let mut function_of = |site: u64| {
        *functions.entry(site).or_insert_with(|| {
            let (module, address) = server.modules().find(site.wrapping_sub(1))?;
            let of_executable = module == 0;
            of_executable.then(|| watch.code().function_at(address)).flatten().map(|function| function.start)
        })
    };
    let instance = |record: &CallRecord| {
        let CallRecord { site, at_entry, throughout, entered, left, thread, .. } = *record;
        Some(CallInstance { function: function_of(site)?, thread, at_entry, throughout, entered, left })
    };
    let instances: Vec<CallInstance> = records.iter().filter_map(instance).collect();
    measured.kinds = measured.kinds.max(records.len());
    measured.executed.extend(instances.iter().map(|instance| instance.function));
    let calls = ExecutionCalls { instances, lock_sets: lock_sets(&sets) };
    measured.pairs.extend(concurrent_pairs(&calls, &OrderClocks::of(&run.events)));
    measured.ending.take_in(run);
    measured.executions += 1;
    measured.steps += run.steps;
    measured.threads = measured.threads.max(run.threads);
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
