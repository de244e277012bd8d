//! A program that stands at its snapshot and runs one copy of itself per request.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use threadbare_sched::{PolicyKind, PolicySpec};
use threadbare_trace::{Event, Outcome};
use threadbare_wire::{ContextRecord, DecisionRecord, LearnedRecord, Plan, Request, SwitchRecord, flags};

use crate::baseline::Baseline;
use crate::execution::{Execution, Script};
use crate::launch::{Launched, Output, Process, launch};
use crate::memory::Memory;
use crate::modules::Modules;
use crate::outcome;
use crate::program::Program;
use crate::runtime_library::RuntimeLibrary;
use crate::server_error::{RunError, StartError};

/// How long start-up code may take before the first thread.
const START_LIMIT: Duration = Duration::from_secs(60);

/// How often a wait looks whether it shall end.
const LOOK: Duration = Duration::from_millis(200);

/// How long a server may take to answer once its copy was killed.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// The byte by which a server says that its snapshot is taken.
const SNAPSHOT: u8 = b's';

/// The byte by which a server says that a copy has ended.
const DONE: u8 = b'd';

/// How a server is to be set up.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Visible steps after which an execution counts as hung.
    pub max_steps: u64,
    /// Bits of [`threadbare_wire::flags`] that hold for start-up and every execution.
    pub flags: u32,
    /// How long an execution may go without a visible step.
    pub stall: Duration,
    /// Once this is set, waiting for the program ends with an error.
    pub stop: Arc<AtomicBool>,
}

impl ServerOptions {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A program at its snapshot. Dropping it ends the program and everything it started.
///
/// The program also ends with the thread that started it, so a server belongs to one thread.
pub struct Server {
    // Field order is drop order: the processes first.
    process: Process,
    requests: File,
    replies: File,
    output: Output,
    stdin: Option<(File, u64)>,
    memory: Memory,
    baseline: Baseline,
    modules: Modules,
    options: ServerOptions,
    pool: u32,
    learned: u64,
    learned_full: bool,
    has_output: bool,
}

/// What a wait on the server ended with.
enum Answer {
    Byte(u8),
    Silence,
    Ended,
}

impl Server {
    /// Starts a program and lets it run up to its snapshot, just before its first thread.
    pub fn start(program: &Program, options: &ServerOptions) -> Result<Server, StartError> {
        let library = RuntimeLibrary::unpack()?;
        let mut memory = Memory::new(options.max_steps).map_err(StartError::Resources)?;
        memory.control_mut().plan = Plan {
            policy: PolicySpec::new(PolicyKind::Random, 0),
            max_steps: options.max_steps,
            script_len: 0,
            flags: options.flags,
            pool: 0,
        };
        let Launched { mut process, requests, mut replies, output, stdin } =
            launch(program, &library, memory.descriptor())
                .map_err(|source| StartError::Launch { name: program.name.clone(), source })?;
        let deadline = Instant::now() + START_LIMIT;
        let answer = loop {
            let answer = wait(&process, &mut replies, LOOK).map_err(StartError::Resources)?;
            if options.stopped() {
                return Err(StartError::Stopped);
            }
            if !matches!(answer, Answer::Silence) || Instant::now() >= deadline {
                break answer;
            }
        };
        match answer {
            Answer::Byte(SNAPSHOT) => {}
            Answer::Silence => {
                let (name, seconds) = (program.name.clone(), START_LIMIT.as_secs());
                return Err(StartError::TooSlow { name, seconds, output: output.tail() });
            }
            Answer::Byte(_) | Answer::Ended => {
                let status = process.end().map_err(StartError::Resources)?;
                return Err(StartError::early_end(program, memory.control(), status, output.tail()));
            }
        }
        let position = |mut file: File| file.stream_position().map(|position| (file, position));
        let stdin = stdin.map(position).transpose().map_err(StartError::Resources)?;
        let written = output.read(0).map_err(StartError::Resources)?;
        let modules = Modules::of_process(process.id()).map_err(StartError::Resources)?;
        let baseline = Baseline::take(memory.control(), written);
        Ok(Server {
            process,
            requests,
            replies,
            output,
            stdin,
            memory,
            baseline,
            modules,
            options: options.clone(),
            pool: 0,
            learned: 0,
            learned_full: false,
            has_output: false,
        })
    }

