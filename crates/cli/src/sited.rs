//! Executions whose steps are known by the programmer's own lines.
//!
//! A library's code is reached from many places: what `queue::empty` reads means one thing where a thread decides to
//! wait and another where it goes on. So, to compare executions, a step's place is its code together with
//! the line of the program's own from which it was reached.

use std::collections::HashMap;

use threadbare_analysis::Access;
use threadbare_target::{Execution, Symbols};
use threadbare_trace::{Event, SwitchRecord};
use threadbare_wire::ContextRecord;

/// An execution with its places in this sense.
pub struct Sited {
    /// What happened.
    pub events: Vec<Event>,
    /// Who went on when.
    pub switches: Vec<SwitchRecord>,
}

/// Gives steps their places, and takes them back.
pub struct Sites<'a> {
    symbols: &'a Symbols,
    /// A code address and context that has each place in the shown execution, or else a code address by itself.
    known: HashMap<u64, (u64, u32)>,
}

impl<'a> Sites<'a> {
    /// Knows the places of the execution that is shown.
    pub fn of(symbols: &'a Symbols, shown: &Execution) -> Sites<'a> {
        let mut sites = Sites { symbols, known: HashMap::new() };
        for event in &shown.events {
            let place = sites.place(event.pc, event.context, &shown.contexts);
            sites.known.entry(place).or_insert((event.pc, event.context));
        }
        sites
    }

    fn place(&self, pc: u64, context: u32, contexts: &[ContextRecord]) -> u64 {
        if pc == 0 || self.symbols.site(pc).is_own() {
            return pc;
        }
        let call = |number: u32| contexts.get((number as usize).checked_sub(1)?);
        let mut callers = std::iter::successors(call(context), |inner| call(inner.parent));
        let own = callers.find(|caller| self.symbols.site(caller.pc).is_own());
        own.map_or(pc, |own| pc ^ own.pc.rotate_left(32).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The execution with its places.
    pub fn sited(&mut self, run: &Execution) -> Sited {
        let mut cached: HashMap<(u64, u32), u64> = HashMap::new();
        let mut place = |pc: u64, context: u32| {
            *cached.entry((pc, context)).or_insert_with(|| {
                let place = self.place(pc, context, &run.contexts);
                self.known.entry(place).or_insert((pc, 0));
                place
            })
        };
        let events =
            run.events.iter().map(|event| Event { pc: place(event.pc, event.context), ..*event }).collect();
        let switches = run
            .switches
            .iter()
            .map(|switch| SwitchRecord { pc: place(switch.pc, switch.context), ..*switch })
            .collect();
        Sited { events, switches }
    }

    /// An access with its code address again.
    pub fn restored(&self, access: &Access, shown: &[Event]) -> Access {
        if let Some(event) = shown.get(access.event).filter(|event| event.thread == access.thread)
            && (event.pc == access.pc || self.known.get(&access.pc).is_some_and(|(pc, _)| *pc == event.pc))
        {
            return Access { pc: event.pc, context: event.context, ..*access };
        }
        let (pc, context) = self.known.get(&access.pc).copied().unwrap_or((access.pc, access.context));
        Access { pc, context, ..*access }
    }
}
