//! Patterns straight from the events of a trace.

use std::sync::Arc;

use threadbare_trace::{Event, EventKind};

use super::limits::{Dropped, Limits};
use super::matcher::Matcher;
use super::objects::{ModuleRange, Objects, VariableChange};
use super::occurrence::Occurrence;
use super::set::PatternSet;

/// Finds the patterns of a trace, one event at a time. Cheap to copy at any moment, so that traces with a
/// common beginning need not look at it twice.
#[derive(Clone)]
pub struct TraceMatcher {
    objects: Objects,
    matcher: Matcher,
    seen: usize,
}

impl Default for TraceMatcher {
    fn default() -> Self {
        TraceMatcher::new(Vec::new(), Limits::default())
    }
}

impl TraceMatcher {
    /// A matcher that has seen nothing. Modules that are not named count by address, which is
    /// enough within a campaign.
    pub fn new(images: impl Into<Arc<[ModuleRange]>>, limits: Limits) -> TraceMatcher {
        TraceMatcher { objects: Objects::new(images, &limits), matcher: Matcher::new(limits), seen: 0 }
    }

    /// Takes in the next event of the trace and adds to `found` what became present by it.
    pub fn observe(&mut self, event: &Event, found: &mut Vec<Occurrence>) {
        let mut changes = Vec::new();
        self.objects.observe(self.seen, event, &mut changes);
        self.seen += 1;
        for change in changes {
            match change {
                VariableChange::Access(access) => self.matcher.observe(&access, found),
                VariableChange::Split { whole, part } => self.matcher.split(whole, part),
                VariableChange::Forget(object) => self.matcher.forget(object),
            }
        }
    }

    /// Takes note of the memory that the next event names, and of no access.
    pub fn pass_over(&mut self, event: &Event) {
        let names = event.kind().is_some_and(|kind| kind.only_names() || kind == EventKind::Start);
        match names {
            true => self.observe(event, &mut Vec::new()),
            false => self.leave_out(1),
        }
    }

    /// Leaves out this many events of the trace.
    pub fn leave_out(&mut self, events: usize) {
        self.seen += events;
    }

    /// The patterns of a whole trace.
    pub fn patterns_of<'a>(events: impl IntoIterator<Item = &'a Event>) -> PatternSet {
        let mut matcher = TraceMatcher::default();
        let mut found = Vec::new();
        for event in events {
            matcher.observe(event, &mut found);
            found.clear();
        }
        matcher.matcher.patterns().clone()
    }

    /// The patterns that are present.
    pub fn patterns(&self) -> &PatternSet {
        self.matcher.patterns()
    }

    /// How many events were taken in.
    pub fn events(&self) -> usize {
        self.seen
    }

    /// How many variables are remembered.
    pub fn objects(&self) -> usize {
        self.matcher.objects()
    }

    /// What was left out because of the bounds.
    pub fn dropped(&self) -> Dropped {
        Dropped { words: self.objects.skipped_words(), ..self.matcher.dropped() }
    }
}
