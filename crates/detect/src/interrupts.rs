//! Races and atomicity violations between a signal handler and the thread that it interrupts ("total replay", §7.1).
//!
//! Both are made by one thread, so they never happen at the same time, and by the rules of the language this is no
//! race of threads. But the signal might have come elsewhere. So what counts is what excludes the handler:
//! that the signal was not sent yet, that its handling is known to be over, or that the thread has blocked it,
//! which a trace records as a lock. Between the two,
//!
//! * a `volatile` access is as good as an atomic one;
//! * an access by a handler that leaves the variable as it found it, as is usual for `errno`, does no harm;
//! * a handler is never interrupted by what it interrupts.

use std::collections::HashMap;

use threadbare_trace::{Event, EventKind, ThreadId};

use crate::atomicity::Atomicity;
use crate::detector::Detector;
use crate::finding::{Access, Finding, FindingKind};
use crate::race::hybrid::Hybrid;

/// Finds races and atomicity violations between handlers and what they interrupt.
pub struct Interrupts {
    races: Box<Hybrid>,
    torn: Box<Atomicity>,
    handlers: HashMap<ThreadId, Handler>,
    /// The places in the trace of accesses to what is volatile, in order.
    volatile: Vec<usize>,
}

struct Handler {
    interrupts: ThreadId,
    /// What it has touched, by address.
    touched: HashMap<u64, Touched>,
}

/// A variable that a handler has touched: its value when the handler came, and now.
struct Touched {
    size: u64,
    before: u64,
    now: u64,
    is_written: bool,
}

impl Default for Interrupts {
    fn default() -> Self {
        Interrupts {
            races: Box::new(Hybrid::of_interrupts()),
            torn: Box::new(Atomicity::of_interrupts()),
            handlers: HashMap::new(),
            volatile: Vec::new(),
        }
    }
}

impl Handler {
    fn touch(&mut self, event: &Event) {
        let (before, writes) = match event.kind() {
            Some(EventKind::Read) => (event.value, false),
            Some(EventKind::Write) => (event.old, true),
            // What a handler does by atomics, or to whole ranges, is not looked at: it is only asked what plain accesses put
            // back.
            _ => return,
        };
        let new = Touched { size: u64::from(event.size), before, now: before, is_written: false };
        let touched = self.touched.entry(event.addr).or_insert(new);
        if writes {
            touched.now = event.value;
            touched.is_written = true;
        }
    }

    /// Whether it has changed the memory at an address, and left it as it was.
    fn puts_back(&self, address: u64) -> bool {
        let mut around =
            self.touched.iter().filter(|(start, it)| (**start..**start + it.size).contains(&address));
        around.any(|(_, touched)| touched.is_written && touched.now == touched.before)
    }
}

impl Interrupts {
    /// Whether the first is a handler that runs, perhaps through others, on top of the second.
    fn runs_on(&self, handler: ThreadId, other: ThreadId) -> bool {
        let below = |thread: &ThreadId| self.handlers.get(thread).map(|handler| handler.interrupts);
        std::iter::successors(below(&handler), below).any(|thread| thread == other)
    }

    fn does_no_harm(&self, handler: &Access) -> bool {
        self.handlers.get(&handler.thread).is_some_and(|it| it.puts_back(handler.object))
    }

    /// Whether a finding is one of a handler with what it interrupts, and can happen.
    fn is_meant(&self, finding: &Finding) -> bool {
        match (finding.kind, &finding.accesses[..]) {
            (FindingKind::Race, [a, b]) => {
                let handler = if self.runs_on(a.thread, b.thread) { a } else { b };
                let other = if std::ptr::eq(handler, a) { b } else { a };
                self.runs_on(handler.thread, other.thread) && !self.does_no_harm(handler)
            }
            (FindingKind::Atomicity, [p, r, _]) => self.runs_on(r.thread, p.thread) && !self.does_no_harm(r),
            // The two detectors that are asked find nothing else, or of more accesses.
            (
                FindingKind::Race | FindingKind::Atomicity | FindingKind::Order | FindingKind::LockDiscipline,
                _,
            ) => false,
            (FindingKind::Deadlock, _) => false,
        }
    }

    /// A finding as it is reported: what was volatile was taken for atomic.
    fn reported(&self, mut finding: Finding) -> Finding {
        for access in &mut finding.accesses {
            if self.volatile.binary_search(&access.event).is_ok() {
                access.kind = if access.kind.writes() { EventKind::Write } else { EventKind::Read };
            }
        }
        finding
    }
}

impl Detector for Interrupts {
    fn name(&self) -> &'static str {
        "interrupts"
    }

    fn observe(&mut self, index: usize, event: &Event) {
        let mut event = *event;
        if let Some(interrupts) = event.interrupts() {
            self.handlers.insert(event.thread, Handler { interrupts, touched: HashMap::new() });
        }
        if let Some(handler) = self.handlers.get_mut(&event.thread) {
            handler.touch(&event);
        }
        if event.is_volatile() {
            self.volatile.push(index);
            event.kind = match event.kind() {
                Some(EventKind::Read) => EventKind::AtomicRead as u8,
                Some(EventKind::Write) => EventKind::AtomicWrite as u8,
                // Only plain accesses are announced as volatile.
                _ => event.kind,
            };
        }
        self.races.observe(index, &event);
        self.torn.observe(index, &event);
    }

    fn findings(mut self: Box<Self>) -> Vec<Finding> {
        let races = std::mem::take(&mut self.races).findings();
        let torn = std::mem::take(&mut self.torn).findings();
        let all = races.into_iter().chain(torn);
        all.filter(|finding| self.is_meant(finding)).map(|finding| self.reported(finding)).collect()
    }
}
