//! Writing a trace file.

use crate::{Event, Outcome, SwitchRecord, ThreadId};

use super::bytes::{checksum, put_difference, put_number, put_text};
use super::order::{Moment, moments};
use super::tables::{Object, Site};
use super::{HEADER, TraceFile, VERSION, tag};

/// Bits of an event's record.
pub(super) const VALUE_IS_OBJECT: u8 = 1;
pub(super) const OLD_IS_OBJECT: u8 = 2;

/// The content of the file.
pub(super) fn encode(file: &TraceFile) -> Vec<u8> {
    let mut writer = Writer { out: format!("{HEADER}{VERSION}\n").into_bytes(), ..Writer::default() };
    writer.head(file);
    for moment in moments(&file.events, &file.switches) {
        match moment {
            Moment::Event(index) => writer.event(file, index),
            Moment::Switch(index) => writer.switch(file, index),
        }
    }
    writer.tables(file, file.sites.rows().len(), file.objects.rows().len());
    writer.contexts(file, file.contexts.len());
    writer.end(file);
    writer.out
}

/// The bytes so far, and how much of each table is among them.
#[derive(Default)]
struct Writer {
    out: Vec<u8>,
    contexts: usize,
    sites: usize,
    objects: usize,
    /// The number of each thread's last operation.
    operations: Operations,
    /// The content of one record; its allocation is used again.
    content: Vec<u8>,
}

/// The number of each thread's last operation: the next one is nearly always close to it.
#[derive(Default)]
pub(super) struct Operations(Vec<u32>);

impl Operations {
    pub fn last(&mut self, thread: ThreadId) -> &mut u32 {
        if self.0.len() <= thread.index() {
            self.0.resize(thread.index() + 1, 0);
        }
        &mut self.0[thread.index()]
    }
}

impl Writer {
    fn record(&mut self, tag: u8, fill: impl FnOnce(&mut Vec<u8>)) {
        self.content.clear();
        fill(&mut self.content);
        self.out.push(tag);
        put_number(&mut self.out, self.content.len() as u64);
        self.out.extend_from_slice(&self.content);
    }

    fn head(&mut self, file: &TraceFile) {
        let bytes = |text: &str| text.as_bytes().to_vec();
        self.record(tag::PROGRAM, |out| out.extend(bytes(&file.program)));
        file.args.iter().for_each(|arg| self.record(tag::ARGUMENT, |out| out.extend(bytes(arg))));
        self.record(tag::BINARY, |out| out.extend(bytes(&file.binary)));
        if let Some(outcome) = &file.outcome {
            self.record(tag::OUTCOME, |out| put_outcome(out, outcome));
        }
        if let Some(shown) = &file.shows {
            let text = format!("{} {shown}", shown.word());
            self.record(tag::SHOWN, |out| out.extend(bytes(&text)));
        }
        for (address, name) in &file.routines {
            self.record(tag::ROUTINE, |out| {
                put_number(out, *address);
                put_text(out, name);
            });
        }
    }

    /// Writes the tables up to these numbers of rows.
    fn tables(&mut self, file: &TraceFile, sites: usize, objects: usize) {
        while self.sites < sites {
            let site = &file.sites.rows()[self.sites];
            self.contexts(file, (site.context as usize).min(file.contexts.len()));
            self.record(tag::SITE, |out| put_site(out, site));
            self.sites += 1;
        }
        while self.objects < objects {
            let object = &file.objects.rows()[self.objects];
            self.record(tag::OBJECT, |out| put_object(out, object));
            self.objects += 1;
        }
    }

    fn contexts(&mut self, file: &TraceFile, count: usize) {
        while self.contexts < count {
            let context = file.contexts[self.contexts];
            self.record(tag::CONTEXT, |out| {
                put_number(out, context.pc);
                put_number(out, u64::from(context.parent));
            });
            self.contexts += 1;
        }
    }

