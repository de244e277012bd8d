//! An execution for the trace viewers that read Chrome's trace-event JSON, such as Perfetto.
//!
//! Each thread is a track and each step a slice on it. Real time means nothing under a controlled
//! schedule, so the clock counts steps. Locks are spans of their own, arrows lead along context
//! switches and from a write to the reads of other threads that saw it, and the failure is an instant.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};

use serde_json::{Value, json};
use threadbare_happens_before::{LockChange, LockSets};
use threadbare_trace::{Event, Moment, Outcome, SwitchRecord, ThreadId, TraceFile, moments};

use crate::describe::meant_kind;
use crate::locks_held::lock_name;
use crate::{Names as _, RecordedNames, event_text};

/// Microseconds a step takes on the viewer's clock: room for arrows to begin and end inside it.
const STEP: usize = 10;
/// All tracks belong to one process.
const PROCESS: u32 = 1;

/// Writes the whole JSON object.
pub fn write_perfetto(file: &TraceFile, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"displayTimeUnit\":\"ms\",\"otherData\":")?;
    let about = json!({
        "tool": "threadbare",
        "program": file.program,
        "args": file.args,
        "clock": format!("{STEP} µs a step; it is no real time"),
    });
    serde_json::to_writer(&mut *out, &about)?;
    out.write_all(b",\"traceEvents\":[\n")?;
    let mut writer = Writer::new(file, out);
    writer.titles()?;
    for moment in moments(file.events(), file.switches()) {
        match moment {
            Moment::Event(index) => writer.event(index, &file.events()[index])?,
            Moment::Switch(index) => writer.switch(&file.switches()[index]),
        }
    }
    writer.ending()?;
    out.write_all(b"\n]}\n")
}

/// What the events so far leave open.
struct Writer<'a> {
    file: &'a TraceFile,
    names: RecordedNames<'a>,
    out: &'a mut dyn Write,
    any: bool,
    arrows: usize,
    /// The last step of each thread.
    last: HashMap<ThreadId, usize>,
    /// The step from which a switch leads to a thread.
    switched: HashMap<ThreadId, usize>,
    /// The last write to an address.
    written: HashMap<u64, (usize, ThreadId)>,
    locks: LockSets,
    /// The locks whose spans are open, with their names.
    held: BTreeMap<(u64, ThreadId), String>,
}

