//! Steering: executions that stop at each decision, and snapshots in the middle of them.
//!
//! A stopped copy of the program can continue, or stay and let a copy of itself continue. Only one copy runs
//! at a time, and all of them end with the next ordinary run.

use std::collections::BTreeMap;

use threadbare_sched::{PolicySpec, Prefix, Specification as _};
use threadbare_trace::{Event, ThreadId};
use threadbare_wire::{LearnedRecord, OfferRecord, Order, ReplyKind, Request, flags};

use crate::execution::Execution;
use crate::replies::Answer;
use crate::server::{ANSWER_LIMIT, CopyReport, Server};
use crate::server_error::RunError;

/// A copy of the program that is stopped at a decision.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Snapshot(pub u32);

/// Where a steered copy came to a stop.
#[derive(Debug)]
pub enum Stop {
    /// At a decision.
    Paused(Pause),
    /// The program ended. The events are those since the last decision.
    Ended(Box<Execution>),
    /// The copy stayed where it was, as no copy can be made of it; the reason.
    Refused(String),
}

/// A decision, and what led to it.
#[derive(Debug)]
pub struct Pause {
    /// The copy that is stopped here.
    pub snapshot: Snapshot,
    /// The runnable threads, at least two, and what they would do.
    pub offers: Vec<OfferRecord>,
    /// What happened since the decision before.
    pub events: Vec<Event>,
    /// Memory found to be shared on the way.
    pub discovered: Vec<LearnedRecord>,
    /// Visible steps made so far in this execution.
    pub steps: u64,
    /// Threads created so far, main included.
    pub threads: u32,
}

/// The slot of the first copy, from which all others come.
pub(crate) const HOME: u32 = 0;

/// The copies that are stopped at decisions.
#[derive(Default)]
pub(crate) struct Copies {
    /// The server does nothing but wait for copies to end.
    pub active: bool,
    /// The first copy stays before the first step.
    pub at_beginning: bool,
    /// No copies can be made of it.
    pub refuses: bool,
    /// How much of shared memory it knows, and how many threads it has ready.
    pub known: (u64, u32),
    flags: u32,
    /// The stopped copies: slot and process.
    pub stopped: BTreeMap<u32, i32>,
    /// Copies that were asked to end and may not have seen it yet: slot and process.
    ending: Vec<(u32, i32)>,
}

impl Copies {
    fn free_slot(&self) -> u32 {
        self.free_slots().next().unwrap_or(u32::MAX)
    }

    /// The slots at which no copy takes orders.
    pub fn free_slots(&self) -> impl Iterator<Item = u32> + '_ {
        let is_taken = |slot: &u32| {
            self.stopped.contains_key(slot) || self.ending.iter().any(|(ending, _)| ending == slot)
        };
        (HOME..).filter(move |slot| !is_taken(slot))
    }

    /// A copy that does not run is gone.
    pub fn has_ended(&mut self, process: i32) {
        self.ending.retain(|(_, ending)| *ending != process);
        self.stopped.retain(|_, stopped| *stopped != process);
    }
}

impl Server {
    /// Begins a steered execution that follows these choices and stops at the next decision.
    /// `seed` decides what else is random; `flags` are those of the execution.
    pub fn steer(&mut self, seed: u64, choices: &[ThreadId], flags: u32) -> Result<Stop, RunError> {
        self.end_steering()?;
        let flags = self.options.flags | flags | flags::STEERED;
        let policy = PolicySpec::new(Prefix { choices: choices.to_vec() }, seed);
        self.prepare(&policy, flags)?;
        self.copies.active = true;
        self.copies.flags = flags;
        self.request(Request::Steer)?;
        self.await_stop(HOME)
    }

    /// Lets a stopped copy continue along these choices, up to the next decision.
    pub fn go_on(&mut self, snapshot: Snapshot, choices: &[ThreadId]) -> Result<Stop, RunError> {
        self.copies.stopped.remove(&snapshot.0);
        self.order(snapshot.0, Order::Go, 0, choices)?;
        self.await_stop(snapshot.0)
    }

    /// Lets a copy of a stopped copy continue along these choices, up to the next decision.
    pub fn split(&mut self, snapshot: Snapshot, choices: &[ThreadId]) -> Result<Stop, RunError> {
        let heir = self.copies.free_slot();
        self.order(snapshot.0, Order::Split, heir, choices)?;
        self.await_stop(heir)
    }

    /// Ends a stopped copy.
    pub fn discard(&mut self, snapshot: Snapshot) {
        if let Some(process) = self.copies.stopped.remove(&snapshot.0) {
            self.copies.ending.push((snapshot.0, process));
            self.memory.give_order(snapshot.0, Order::End, 0);
        }
    }

    /// How many copies are stopped at decisions.
    pub fn snapshots(&self) -> usize {
        self.copies.stopped.len()
    }

    /// Ends all stopped copies.
    pub fn end_steering(&mut self) -> Result<(), RunError> {
        if !self.copies.active {
            return Ok(());
        }
        let slots: Vec<u32> = self.copies.stopped.keys().copied().collect();
        for slot in slots {
            self.discard(Snapshot(slot));
        }
        loop {
            match self.replies.wait(&self.process, ANSWER_LIMIT)? {
                Answer::Reply { kind: ReplyKind::AllEnded, .. } => break,
                Answer::Reply { .. } => {}
                Answer::Silence | Answer::Ended => return Err(self.lost()),
            }
        }
        self.copies = Copies { refuses: self.copies.refuses, ..Copies::default() };
        self.has_output = true;
        Ok(())
    }

    fn order(&mut self, slot: u32, order: Order, heir: u32, choices: &[ThreadId]) -> Result<(), RunError> {
        self.write_parameters(&Prefix { choices: choices.to_vec() }.to_words())?;
        if self.memory.give_order(slot, order, heir) { Ok(()) } else { Err(self.lost()) }
    }

    /// Waits for the copy that is to stop in this slot.
    pub(crate) fn await_stop(&mut self, slot: u32) -> Result<Stop, RunError> {
        loop {
            let reply = self.await_report()?;
            match reply.kind {
                ReplyKind::Paused => return Ok(self.paused(slot, &reply)),
                ReplyKind::Refused => return Ok(Stop::Refused(self.memory.control().message.read())),
                ReplyKind::Ended => {
                    // A copy that was asked to end may do so while another runs.
                    if let Some(place) = self.copies.ending.iter().position(|(_, it)| *it == reply.process) {
                        self.copies.ending.swap_remove(place);
                        continue;
                    }
                    let run = self.collect(self.copies.flags, &reply)?;
                    return Ok(Stop::Ended(Box::new(run)));
                }
                ReplyKind::Serving | ReplyKind::AllEnded => return Err(self.lost()),
            }
        }
    }

    fn paused(&mut self, slot: u32, reply: &CopyReport) -> Stop {
        self.copies.stopped.insert(slot, reply.process);
        let (control, layout) = (self.memory.control(), self.memory.layout());
        // SAFETY: each area is read as the type the layout sizes it for; the types are plain
        // numbers and so valid for any content.
        let (offers, events, discovered) = unsafe {
            (
                self.memory.records::<OfferRecord>(layout.offers, control.offers),
                self.memory.records::<Event>(layout.events, control.events),
                self.memory.records::<LearnedRecord>(layout.discovered, control.learned_out),
            )
        };
        Stop::Paused(Pause {
            snapshot: Snapshot(slot),
            offers,
            events,
            discovered,
            steps: control.steps,
            threads: control.threads,
        })
    }
}
