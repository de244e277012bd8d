//! What runs plans: a server of the target crate, or a stand-in for it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use threadbare_target::{Execution, Program, Server, ServerOptions, Snapshot, StartError, Stop};
use threadbare_trace::ThreadId;
use threadbare_wire::{LearnedRecord, flags};

use crate::checkpoints::{Checkpoints, Spared};
use crate::error::ExploreError;
use crate::options::Options;
use crate::search::Steer;
use crate::strategy::Plan;

/// The real time that an execution has at least before it is cut: a machine may be busy.
const LEAST_TIME: Duration = Duration::from_secs(10);

/// Runs one plan at a time, always from the same snapshot before the first thread.
pub(crate) trait Runner: Steer {
    /// From now on, this memory is known to be shared as well.
    fn learn(&mut self, shared: &[LearnedRecord]);

    /// From now on, have this many threads ready before an execution begins.
    fn set_pool(&mut self, threads: u32);

    /// From now on, cut executions after so many steps.
    fn set_step_limit(&mut self, steps: u64);

    /// From now on, accesses at these places in the executable's file are not announced.
    fn uninstrument(&mut self, _places: &[u64]) {}

    /// Whether every other runner has the program at the same addresses.
    fn has_fixed_addresses(&self) -> bool {
        true
    }

    /// What continuing from checkpoints saved since this was asked last.
    fn take_spared(&mut self) -> Spared {
        Spared::default()
    }
}

/// Why there is no runner, or no execution.
pub(crate) enum Trouble {
    /// The program failed on its own, before there was anything to decide.
    Crashed(Box<Execution>),
    /// The time was up, or the user wanted an end, before the execution had ended.
    CutShort,
    /// The tool cannot do its job.
    Error(ExploreError),
}

/// Starts runners, all alike.
pub(crate) trait Launch: Sync {
    /// What it starts.
    type Runner: Runner;

    /// Starts one.
    fn launch(&self) -> Result<Self::Runner, Trouble>;
}

/// Starts servers of one program.
pub(crate) struct Servers<'a> {
    program: &'a Program,
    options: ServerOptions,
    checkpoint_gap: Option<u64>,
    time_limit: Option<Duration>,
}

impl<'a> Servers<'a> {
    /// Servers for the options of a campaign. These bits of `threadbare_wire::flags` hold for start-up and every execution,
    /// besides those that the options ask for.
    pub(crate) fn new(
        program: &'a Program,
        options: &Options,
        flags: u32,
        stop: &Arc<AtomicBool>,
    ) -> Servers<'a> {
        let server = ServerOptions {
            max_steps: options.max_steps,
            most_events: options.most_events(),
            flags: options.flags() | flags,
            stall: options.stall,
            stop: Arc::clone(stop),
        };
        let time_limit = options.time.map(|time| time.max(LEAST_TIME));
        Servers { program, options: server, checkpoint_gap: options.checkpoint_gap, time_limit }
    }

    /// The same for a campaign of which nobody reads whole traces.
    pub(crate) fn sampled(mut self, options: &Options) -> Servers<'a> {
        self.options.most_events = options.most_sampled();
        self
    }
}

/// A server, with the flags that hold for every execution.
pub(crate) struct ServerRunner {
    server: Server,
    checkpoints: Checkpoints,
    flags: u32,
}

impl Launch for Servers<'_> {
    type Runner = ServerRunner;

    fn launch(&self) -> Result<ServerRunner, Trouble> {
        match Server::start(self.program, &self.options) {
            Ok(mut server) => {
                server.set_time_limit(self.time_limit);
                let checkpoints = Checkpoints::new(self.checkpoint_gap);
                Ok(ServerRunner { server, checkpoints, flags: self.options.flags })
            }
            Err(StartError::FailedEarly { failure, output, .. }) => {
                Err(Trouble::Crashed(Box::new(Execution::before_threads(*failure, output))))
            }
            Err(error) => Err(Trouble::Error(error.into())),
        }
    }
}

impl Steer for ServerRunner {
    fn run(&mut self, plan: &Plan) -> Result<Execution, ExploreError> {
        // Copying a long trace that nobody looks at would cost more than the run.
        self.server.set_read(plan.reads_switches() || plan.checkpoints);
        let events = if plan.profile || plan.trace || plan.watched { 0 } else { flags::EVENTS_OF_FAILURES };
        Ok(self.checkpoints.run(&mut self.server, plan, self.flags | plan.flags | events)?)
    }

    fn steer(&mut self, seed: u64, choices: &[ThreadId]) -> Result<Stop, ExploreError> {
        Ok(self.server.steer(seed, choices, self.flags)?)
    }

    fn go_on(&mut self, snapshot: Snapshot, choices: &[ThreadId]) -> Result<Stop, ExploreError> {
        Ok(self.server.go_on(snapshot, choices)?)
    }

    fn split(&mut self, snapshot: Snapshot, choices: &[ThreadId]) -> Result<Stop, ExploreError> {
        Ok(self.server.split(snapshot, choices)?)
    }

    fn discard(&mut self, snapshot: Snapshot) {
        self.server.discard(snapshot);
    }
}

impl Runner for ServerRunner {
    fn learn(&mut self, shared: &[LearnedRecord]) {
        self.server.learn(shared);
    }

    fn set_pool(&mut self, threads: u32) {
        self.server.set_pool(threads);
    }

    fn set_step_limit(&mut self, steps: u64) {
        self.server.set_step_limit(steps);
    }

    fn uninstrument(&mut self, places: &[u64]) {
        self.server.uninstrument(places);
    }

    fn has_fixed_addresses(&self) -> bool {
        self.server.has_fixed_addresses()
    }

    fn take_spared(&mut self) -> Spared {
        std::mem::take(&mut self.checkpoints.spared)
    }
}
