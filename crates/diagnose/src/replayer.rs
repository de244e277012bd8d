//! Running one interleaving again on a program of its own.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use threadbare_explore::{is_same_failure, minimise};
use threadbare_sched::{PolicySpec, Random, Replay, RoundRobin};
use threadbare_target::{Execution, Manner, Modules, Program, Server, ServerOptions, StartError, Symbols};
use threadbare_trace::{FailureKind, Outcome};
use threadbare_wire::{SwitchRecord, flags};

use crate::cancellation::Cancellation;
use crate::comparison_runs::ComparisonRuns;
use crate::conditions::Conditions;
use crate::effort::Effort;
use crate::error::DiagnoseError;

/// Shared memory is learned while a schedule is followed; each pass can only add to it, and the
/// second pass already sees nearly all.
const MOST_PASSES: usize = 8;

/// How much may be spent on making a schedule shorter.
const MINIMISING_RUNS: usize = 1500;
/// What may be spent on a hang, in steps: each of its runs takes longer, and every order may well hang.
const MINIMISING_A_HANG: u64 = 1_000_000;

/// One in so many of the first runs schedules threads round-robin instead of at random.
const TURNS_EVERY: u64 = 4;

/// How often a program is run to see what its threads share, before a schedule is followed; not again after so
/// many steps.
const FIRST_RUNS: u64 = 8;
const FIRST_STEPS: u64 = 200_000;
/// How many of them are stopped at private memory too.
const PROBES: u64 = 3;

/// A fresh start of a program on which schedules are followed.
pub struct Replayer {
    program: Program,
    options: ServerOptions,
    server: Option<Server>,
    /// What happens where the program does not even get to its first thread.
    early: Option<Execution>,
    /// What is left for making schedules shorter, for all failures together.
    to_minimise: Effort,
    comparisons: ComparisonRuns,
    cancellation: Cancellation,
    symbols: Rc<Symbols>,
    /// Bits of `threadbare_wire::flags` for every run.
    flags: u32,
}

