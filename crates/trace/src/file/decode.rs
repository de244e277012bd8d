//! Reading a trace file.

use crate::{ContextRecord, Event, Failure, FailureKind, Outcome, ShownFinding, SwitchRecord, ThreadId};

use super::bytes::{Source, checksum};
use super::encode::{OLD_IS_OBJECT, Operations, VALUE_IS_OBJECT, site};
use super::tables::{Object, Site};
use super::{
    EventReferences, HEADER, SiteName, SwitchReferences, TraceError, TraceErrorKind, TraceFile, VERSION, tag,
};

/// Reads the content of a file.
pub(super) fn decode(bytes: &[u8]) -> Result<TraceFile, TraceError> {
    let mut file = TraceFile::default();
    match records(bytes, &mut file) {
        Ok(()) => Ok(file),
        Err((offset, kind)) => Err(TraceError { offset: offset as u64, kind, partial: Box::new(file) }),
    }
}

type Problem = (usize, TraceErrorKind);

fn records(bytes: &[u8], file: &mut TraceFile) -> Result<(), Problem> {
    let mut at = header(bytes)?;
    let mut operations = Operations::default();
    loop {
        let begin = at;
        let cut = || (begin, TraceErrorKind::Truncated);
        let mut source = Source(&bytes[begin..]);
        let tag = source.byte().ok_or_else(cut)?;
        let length = source.fitting().ok_or_else(cut)?;
        let content = source.take(length).ok_or_else(cut)?;
        at = bytes.len() - source.0.len();
        let mut content = Source(content);
        if tag == tag::END {
            end(&mut content, file, checksum(&bytes[..begin])).map_err(|kind| (begin, kind))?;
            return if source.0.is_empty() { Ok(()) } else { Err((at, TraceErrorKind::Trailing)) };
        }
        let what = record(tag, &mut content, file, &mut operations);
        what.map_err(|what| (begin, TraceErrorKind::Record(what)))?;
    }
}

/// Checks the first line; gives its length.
fn header(bytes: &[u8]) -> Result<usize, Problem> {
    /// No version is longer than this; a foreign file may have no line ends at all.
    const LONGEST_VERSION: usize = 16;
    let head = &bytes[..bytes.len().min(HEADER.len())];
    if !HEADER.as_bytes().starts_with(head) {
        return Err((0, TraceErrorKind::Foreign));
    }
    let rest = &bytes[head.len()..];
    match rest.iter().take(LONGEST_VERSION).position(|byte| *byte == b'\n') {
        Some(length) if rest[..length] == *VERSION.as_bytes() => Ok(head.len() + length + 1),
        Some(length) => {
            let version = String::from_utf8_lossy(&rest[..length]).into_owned();
            Err((HEADER.len(), TraceErrorKind::Version(version)))
        }
        None if rest.len() < LONGEST_VERSION => Err((0, TraceErrorKind::Truncated)),
        None => Err((0, TraceErrorKind::Foreign)),
    }
}

/// Reads one record into the file. Nothing is added by a record that makes no sense.
fn record(
    tag: u8,
    content: &mut Source<'_>,
    file: &mut TraceFile,
    operations: &mut Operations,
) -> Result<(), &'static str> {
    match tag {
        tag::PROGRAM => file.program = content.rest().ok_or("the program's name is not text")?,
        tag::ARGUMENT => file.args.push(content.rest().ok_or("an argument is not text")?),
        tag::BINARY => file.binary = content.rest().ok_or("the fingerprint is not text")?,
        tag::OUTCOME => file.outcome = Some(whole(content, outcome).ok_or("the outcome makes no sense")?),
        tag::SHOWN => {
            let text = content.rest().ok_or("what it shows is not text")?;
            let read =
                |text: String| text.split_once(' ').and_then(|(word, rest)| ShownFinding::read(word, rest));
            file.shows = Some(read(text).ok_or("what it shows makes no sense")?);
        }
        tag::CONTEXT => file.contexts.push(whole(content, context).ok_or("a context makes no sense")?),
        tag::SITE => {
            file.sites.push(whole(content, site).ok_or("a site makes no sense")?);
        }
        tag::OBJECT => {
            file.objects.push(whole(content, object).ok_or("an object makes no sense")?);
        }
        tag::ROUTINE => {
            let routine = |content: &mut Source<'_>| Some((content.number()?, content.text()?));
            let (address, name) = whole(content, routine).ok_or("a routine makes no sense")?;
            file.routines.insert(address, name);
        }
        tag::EVENT => {
            let read = |content: &mut Source<'_>| event(content, file, operations);
            let (event, references) = whole(content, read).ok_or("an event makes no sense")?;
            *operations.last(event.thread) = event.op;
            file.events.push(event);
            file.event_references.push(references);
        }
        tag::SWITCH => {
            let read = |content: &mut Source<'_>| switch(content, file);
            let (switch, references) = whole(content, read).ok_or("a switch makes no sense")?;
            file.switches.push(switch);
            file.switch_references.push(references);
        }
        _ => return Err("a record of unknown kind"),
    }
    Ok(())
}

