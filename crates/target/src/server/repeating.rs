//! Many executions in one copy of the program: its closure, called again and again.

use threadbare_sched::{ClosureStrategy, PolicySpec, Random};
use threadbare_wire::{Leak, Request, flags};

use super::Server;
use crate::execution::Execution;
use crate::server_error::RunError;
use crate::thread_code::ThreadCode;

/// Which repetitions to make.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// Who decides in each of them.
    pub strategy: ClosureStrategy,
    /// The seed of the campaign.
    pub seed: u64,
    /// The number of the first one, counted from 1 in the campaign.
    pub first: u64,
    /// How many at most.
    pub count: u64,
    /// Steps after which no further one is begun.
    pub enough_steps: u64,
}

/// What a closure that may be repeated asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wishes {
    /// Who shall decide.
    pub strategy: Option<ClosureStrategy>,
    /// How many executions there shall be at most.
    pub executions: Option<u64>,
    /// The seed of the campaign.
    pub seed: Option<u64>,
}

/// How a batch of repetitions went.
#[derive(Clone, Debug)]
pub struct Repeated {
    /// How many ended without a failure.
    pub passed: u64,
    /// Their steps together.
    pub steps: u64,
    /// The last one, if it did not end like those. It has no events; its switches are enough to make it again.
    pub failed: Option<Execution>,
    /// What the closure leaves behind, so that no further one can be made in the same copy.
    pub leak: Leak,
    /// For a leak in memory: where.
    pub leak_at: u64,
    /// Memory found to be shared that was not known before.
    pub discovered: Vec<threadbare_wire::LearnedRecord>,
    /// The threads of the last one, main included.
    pub threads: u32,
    /// The largest number of threads alive at once, main included.
    pub peak_threads: u32,
}

impl Server {
    /// What the closure asks for that is about to be called at the snapshot; none if none is.
    pub fn closure(&self) -> Option<Wishes> {
        let asked = &self.memory.control().repetition;
        (asked.offered == 1).then(|| Wishes {
            strategy: ClosureStrategy::from_number(asked.wished_strategy),
            executions: (asked.wished_executions > 0).then_some(asked.wished_executions),
            seed: (asked.has_seed == 1).then_some(asked.wished_seed),
        })
    }

    /// Gives the runtime the code that it may run without scheduling points: in all executions of such a program alike, so that
    /// operations have the same numbers in all of them.
    pub(super) fn write_whole_code(&mut self) {
        if self.closure().is_some() {
            let area = self.memory.layout().whole_code;
            let code = ThreadCode::of(&self.modules);
            let (library, program) = (code.library.len() as u64, code.program.len() as u64);
            // SAFETY: the area holds code ranges.
            let fits = unsafe {
                self.memory.write(area, 0, &code.library) && self.memory.write(area, library, &code.program)
            };
            if fits {
                let control = self.memory.control_mut();
                (control.whole_code, control.program_code) = (library, program);
            }
        }
    }

    /// Repeats the program's closure in one copy, until one repetition fails or the batch is done.
    pub fn repeat(&mut self, batch: &Batch, flags: u32) -> Result<Repeated, RunError> {
        let flags = self.options.flags | flags | flags::NO_EVENTS;
        self.end_steering()?;
        let _turn = self.place.take_turn();
        let result = self.repeat_in_turn(batch, flags);
        if self.changes_outside(self.baseline.file_changes) {
            self.place.becomes_known();
        }
        self.put_files_back();
        result
    }

    fn repeat_in_turn(&mut self, batch: &Batch, flags: u32) -> Result<Repeated, RunError> {
        // Each repetition has a policy of its own, which the copy draws itself.
        self.prepare(&PolicySpec::new(Random, 0), flags)?;
        let asked = &mut self.memory.control_mut().repetition;
        asked.strategy = batch.strategy as u32;
        asked.seed = batch.seed;
        asked.first = batch.first;
        asked.count = batch.count;
        asked.enough_steps = batch.enough_steps;
        asked.begun = 0;
        asked.passed = 0;
        asked.passed_steps = 0;
        asked.leak = Leak::Nothing as u32;
        self.request(Request::Repeat)?;
        let reply = match self.await_report() {
            Err(RunError::Stopped) => return Ok(self.interrupted()),
            reply => reply?,
        };
        let last = self.collect(flags, &reply)?;
        let made = &self.memory.control().repetition;
        Ok(Repeated {
            passed: made.passed,
            steps: made.passed_steps,
            discovered: last.discovered.clone(),
            threads: last.threads,
            peak_threads: last.peak_threads,
            failed: (made.passed < made.begun).then_some(last),
            leak: Leak::from_number(made.leak),
            leak_at: made.leak_at,
        })
    }

    /// What a copy had made until it was ended, because the user wants no more.
    fn interrupted(&self) -> Repeated {
        let control = self.memory.control();
        Repeated {
            passed: control.repetition.passed,
            steps: control.repetition.passed_steps,
            failed: None,
            leak: Leak::Nothing,
            leak_at: 0,
            discovered: Vec::new(),
            threads: control.threads,
            peak_threads: control.peak_threads,
        }
    }
}
