//! A program that is stopped at its snapshot and runs one copy of itself per request.

mod prepare;
mod repeating;

pub use repeating::{Batch, Repeated, Wishes};

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use threadbare_library::Dependence;
use threadbare_sched::PolicySpec;
use threadbare_trace::{Event, Outcome, ThreadId};
use threadbare_wire::{
    CallRecord, ContextRecord, DecisionRecord, DependenceRecord, LearnedRecord, LockSetRecord, PlanRecord,
    ReplyKind, Request, SwitchRecord, TouchRecord, flags,
};

use crate::baseline::Baseline;
use crate::execution::{Delay, Dependency, Execution, Manner};
use crate::files::put_back;
use crate::launch::{Launched, Output, Process, launch};
use crate::memory::Memory;
use crate::modules::Modules;
use crate::outcome::{self, End};
use crate::own_code::OwnCode;
use crate::processor::Processor;
use crate::program::Program;
use crate::replies::{Answer, Replies};
use crate::runtime_library::RuntimeLibrary;
use crate::server_error::{RunError, StartError};
use crate::steering::Copies;
use crate::thread_bodies::thread_bodies;
use crate::turns::Place;
use crate::unseen_loop;

/// How long start-up code may take before the first thread, unless the program says otherwise.
const START_LIMIT: Duration = Duration::from_secs(60);

/// How often a wait looks whether it shall end.
const LOOK: Duration = Duration::from_millis(200);

/// What is said of an execution that made more events than are kept.
const EVENTS_LEFT_OUT: &str = "executions made more steps than fit into the memory that may be used: only their beginnings are kept and \
                               examined, and nothing is claimed of the rest; --memory-limit allows more";

/// How long a server may take to answer once its copy was killed.
pub(crate) const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// How a server is to be set up.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Visible steps after which an execution is cut.
    pub max_steps: u64,
    /// The most events of an execution that are kept; those that come later are left out, which a warning says.
    pub most_events: u64,
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

/// What a copy of the program did.
pub(crate) struct CopyReport {
    pub kind: ReplyKind,
    pub process: i32,
    /// Its wait status, if it ended.
    pub status: i32,
    /// It had to be ended because it made no progress.
    pub stalled: bool,
    /// It had to be ended because it took so long.
    pub too_long: Option<Duration>,
}

/// A program at its snapshot. Dropping it ends the program and everything it started.
///
/// The program also ends with the thread that started it, so a server belongs to one thread.
pub struct Server {
    // Field order is drop order: the processes first.
    pub(crate) process: Process,
    requests: File,
    pub(crate) replies: Replies,
    output: Output,
    stdin: Option<(File, u64)>,
    pub(crate) memory: Memory,
    pub(crate) baseline: Baseline,
    modules: Arc<Modules>,
    own_code: Arc<OwnCode>,
    wanted_panics: Vec<String>,
    unexplored: Option<String>,
    /// Where the copy went round that had to be ended because it made no step.
    unseen_loop: Option<String>,
    /// See [`PlanRecord::idle`].
    idle: u64,
    has_fixed_addresses: bool,
    pub(crate) options: ServerOptions,
    pool: u32,
    max_steps: u64,
    time_limit: Option<Duration>,
    /// Somebody reads executions that do not fail.
    are_read: bool,
    learned: u64,
    learned_full: bool,
    pub(crate) has_output: bool,
    /// Copies that are stopped at decisions.
    pub(crate) copies: Copies,
    /// What could not be put back.
    lasting: BTreeSet<String>,
    pub(crate) place: Place,
    processor: Processor,
}

impl Server {
    /// Starts a program and lets it run up to its snapshot, just before its first thread.
    pub fn start(program: &Program, options: &ServerOptions) -> Result<Server, StartError> {
        let place = Place::new(program);
        let turn = place.take_turn();
        let server = Server::start_in_turn(program, options, place)?;
        if turn.is_alone() || !server.changes_outside(0) {
            return Ok(server);
        }
        server.place.becomes_known();
        drop(turn);
        if !server.place.has_company() {
            return Ok(server);
        }
        // Others may have been in the way: once more, alone.
        drop(server);
        Server::start(program, options)
    }

