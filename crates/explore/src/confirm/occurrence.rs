//! Making what a finding predicts happen, and deciding whether an execution shows it.

use std::collections::{HashMap, HashSet};

use threadbare_detect::{Access, Certainty, Finding, FindingKind, observed_deadlock};
use threadbare_happens_before::{HeldLock, LockSets};
use threadbare_patterns::{self as patterns, Pattern};
use threadbare_sched::{Directed, DirectedGoal, InOrder, OrderedOp};
use threadbare_target::Execution;
use threadbare_trace::{Awaited, Event, EventKind, FailureKind, ShownFinding, ThreadId, kinds};

use crate::races::races_in;
use crate::strategy::Plan;

/// Whether an execution that shows the finding failed because of it. Threads that wait for each other for
/// ever are no consequence of how accesses follow each other.
pub(crate) fn fails_because_of(finding: &Finding, run: &Execution) -> bool {
    run.outcome.failure().is_some_and(|failure| {
        let waits = failure.kind.is_lack_of_progress();
        match finding.kind {
            // A thread that comes too late for a signal waits for ever.
            FindingKind::Order => true,
            FindingKind::Deadlock => waits,
            FindingKind::Race | FindingKind::Atomicity | FindingKind::LockDiscipline => !waits,
        }
    })
}

/// The plan of an attempt to make a finding happen. Its event numbers are those of `events`.
pub fn directed(finding: &Finding, events: &[Event], attempt: u64) -> Option<Plan> {
    let in_order = |operations| Some(Plan::new(InOrder::new(operations)?, 0, "directed"));
    let is_locked = !finding.locks.is_empty();
    let (goal, wanted): (DirectedGoal, Vec<&Access>) = match (finding.kind, finding.accesses.len()) {
        (FindingKind::Race, _) => (DirectedGoal::Together, finding.accesses.iter().collect()),
        // Words are taken without a call that could be waited in: one after the other, then the first one's next.
        (FindingKind::Deadlock, _) if is_about_words(finding, events) => {
            let held = finding.accesses.iter().step_by(2).chain(finding.accesses.get(1)).copied();
            return in_order(with_gates(&held.collect::<Vec<_>>(), &[]));
        }
        // Each thread holds one lock and is about to take the next.
        (FindingKind::Deadlock, _) => {
            (DirectedGoal::Together, finding.accesses.iter().skip(1).step_by(2).collect())
        }
        // Any two threads will do, or just those that were seen.
        (FindingKind::Atomicity, 3) if !is_locked || attempt % 2 == 1 => {
            (DirectedGoal::Between, finding.accesses.iter().collect())
        }
        (FindingKind::Atomicity | FindingKind::Order, _) => {
            return in_order(with_gates(&finding.accesses, events));
        }
        (FindingKind::LockDiscipline, _) => return None,
    };
    let sites = wanted.iter().map(|access| access.pc).collect();
    Some(Plan::new(Directed::new(goal, sites)?, 0, "directed"))
}

/// Whether the locks of a deadlock are nothing but words of memory.
fn is_about_words(finding: &Finding, events: &[Event]) -> bool {
    let kind = |access: &Access| events.get(access.event).and_then(Event::kind);
    finding.accesses.iter().any(|access| kind(access).is_some_and(EventKind::accesses_memory))
}

/// Each access with its thread and the operation before which the thread can wait for its turn: the first lock
/// of its critical section, unless the thread's access before is in the same.
fn with_gates(accesses: &[Access], events: &[Event]) -> Vec<OrderedOp> {
    let mut locks = LockSets::default();
    let mut sections: HashMap<usize, HeldLock> = HashMap::new();
    let last = accesses.iter().map(|access| access.event).max().unwrap_or(0);
    for (index, event) in events.iter().enumerate().take(last + 1) {
        if let Some(kind) = event.kind() {
            locks.observe(index, event, kind);
        }
        if accesses.iter().any(|access| access.event == index)
            && let Some(first) = locks.held(event.thread).first()
        {
            sections.insert(index, *first);
        }
    }
    let gate = |place: usize| {
        let access = &accesses[place];
        let Some(section) = sections.get(&access.event) else { return access.pc };
        let before = accesses[..place].iter().rev().find(|other| other.thread == access.thread);
        let same = before.and_then(|other| sections.get(&other.event));
        if same.is_some_and(|same| same.since == section.since) { access.pc } else { section.pc }
    };
    let ordered = |place: usize| {
        let Access { thread, pc, .. } = accesses[place];
        OrderedOp { thread, site: pc, gate: gate(place) }
    };
    (0..accesses.len()).map(ordered).collect()
}

