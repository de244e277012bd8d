//! What came back from one run of the program.

use std::sync::Arc;

use threadbare_trace::{Event, Failure, Outcome, ThreadId};
use threadbare_wire::{ContextRecord, DecisionRecord, LearnedRecord, SwitchRecord};

use crate::modules::Modules;

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
    /// What the user should know although the run went on.
    pub warnings: Vec<String>,
    /// What the program wrote to standard output and standard error.
    pub output: Vec<u8>,
    /// It was ended because it made no step for too long.
    pub stalled: bool,
    /// For a replay: the number of the first switch that could not be followed, and why.
    pub divergence: Option<(u64, String)>,
}

impl Execution {
    /// The execution of a program that failed while there was only one thread.
    pub fn before_threads(failure: Failure, output: String) -> Execution {
        Execution {
            outcome: Outcome::Failed(failure),
            events: Vec::new(),
            switches: Vec::new(),
            decisions: Vec::new(),
            contexts: Vec::new(),
            modules: Arc::default(),
            steps: 0,
            threads: 1,
            peak_threads: 1,
            discovered: Vec::new(),
            warnings: Vec::new(),
            output: output.into_bytes(),
            stalled: false,
            divergence: None,
        }
    }
}

/// A list that the plan's policy follows.
#[derive(Clone, Debug, Default)]
pub enum Script {
    /// None: the policy is on its own.
    #[default]
    None,
    /// These switches, named by events.
    Replay(Vec<SwitchRecord>),
    /// These threads at the first decisions.
    Prefix(Vec<ThreadId>),
}