    fn start_in_turn(program: &Program, options: &ServerOptions, place: Place) -> Result<Server, StartError> {
        let library = RuntimeLibrary::unpack()?;
        let mut options = options.clone();
        options.flags |= if program.is_test { flags::RUST_TEST } else { 0 };
        let mut memory =
            Memory::new(options.max_steps, options.most_events).map_err(StartError::Resources)?;
        memory.control_mut().plan = PlanRecord {
            // Before the snapshot there is nothing to decide.
            policy: 0,
            flags: options.flags,
            seed: 0,
            policy_words: 0,
            max_steps: options.max_steps,
            pool: 0,
            idle: 0,
        };
        if !uninstrument(&mut memory, &program.uninstrument) {
            return Err(StartError::Resources(std::io::ErrorKind::FileTooLarge.into()));
        }
        let dead = &program.dead_registers;
        let dead = &dead[..dead.len().min(memory.layout().dead_registers.capacity as usize)];
        let area = memory.layout().dead_registers;
        // SAFETY: the area holds such records.
        unsafe { memory.write(area, 0, dead) };
        memory.control_mut().dead_registers = dead.len() as u64;
        let bodies = if program.is_test { thread_bodies(&program.executable) } else { Arc::default() };
        let Launched { mut process, requests, replies, output, stdin } =
            launch(program, &library, memory.descriptor())
                .map_err(|source| StartError::Launch { name: program.name.clone(), source })?;
        let mut replies = Replies::new(replies);
        // Before its first thread a test may be as silent as afterwards, and no longer.
        let usual = if program.is_test { options.stall } else { START_LIMIT };
        let limit = program.start_limit.unwrap_or(usual);
        let deadline = Instant::now() + limit;
        let answer = loop {
            let answer = replies.wait(&process, LOOK.min(limit)).map_err(StartError::Resources)?;
            if options.stopped() {
                return Err(StartError::Stopped);
            }
            if !matches!(answer, Answer::Silence) || Instant::now() >= deadline {
                break answer;
            }
        };
        match answer {
            Answer::Reply { kind: ReplyKind::Serving, .. } => {}
            Answer::Silence => {
                let (name, seconds) = (program.name.clone(), limit.as_secs_f64());
                return Err(StartError::TooSlow { name, seconds, output: output.tail() });
            }
            Answer::Reply { .. } | Answer::Ended => {
                let status = process.end().map_err(StartError::Resources)?;
                return Err(StartError::early_end(program, memory.control(), status, &output));
            }
        }
        let position = |mut file: File| file.stream_position().map(|position| (file, position));
        let stdin = stdin.map(position).transpose().map_err(StartError::Resources)?;
        let written = output.read(0).map_err(StartError::Resources)?;
        let modules = Arc::new(Modules::of_process(process.id()).map_err(StartError::Resources)?);
        let own_code = Arc::new(OwnCode::of(&modules));
        let baseline = Baseline::take(memory.control(), written);
        let has_fixed_addresses = process.has_fixed_addresses();
        let processor = Processor::of(process.id());
        let mut server = Server {
            process,
            requests,
            replies,
            output,
            stdin,
            memory,
            baseline,
            modules,
            own_code,
            wanted_panics: program.wanted_panics.clone(),
            unexplored: program.unexplored_std(),
            unseen_loop: None,
            idle: program.until_idle.map_or(0, |limit| limit.as_nanos() as u64),
            has_fixed_addresses,
            max_steps: options.max_steps,
            time_limit: None,
            are_read: true,
            options,
            pool: 0,
            learned: 0,
            learned_full: false,
            has_output: false,
            copies: Copies::default(),
            lasting: BTreeSet::new(),
            place,
            processor,
        };
        server.write_whole_code();
        server.write_thread_bodies(&bodies);
        server.place.note_start(server.memory.file_changes(0));
        server.memory.leaves_files = true;
        Ok(server)
    }