/// Whether the same locks are in both lists. A deadlock over some of them is another one.
fn is_same_set(some: &[u64], others: &[u64]) -> bool {
    let contains = |list: &[u64], all: &[u64]| all.iter().all(|lock| list.contains(lock));
    contains(some, others) && contains(others, some)
}

/// Whether an execution shows the finding happening.
pub(crate) fn happens(finding: &Finding, run: &Execution) -> bool {
    match finding.kind {
        FindingKind::Deadlock => {
            let Some(failure) = run.outcome.failure() else { return false };
            let about = observed_deadlock(&run.events, failure).map(|deadlock| deadlock.locks);
            // Threads that wait for a notification wait for no lock.
            let waits = failure.waiting().iter().any(|it| matches!(it.awaits, Awaited::Signal(_)));
            failure.kind == FailureKind::Deadlock
                && about.map_or(!waits, |locks| is_same_set(&locks, &finding.locks))
        }
        FindingKind::Race | FindingKind::Atomicity | FindingKind::Order | FindingKind::LockDiscipline => {
            let failure = run.outcome.failure();
            occurrence(finding, &run.events).is_some()
                || failure.is_some_and(|failure| is_cut_short(finding, &run.events, failure.thread))
        }
    }
}

/// The code of conflicting accesses that came back to back, the lower address first: those races happened.
pub(crate) fn back_to_back(events: &[Event]) -> HashSet<(u64, u64)> {
    let mut steps = events.iter().filter(|event| comes_between(event)).peekable();
    let mut together = HashSet::new();
    while let Some(first) = steps.next() {
        let Some(second) = steps.peek() else { break };
        if are_together(first, second) {
            together.insert((first.pc.min(second.pc), first.pc.max(second.pc)));
        }
    }
    together
}

/// Whether it is a step that comes between others. A thread may end right after its access, and a handler begin; that does not.
fn comes_between(event: &Event) -> bool {
    let counts = |kind: EventKind| !kind.only_names() && kind != EventKind::Exit;
    event.kind().is_some_and(counts) && !event.is_about_delivery()
}

/// Whether one step right after the other is a race that happened. One place in the code may make atomic accesses and others.
fn are_together(first: &Event, second: &Event) -> bool {
    let any =
        |is_so: fn(EventKind) -> bool| [first, second].iter().any(|event| event.kind().is_some_and(is_so));
    let (writes, is_plain) = (any(EventKind::writes), any(|kind| !matches!(kind, kinds!(atomic))));
    first.thread != second.thread && overlap(first, second) && writes && is_plain
}

