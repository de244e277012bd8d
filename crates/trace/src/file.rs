//! Trace files: one execution with all its names, to be read on any machine.
//!
//! The file begins with a line of text (`threadbare trace 1`) and continues in records, each with a
//! tag, a length and its content. What an event refers to comes before the event, and how the
//! execution ended comes before all events, so a file that was cut short still holds everything up to the cut.
//! The last record holds counts and a checksum.

mod bytes;
mod decode;
mod encode;
mod error;
mod order;
mod tables;

pub use error::{TraceError, TraceErrorKind};
pub use order::{Moment, moments};
pub use tables::SiteName;

use std::collections::BTreeMap;

use crate::{ContextRecord, Event, EventKind, Outcome, ShownFinding, SwitchRecord};
use tables::{Objects, Sites};

/// What every trace file begins with; the version and a line end follow.
const HEADER: &str = "threadbare trace ";
/// The version that is written and read.
const VERSION: &str = "1";

/// What kinds of record there are, by number.
mod tag {
    pub const PROGRAM: u8 = 1;
    pub const ARGUMENT: u8 = 2;
    pub const BINARY: u8 = 3;
    pub const OUTCOME: u8 = 4;
    pub const CONTEXT: u8 = 5;
    pub const SITE: u8 = 6;
    pub const OBJECT: u8 = 7;
    pub const ROUTINE: u8 = 8;
    pub const EVENT: u8 = 9;
    pub const SWITCH: u8 = 10;
    pub const END: u8 = 11;
    pub const SHOWN: u8 = 12;
}

/// One execution with the names of all that its events are about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TraceFile {
    /// The program as the user named it.
    pub program: String,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// A fingerprint of the executable; empty if it is not known.
    pub binary: String,
    /// How it ended; none where the file was cut before it says so. Objects and places in the
    /// failure's message have their names already.
    pub outcome: Option<Outcome>,
    /// The finding that it shows, or what its failure is put down to.
    pub shows: Option<ShownFinding>,
    contexts: Vec<ContextRecord>,
    events: Vec<Event>,
    switches: Vec<SwitchRecord>,
    routines: BTreeMap<u64, String>,
    sites: Sites,
    objects: Objects,
    event_references: Vec<EventReferences>,
    switch_references: Vec<SwitchReferences>,
}

/// Rows of the tables that an event refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct EventReferences {
    site: u32,
    object: u32,
    /// Where the value is an address with a name.
    value: Option<u32>,
    /// Where the value before is an address with a name.
    old: Option<u32>,
}

/// Rows of the tables that a switch refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct SwitchReferences {
    site: u32,
    object: u32,
}

/// What people call the addresses in one event.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EventNames {
    /// The memory location or synchronization object.
    pub object: Option<String>,
    /// What `value` is the address of: a pointee, or the mutex of a condition wait.
    pub value: Option<String>,
    /// What `old` is the address of.
    pub old: Option<String>,
}

impl TraceFile {
    /// The calls in progress that events and switches refer to; the first one has number 1.
    pub fn contexts(&self) -> &[ContextRecord] {
        &self.contexts
    }

    /// What happened, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The context switches, in order.
    pub fn switches(&self) -> &[SwitchRecord] {
        &self.switches
    }

    /// The place of a code address with the calls in progress there.
    pub fn site(&self, pc: u64, context: u32) -> Option<&SiteName> {
        self.sites.find(pc, context)
    }

    /// All places that have a name.
    pub fn sites(&self) -> impl Iterator<Item = &SiteName> {
        self.sites.rows().iter().filter_map(|site| site.name.as_ref())
    }

    /// The name of the object of the event with this index.
    pub fn object(&self, event: usize) -> Option<&str> {
        self.objects.name(self.event_references.get(event)?.object)
    }

    /// The name of what the event's value is the address of.
    pub fn value_name(&self, event: usize) -> Option<&str> {
        self.objects.name(self.event_references.get(event)?.value?)
    }

    /// The name of what the event's old value is the address of.
    pub fn old_name(&self, event: usize) -> Option<&str> {
        self.objects.name(self.event_references.get(event)?.old?)
    }

    /// The name of the object before whose use the switch with this index happened.
    pub fn switch_object(&self, switch: usize) -> Option<&str> {
        self.objects.name(self.switch_references.get(switch)?.object)
    }

    /// The function that begins at an address, if a thread began in it.
    pub fn routine(&self, address: u64) -> Option<&str> {
        self.routines.get(&address).map(String::as_str)
    }

    /// The function a thread began in.
    pub fn routine_of(&self, thread: crate::ThreadId) -> Option<&str> {
        let start = |event: &&Event| {
            event.thread == thread && event.kind() == Some(EventKind::Start) && event.old != 0
        };
        self.events.iter().find(start).and_then(|event| self.routine(event.old))
    }

    /// Adds a call in progress; it gets the next number.
    pub fn push_context(&mut self, context: ContextRecord) {
        self.contexts.push(context);
    }

    /// Adds the name of a code address, unless it has one.
    pub fn name_site(&mut self, pc: u64, context: u32, name: impl FnOnce() -> Option<SiteName>) {
        self.sites.row(pc, context, name);
    }

    /// Adds the name of a function that threads begin in.
    pub fn name_routine(&mut self, address: u64, name: &str) {
        self.routines.insert(address, name.to_string());
    }

    /// Adds an event with its names. Its place is named by [`name_site`](Self::name_site) before.
    pub fn push_event(&mut self, event: Event, names: &EventNames) {
        let named = |name: &Option<String>, address: u64, objects: &mut Objects| {
            name.as_ref().map(|name| objects.row(address, Some(name)))
        };
        let references = EventReferences {
            site: self.sites.row(event.pc, event.context, || None),
            object: self.objects.row(event.addr, names.object.as_deref()),
            value: named(&names.value, event.value, &mut self.objects),
            old: named(&names.old, event.old, &mut self.objects),
        };
        self.events.push(event);
        self.event_references.push(references);
    }

    /// Adds a switch with the name of its object.
    pub fn push_switch(&mut self, switch: SwitchRecord, object: Option<&str>) {
        let references = SwitchReferences {
            site: self.sites.row(switch.pc, switch.context, || None),
            object: self.objects.row(switch.addr, object),
        };
        self.switches.push(switch);
        self.switch_references.push(references);
    }

    /// The content of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode::encode(self)
    }

    /// Reads the content of a file; an error carries what could be read.
    pub fn read(bytes: &[u8]) -> Result<TraceFile, TraceError> {
        decode::decode(bytes)
    }
}