/// Reads something that must take up the whole record.
fn whole<'a, T>(content: &mut Source<'a>, read: impl FnOnce(&mut Source<'a>) -> Option<T>) -> Option<T> {
    let thing = read(content)?;
    content.0.is_empty().then_some(thing)
}

fn outcome(content: &mut Source<'_>) -> Option<Outcome> {
    Some(match content.byte()? {
        0 => Outcome::Passed,
        1 => {
            let kind = FailureKind::from_number(content.byte()?)?;
            let thread = ThreadId(content.fitting()?);
            let message = content.text()?;
            let mut stack = Vec::new();
            while !content.0.is_empty() {
                stack.push(content.number()?);
            }
            Outcome::Failed(Failure { kind, message, thread, stack })
        }
        2 => Outcome::Uncontrolled(content.text()?),
        3 => Outcome::Cut(content.text()?),
        _ => return None,
    })
}

fn context(content: &mut Source<'_>) -> Option<ContextRecord> {
    Some(ContextRecord { pc: content.number()?, parent: content.fitting()?, spare: 0 })
}

fn site(content: &mut Source<'_>) -> Option<Site> {
    let (pc, context) = (content.number()?, content.fitting()?);
    let bits = content.byte()?;
    if bits & site::NAMED == 0 {
        return (bits == 0).then_some(Site { pc, context, name: None });
    }
    let label = content.text()?;
    let mut text = |bit: u8| if bits & bit == 0 { Some(None) } else { content.text().map(Some) };
    let (function, file) = (text(site::FUNCTION)?, text(site::FILE)?);
    let mut number = |bit: u8| if bits & bit == 0 { Some(None) } else { content.fitting().map(Some) };
    let (line, column) = (number(site::LINE)?, number(site::COLUMN)?);
    let mut text = |bit: u8| if bits & bit == 0 { Some(None) } else { content.text().map(Some) };
    let (source, library_operation) = (text(site::SOURCE)?, text(site::LIBRARY_OPERATION)?);
    let in_system = bits & site::IN_SYSTEM != 0;
    Some(Site {
        pc,
        context,
        name: Some(SiteName { label, function, file, line, column, in_system, library_operation, source }),
    })
}

fn object(content: &mut Source<'_>) -> Option<Object> {
    let address = content.number()?;
    let name = match content.byte()? {
        0 => None,
        1 => Some(content.rest()?),
        _ => return None,
    };
    Some(Object { address, name })
}

fn event(
    content: &mut Source<'_>,
    file: &TraceFile,
    operations: &mut Operations,
) -> Option<(Event, EventReferences)> {
    let (kind, bits, size) = (content.byte()?, content.byte()?, content.byte()?);
    let thread = ThreadId(content.fitting()?);
    let op = u32::try_from(i64::from(*operations.last(thread)).checked_add(content.difference()?)?).ok()?;
    let site_row = content.fitting()?;
    let object_row = content.fitting()?;
    let site = file.sites.get(site_row)?;
    let object = file.objects.get(object_row)?;
    let mut value_or_object = |bit: u8| -> Option<(u64, Option<u32>)> {
        let number = content.number()?;
        if bits & bit == 0 {
            return Some((number, None));
        }
        let row = u32::try_from(number).ok()?;
        Some((file.objects.get(row)?.address, Some(row)))
    };
    let (value, value_row) = value_or_object(VALUE_IS_OBJECT)?;
    let (old, old_row) = value_or_object(OLD_IS_OBJECT)?;
    let event = Event {
        pc: site.pc,
        addr: object.address,
        value,
        old,
        op,
        thread,
        kind,
        size,
        context: site.context,
        flags: 0,
    };
    Some((event, EventReferences { site: site_row, object: object_row, value: value_row, old: old_row }))
}

fn switch(content: &mut Source<'_>, file: &TraceFile) -> Option<(SwitchRecord, SwitchReferences)> {
    let (kind, reason) = (content.byte()?, content.byte()?);
    let (from, to) = (ThreadId(content.fitting()?), ThreadId(content.fitting()?));
    let op = content.fitting()?;
    let references = SwitchReferences { site: content.fitting()?, object: content.fitting()? };
    let site = file.sites.get(references.site)?;
    let addr = file.objects.get(references.object)?.address;
    let switch =
        SwitchRecord { pc: site.pc, op, from, to, addr, kind, reason, spare: 0, context: site.context };
    Some((switch, references))
}

/// Compares the last record with what was read.
fn end(content: &mut Source<'_>, file: &TraceFile, sum: u64) -> Result<(), TraceErrorKind> {
    let read = |content: &mut Source<'_>| {
        let counts = (content.number()?, content.number()?);
        let sum = u64::from_le_bytes(content.take(8)?.try_into().ok()?);
        Some((counts, sum))
    };
    let (counts, written) =
        whole(content, read).ok_or(TraceErrorKind::Record("the last record makes no sense"))?;
    if counts == (file.events.len() as u64, file.switches.len() as u64) && sum == written {
        Ok(())
    } else {
        Err(TraceErrorKind::Checksum)
    }
}