    fn event(&mut self, file: &TraceFile, index: usize) {
        let Event { value, old, op, thread, kind, size, .. } = file.events[index];
        let references = file.event_references[index];
        let rows = [Some(references.object), references.value, references.old];
        let objects = rows.into_iter().flatten().max().map_or(0, |row| row as usize + 1);
        self.tables(file, references.site as usize + 1, objects);
        let last = std::mem::replace(self.operations.last(thread), op);
        self.record(tag::EVENT, |out| {
            let bit = |row: Option<u32>, bit: u8| if row.is_some() { bit } else { 0 };
            out.push(kind);
            out.push(bit(references.value, VALUE_IS_OBJECT) | bit(references.old, OLD_IS_OBJECT));
            out.push(size);
            put_number(out, u64::from(thread.0));
            put_difference(out, i64::from(op) - i64::from(last));
            put_number(out, u64::from(references.site));
            put_number(out, u64::from(references.object));
            put_number(out, references.value.map_or(value, u64::from));
            put_number(out, references.old.map_or(old, u64::from));
        });
    }

    fn switch(&mut self, file: &TraceFile, index: usize) {
        let SwitchRecord { op, from, to, kind, reason, .. } = file.switches[index];
        let references = file.switch_references[index];
        self.tables(file, references.site as usize + 1, references.object as usize + 1);
        self.record(tag::SWITCH, |out| {
            out.push(kind);
            out.push(reason);
            put_number(out, u64::from(from.0));
            put_number(out, u64::from(to.0));
            put_number(out, u64::from(op));
            put_number(out, u64::from(references.site));
            put_number(out, u64::from(references.object));
        });
    }

    fn end(&mut self, file: &TraceFile) {
        let sum = checksum(&self.out);
        self.record(tag::END, |out| {
            put_number(out, file.events.len() as u64);
            put_number(out, file.switches.len() as u64);
            out.extend_from_slice(&sum.to_le_bytes());
        });
    }
}

fn put_outcome(out: &mut Vec<u8>, outcome: &Outcome) {
    match outcome {
        Outcome::Passed => out.push(0),
        Outcome::Failed(failure) => {
            out.extend([1, failure.kind as u8]);
            put_number(out, u64::from(failure.thread.0));
            put_text(out, &failure.message);
            failure.stack.iter().for_each(|pc| put_number(out, *pc));
        }
        Outcome::Cut(why) => {
            out.push(3);
            put_text(out, why);
        }
        Outcome::Uncontrolled(why) => {
            out.push(2);
            put_text(out, why);
        }
    }
}

/// Bits of a site's record.
pub(super) mod site {
    pub const NAMED: u8 = 1;
    pub const FUNCTION: u8 = 2;
    pub const FILE: u8 = 4;
    pub const LINE: u8 = 8;
    pub const COLUMN: u8 = 16;
    pub const SOURCE: u8 = 32;
    pub const IN_SYSTEM: u8 = 64;
    pub const LIBRARY_OPERATION: u8 = 128;
}

fn put_site(out: &mut Vec<u8>, row: &Site) {
    put_number(out, row.pc);
    put_number(out, u64::from(row.context));
    let Some(name) = &row.name else { return out.push(0) };
    let bit = |set: bool, bit: u8| if set { bit } else { 0 };
    out.push(
        site::NAMED
            | bit(name.function.is_some(), site::FUNCTION)
            | bit(name.file.is_some(), site::FILE)
            | bit(name.line.is_some(), site::LINE)
            | bit(name.column.is_some(), site::COLUMN)
            | bit(name.source.is_some(), site::SOURCE)
            | bit(name.in_system, site::IN_SYSTEM)
            | bit(name.library_operation.is_some(), site::LIBRARY_OPERATION),
    );
    put_text(out, &name.label);
    [&name.function, &name.file].into_iter().flatten().for_each(|text| put_text(out, text));
    [name.line, name.column].into_iter().flatten().for_each(|number| put_number(out, u64::from(number)));
    [&name.source, &name.library_operation].into_iter().flatten().for_each(|text| put_text(out, text));
}

fn put_object(out: &mut Vec<u8>, row: &Object) {
    put_number(out, row.address);
    out.push(u8::from(row.name.is_some()));
    row.name.iter().for_each(|name| out.extend_from_slice(name.as_bytes()));
}
