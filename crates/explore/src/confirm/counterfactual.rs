//! Whether a program fails *because* of a finding: it does with the finding and does not with only that prevented.
//!
//! A program with several bugs fails for one of them while others, and much that is right, happen as well. So that it failed
//! when a finding happened says little. Here executions are made that are serial but for the finding, and each is
//! compared with one that differs in nothing but the place of one thread's operations: behind those of the other one, or
//! before them.

use std::collections::HashMap;
use std::sync::Arc;

use threadbare_detect::{Access, Finding, FindingKind};
use threadbare_happens_before::{HeldLock, LockSets};
use threadbare_sched::{Instance, Turn, Turns};
use threadbare_target::{Execution, Manner};
use threadbare_trace::{Event, EventKind, Outcome, ThreadId};

use super::occurrence::{fails_because_of, happens, overlap};
use crate::strategy::Plan;

/// How far back in the second thread the comparison begins at most, in critical sections (or accesses without a lock) that are
/// about the same variables. Where it is about to write what it has read before, that is one.
const SECTIONS: usize = 3;

/// An execution to be made.
pub struct Trial {
    /// What it is to do.
    pub plan: Plan,
    /// Trials with the same number begin alike.
    beginning: usize,
    /// The finding shall happen in it.
    with: bool,
}

/// The executions that tell whether the program fails because of a finding whose event numbers are those of `run`; none
/// if that cannot be told in this way.
pub fn trials(finding: &Finding, run: &Execution) -> Vec<Trial> {
    Trials::of(finding, &run.events).map_or_else(Vec::new, |trials| trials.all(run.manner))
}

/// What the trials came to.
#[derive(Default)]
pub struct Verdict {
    harmless: bool,
    /// The beginnings with which it failed, and with which it passed once the finding was prevented.
    failed: Vec<(usize, Arc<Execution>)>,
    passed: Vec<usize>,
}

impl Verdict {
    /// Takes note of a trial.
    pub fn enter(&mut self, finding: &Finding, trial: &Trial, run: &Arc<Execution>) {
        let happened = happens(finding, run);
        let passed = matches!(run.outcome, Outcome::Passed);
        // Of a race both orders are tried, and it happens in both.
        let is_race = finding.kind == FindingKind::Race;
        match (trial.with, happened) {
            (true, true) if passed => self.harmless = true,
            (true, true) if fails_because_of(finding, run) => {
                self.failed.push((trial.beginning, Arc::clone(run)))
            }
            (false, false) if passed => self.passed.push(trial.beginning),
            (false, true) if passed && is_race => self.passed.push(trial.beginning),
            (false, true) if passed => self.harmless = true,
            (true, _) | (false, _) => {}
        }
    }

    /// Whether it happened at all.
    pub fn is_decided(&self) -> bool {
        self.harmless || !self.failed.is_empty()
    }

    /// An execution that fails because of the finding, if the program does: wherever it happened by itself the program
    /// failed, and it passed once nothing but the finding was prevented.
    pub fn failing(self) -> Option<Arc<Execution>> {
        let Verdict { harmless, failed, passed } = self;
        let mut failed = failed.into_iter().filter(|(beginning, _)| !harmless && passed.contains(beginning));
        failed.next().map(|(_, run)| run)
    }
}

/// Where a thread can be stopped before an operation.
#[derive(Clone, Copy)]
struct Stop {
    operation: Instance,
    gate: Instance,
}

struct Trials {
    /// The operations of the finding, in order.
    operations: Vec<(ThreadId, Stop)>,
    /// Where the second thread waits until the first one begins; from late to early.
    beginnings: Vec<Stop>,
}

impl Trials {
    fn of(finding: &Finding, events: &[Event]) -> Option<Trials> {
        let is_about_order = match finding.kind {
            FindingKind::Race | FindingKind::Atomicity | FindingKind::Order => true,
            FindingKind::Deadlock | FindingKind::LockDiscipline => false,
        };
        let accesses = &finding.accesses;
        let first = accesses.first()?.thread;
        let second = accesses.iter().find(|access| access.thread != first)?;
        let are_two = accesses.iter().all(|it| it.thread == first || it.thread == second.thread);
        if !is_about_order || !are_two {
            return None;
        }
        let trace = Trace::of(accesses, events);
        let stop = |access: &Access, before: &[Access]| {
            let same_thread = before.iter().rev().find(|other| other.thread == access.thread);
            let same = same_thread.and_then(|other| trace.section(other.event));
            trace.stop(access, same)
        };
        let operations = accesses.iter().enumerate();
        let operations =
            operations.map(|(place, access)| (access.thread, stop(access, &accesses[..place]))).collect();
        Some(Trials { operations, beginnings: trace.beginnings(second) })
    }

