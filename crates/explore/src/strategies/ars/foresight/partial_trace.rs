//! A trace that grows, executed or predicted.

use threadbare_patterns::{Occurrence, TraceMatcher};
use threadbare_trace::{Event, EventKind, kinds};

use super::novelty::{Gains, NoveltyWeights, SeenFeatures};
use super::program_state::ProgramState;

/// Whether an event is a step that a scheduler decides on: that a thread starts or exits follows from the step before.
pub(in crate::strategies::ars) fn is_step(kind: EventKind) -> bool {
    use EventKind::*;
    match kind {
        Start | Exit | Alloc | Frame => false,
        Create | Join | Detach | JoinFailed | Cancel | Free | Fence | Signal => true,
        kinds!(plain | atomic | lock | condition | barrier | semaphore | once | futex) => true,
        kinds!(object | pause | outside) => true,
    }
}

/// What a trace has led to, and what it has shown. Cheap to copy.
#[derive(Clone, Default)]
pub(in crate::strategies::ars) struct PartialTrace {
    pub(super) state: ProgramState,
    matcher: TraceMatcher,
    gains: Gains,
    last: Option<Event>,
}

impl PartialTrace {
    /// The next event.
    pub(super) fn observe(&mut self, event: &Event, seen: &SeenFeatures, weights: &NoveltyWeights) {
        self.gains.step(&self.state, event, seen, weights);
        let mut found: Vec<Occurrence> = Vec::new();
        self.matcher.observe(event, &mut found);
        found.iter().for_each(|it| self.gains.pattern(event, it.key.0, seen, weights));
        self.state.observe(event);
        if event.kind().is_some_and(is_step) {
            self.last = Some(*event);
        }
    }

    /// What it has shown.
    pub(super) fn gains(&self) -> &Gains {
        &self.gains
    }

    /// How many events it has.
    pub fn events(&self) -> usize {
        self.matcher.events()
    }

    /// Its last step; that a thread begins or ends is none.
    pub(super) fn last(&self) -> Option<&Event> {
        self.last.as_ref()
    }
}
