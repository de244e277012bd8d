//! The shared memory as it was at the snapshot.
//!
//! Copies of the program share this memory with the server, so what one execution counted has to
//! be reset before the next.

use threadbare_trace::ThreadId;
use threadbare_wire::{Control, Status};

/// The counters at the snapshot, and what the program had written by then.
pub(crate) struct Baseline {
    pub events: u64,
    contexts: u64,
    pub switches: u64,
    decisions: u64,
    calls: u64,
    lock_sets: u64,
    touches: u64,
    /// Bytes of records on files that were changed.
    pub file_changes: u64,
    steps: u64,
    learned_out: u64,
    threads: u32,
    peak_threads: u32,
    warnings: u32,
    /// What the program had written by then.
    pub output: Vec<u8>,
}

impl Baseline {
    pub fn take(control: &Control, output: Vec<u8>) -> Baseline {
        Baseline {
            events: control.events,
            contexts: control.contexts,
            switches: control.switches,
            decisions: control.decisions,
            calls: control.calls,
            lock_sets: control.lock_sets,
            touches: control.touches,
            file_changes: control.file_changes,
            steps: control.steps,
            learned_out: control.learned_out,
            threads: control.threads,
            peak_threads: control.peak_threads,
            warnings: control.warnings.len,
            output,
        }
    }

    pub fn restore(&self, control: &mut Control) {
        control.events = self.events;
        control.events_left_out = 0;
        control.contexts = self.contexts;
        control.switches = self.switches;
        control.decisions = self.decisions;
        control.calls = self.calls;
        control.lock_sets = self.lock_sets;
        control.touches = self.touches;
        // Nothing is noted before the snapshot.
        control.dependences = 0;
        control.file_changes = self.file_changes;
        control.took_name = 0;
        control.steps = self.steps;
        control.learned_out = self.learned_out;
        control.threads = self.threads;
        control.unheard = 0;
        control.ended_by = 0;
        control.joined = 0;
        control.peak_threads = self.peak_threads;
        // Texts only grow, so their start is still that of the snapshot.
        control.warnings.len = self.warnings;
        control.message.clear();
        control.divergence.clear();
        control.diverged_at = 0;
        control.policy_counters = Default::default();
        control.failure_kind = 0;
        control.uncontrolled = 0;
        control.cut = 0;
        control.delay = 0;
        control.plan_refused = 0;
        control.failure_thread = ThreadId::MAIN;
        control.stack_len = 0;
        control.child = 0;
        control.status = Status::Serving as u32;
    }
}
