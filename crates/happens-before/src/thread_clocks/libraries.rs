//! What libraries without instrumentation may order.
//!
//! Whoever calls such a library may wait there for another thread, or hand something over: by atomics and locks that nobody sees. So
//! a call may come after all that threads did before their calls of the same library. That ends when the thread makes its next
//! step outside; what it waits for meanwhile, it waits for inside.

use threadbare_trace::{Event, EventKind, ThreadId, kinds};

use super::ThreadClocks;
use crate::address_table::NumberMap;
use crate::clocks::VectorClock;

/// Where a thread may be.
#[derive(Clone, Copy, Default)]
struct Inside {
    /// What it has called last.
    called: Option<u64>,
    /// The library that it belongs to, which calls the program: it returns there time and again.
    home: Option<u64>,
}

/// What was done before calls of libraries.
#[derive(Default)]
pub(super) struct Libraries {
    /// What those knew who called each library.
    known: NumberMap<u64, VectorClock>,
    /// The threads that may not have come back yet.
    inside: NumberMap<u16, Inside>,
}

impl Libraries {
    /// Whether any thread may be in a library.
    #[inline]
    pub(super) fn are_entered(&self) -> bool {
        !self.inside.is_empty()
    }
}

impl ThreadClocks {
    /// A thread that may have been in a library until now makes a step.
    pub(super) fn return_from_library(&mut self, event: &Event, kind: EventKind) {
        let Some(&Inside { called, home }) = self.libraries.inside.get(&event.thread.0) else { return };
        for library in called.into_iter().chain(home) {
            if let Some(known) = self.libraries.known.get(&library) {
                let known = known.clone();
                self.learn(event.thread, &known);
            }
        }
        // These are steps that the library makes itself, for all that is known.
        let may_be_inside = matches!(kind, kinds!(lock | condition | semaphore | futex | pause | outside));
        if may_be_inside || kind.only_names() {
            return;
        }
        match home {
            Some(_) => drop(self.libraries.inside.insert(event.thread.0, Inside { called: None, home })),
            None => drop(self.libraries.inside.remove(&event.thread.0)),
        }
    }

    /// A thread calls a library, or begins there.
    pub(super) fn call_library(&mut self, event: &Event) {
        let inside = self.libraries.inside.entry(event.thread.0).or_default();
        *(if event.old == 0 { &mut inside.called } else { &mut inside.home }) = Some(event.value);
        self.leave_to_library(event.thread, event.value);
    }

    /// What a thread of a library's own does is there for whoever calls the library.
    pub(super) fn step_under_library(&mut self, thread: ThreadId) {
        let inside = self.libraries.inside.get(&thread.0);
        if let Some(library) = inside.and_then(|inside| inside.home) {
            self.leave_to_library(thread, library);
        }
    }

    fn leave_to_library(&mut self, thread: ThreadId, library: u64) {
        let clock = self.clock(thread).clone();
        self.libraries.known.entry(library).or_default().join(&clock);
        self.tick(thread);
    }
}