/// The events by which an execution shows a race (two accesses back to back) or an atomicity violation
/// (the accesses of its pattern one after the other).
fn occurrence(finding: &Finding, events: &[Event]) -> Option<Vec<usize>> {
    let steps: Vec<usize> = (0..events.len()).filter(|index| comes_between(&events[*index])).collect();
    match (finding.kind, &finding.accesses[..]) {
        (FindingKind::Race, [a, b]) => steps.windows(2).find_map(|pair| {
            let (first, second) = (&events[pair[0]], &events[pair[1]]);
            let sites_fit = [(a.pc, b.pc), (b.pc, a.pc)].contains(&(first.pc, second.pc));
            (sites_fit && are_together(first, second)).then(|| pair.to_vec())
        }),
        (FindingKind::Order, [first, second]) => {
            let is = |event: &Event, access: &Access| (event.pc, event.thread) == (access.pc, access.thread);
            let at = *steps.iter().find(|index| is(&events[**index], first))?;
            let conflicts =
                |index: &usize| is(&events[*index], second) && overlap(&events[*index], &events[at]);
            let came_before = steps.iter().take_while(|index| **index < at).any(conflicts);
            (!came_before).then(|| vec![at])
        }
        // Everything else that can be shown has a pattern.
        (
            FindingKind::Race
            | FindingKind::Atomicity
            | FindingKind::Order
            | FindingKind::Deadlock
            | FindingKind::LockDiscipline,
            accesses,
        ) => {
            let pattern = Pattern::with_id(finding.pattern?)?;
            if pattern.steps.len() != accesses.len() {
                return None;
            }
            let sites: Vec<u64> = accesses.iter().map(|access| access.pc).collect();
            let ending_at = |last| sequence_ending_at(pattern.steps, &sites, &steps[..=last], events);
            (0..steps.len()).find_map(ending_at)
        }
    }
}

/// Whether an execution failed just before the last access of a pattern of four: where the thread that got in
/// between fails at once, the last one is never made.
fn is_cut_short(finding: &Finding, events: &[Event], failed: ThreadId) -> bool {
    let Some(pattern) = finding.pattern.and_then(Pattern::with_id) else { return false };
    let ([begun @ .., last], true) = (pattern.steps, finding.accesses.len() == 4) else { return false };
    let sites: Vec<u64> = finding.accesses.iter().map(|access| access.pc).collect();
    let steps: Vec<usize> = (0..events.len()).collect();
    (0..steps.len()).any(|end| {
        let Some(found) = sequence_ending_at(begun, &sites[..3], &steps[..=end], events) else {
            return false;
        };
        let thread = begun.iter().zip(&found).find(|(step, _)| step.0 == last.0);
        let Some(thread) = thread.map(|(_, index)| events[*index].thread) else { return false };
        let is_over = events[end..].iter().any(|event| event.thread == thread && event.pc == sites[3]);
        events[end].thread == failed && thread != failed && !is_over
    })
}

/// How far back the accesses of a pattern are looked for.
const REACH: usize = 4096;

/// The events of a pattern that ends with the last of these steps: each access the latest one before the next. A
/// pattern does not step over writes to its variables, nor over other accesses of a thread between two of its own.
fn sequence_ending_at(
    pattern: &[patterns::PatternStep],
    sites: &[u64],
    steps: &[usize],
    events: &[Event],
) -> Option<Vec<usize>> {
    let mut found: Vec<usize> = Vec::with_capacity(sites.len());
    let mut rest = steps;
    for (place, (role, _, variable)) in pattern.iter().enumerate().rev() {
        let later = |at: usize| (&pattern[pattern.len() - 1 - at], &events[found[at]]);
        let fits = |event: &Event| {
            event.pc == sites[place]
                && (0..found.len()).all(|at| {
                    let ((other_role, _, other_variable), other) = later(at);
                    (other_role == role) == (other.thread == event.thread)
                        && (other_variable != variable || overlap(event, other))
                })
        };
        // Going back, nothing may write a variable on both sides, nor a thread that has it on both sides use it.
        let disturbs = |event: &Event| {
            (0..found.len()).any(|at| {
                let ((other_role, _, other_variable), other) = later(at);
                let mut earlier = pattern[..=place].iter().filter(|step| step.2 == *other_variable);
                let is_written = event.kind().is_some_and(|kind| kind.writes());
                let matters = |step: &patterns::PatternStep| {
                    is_written || (step.0 == *other_role && event.thread == other.thread)
                };
                overlap(event, other) && earlier.any(matters)
            })
        };
        let reach = if found.is_empty() { 1 } else { REACH };
        let at = (0..rest.len()).rev().take(reach).find_map(|at| {
            let event = &events[rest[at]];
            if fits(event) {
                return Some(Some(at));
            }
            (!found.is_empty() && disturbs(event)).then_some(None)
        })??;
        found.push(rest[at]);
        rest = &rest[..at];
    }
    found.reverse();
    Some(found)
}

