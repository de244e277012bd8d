//! What came back from one run of the program.

use std::sync::Arc;

use threadbare_library::Dependence;
use threadbare_sched::COUNTERS;
use threadbare_trace::{Event, Failure, Outcome, ThreadId};
use threadbare_wire::{
    CallRecord, ContextRecord, DecisionRecord, LearnedRecord, LockSetRecord, SwitchRecord, TouchRecord, flags,
};

use crate::modules::Modules;
use crate::own_code::OwnCode;

/// One run that ended.
#[derive(Clone, Debug)]
pub struct Execution {
    /// How it ended.
    pub outcome: Outcome,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// The context switches, in order.
    pub switches: Vec<SwitchRecord>,
    /// The decisions, in order, where the plan asked for them.
    pub decisions: Vec<DecisionRecord>,
    /// The calls of functions that differ in their function, thread, locks or time, where the program was started with
    /// `flags::CALLS`.
    pub calls: Vec<CallRecord>,
    /// The sets of locks that they refer to; the first one has number 1, and 0 is the empty set.
    pub lock_sets: Vec<LockSetRecord>,
    /// The calls in progress that events and switches refer to; the first one has number 1.
    pub contexts: Vec<ContextRecord>,
    /// What is loaded where: the code that addresses in it refer to.
    pub modules: Arc<Modules>,
    /// Visible steps made.
    pub steps: u64,
    /// Threads created, main included.
    pub threads: u32,
    /// The largest number of threads alive at once, main included.
    pub peak_threads: u32,
    /// Memory found to be shared in this run that was not known before.
    pub discovered: Vec<LearnedRecord>,
    /// What code touches memory that is its thread's own; none where there was no room for all. For plans with
    /// `flags::THREAD_STATES`.
    pub touches: Option<Vec<TouchRecord>>,
    /// What it depended on besides the input and the order of its steps, as far as that was noticed.
    pub depended_on: Vec<Dependency>,
    /// What the user should know although the run went on.
    pub warnings: Vec<String>,
    /// What the program wrote to standard output and standard error.
    pub output: Vec<u8>,
    /// It was ended because it made no step for too long.
    pub stalled: bool,
    /// How it was made.
    pub manner: Manner,
    /// The panics of a test's threads of which it never asked how they ended, if it failed for them alone: then `cargo test`
    /// passes.
    pub unheard_panics: Vec<UnheardPanic>,
    /// The longest time for which that delayed a thread.
    pub delay: Option<Delay>,
    /// For a replay: the number of the first switch that could not be followed, and why.
    pub divergence: Option<(u64, String)>,
    /// Figures that the policy counted; see `threadbare_sched::Policy::counters`.
    pub policy_counters: [u64; COUNTERS],
    /// Which code is the programmer's own.
    pub own_code: Arc<OwnCode>,
    /// The thread that ended the process in order.
    pub ended_by: Option<ThreadId>,
    /// Code that synchronizes ran in one piece, as a warning says: whatever was run, interleavings were left out.
    pub leaves_code_unexplored: bool,
}

/// What may differ between executions of one campaign besides who runs when. Whoever runs one again has to make it in the same manner.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Manner {
    /// Sleeps and waits could end by time at any point, in any order.
    pub loose_time: bool,
    /// Each thread allocated from a heap of its own, and no address was handed out twice.
    pub thread_heaps: bool,
}

impl Manner {
    /// What these bits of `threadbare_wire::flags` say.
    pub fn of_flags(bits: u32) -> Manner {
        let has = |flag: u32| bits & flag != 0;
        Manner { loose_time: has(flags::LOOSE_TIME), thread_heaps: has(flags::THREAD_HEAPS) }
    }

    /// These bits, with this manner instead of theirs.
    pub fn in_flags(self, bits: u32) -> u32 {
        let bit = |set: bool, flag: u32| if set { flag } else { 0 };
        bits & !(flags::LOOSE_TIME | flags::THREAD_HEAPS)
            | bit(self.loose_time, flags::LOOSE_TIME)
            | bit(self.thread_heaps, flags::THREAD_HEAPS)
    }
}

/// A panic by which a thread of a test ended, and the test never asked how it did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnheardPanic {
    /// The thread.
    pub thread: ThreadId,
    /// File, line and column.
    pub place: String,
    /// Who panicked, where and why.
    pub message: String,
}

impl Execution {
    /// The execution of a program that failed while there was only one thread.
    pub fn before_threads(failure: Failure, output: String) -> Execution {
        Execution {
            outcome: Outcome::Failed(failure),
            events: Vec::new(),
            switches: Vec::new(),
            decisions: Vec::new(),
            calls: Vec::new(),
            lock_sets: Vec::new(),
            contexts: Vec::new(),
            modules: Arc::default(),
            steps: 0,
            threads: 1,
            peak_threads: 1,
            discovered: Vec::new(),
            touches: None,
            depended_on: Vec::new(),
            warnings: Vec::new(),
            output: output.into_bytes(),
            stalled: false,
            manner: Manner::default(),
            unheard_panics: Vec::new(),
            delay: None,
            divergence: None,
            policy_counters: Default::default(),
            own_code: Arc::default(),
            ended_by: None,
            leaves_code_unexplored: false,
        }
    }

    /// The same without what happened in it, which takes most of the memory: a replay shows it again.
    pub fn without_events(&self) -> Execution {
        Execution {
            events: Vec::new(),
            outcome: self.outcome.clone(),
            switches: self.switches.clone(),
            decisions: Vec::new(),
            calls: Vec::new(),
            lock_sets: Vec::new(),
            contexts: self.contexts.clone(),
            modules: Arc::clone(&self.modules),
            discovered: self.discovered.clone(),
            touches: None,
            depended_on: self.depended_on.clone(),
            warnings: self.warnings.clone(),
            output: self.output.clone(),
            unheard_panics: self.unheard_panics.clone(),
            divergence: self.divergence.clone(),
            own_code: Arc::clone(&self.own_code),
            ..*self
        }
    }

    /// The place in the program's own code from which a step of this execution was made.
    pub fn place(&self, event: &Event) -> u64 {
        self.own_code.place(event.pc, event.context, &self.contexts)
    }
}

/// A thread was runnable and not scheduled while another one slept or waited for a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delay {
    /// The thread that was delayed.
    pub thread: ThreadId,
    /// The code address of the operation that it was about to make.
    pub site: u64,
    /// For how long, in nanoseconds of virtual time.
    pub nanoseconds: u64,
}

/// Something that an execution depended on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Dependency {
    /// What it is.
    pub kind: Dependence,
    /// The function that was called, by the linker's name.
    pub function: String,
    /// The return address of the call, in the program's own code; 0 if it is nobody's.
    pub site: u64,
}