    /// Runs one execution from the snapshot to its end.
    pub fn run(&mut self, policy: &PolicySpec, flags: u32) -> Result<Execution, RunError> {
        let flags = self.options.flags | flags;
        self.end_steering()?;
        loop {
            let turn = self.place.take_turn();
            let result = self.run_in_turn(policy, flags);
            let changes = self.changes_outside(self.baseline.file_changes);
            self.put_files_back();
            if turn.is_alone() || !changes {
                return result;
            }
            self.place.becomes_known();
            if !self.place.has_company() || result.is_err() || self.options.stopped() {
                return result;
            }
            // Others may have been in the way: once more, alone.
        }
    }

    fn run_in_turn(&mut self, policy: &PolicySpec, flags: u32) -> Result<Execution, RunError> {
        self.prepare(policy, flags)?;
        let together = self.processor.share(self.memory.control_mut());
        self.request(Request::Run)?;
        let report = self.await_report_within(self.time_limit)?;
        drop(together);
        self.collect(flags, &report)
    }

    /// Whether the program has changed something outside of itself, besides files of which so much is known.
    pub(crate) fn changes_outside(&self, known: u64) -> bool {
        let control = self.memory.control();
        control.file_changes > known || control.took_name != 0
    }

    /// Puts back the files that the program has changed since its snapshot.
    pub(crate) fn put_files_back(&mut self) {
        let begin = self.baseline.file_changes;
        if self.memory.control().file_changes > begin {
            self.lasting.extend(put_back(&self.memory.file_changes(begin)));
            self.memory.control_mut().file_changes = begin;
        }
    }

