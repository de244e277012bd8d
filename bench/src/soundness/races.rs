//! The races of a program by brute force, and what `check` says of it.
//!
//! Where all interleavings are run, two accesses race if and only if they follow each other directly in one of them: an access never
//! waits, so whoever makes the second one could have made it at the same time.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use threadbare_coverage::{Criterion, ObservedExecution, Total};
use threadbare_detect::FindingKind;
use threadbare_explore::{ExploreError, Options, check};
use threadbare_target::Program;
use threadbare_trace::{Event, EventKind, ThreadId};

/// As many executions as `check` examines by default.
const EXECUTIONS: u64 = 100;

/// Two code addresses, the lower one first.
pub type Pair = (u64, u64);

/// What was compared.
#[derive(Clone, Default)]
pub struct Races {
    /// Pairs that race.
    pub all: BTreeSet<Pair>,
    /// Those that `check` reports, however sure.
    pub reported: BTreeSet<Pair>,
    /// Those that it has confirmed.
    pub confirmed: BTreeSet<Pair>,
}

impl Races {
    /// Compares those that all interleavings showed with what `check` says.
    pub fn of(program: &Program, seen: Adjacent, options: Options) -> Result<Races, ExploreError> {
        let all = seen.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut races = Races { all, ..Races::default() };
        let options = Options { executions: EXECUTIONS, ..options };
        let checked = check(program, &options, &|_| {}, &Arc::default())?;
        for found in checked.findings.iter().filter(|it| it.finding.kind == FindingKind::Race) {
            let [one, other] = found.finding.accesses[..] else { continue };
            let pair = pair(one.pc, other.pc);
            races.reported.insert(pair);
            if found.confirmed.is_some() {
                races.confirmed.insert(pair);
            }
        }
        Ok(races)
    }

    /// Those that were confirmed and are none.
    pub fn false_alarms(&self) -> impl Iterator<Item = &Pair> {
        self.confirmed.difference(&self.all)
    }

    /// Those that are not reported.
    pub fn missed(&self) -> impl Iterator<Item = &Pair> {
        self.all.difference(&self.reported)
    }
}

fn pair(one: u64, other: u64) -> Pair {
    (one.min(other), one.max(other))
}

/// Collects accesses that follow each other directly and conflict.
#[derive(Clone, Default)]
pub struct Adjacent(Arc<Mutex<BTreeSet<Pair>>>);

impl Criterion for Adjacent {
    fn name(&self) -> &'static str {
        "adjacent"
    }

    fn unit(&self) -> &'static str {
        "adjacent conflicting accesses"
    }

    fn observe(&mut self, seen: &ObservedExecution<'_>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let steps: Vec<&Event> = seen
            .events
            .iter()
            .filter(|event| event.kind().is_some_and(|kind| !goes_with_another(kind)))
            .collect();
        let handlers: BTreeSet<(ThreadId, ThreadId)> =
            steps.iter().filter_map(|signal| Some((signal.thread, signal.interrupts()?))).collect();
        // What a handler does last comes before what its thread does next, and not at the same time.
        let is_of_one_thread = |[one, other]: &&[&Event; 2]| {
            handlers.contains(&(one.thread, other.thread)) || handlers.contains(&(other.thread, one.thread))
        };
        let adjacent = steps.array_windows().filter(|pair| !is_of_one_thread(pair)).map(|[a, b]| (*a, *b));
        for (one, other) in adjacent.chain(interrupted(&steps)).filter(|(one, other)| conflict(one, other)) {
            all.insert(pair(one.pc, other.pc));
        }
    }

    fn covered(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len() as u64
    }

    fn total(&self) -> Total {
        Total::Estimated(self.covered())
    }
}

/// What handlers do, each with what the thread that they interrupt does next: it may as well be in the middle of that. It is not in the middle of what it
/// has done last: where a signal may come as early as that, there is an interleaving in which the handler comes before it; where it may not, the signal
/// may have been sent because of it.
fn interrupted<'a>(steps: &'a [&'a Event]) -> impl Iterator<Item = (&'a Event, &'a Event)> {
    let inside = |(at, signal): (usize, &&'a Event)| {
        let (thread, handler) = (signal.interrupts()?, signal.thread);
        let next = steps[at..].iter().find(|event| event.thread == thread)?;
        let its_own = steps[at..].iter().filter(move |event| event.thread == handler);
        // By the rules of the language, a handler may touch what is volatile.
        let is_allowed = move |own: &Event| own.is_volatile() && next.is_volatile();
        Some(its_own.filter(move |own| !is_allowed(own)).map(move |own| (*own, *next)))
    };
    steps.iter().enumerate().filter_map(inside).flatten()
}

/// Whether it is no step, or one with which nobody is switched: what a thread does first comes right after it has started or left a barrier, and
/// it has ended right after what it does last.
fn goes_with_another(kind: EventKind) -> bool {
    use EventKind::*;
    kind.only_names() || matches!(kind, Start | Exit | BarrierLeave)
}

fn conflict(one: &Event, other: &Event) -> bool {
    let (Some(first), Some(second)) = (one.kind(), other.kind()) else { return false };
    let is_atomic = |kind| {
        use EventKind::*;
        matches!(kind, AtomicRead | AtomicWrite | AtomicUpdate | AtomicFailed)
    };
    let bytes = |event: &Event, kind: EventKind| {
        let is_range = kind.accesses_range() || kind == EventKind::Free;
        event.addr..event.addr + if is_range { event.value } else { u64::from(event.size) }
    };
    let (near, far) = (bytes(one, first), bytes(other, second));
    one.thread != other.thread
        && first.accesses_memory()
        && second.accesses_memory()
        && (first.writes() || second.writes())
        && !(is_atomic(first) && is_atomic(second))
        && near.start < far.end
        && far.start < near.end
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: ThreadId = ThreadId(1);
    const SENDER: ThreadId = ThreadId(2);
    const HANDLER: ThreadId = ThreadId(3);

    fn access(thread: ThreadId, kind: EventKind, pc: u64) -> Event {
        Event { thread, kind: kind as u8, pc, addr: 0x1000, size: 4, ..Event::default() }
    }

    fn arrival() -> Event {
        let interrupts = u64::from(THREAD.0) + 1;
        Event { thread: HANDLER, kind: EventKind::Signal as u8, old: interrupts, ..Event::default() }
    }

    fn pairs(events: &[Event]) -> Vec<(u64, u64)> {
        let steps: Vec<&Event> = events.iter().collect();
        interrupted(&steps)
            .filter(|(one, other)| conflict(one, other))
            .map(|(a, b)| pair(a.pc, b.pc))
            .collect()
    }

    /// A handler may be in the middle of what its thread does next, but not of what the signal was sent for.
    #[test]
    fn a_handler_races_with_what_comes_next_only() {
        let write = access(THREAD, EventKind::Write, 1);
        let handled = access(HANDLER, EventKind::Write, 2);
        let sees = access(SENDER, EventKind::Read, 3);
        assert_eq!(pairs(&[write, sees, arrival(), handled]), []);
        assert_eq!(pairs(&[arrival(), handled, write]), [(1, 2)]);
    }

    #[test]
    fn a_handler_may_touch_what_is_volatile() {
        let volatile = |event: Event| Event { flags: Event::VOLATILE, ..event };
        let (handled, next) = (access(HANDLER, EventKind::Write, 2), access(THREAD, EventKind::Read, 1));
        assert_eq!(pairs(&[arrival(), volatile(handled), volatile(next)]), []);
        assert_eq!(pairs(&[arrival(), handled, volatile(next)]), [(1, 2)]);
    }
}
