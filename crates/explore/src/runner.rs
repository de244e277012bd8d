//! What runs plans: a server of the target crate, or a stand-in for it.

use threadbare_target::{Execution, Program, Server, ServerOptions, Snapshot, StartError, Stop};
use threadbare_trace::ThreadId;
use threadbare_wire::{LearnedRecord, flags};

use crate::checkpoints::Checkpoints;
use crate::error::ExploreError;
use crate::search::Steer;
use crate::strategy::Plan;

/// Runs one plan at a time, always from the same snapshot before the first thread.
pub(crate) trait Runner: Steer {
    /// From now on, this memory is known to be shared as well.
    fn learn(&mut self, shared: &[LearnedRecord]);

    /// From now on, have this many threads ready before an execution begins.
    fn set_pool(&mut self, threads: u32);
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
    pub(crate) program: &'a Program,
    pub(crate) options: ServerOptions,
    pub(crate) checkpoint_gap: Option<u64>,
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
            Ok(server) => {
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
}