impl Replayer {
    /// Starts the program. A signal that raises `stop` from now on ends the shortening and the explaining, and so does the time `end`.
    pub fn start(
        program: &Program,
        conditions: &Conditions,
        stop: &Arc<AtomicBool>,
        end: Option<Instant>,
    ) -> Result<Replayer, DiagnoseError> {
        let cancellation = Cancellation::from_now_on(stop).at_the_latest(end);
        let bit = |set: bool, flag: u32| if set { flag } else { 0 };
        let options = ServerOptions {
            max_steps: conditions.max_steps,
            most_events: conditions.most_events,
            stall: conditions.stall,
            // What was found is kept even after Ctrl-C, so the run that it needs is not given up.
            stop: Default::default(),
            flags: bit(conditions.spurious, flags::SPURIOUS)
                | bit(conditions.os_threads, flags::OS_THREADS)
                | bit(conditions.exact_loops, flags::EXACT_LOOPS)
                | conditions.manner.in_flags(bit(conditions.any_exit, flags::ANY_EXIT)),
        };
        let (server, early, symbols) = match start(program, &options) {
            Ok(server) => {
                let symbols = Symbols::new(server.modules());
                (Some(server), None, symbols)
            }
            Err(StartError::FailedEarly { failure, output, .. }) => {
                (None, Some(Execution::before_threads(*failure, output)), Symbols::new(&Modules::default()))
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Replayer {
            program: program.clone(),
            comparisons: ComparisonRuns::new(program, &options, cancellation.clone()),
            cancellation,
            options,
            server,
            early,
            to_minimise: Effort::most(),
            symbols: Rc::new(symbols),
            flags: 0,
        })
    }

    /// From now on, what orders or excludes accesses is in the trace even where it is in code that is passed over: executions
    /// that show a finding were made so.
    pub fn record_all(&mut self) {
        self.flags = flags::RECORD_ALL;
    }

    /// From now on, executions are made as the one that is to be run again.
    pub fn set_manner(&mut self, manner: Manner) {
        if let Some(server) = &mut self.server {
            server.set_manner(manner);
        }
        self.comparisons.set_manner(manner);
    }

    /// Bounds what is spent on making schedules shorter and on explaining failures by what the search took: nobody wants
    /// to wait for words much longer than for what they are about.
    pub fn spend_no_more_than(&mut self, executions: u64, steps: u64) {
        let effort = Effort::of_a_search(executions, steps);
        self.to_minimise = effort;
        self.comparisons.spend_no_more_than(effort);
    }

    /// Follows the switches from the program's snapshot.
    ///
    /// The trace shows an access to shared memory only if the memory is known to be shared, so the
    /// schedule is followed until nothing new is learned: then its trace is always the same.
    pub fn follow(&mut self, switches: &[SwitchRecord]) -> Result<Execution, DiagnoseError> {
        let Some(server) = &mut self.server else {
            return self.early.clone().ok_or_else(|| DiagnoseError::Uncontrolled("it did not start".into()));
        };
        let policy = PolicySpec::new(Replay::of(switches), 0);
        let mut run = server.run(&policy, self.flags)?;
        for _ in 1..MOST_PASSES {
            if run.discovered.is_empty() {
                break;
            }
            server.learn(&run.discovered);
            run = server.run(&policy, self.flags)?;
        }
        match run.outcome {
            Outcome::Uncontrolled(why) => Err(DiagnoseError::Uncontrolled(why)),
            Outcome::Passed | Outcome::Failed(_) | Outcome::Cut(_) => Ok(run),
        }
    }

    /// Looks for the fewest switches that fail in the same way; the execution, and whether none of
    /// its switches can be left out.
    pub fn minimise(&mut self, failing: Execution) -> (Execution, bool) {
        let hangs = failing.outcome.failure().is_some_and(|failure| failure.kind == FailureKind::Hang);
        let allowed = if hangs { self.to_minimise.at_most(MINIMISING_A_HANG) } else { self.to_minimise };
        let Some(server) = self.server.as_mut().filter(|_| !allowed.is_spent()) else {
            return (failing, false);
        };
        let (mut left, cancellation) = (allowed, &self.cancellation);
        let (shortest, is_minimal) = minimise(failing.clone(), MINIMISING_RUNS, &mut |plan| {
            if left.is_spent() || cancellation.is_requested() {
                return None;
            }
            let run = server.run(&plan.policy, plan.flags).ok()?;
            left.spend(&run);
            server.learn(&run.discovered);
            Some(run)
        });
        self.to_minimise.spend_as(allowed, left);
        // Once more on a program that has learned no more than any other, so that what is shown is what
        // a replay shows.
        match start(&self.program, &self.options) {
            Ok(fresh) => self.server = Some(fresh),
            Err(_) => return (failing, false),
        }
        match self.follow(&shortest.switches) {
            Ok(run) if same_failure(&run.outcome, &failing.outcome) => (run, is_minimal),
            _ => (failing, false),
        }
    }

    /// Where executions are made to explain failures.
    pub fn comparisons(&mut self) -> &mut ComparisonRuns {
        &mut self.comparisons
    }

    /// The program's symbols.
    pub fn symbols(&self) -> &Rc<Symbols> {
        &self.symbols
    }
}

/// Starts a program and lets it run a few times, always in the same ways.
///
/// A failing schedule may end before a second thread comes to some memory, and then does not show that it
/// is shared; these runs do.
pub(crate) fn start(program: &Program, options: &ServerOptions) -> Result<Server, StartError> {
    let mut server = Server::start(program, options)?;
    let mut steps = 0;
    for seed in 1..=FIRST_RUNS {
        let policy = match seed % TURNS_EVERY {
            0 => PolicySpec::new(RoundRobin { turn: 1 }, seed),
            _ => PolicySpec::new(Random, seed),
        };
        // A thread that fails where it begins does so before anybody else can be seen to use the same memory, unless
        // it is stopped at private memory too.
        let probe = if seed <= PROBES { flags::PROBE } else { 0 };
        let Ok(run) = server.run(&policy, probe) else {
            return Server::start(program, options);
        };
        server.learn(&run.discovered);
        steps += run.steps;
        // What hangs takes long each time.
        let hangs = run.outcome.failure().is_some_and(|failure| failure.kind == FailureKind::Hang);
        if hangs || steps > FIRST_STEPS {
            break;
        }
    }
    Ok(server)
}

/// Whether two runs went wrong in the same way: of the same kind, at the same place.
pub fn same_failure(a: &Outcome, b: &Outcome) -> bool {
    a.failure().zip(b.failure()).is_some_and(|(a, b)| is_same_failure(a, b))
}