    /// Runs one execution from the snapshot to its end.
    pub fn run(&mut self, policy: PolicySpec, script: &Script, flags: u32) -> Result<Execution, RunError> {
        let flags = self.options.flags | flags;
        self.prepare(policy, script, flags)?;
        self.requests.write_all(&[Request::Run as u8]).map_err(|_| self.lost())?;
        let stalled = self.await_end()?;
        self.collect(flags, stalled)
    }

    /// Tells the server of memory that is shared, from the next execution on.
    pub fn learn(&mut self, records: &[LearnedRecord]) {
        let area = self.memory.layout().learned;
        let room = (area.capacity - self.learned).min(records.len() as u64) as usize;
        self.learned_full |= room < records.len();
        // SAFETY: the learned area holds `LearnedRecord`s.
        unsafe { self.memory.write(area, self.learned, &records[..room]) };
        self.learned += room as u64;
        self.memory.control_mut().learned_in = self.learned;
    }

    /// How many threads the server is to have ready before it makes a copy.
    pub fn set_pool(&mut self, threads: u32) {
        self.pool = threads;
    }

    /// What is loaded where in the program, as of the snapshot.
    pub fn modules(&self) -> &Modules {
        &self.modules
    }

    /// Whether every server of this program loads it at the same addresses. Where a sandbox forbids
    /// that, addresses learned from one server mean nothing to another.
    pub fn has_fixed_addresses(&self) -> bool {
        self.process.has_fixed_addresses()
    }

    fn prepare(&mut self, policy: PolicySpec, script: &Script, flags: u32) -> Result<(), RunError> {
        let area = self.memory.layout().script;
        // SAFETY: the script area is laid out for switches, the larger of the two record types.
        let (fits, script_len) = unsafe {
            match script {
                Script::None => (true, 0),
                Script::Replay(switches) => (self.memory.write(area, 0, switches), switches.len()),
                Script::Prefix(threads) => {
                    let chosen = |thread: &_| DecisionRecord { chosen: *thread, ..DecisionRecord::default() };
                    let records: Vec<DecisionRecord> = threads.iter().map(chosen).collect();
                    (self.memory.write(area, 0, &records), records.len())
                }
            }
        };
        if !fits {
            return Err(RunError::ScriptTooLong { len: script_len, capacity: area.capacity });
        }
        let control = self.memory.control_mut();
        self.baseline.restore(control);
        control.plan = Plan {
            policy,
            max_steps: self.options.max_steps,
            script_len: script_len as u64,
            flags,
            pool: self.pool,
        };
        if self.has_output {
            self.output.cut(self.baseline.output.len() as u64)?;
        }
        if let Some((file, position)) = &mut self.stdin {
            file.seek(SeekFrom::Start(*position))?;
        }
        Ok(())
    }

    /// Waits for the copy to end; `true` if it had to be killed because it made no progress.
    fn await_end(&mut self) -> Result<bool, RunError> {
        let stall = self.options.stall.max(Duration::from_millis(1));
        let interval = (stall / 8).clamp(Duration::from_millis(1), LOOK);
        let mut last_steps = 0;
        // The clock is only read once an execution takes longer than nearly all do.
        let mut since: Option<Instant> = None;
        loop {
            match wait(&self.process, &mut self.replies, interval)? {
                Answer::Byte(DONE) => return Ok(false),
                Answer::Byte(_) | Answer::Ended => return Err(self.lost()),
                Answer::Silence => {}
            }
            let (steps, child) = self.memory.progress();
            if self.options.stopped() {
                self.end_stalled(child)?;
                return Err(RunError::Stopped);
            }
            let start = *since.get_or_insert_with(|| Instant::now() - interval);
            if steps != last_steps {
                last_steps = steps;
                since = Some(Instant::now());
            } else if start.elapsed() >= stall {
                return self.end_stalled(child).map(|()| true);
            }
        }
    }