impl<'a> Writer<'a> {
    fn new(file: &'a TraceFile, out: &'a mut dyn Write) -> Writer<'a> {
        Writer {
            file,
            names: RecordedNames::new(file),
            out,
            any: false,
            arrows: 0,
            last: HashMap::new(),
            switched: HashMap::new(),
            written: HashMap::new(),
            locks: LockSets::default(),
            held: BTreeMap::new(),
        }
    }

    fn put(&mut self, event: &Value) -> io::Result<()> {
        if std::mem::replace(&mut self.any, true) {
            self.out.write_all(b",\n")?;
        }
        Ok(serde_json::to_writer(&mut *self.out, event)?)
    }

    fn titles(&mut self) -> io::Result<()> {
        self.put(&json!({
            "ph": "M", "name": "process_name", "pid": PROCESS, "args": { "name": self.file.program },
        }))?;
        let failed = self.file.outcome.as_ref().and_then(Outcome::failure).map(|failure| failure.thread);
        let threads: BTreeSet<ThreadId> =
            self.file.events().iter().map(|event| event.thread).chain(failed).collect();
        for thread in threads {
            let main = if thread == ThreadId::MAIN { "main" } else { "" };
            let routine = self.file.routine_of(thread).unwrap_or(main);
            let name = format!("{thread} {routine}");
            let (pid, tid) = (PROCESS, track(thread));
            self.put(&json!({
                "ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": { "name": name.trim_end() },
            }))?;
            self.put(&json!({
                "ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid,
                "args": { "sort_index": thread.0 },
            }))?;
        }
        Ok(())
    }

    fn event(&mut self, index: usize, event: &Event) -> io::Result<()> {
        let place = self.names.place(event.pc, event.context);
        let source = place.as_ref().and_then(|place| self.names.source(place));
        self.put(&json!({
            "ph": "X", "cat": "step", "name": event_text(index, event, &self.names),
            "pid": PROCESS, "tid": track(event.thread), "ts": index * STEP, "dur": STEP,
            "args": {
                "step": index + 1,
                "at": place.as_ref().map(|place| place.to_string()),
                "function": place.as_ref().and_then(|place| place.function.clone()),
                "source": source.map(|text| text.trim().to_string()),
            },
        }))?;
        if let Some(from) = self.switched.remove(&event.thread) {
            self.arrow("switch", from, self.file.events()[from].thread, index, event.thread)?;
        }
        self.reads_from(index, event)?;
        self.lock_spans(index, event)?;
        self.last.insert(event.thread, index);
        Ok(())
    }

    /// Takes note of a switch; its arrow is drawn once the new thread makes a step.
    fn switch(&mut self, switch: &SwitchRecord) {
        if let Some(from) = self.last.get(&switch.from) {
            self.switched.insert(switch.to, *from);
        }
    }

    fn reads_from(&mut self, index: usize, event: &Event) -> io::Result<()> {
        let Some(kind) = event.kind() else { return Ok(()) };
        if kind.reads_value()
            && let Some((from, writer)) = self.written.get(&event.addr).copied()
            && writer != event.thread
        {
            self.arrow("reads from", from, writer, index, event.thread)?;
        }
        if kind.writes_value() {
            self.written.insert(event.addr, (index, event.thread));
        }
        Ok(())
    }

    fn lock_spans(&mut self, index: usize, event: &Event) -> io::Result<()> {
        let Some(kind) = meant_kind(event, &self.names) else { return Ok(()) };
        match self.locks.observe(index, event, kind) {
            Some(LockChange::Taken(lock, _)) => {
                let name = lock_name(index, lock, &self.names);
                self.hold(index, lock, event.thread, name)
            }
            Some(LockChange::Released(held)) => self.let_go(index, held.lock, event.thread),
            None => Ok(()),
        }
    }

    fn hold(&mut self, index: usize, lock: u64, thread: ThreadId, name: String) -> io::Result<()> {
        self.put(&span("b", index * STEP, lock, thread, &name))?;
        self.held.insert((lock, thread), name);
        Ok(())
    }

    fn let_go(&mut self, index: usize, lock: u64, thread: ThreadId) -> io::Result<()> {
        match self.held.remove(&(lock, thread)) {
            Some(name) => self.put(&span("e", (index + 1) * STEP, lock, thread, &name)),
            None => Ok(()),
        }
    }

    /// Draws an arrow between two steps.
    fn arrow(
        &mut self,
        why: &str,
        from: usize,
        from_thread: ThreadId,
        to: usize,
        to_thread: ThreadId,
    ) -> io::Result<()> {
        self.arrows += 1;
        let id = self.arrows;
        self.put(&json!({
            "ph": "s", "cat": why, "name": why, "id": id,
            "pid": PROCESS, "tid": track(from_thread), "ts": from * STEP + STEP - 1,
        }))?;
        self.put(&json!({
            "ph": "f", "bp": "e", "cat": why, "name": why, "id": id,
            "pid": PROCESS, "tid": track(to_thread), "ts": to * STEP + 1,
        }))
    }

    fn ending(&mut self) -> io::Result<()> {
        let end = self.file.events().len() * STEP;
        for ((lock, thread), name) in std::mem::take(&mut self.held) {
            self.put(&span("e", end, lock, thread, &name))?;
        }
        let Some(failure) = self.file.outcome.as_ref().and_then(Outcome::failure) else { return Ok(()) };
        self.put(&json!({
            "ph": "i", "s": "g", "cat": "failure", "name": format!("✗ {}", crate::failure::failure_word(failure)),
            "pid": PROCESS, "tid": track(failure.thread), "ts": end,
            "args": { "message": failure.message },
        }))
    }
}

/// One end of the time in which a thread holds a lock.
fn span(phase: &str, at: usize, lock: u64, thread: ThreadId, name: &str) -> Value {
    json!({
        "ph": phase, "cat": "lock", "name": format!("{thread} holds {name}"),
        "id": format!("{lock:#x} {thread}"), "pid": PROCESS, "tid": track(thread), "ts": at,
    })
}

/// The number of a thread's track; 0 means something else to viewers.
fn track(thread: ThreadId) -> u32 {
    u32::from(thread.0) + 1
}
