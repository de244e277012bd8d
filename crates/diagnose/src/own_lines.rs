//! Executions whose steps are known by the programmer's own lines.
//!
//! A library's code is reached from many places: what `queue::empty` reads means one thing where a thread decides to
//! wait and another where it continues. So, to compare executions, a step's place is its code together with
//! the line of the program's own from which it was reached.

use std::collections::HashMap;

use threadbare_detect::Access;
use threadbare_target::{Execution, Symbols};
use threadbare_trace::{Event, SwitchRecord};
use threadbare_wire::ContextRecord;

/// An execution with its places in this sense.
pub struct LocatedExecution {
    /// What happened.
    pub events: Vec<Event>,
    /// Which thread was scheduled when.
    pub switches: Vec<SwitchRecord>,
}

/// Where a place is.
#[derive(Clone, Copy)]
struct Known {
    /// The code.
    pc: u64,
    /// The line of the program's own from which it is reached, as a code address.
    own: u64,
    /// The calls in progress in the shown execution, if it comes there.
    context: Option<u32>,
    /// A library does it for itself.
    is_housekeeping: bool,
}

/// Where libraries count who uses what, note who panicked, and pass on results: what the program does with its own
/// memory lies elsewhere.
const HOUSEKEEPING: [&str; 6] = [
    "/alloc/src/sync.rs",
    "/alloc/src/rc.rs",
    "/std/src/sync/poison.rs",
    "/std/src/thread/",
    "/bits/shared_ptr_base.h",
    "/ext/atomicity.h",
];

/// The calls in progress, from the inside out, each by where it returns to.
fn calls(pc: u64, context: u32, contexts: &[ContextRecord]) -> impl Iterator<Item = u64> {
    let call = |number: u32| contexts.get((number as usize).checked_sub(1)?);
    let callers = std::iter::successors(call(context), move |inner| call(inner.parent));
    std::iter::once(pc).filter(|pc| *pc != 0).chain(callers.map(|caller| caller.pc))
}

/// Gives steps their places, and takes them back.
pub struct OwnLines<'a> {
    symbols: &'a Symbols,
    known: HashMap<u64, Known>,
}

impl<'a> OwnLines<'a> {
    /// Knows the places of the execution that is shown.
    pub fn of(symbols: &'a Symbols, shown: &Execution) -> OwnLines<'a> {
        let mut lines = OwnLines { symbols, known: HashMap::new() };
        for event in &shown.events {
            let place = lines.place(event.pc, event.context, &shown.contexts);
            if let Some(known) = lines.known.get_mut(&place) {
                known.context.get_or_insert(event.context);
            }
        }
        lines
    }

    fn place(&mut self, pc: u64, context: u32, contexts: &[ContextRecord]) -> u64 {
        let own = self.own(pc, context, contexts);
        let place = if own == pc { pc } else { pc ^ own.rotate_left(32).wrapping_mul(0x9e37_79b9_7f4a_7c15) };
        if !self.known.contains_key(&place) {
            let is_housekeeping = self.is_reached_by_housekeeping(pc, context, contexts);
            self.known.insert(place, Known { pc, own, context: None, is_housekeeping });
        }
        place
    }

    fn own(&self, pc: u64, context: u32, contexts: &[ContextRecord]) -> u64 {
        calls(pc, context, contexts).find(|pc| self.symbols.own_frame(*pc).is_some()).unwrap_or(pc)
    }

    /// Whether such code lies between a step and the program's own line.
    fn is_reached_by_housekeeping(&self, pc: u64, context: u32, contexts: &[ContextRecord]) -> bool {
        let frames = calls(pc, context, contexts).flat_map(|pc| self.symbols.frames(pc));
        let mut within = frames.take_while(|frame| !frame.is_own()).filter_map(|frame| frame.file);
        within.any(|file| HOUSEKEEPING.iter().any(|part| file.contains(part)))
    }

    /// Whether a library makes an access, given with its place, for itself.
    pub fn is_housekeeping(&self, access: &Access) -> bool {
        self.known.get(&access.pc).is_some_and(|known| known.is_housekeeping)
    }

    /// The execution with its places.
    pub fn locate(&mut self, run: &Execution) -> LocatedExecution {
        let mut cached: HashMap<(u64, u32), u64> = HashMap::new();
        let mut place = |pc: u64, context: u32| {
            *cached.entry((pc, context)).or_insert_with(|| self.place(pc, context, &run.contexts))
        };
        let event = |event: &Event| Event { pc: place(event.pc, event.context), ..*event };
        let events = run.events.iter().map(event).collect();
        let switch = |it: &SwitchRecord| SwitchRecord { pc: place(it.pc, it.context), ..*it };
        let switches = run.switches.iter().map(switch).collect();
        LocatedExecution { events, switches }
    }

    /// An access at its place with the code that makes it.
    pub fn in_code(&self, access: &Access) -> Access {
        match self.known.get(&access.pc) {
            Some(Known { pc, context, .. }) => Access { pc: *pc, context: context.unwrap_or(0), ..*access },
            None => *access,
        }
    }

    /// An access at its place with the line that a person is to be shown. The calls that lead to it are known only if the
    /// shown execution makes them.
    pub fn in_source(&self, access: &Access) -> Access {
        match self.known.get(&access.pc) {
            Some(Known { own, context: None, .. }) => Access { pc: *own, context: 0, ..*access },
            _ => self.in_code(access),
        }
    }
}