    fn all(&self, manner: Manner) -> Vec<Trial> {
        let first = self.operations[0].0;
        let beginnings = self.beginnings.iter().map(Some).chain([None]).enumerate();
        let second = self.operations.iter().map(|it| it.0).find(|thread| *thread != first);
        let made = |(thread, stop): &(ThreadId, Stop)| stop.turn(*thread, true);
        let of = |mine: bool| self.operations.iter().filter(move |it| (it.0 == first) == mine).map(made);
        let mut trials = Vec::new();
        for (beginning, stop) in beginnings {
            let lead = stop.zip(second).map(|(stop, second)| stop.turn(second, false));
            let mut add = |with: bool, turns: Vec<Turn>| {
                let turns = lead.into_iter().chain(turns).collect();
                let plan = Turns::new(turns, first).map(|turns| Plan::new(turns, 0, "turns"));
                trials.extend(plan.map(|mut plan| {
                    plan.flags = manner.in_flags(plan.flags);
                    Trial { plan, beginning, with }
                }));
            };
            // The thread that goes on after the other one waits as early as it can, then as late as it can.
            add(true, self.operations.iter().map(made).collect());
            add(true, self.late());
            add(false, of(true).chain(of(false)).collect());
            add(false, of(false).chain(of(true)).collect());
        }
        trials
    }

    /// The operations in their order, each thread at the last operation before which it is interrupted as soon as the other one's turn
    /// comes.
    fn late(&self) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::new();
        for (place, (thread, stop)) in self.operations.iter().enumerate() {
            turns.push(stop.turn(*thread, true));
            let comes_next = self.operations.get(place + 1).is_some_and(|it| it.0 == *thread);
            let again = self.operations[place + 1..].iter().find(|it| it.0 == *thread);
            if let Some((_, next)) = again.filter(|_| !comes_next) {
                turns.push(next.turn(*thread, false));
            }
        }
        turns
    }
}

impl Stop {
    fn turn(&self, thread: ThreadId, makes: bool) -> Turn {
        Turn { thread, operation: self.operation, gate: self.gate, makes }
    }
}

/// A trace, with the critical sections of the accesses to some variables.
struct Trace<'a> {
    events: &'a [Event],
    /// The outermost critical section that each event is in.
    sections: HashMap<usize, HeldLock>,
    /// The accesses to the variables, by anybody.
    related: Vec<usize>,
    /// The heap blocks.
    blocks: Vec<(u64, u64)>,
}

impl<'a> Trace<'a> {
    fn of(accesses: &[Access], events: &'a [Event]) -> Trace<'a> {
        let mut trace = Trace { events, sections: HashMap::new(), related: Vec::new(), blocks: Vec::new() };
        let last = accesses.iter().map(|access| access.event).max().unwrap_or(0);
        let mut locks = LockSets::default();
        let wanted: Vec<&Event> = accesses.iter().filter_map(|access| events.get(access.event)).collect();
        for (index, event) in events.iter().enumerate().take(last + 1) {
            let Some(kind) = event.kind() else { continue };
            locks.observe(index, event, kind);
            if kind == EventKind::Alloc {
                trace.blocks.push((event.addr, event.addr.saturating_add(event.value.max(1))));
            }
            let is_listed = accesses.iter().any(|access| access.event == index);
            if is_listed || wanted.iter().any(|wanted| overlap(wanted, event)) {
                trace.related.push(index);
                if let Some(first) = locks.held(event.thread).first() {
                    trace.sections.insert(index, *first);
                }
            }
        }
        trace
    }

    fn section(&self, event: usize) -> Option<usize> {
        self.sections.get(&event).map(|section| section.since)
    }

    /// Where the thread of an access can be stopped before it; `same` is a section that it shall not be stopped before.
    fn stop(&self, access: &Access, same: Option<usize>) -> Stop {
        let object = self.events.get(access.event).map_or(access.object, |event| event.addr);
        let operation = self.instance(access.event, access.thread, access.pc, object);
        let section = self.sections.get(&access.event).filter(|section| Some(section.since) != same);
        let gate = section.map(|section| {
            let lock = self.events[section.since].addr;
            self.instance(section.since, access.thread, section.pc, lock)
        });
        Stop { operation, gate: gate.unwrap_or(operation) }
    }

    /// An event as the how many-th of its thread that it is.
    fn instance(&self, index: usize, thread: ThreadId, site: u64, object: u64) -> Instance {
        // A block is elsewhere when others were handed out before it.
        let moves = self.blocks.iter().any(|(begin, end)| (*begin..*end).contains(&object));
        let object = if moves { 0 } else { object };
        let is_like = |event: &&Event| {
            event.thread == thread
                && event.pc == site
                && (object == 0 || event.addr == object)
                && event.kind().is_some_and(|kind| !kind.only_names())
        };
        let before = self.events.iter().take(index).filter(is_like).count();
        Instance { site, object, number: u32::try_from(before + 1).unwrap_or(u32::MAX) }
    }

    /// Where the thread of an access can wait before it or before what it did to the variables earlier, a section each.
    fn beginnings(&self, access: &Access) -> Vec<Stop> {
        let mut stops = vec![self.stop(access, None)];
        let mut section = self.section(access.event);
        let own = self.related.iter().rev().filter(|index| **index < access.event);
        for index in own.filter(|index| self.events[**index].thread == access.thread) {
            let event = &self.events[*index];
            let (here, Some(kind)) = (self.section(*index), event.kind()) else { continue };
            if stops.len() > SECTIONS || here.is_some() && here == section {
                continue;
            }
            section = here;
            stops.push(self.stop(&Access::of(*index, event, kind), None));
        }
        stops
    }
}