/// Whether both are accesses to memory that they have in common.
pub(super) fn overlap(a: &Event, b: &Event) -> bool {
    let length = |event: &Event| if event.size == 0 { event.value.max(1) } else { u64::from(event.size) };
    let is_memory = |event: &Event| event.kind().is_some_and(|kind| kind.accesses_memory());
    is_memory(a) && is_memory(b) && a.addr < b.addr + length(b) && b.addr < a.addr + length(a)
}

/// What a schedule is to say of a finding whose event numbers are those of `events`.
/// Steps that a thread was about to make when the execution ended are left out.
pub fn shown(finding: &Finding, events: &[Event], sentence: &str) -> ShownFinding {
    let step = |access: &Access| {
        let made =
            events.get(access.event).filter(|event| (event.pc, event.thread) == (access.pc, access.thread));
        Some((access.thread, made?.op))
    };
    ShownFinding {
        kind: finding.kind.word().to_string(),
        pattern: finding.pattern,
        steps: finding.accesses.iter().filter_map(step).collect(),
        sentence: sentence.to_string(),
        is_cause: false,
    }
}

/// The events of an execution that a schedule points to.
pub fn pointed_out(shown: &ShownFinding, events: &[Event]) -> Vec<usize> {
    let event = |(thread, op): &(ThreadId, u32)| {
        let is_step = |event: &Event| event.kind().is_some_and(|kind| !kind.only_names());
        events.iter().position(|event| (event.thread, event.op) == (*thread, *op) && is_step(event))
    };
    shown.steps.iter().filter_map(event).collect()
}

/// The finding of a schedule in an execution that followed it, if the execution shows it.
pub fn find_shown(shown: &ShownFinding, run: &Execution) -> Option<Finding> {
    let access = |(thread, op): &(ThreadId, u32)| {
        let is_it = |event: &Event| (event.thread, event.op) == (*thread, *op);
        let memory = |event: &Event| event.kind().filter(|kind| kind.accesses_memory());
        let mut events = run.events.iter().enumerate().filter(|(_, event)| is_it(event));
        events.find_map(|(index, event)| Some(Access::of(index, event, memory(event)?)))
    };
    let accesses: Vec<Access> = shown.steps.iter().map(access).collect::<Option<_>>()?;
    let first = accesses.first()?;
    let mut finding = Finding {
        kind: FindingKind::from_word(&shown.kind)?,
        certainty: Certainty::Observed,
        pattern: shown.pattern,
        object: first.object,
        at: first.event,
        accesses,
        locks: Vec::new(),
        count: 1,
    };
    if settle_in(&mut finding, &run.events) {
        return Some(finding);
    }
    // The accesses of a race need not have been made one right after the other, if nothing ordered them.
    let is_race = finding.kind == FindingKind::Race;
    is_race.then(|| races_in(&run.events).into_iter().find(|race| race.key() == finding.key())).flatten()
}

/// Moves a finding's event numbers to where the confirming execution shows it, if they are known there.
pub(crate) fn settle_in(finding: &mut Finding, events: &[Event]) -> bool {
    // The second access of an order violation may never be made.
    if finding.kind == FindingKind::Order {
        return false;
    }
    let Some(places) = occurrence(finding, events) else { return false };
    for (place, index) in places.iter().enumerate() {
        let event = &events[*index];
        if let Some(kind) = event.kind() {
            finding.accesses[place] = Access::of(*index, event, kind);
        }
    }
    if let Some(first) = finding.accesses.first() {
        finding.at = first.event;
        // Ranges begin earlier than what they have in common.
        let common = finding.accesses.iter().map(|access| access.object).max();
        let is_one = finding.accesses.len() < 4;
        finding.object = common.filter(|_| is_one).unwrap_or(first.object);
    }
    true
}
