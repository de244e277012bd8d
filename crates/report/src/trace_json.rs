//! A trace file as one JSON object, for scripts.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use serde_json::{Value, json};
use threadbare_happens_before::{HeldLock, Mode};
use threadbare_trace::{EventKind, Outcome, SwitchReason, ThreadId, TraceFile};

use crate::locks_held::{HeldLocks, lock_name};
use crate::{Names as _, RecordedNames, about_switch, event_text, failure_site};

/// Writes the whole JSON object. Places are listed once; events and switches give their index.
pub fn write_trace_json(file: &TraceFile, out: &mut dyn Write) -> io::Result<()> {
    let names = RecordedNames::new(file);
    let mut places = Places { file, numbers: HashMap::new(), list: Vec::new() };
    let head = json!({
        "tool": "threadbare",
        "format": "trace",
        "version": 1,
        "program": file.program,
        "args": file.args,
        "binary": file.binary,
        "outcome": outcome(file, &names),
        "threads": threads(file),
    });
    // The lists can be long, so they are written row by row into the open object.
    let head = serde_json::to_string(&head)?;
    out.write_all(head.strip_suffix('}').unwrap_or(&head).as_bytes())?;
    let held = HeldLocks::of(file.events(), &names);
    let lock = |held: &HeldLock| {
        let mode = if held.mode == Mode::Shared { "shared" } else { "exclusive" };
        json!({ "name": lock_name(held.since, held.lock, &names), "mode": mode })
    };
    list(out, "events", file.events().iter().enumerate(), |(index, event)| {
        json!({
            "thread": event.thread.0,
            "op": event.op,
            "kind": event.kind().map_or("unknown", EventKind::word),
            "place": places.number(event.pc, event.context),
            "context": event.context,
            "object": file.object(index),
            "address": format!("{:#x}", event.addr),
            "size": event.size,
            "value": event.value,
            "value_name": file.value_name(index),
            "old": event.old,
            "old_name": file.old_name(index),
            "locks": held.during(index).iter().map(lock).collect::<Vec<_>>(),
            "text": event_text(index, event, &names),
        })
    })?;
    list(out, "switches", file.switches().iter(), |switch| {
        json!({
            "from": switch.from.0,
            "op": switch.op,
            "to": switch.to.0,
            "place": places.number(switch.pc, switch.context),
            "context": switch.context,
            "reason": switch.why().map_or("unknown", SwitchReason::word),
            "before": about_switch(switch, &names),
        })
    })?;
    list(
        out,
        "contexts",
        file.contexts().iter(),
        |context| json!({ "place": places.number(context.pc, 0), "parent": context.parent }),
    )?;
    let rows = std::mem::take(&mut places.list);
    list(out, "places", rows.into_iter(), |row| row)?;
    out.write_all(b"}\n")
}

fn list<T>(
    out: &mut dyn Write,
    name: &str,
    rows: impl Iterator<Item = T>,
    mut show: impl FnMut(T) -> Value,
) -> io::Result<()> {
    write!(out, ",\n\"{name}\":[")?;
    for (index, row) in rows.enumerate() {
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &show(row))?;
    }
    out.write_all(b"]")
}

/// Places that were asked for, in that order.
struct Places<'a> {
    file: &'a TraceFile,
    numbers: HashMap<(u64, u32), usize>,
    list: Vec<Value>,
}

impl Places<'_> {
    /// The index of a place; none if it has no name.
    fn number(&mut self, pc: u64, context: u32) -> Option<usize> {
        if let Some(number) = self.numbers.get(&(pc, context)) {
            return Some(*number);
        }
        let site = self.file.site(pc, context)?;
        self.list.push(json!({
            "label": site.label,
            "function": site.function,
            "file": site.file,
            "line": site.line,
            "column": site.column,
            "system": site.in_system,
            "source": site.source,
        }));
        self.numbers.insert((pc, context), self.list.len() - 1);
        Some(self.list.len() - 1)
    }
}

fn outcome(file: &TraceFile, names: &RecordedNames<'_>) -> Value {
    match &file.outcome {
        None => Value::Null,
        Some(Outcome::Passed) => json!({ "verdict": "passed" }),
        Some(Outcome::Cut(why)) => json!({ "verdict": "cut", "message": why }),
        Some(Outcome::Uncontrolled(why)) => json!({ "verdict": "uncontrolled", "message": why }),
        Some(Outcome::Failed(failure)) => {
            let label = |&pc: &u64| names.place(pc, 0).map(|place| place.to_string());
            json!({
                "verdict": "failed",
                "kind": failure.kind.word(),
                "message": failure.message,
                "thread": failure.thread.0,
                "site": failure_site(failure, names).map(|place| place.to_string()),
                "stack": failure.stack.iter().filter_map(label).collect::<Vec<_>>(),
            })
        }
    }
}

fn threads(file: &TraceFile) -> Value {
    let mut threads: BTreeMap<ThreadId, u32> = BTreeMap::new();
    file.events().iter().for_each(|event| *threads.entry(event.thread).or_default() += 1);
    let row = |(thread, events): (ThreadId, u32)| {
        let routine = file.routine_of(thread).or((thread == ThreadId::MAIN).then_some("main"));
        json!({ "thread": thread.0, "routine": routine, "events": events })
    };
    threads.into_iter().map(row).collect()
}
