//! Between executions with live names and trace files that carry theirs.

use std::collections::HashMap;

use threadbare_trace::{
    ContextRecord, Event, EventKind, EventNames, Moment, Outcome, SiteName, TraceFile, kinds, moments,
};

use crate::failure::blocked_thread;
use crate::{Interleaving, Names, SourcePlace, name_addresses};

/// Writes an execution down with all its names. The caller adds what program it was.
pub fn record(execution: &Interleaving<'_>, contexts: &[ContextRecord], names: &dyn Names) -> TraceFile {
    let mut file = TraceFile::default();
    let mut outcome = execution.outcome.clone();
    if let Outcome::Failed(failure) = &mut outcome {
        if let Some(blocked) = blocked_thread(failure) {
            (failure.thread, failure.stack) = (blocked.thread, vec![blocked.pc]);
            file.name_site(blocked.pc, 0, || site_name(blocked.pc, blocked.context, names));
        }
        failure.message = name_addresses(&failure.message, names);
        failure.stack.iter().for_each(|&pc| name_site(&mut file, pc, 0, names));
    }
    file.outcome = Some(outcome);
    for moment in moments(execution.events, execution.switches) {
        match moment {
            Moment::Event(index) => {
                let event = execution.events[index];
                push_contexts(&mut file, event.context, contexts, names);
                name_site(&mut file, event.pc, event.context, names);
                if event.kind() == Some(EventKind::Start)
                    && let Some(routine) = names.routine(event.old)
                {
                    file.name_routine(event.old, &routine);
                }
                file.push_event(event, &event_names(index, &event, names));
            }
            Moment::Switch(index) => {
                let switch = execution.switches[index];
                push_contexts(&mut file, switch.context, contexts, names);
                name_site(&mut file, switch.pc, switch.context, names);
                file.push_switch(switch, names.object(switch.addr).as_deref());
            }
        }
    }
    file
}

/// Adds contexts up to this number, each with the name of its place.
fn push_contexts(file: &mut TraceFile, upto: u32, contexts: &[ContextRecord], names: &dyn Names) {
    let known = file.contexts().len();
    for context in contexts.get(known..(upto as usize).min(contexts.len())).unwrap_or_default() {
        file.push_context(*context);
        name_site(file, context.pc, 0, names);
    }
}

fn name_site(file: &mut TraceFile, pc: u64, context: u32, names: &dyn Names) {
    file.name_site(pc, context, || site_name(pc, context, names));
}

fn site_name(pc: u64, context: u32, names: &dyn Names) -> Option<SiteName> {
    let place = names.place(pc, context)?;
    let source = names.source(&place);
    let SourcePlace { label, function, file, line, column, in_system, library_operation } = place;
    Some(SiteName { label, function, file, line, column, in_system, library_operation, source })
}

/// The names that the texts about an event ask for.
fn event_names(index: usize, event: &Event, names: &dyn Names) -> EventNames {
    use EventKind::*;
    let Some(kind) = event.kind() else { return EventNames::default() };
    let pointee = |value: u64| (event.size == 8).then(|| names.pointee_at(index, value)).flatten();
    let object = match kind {
        // These have something else in place of an object's address.
        Io | Start | Frame | LibraryCall => None,
        Create | Exit | Join | Detach | JoinFailed | Cancel | Fence | Signal | Process | End => {
            names.object_at(index, event.addr)
        }
        kinds!(plain | atomic | lock | condition | barrier | semaphore) => names.object_at(index, event.addr),
        kinds!(once | futex | heap | object | pause) => names.object_at(index, event.addr),
    };
    let (value, old) = match kind {
        Read | AtomicRead | AtomicFailed => (pointee(event.value), None),
        Write | AtomicWrite | AtomicUpdate => (pointee(event.value), pointee(event.old)),
        CondWait | CondWake | CondTimeout => (names.object_at(index, event.value), None),
        ReadRange | WriteRange | CondSignal | CondBroadcast | Fence | Signal | Frame => (None, None),
        kinds!(lock | barrier | semaphore | once | futex | thread) => (None, None),
        kinds!(heap | object | pause | outside) => (None, None),
    };
    EventNames { object, value, old }
}

/// The names in a trace file.
pub struct RecordedNames<'a> {
    file: &'a TraceFile,
    /// What switches were about, by address.
    objects: HashMap<u64, &'a str>,
    /// The text of lines, by file and line.
    sources: HashMap<(&'a str, u32), &'a str>,
}

impl<'a> RecordedNames<'a> {
    /// The names in this file.
    pub fn new(file: &'a TraceFile) -> RecordedNames<'a> {
        let objects = file.switches().iter().enumerate();
        let objects = objects.filter_map(|(index, switch)| Some((switch.addr, file.switch_object(index)?)));
        let sources = file
            .sites()
            .filter_map(|site| Some(((site.file.as_deref()?, site.line?), site.source.as_deref()?)));
        RecordedNames { file, objects: objects.collect(), sources: sources.collect() }
    }
}

impl Names for RecordedNames<'_> {
    fn place(&self, pc: u64, context: u32) -> Option<SourcePlace> {
        let SiteName { label, function, file, line, column, in_system, library_operation, .. } =
            self.file.site(pc, context)?.clone();
        Some(SourcePlace { label, function, file, line, column, in_system, library_operation })
    }

    fn object(&self, addr: u64) -> Option<String> {
        self.objects.get(&addr).map(|name| name.to_string())
    }

    fn object_at(&self, event: usize, addr: u64) -> Option<String> {
        let at = self.file.events().get(event)?;
        let name = if at.addr == addr { self.file.object(event) } else { self.file.value_name(event) };
        name.map(str::to_string)
    }

    fn pointee_at(&self, event: usize, value: u64) -> Option<String> {
        let at = self.file.events().get(event)?;
        let name = if at.value == value { self.file.value_name(event) } else { self.file.old_name(event) };
        name.map(str::to_string)
    }

    fn routine(&self, addr: u64) -> Option<String> {
        self.file.routine(addr).map(str::to_string)
    }

    fn source(&self, place: &SourcePlace) -> Option<String> {
        self.sources.get(&(place.file.as_deref()?, place.line?)).map(|text| text.to_string())
    }
}