    pub(crate) fn request(&mut self, request: Request) -> Result<(), RunError> {
        self.requests.write_all(&[request as u8]).map_err(|_| self.lost())
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

    /// Takes further announcements out of the program's code, by their places in the executable's file, from the next execution on. If there
    /// are more than fit, all stay.
    pub fn uninstrument(&mut self, places: &[u64]) {
        uninstrument(&mut self.memory, places);
    }

    /// How many threads the server is to have ready before it makes a copy.
    pub fn set_pool(&mut self, threads: u32) {
        self.pool = threads;
    }

    /// After how many steps executions are cut from now on: at most as many as the server was started for.
    pub fn set_step_limit(&mut self, steps: u64) {
        self.max_steps = steps.min(self.options.max_steps);
    }

    /// After how much real time executions are cut from now on, as a last resort: that they are depends on the machine.
    pub fn set_time_limit(&mut self, limit: Option<Duration>) {
        self.time_limit = limit;
    }

    /// How executions are made from now on.
    pub fn set_manner(&mut self, manner: Manner) {
        self.options.flags = manner.in_flags(self.options.flags);
    }

    /// Whether anybody reads executions from now on that do not fail. Where nobody does, the switches of a long one need not be copied, nor has
    /// it to be said that not all of its events were kept.
    pub fn set_read(&mut self, are_read: bool) {
        self.are_read = are_read;
    }

    /// How many places of shared memory the server was given.
    pub(crate) fn learned(&self) -> u64 {
        self.learned
    }

    /// How many threads it is to have ready.
    pub(crate) fn pool(&self) -> u32 {
        self.pool
    }

    /// Which code of the program is run in one piece although it synchronizes, in whole sentences for people.
    pub fn unexplored(&self) -> Option<&str> {
        self.unexplored.as_deref()
    }

    /// What is loaded where in the program, as of the snapshot.
    pub fn modules(&self) -> &Modules {
        &self.modules
    }

    /// Which code of the program is the programmer's own.
    pub fn own_code(&self) -> &Arc<OwnCode> {
        &self.own_code
    }

    /// Whether every server of this program loads it at the same addresses. Where a sandbox forbids
    /// that, addresses learned from one server mean nothing to another.
    pub fn has_fixed_addresses(&self) -> bool {
        self.has_fixed_addresses
    }

    /// Waits for the running copy to report something, and makes sure that it does.
    pub(crate) fn await_report(&mut self) -> Result<CopyReport, RunError> {
        self.await_report_within(None)
    }

    fn await_report_within(&mut self, limit: Option<Duration>) -> Result<CopyReport, RunError> {
        let stall = self.options.stall.max(Duration::from_millis(1));
        let interval = (stall / 8).clamp(Duration::from_millis(1), LOOK);
        let mut last_steps = (0, 0);
        // The clock is only read once an execution takes longer than nearly all do.
        let mut since: Option<Instant> = None;
        let mut begin: Option<Instant> = None;
        loop {
            match self.replies.wait(&self.process, interval)? {
                Answer::Reply { kind, process, status } => {
                    return Ok(CopyReport { kind, process, status, stalled: false, too_long: None });
                }
                Answer::Ended => return Err(self.lost()),
                Answer::Silence => {}
            }
            let (steps, child) = self.memory.progress();
            if self.options.stopped() {
                self.end_stalled(child)?;
                return Err(RunError::Stopped);
            }
            let begin = *begin.get_or_insert_with(|| Instant::now() - interval);
            if limit.is_some_and(|limit| begin.elapsed() >= limit) {
                let report = self.end_stalled(child)?;
                return Ok(CopyReport { stalled: false, too_long: limit, ..report });
            }
            let start = *since.get_or_insert_with(|| Instant::now() - interval);
            if steps != last_steps {
                last_steps = steps;
                since = Some(Instant::now());
            } else if start.elapsed() >= stall {
                self.unseen_loop = if child > 1 { unseen_loop::place(child, &self.modules) } else { None };
                return self.end_stalled(child);
            }
        }
    }

    /// Ends a copy that makes no progress.
    fn end_stalled(&mut self, child: i32) -> Result<CopyReport, RunError> {
        if child > 1 {
            // SAFETY: a system call on numbers; the server reaps the copy only after it has ended,
            // so the number is still its own.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        loop {
            match self.replies.wait(&self.process, ANSWER_LIMIT)? {
                Answer::Reply { kind, process, status } if process == child => {
                    return Ok(CopyReport { kind, process, status, stalled: true, too_long: None });
                }
                Answer::Reply { .. } => {}
                Answer::Silence | Answer::Ended => return Err(self.lost()),
            }
        }
    }

    pub(crate) fn collect(&mut self, flags: u32, report: &CopyReport) -> Result<Execution, RunError> {
        let start = self.baseline.output.len() as u64;
        let end = self.output.len()?;
        self.has_output = end != start;
        let mut output = self.baseline.output.clone();
        if self.has_output {
            output.extend(self.output.read(start)?);
        }
        let control = self.memory.control();
        if control.plan_refused != 0 {
            return Err(RunError::PlanRefused(control.message.read()));
        }
        let End { outcome, remark, unheard_panics } = if report.stalled {
            let count = control.switches;
            // SAFETY: the area holds switches.
            let switches =
                unsafe { self.memory.records::<SwitchRecord>(self.memory.layout().switches, count) };
            let running = switches.last().map_or(ThreadId::MAIN, |switch| switch.to);
            outcome::stalled(running, self.options.stall, self.unseen_loop.as_deref()).into()
        } else if let Some(limit) = report.too_long {
            outcome::too_long(limit).into()
        } else {
            outcome::read(control, report.status, &output, &self.wanted_panics)
        };
        let mut warnings: Vec<String> = control.warnings.read().lines().map(str::to_string).collect();
        warnings.extend(remark);
        warnings.extend(self.unexplored.clone());
        let lasting = |path: &String| {
            format!(
                "{path} could not be put back after an execution: what it left there, the next ones found"
            )
        };
        warnings.extend(self.lasting.iter().map(lasting));
        let failed = matches!(outcome, Outcome::Failed(_));
        let is_read = self.are_read || failed;
        if control.events_left_out > 0 && is_read {
            warnings.push(EVENTS_LEFT_OUT.to_string());
        }
        if self.learned_full {
            warnings.push("more shared memory was found than can be remembered".to_string());
        }
        let layout = self.memory.layout();
        let wanted = |flag: u32, count: u64| if flags & flag != 0 { count } else { 0 };
        let unwanted = flags & flags::EVENTS_OF_FAILURES != 0 && !failed;
        let switches = if is_read { control.switches } else { 0 };
        let events = if flags & flags::NO_EVENTS != 0 || unwanted { 0 } else { control.events };
        // SAFETY: each area is read as the type the layout sizes it for; the types are plain
        // numbers and so valid for any content.
        let (events, switches, decisions, contexts, discovered) = unsafe {
            (
                self.memory.take_records::<Event>(layout.events, events, self.baseline.events),
                self.memory.take_records::<SwitchRecord>(layout.switches, switches, self.baseline.switches),
                self.memory
                    .records::<DecisionRecord>(layout.decisions, wanted(flags::DECISIONS, control.decisions)),
                self.memory.records::<ContextRecord>(
                    layout.contexts,
                    if events == 0 { 0 } else { control.contexts },
                ),
                self.memory.records::<LearnedRecord>(layout.discovered, control.learned_out),
            )
        };
        let (calls, lock_sets) =
            (wanted(flags::CALLS, control.calls), wanted(flags::CALLS, control.lock_sets));
        // SAFETY: the areas hold these records, which are plain numbers and valid for any content.
        let (calls, lock_sets) = unsafe {
            (
                self.memory.records::<CallRecord>(layout.calls, calls),
                self.memory.records::<LockSetRecord>(layout.lock_sets, lock_sets),
            )
        };
        let room = control.touches <= layout.touches.capacity && flags & flags::THREAD_STATES != 0;
        // SAFETY: the area holds touches.
        let touches =
            room.then(|| unsafe { self.memory.records::<TouchRecord>(layout.touches, control.touches) });
        let delay = (control.delay != 0).then_some(Delay {
            thread: control.delayed_thread,
            site: control.delayed_site,
            nanoseconds: control.delay,
        });
        let divergence = (control.diverged_at != 0).then(|| (control.diverged_at, control.divergence.read()));
        Ok(Execution {
            outcome,
            events,
            switches,
            decisions,
            calls,
            lock_sets,
            contexts,
            modules: Arc::clone(&self.modules),
            steps: control.steps,
            threads: control.threads,
            peak_threads: control.peak_threads,
            discovered,
            touches,
            depended_on: self.depended_on(),
            warnings,
            output,
            stalled: report.stalled,
            manner: Manner::of_flags(flags),
            unheard_panics,
            delay,
            divergence,
            policy_counters: control.policy_counters,
            own_code: Arc::clone(&self.own_code),
            ended_by: control.ended_by.checked_sub(1).map(|number| ThreadId(number as u16)),
            leaves_code_unexplored: self.unexplored.is_some() || control.events_left_out > 0,
        })
    }

    /// What the last execution depended on.
    fn depended_on(&self) -> Vec<Dependency> {
        let memory = &self.memory;
        let (area, count) = (memory.layout().dependences, memory.control().dependences);
        // SAFETY: the area holds these records, which are plain numbers and valid for any content.
        let noted = unsafe { memory.records::<DependenceRecord>(area, count) };
        let known = |record: &DependenceRecord| {
            // What the program has damaged is a doubt as well.
            let kind = Dependence::from_number(record.kind).unwrap_or(Dependence::Overflow);
            Dependency { kind, function: record.name(), site: record.site }
        };
        let nobodys = |kind| Dependency { kind, function: String::new(), site: 0 };
        let overflow = (count > area.capacity).then(|| nobodys(Dependence::Overflow));
        let moves = (!self.has_fixed_addresses).then(|| nobodys(Dependence::RandomAddresses));
        noted.iter().map(known).chain(overflow).chain(moves).collect()
    }

    /// The server itself is gone or out of step: ends it and says so.
    pub(crate) fn lost(&mut self) -> RunError {
        match self.process.end() {
            Ok(status) => RunError::Lost { status, output: self.output.tail() },
            Err(error) => RunError::System(error),
        }
    }
}

/// Names calls that need not be announced; says whether there was room.
fn uninstrument(memory: &mut Memory, places: &[u64]) -> bool {
    let (area, count) = (memory.layout().uninstrument, memory.control().uninstrument);
    // SAFETY: the uninstrument area holds addresses.
    let fits = unsafe { memory.write(area, count, places) };
    if fits {
        memory.control_mut().uninstrument = count + places.len() as u64;
    }
    fits
}
