//! One execution as a page draws it: lanes of steps, with what connects them.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use threadbare_trace::{Event, EventKind, Outcome, ThreadId, TraceFile, kinds};

use super::links::{Link, Span, links, spans};
use crate::describe::meant_kind;
use crate::failure::{failure_thread, failure_word};
use crate::locks_held::{HeldLocks, LockNames};
use crate::terminal::{switch_text, titles};
use crate::timeline::{Row, rows_to_draw};
use crate::{Interleaving, Names as _, RecordedNames, SourcePlace, event_text, failure_site};

/// One execution, cut to what a page can hold.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageInterleaving {
    /// What people call it.
    title: String,
    /// The lanes.
    threads: Vec<Lane>,
    /// The steps, in order.
    steps: Vec<Step>,
    /// Places that steps name by number.
    places: Vec<PlaceText>,
    /// Objects that steps name by number.
    objects: Vec<String>,
    /// Stretches that were left out.
    gaps: Vec<Gap>,
    /// Arrows between steps.
    links: Vec<Link>,
    /// Times in which locks are held.
    spans: Vec<Span>,
    /// Context switches.
    switches: Vec<SwitchText>,
    /// How many steps there are in all.
    total: usize,
    /// How many preemptions there are, in all.
    preemptions: usize,
    /// How it failed.
    failure: Option<FailureText>,
    /// What is pointed out, in one sentence.
    shows: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct Lane {
    id: u16,
    title: String,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct Step {
    /// Its number among all steps that matter.
    number: usize,
    thread: u16,
    /// What sort of mark it has.
    mark: &'static str,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<usize>,
    #[serde(skip_serializing_if = "String::is_empty")]
    locks: String,
    #[serde(skip_serializing_if = "is_one")]
    times: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    marked: bool,
}

fn is_one(times: &usize) -> bool {
    *times == 1
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct PlaceText {
    #[serde(flatten)]
    place: SourcePlace,
    source: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct Gap {
    /// The place in the list of the step that comes after it.
    before: usize,
    count: usize,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct SwitchText {
    before: usize,
    from: u16,
    to: u16,
    preempts: bool,
    text: String,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct FailureText {
    kind: &'static str,
    thread: u16,
    message: String,
    place: Option<PlaceText>,
    locks: String,
}

impl PageInterleaving {
    /// The execution in a trace file, with some events pointed out, in about so many steps.
    pub fn of(title: &str, file: &TraceFile, marked: &[usize], most: usize) -> PageInterleaving {
        let passed = Outcome::Passed;
        let outcome = file.outcome.as_ref().unwrap_or(&passed);
        let execution = Interleaving { events: file.events(), switches: file.switches(), outcome, marked };
        let names = RecordedNames::new(file);
        let (rows, preemptions) = rows_to_draw(&execution, &names, most);
        let mut held = HeldLocks::of(execution.events, &names);
        let at_end = outcome.failure().map(|it| held.at_end(failure_thread(it)).to_vec()).unwrap_or_default();
        let during = rows.iter().filter_map(|row| match row {
            Row::Step { index, .. } => Some(held.during(*index)),
            _ => None,
        });
        let locks = LockNames::of(during.flatten().chain(&at_end), &names);
        let lane = |(id, title): (ThreadId, String)| Lane { id: id.0, title };
        let mut draft = Draft {
            names: &names,
            positions: BTreeMap::new(),
            place_numbers: HashMap::new(),
            object_numbers: HashMap::new(),
            interleaving: PageInterleaving {
                title: title.to_string(),
                threads: titles(&execution, &rows, &names).into_iter().map(lane).collect(),
                steps: Vec::new(),
                places: Vec::new(),
                objects: Vec::new(),
                gaps: Vec::new(),
                links: Vec::new(),
                spans: Vec::new(),
                switches: Vec::new(),
                total: 0,
                preemptions,
                failure: None,
                shows: file.shows.as_ref().map(|shown| shown.sentence.clone()),
            },
        };
        for row in &rows {
            draft.add(row, marked, |index| locks.text(held.during(index)));
        }
        let Draft { positions, mut interleaving, .. } = draft;
        interleaving.failure = outcome.failure().map(|failure| {
            let place = failure_site(failure, &names);
            FailureText {
                kind: failure_word(failure),
                thread: failure_thread(failure).0,
                message: failure.message.clone(),
                place: place.map(|place| PlaceText { source: names.source(&place), place }),
                locks: locks.text(&at_end),
            }
        });
        interleaving.links = links(file.events(), &positions);
        interleaving.spans = spans(file.events(), &names, &positions);
        interleaving
    }
}

struct Draft<'a> {
    names: &'a RecordedNames<'a>,
    /// The positions of the events that are drawn.
    positions: BTreeMap<usize, usize>,
    place_numbers: HashMap<(u64, u32), Option<usize>>,
    object_numbers: HashMap<String, usize>,
    interleaving: PageInterleaving,
}

impl Draft<'_> {
    fn add(&mut self, row: &Row, marked: &[usize], locks: impl Fn(usize) -> String) {
        let before = self.interleaving.steps.len();
        match row {
            Row::Step { index, number, event, times } => {
                self.positions.insert(*index, before);
                self.interleaving.total += times;
                let step = Step {
                    number: *number,
                    thread: event.thread.0,
                    mark: meant_kind(event, self.names).map_or("other", mark),
                    text: event_text(*index, event, self.names),
                    place: self.place(event),
                    object: self.object(*index, event),
                    locks: locks(*index),
                    times: *times,
                    marked: marked.contains(index),
                };
                self.interleaving.steps.push(step);
            }
            Row::Switch(switch) => self.interleaving.switches.push(SwitchText {
                before,
                from: switch.from.0,
                to: switch.to.0,
                preempts: row.preempts(),
                text: switch_text(switch, self.names),
            }),
            Row::Folded { count, .. } | Row::LeftOut { count } => {
                self.interleaving.total += count;
                self.interleaving.gaps.push(Gap { before, count: *count });
            }
        }
    }

    fn place(&mut self, event: &Event) -> Option<usize> {
        let key = (event.pc, event.context);
        if let Some(number) = self.place_numbers.get(&key) {
            return *number;
        }
        let number = self.names.place(event.pc, event.context).map(|place| {
            let text = PlaceText { source: self.names.source(&place), place };
            let known = self.interleaving.places.iter().position(|it| *it == text);
            known.unwrap_or_else(|| {
                self.interleaving.places.push(text);
                self.interleaving.places.len() - 1
            })
        });
        self.place_numbers.insert(key, number);
        number
    }

    fn object(&mut self, index: usize, event: &Event) -> Option<usize> {
        use EventKind::*;
        let has_object = match event.kind()? {
            Io | Start | Frame | Create | Join | LibraryCall => false,
            Exit | Detach | JoinFailed | Cancel | Fence | Signal | Process | End => true,
            kinds!(plain | atomic | lock | condition | barrier | semaphore | once | futex) => true,
            kinds!(heap | object | pause) => true,
        };
        let name = self.names.object_at(index, event.addr).filter(|_| has_object)?;
        let objects = &mut self.interleaving.objects;
        Some(*self.object_numbers.entry(name).or_insert_with_key(|name| {
            objects.push(name.clone());
            objects.len() - 1
        }))
    }
}

/// Steps of one sort look alike.
fn mark(kind: EventKind) -> &'static str {
    use EventKind::*;
    match kind {
        Read | AtomicRead | AtomicFailed | ReadRange => "read",
        Write | AtomicWrite | WriteRange => "write",
        AtomicUpdate => "update",
        Lock | ReadLock => "lock",
        Unlock => "unlock",
        CondWait | FutexWait | SemWait | BarrierArrive | Sleep | LockFailed | SemFailed => "wait",
        CondWake | CondTimeout | FutexWoken | FutexTimeout | BarrierLeave => "wake",
        CondSignal | CondBroadcast | FutexWake | SemPost | Signal => "signal",
        Create => "fork",
        Join | JoinFailed => "join",
        Exit => "exit",
        Fence | Start | Detach | Cancel | Yield | Frame | kinds!(once | heap | object | outside) => "other",
    }
}