    fn end_stalled(&mut self, child: i32) -> Result<(), RunError> {
        if child > 1 {
            // SAFETY: a system call on numbers; the server reaps the copy only after it has ended,
            // so the number is still its own.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        match wait(&self.process, &mut self.replies, ANSWER_LIMIT)? {
            Answer::Byte(DONE) => Ok(()),
            _ => Err(self.lost()),
        }
    }

    fn collect(&mut self, flags: u32, stalled: bool) -> Result<Execution, RunError> {
        let start = self.baseline.output.len() as u64;
        let end = self.output.len()?;
        self.has_output = end != start;
        let mut output = self.baseline.output.clone();
        if self.has_output {
            output.extend(self.output.read(start)?);
        }
        let control = self.memory.control();
        let (outcome, remark) = if stalled {
            (outcome::stalled(control, self.options.stall), None)
        } else {
            outcome::read(control, &output)
        };
        let mut warnings: Vec<String> = control.warnings.read().lines().map(str::to_string).collect();
        warnings.extend(remark);
        if self.learned_full {
            warnings.push("more shared memory was found than can be remembered".to_string());
        }
        let layout = self.memory.layout();
        let wanted = |flag: u32, count: u64| if flags & flag != 0 { count } else { 0 };
        let unwanted = flags & flags::EVENTS_OF_FAILURES != 0 && outcome == Outcome::Passed;
        let events = if flags & flags::NO_EVENTS != 0 || unwanted { 0 } else { control.events };
        // SAFETY: each area is read as the type the layout sizes it for; the types are plain
        // numbers and so valid for any content.
        let (events, switches, decisions, contexts, discovered) = unsafe {
            (
                self.memory.records::<Event>(layout.events, events),
                self.memory.records::<SwitchRecord>(layout.switches, control.switches),
                self.memory
                    .records::<DecisionRecord>(layout.decisions, wanted(flags::DECISIONS, control.decisions)),
                self.memory.records::<ContextRecord>(
                    layout.contexts,
                    if events == 0 { 0 } else { control.contexts },
                ),
                self.memory.records::<LearnedRecord>(layout.discovered, control.learned_out),
            )
        };
        let divergence = (control.diverged_at != 0).then(|| (control.diverged_at, control.divergence.read()));
        Ok(Execution {
            outcome,
            events,
            switches,
            decisions,
            contexts,
            steps: control.steps,
            threads: control.threads,
            peak_threads: control.peak_threads,
            discovered,
            warnings,
            output,
            divergence,
        })
    }

    /// The server itself is gone or out of step: ends it and says so.
    fn lost(&mut self) -> RunError {
        match self.process.end() {
            Ok(status) => RunError::Lost { status, output: self.output.tail() },
            Err(error) => RunError::System(error),
        }
    }
}

/// Waits for a byte from the server, its end, or the time to pass.
fn wait(process: &Process, replies: &mut File, limit: Duration) -> io::Result<Answer> {
    let watch = |descriptor: BorrowedFd<'_>| libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let deadline = Instant::now() + limit;
    loop {
        let mut watched = [watch(replies.as_fd()), watch(process.handle())];
        let left = deadline.saturating_duration_since(Instant::now());
        let milliseconds = i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        // SAFETY: the array is ours and its length is given.
        let ready = unsafe { libc::poll(watched.as_mut_ptr(), watched.len() as libc::nfds_t, milliseconds) };
        if ready == 0 {
            return Ok(Answer::Silence);
        }
        if ready < 0 {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            return Err(error);
        }
        let mut byte = [0];
        if watched[0].revents & libc::POLLIN != 0 && replies.read(&mut byte)? == 1 {
            return Ok(Answer::Byte(byte[0]));
        }
        return Ok(Answer::Ended);
    }
}
