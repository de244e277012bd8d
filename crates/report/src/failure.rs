//! A failure in words.

use threadbare_trace::{Failure, FailureKind, ThreadId, Waiting};

use crate::describe::shortened;
use crate::{Names, SourcePlace, TextFormat, printable};

/// What the message of a failure says where Rust panicked.
const PANICKED: &str = " panicked at ";
/// What it begins with if a test did not panic though it should.
const NO_PANIC: &str = "test did not panic";
/// What it begins with if a test returned an error.
const ERROR: &str = "the test returned an error";
/// What it begins with if a test ended the process as if all were well.
const NO_RESULT: &str = "the test ended the process";

/// The thread that a deadlock is shown in, if the one that stopped last has ended or only waits for others to
/// end.
pub(crate) fn blocked_thread(failure: &Failure) -> Option<Waiting> {
    if failure.kind != FailureKind::Deadlock {
        return None;
    }
    let waiting = failure.waiting();
    let says_enough = waiting.iter().any(|it| it.thread == failure.thread && !it.for_end());
    waiting.into_iter().find(|it| !it.for_end()).filter(|_| !says_enough)
}

/// The thread in which a failure shows.
pub(crate) fn failure_thread(failure: &Failure) -> ThreadId {
    blocked_thread(failure).map_or(failure.thread, |it| it.thread)
}

/// The innermost place of a failure, in known source if there is any.
pub fn failure_site(failure: &Failure, names: &dyn Names) -> Option<SourcePlace> {
    if let Some(place) = blocked_thread(failure).and_then(|it| names.place(it.pc, it.context)) {
        return Some(place);
    }
    // What panicked says so itself; calls that are found on the way out say less.
    if let Some(place) = panic_place(failure).filter(|_| failure.kind.is_how_panics_end()) {
        return Some(place);
    }
    let places = || failure.stack.iter().filter_map(|&pc| names.place(pc, 0));
    places()
        .find(|place| place.line.is_some() && !place.in_system)
        .or_else(|| panic_place(failure))
        .or_else(|| places().find(|place| place.line.is_some()))
        .or_else(|| places().next())
}

/// Where Rust says that it panicked.
fn panic_place(failure: &Failure) -> Option<SourcePlace> {
    let (file, line, column) = failure.panic_place()?;
    let name = file.rsplit('/').next().unwrap_or(file);
    Some(SourcePlace {
        label: format!("{name}:{line}"),
        function: None,
        file: Some(file.to_string()),
        line: Some(line),
        column: Some(column),
        in_system: false,
        library_operation: None,
    })
}

/// A failure in one word, as the end of its thread's lane has it: a panic is reported as what it is, whatever became of the
/// process.
pub(crate) fn failure_word(failure: &Failure) -> &'static str {
    match failure.kind {
        FailureKind::Abort | FailureKind::Exit if failure.message.contains(PANICKED) => "panicked",
        FailureKind::Exit if [NO_PANIC, ERROR].iter().any(|words| failure.message.starts_with(words)) => {
            "failed"
        }
        kind => kind.word(),
    }
}

/// A failure as it is written in a sentence: "found a deadlock".
pub fn failure_phrase(kind: FailureKind, message: &str) -> &'static str {
    let has_panicked = message.contains(PANICKED);
    match kind {
        FailureKind::Abort | FailureKind::Exit if has_panicked => "a panic",
        FailureKind::Deadlock if has_panicked => "a deadlock after a panic",
        FailureKind::Hang if has_panicked => "a hang after a panic",
        FailureKind::Exit if message.starts_with(NO_PANIC) => "a missing panic",
        FailureKind::Exit if message.starts_with(ERROR) => "an error that the test returned",
        FailureKind::Exit if message.starts_with(NO_RESULT) => "an early exit",
        FailureKind::Segfault if message.contains("stack overflow: ") => "a stack overflow",
        FailureKind::Assertion => "a failed assertion",
        FailureKind::Abort => "an abort",
        FailureKind::Segfault => "a fatal signal",
        FailureKind::Exception => "an uncaught exception",
        FailureKind::Deadlock => "a deadlock",
        FailureKind::Hang => "a hang",
        FailureKind::UseAfterFree => "a use after free",
        FailureKind::Misuse => "a misuse of a primitive",
        FailureKind::Exit => "a non-zero exit status",
    }
}

/// Replaces marked addresses in a message by what people call them.
///
/// The runtime inside the program knows addresses only: it writes `<obj 0x…>` for an object and
/// `<pc 0x… in 7>` for a place in the code with its call context. An address without a name stays, without its marks.
pub fn name_addresses(message: &str, names: &dyn Names) -> String {
    let mut named = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(start) = rest.find('<') {
        named.push_str(&rest[..start]);
        rest = &rest[start..];
        match marked(rest) {
            Some((mark, length)) => {
                let (name, addr) = match mark {
                    Mark::Object(addr) => (names.object(addr), addr),
                    Mark::Code(pc, context) => (names.place(pc, context).map(|place| place.to_string()), pc),
                };
                named.push_str(&name.unwrap_or_else(|| format!("{addr:#x}")));
                rest = &rest[length..];
            }
            None => {
                named.push('<');
                rest = &rest[1..];
            }
        }
    }
    named.push_str(rest);
    named
}

/// What a mark in a message stands for.
enum Mark {
    Object(u64),
    Code(u64, u32),
}

/// The mark at the start of a text, and its length.
fn marked(text: &str) -> Option<(Mark, usize)> {
    let end = text.find('>')?;
    let (word, rest) = text[1..end].split_once(" 0x")?;
    let (digits, context) = rest.split_once(" in ").unwrap_or((rest, "0"));
    let addr = u64::from_str_radix(digits, 16).ok()?;
    let mark = match word {
        "obj" => Mark::Object(addr),
        "pc" => Mark::Code(addr, context.parse().ok()?),
        _ => return None,
    };
    Some((mark, end + 1))
}

/// The closing paragraph: what went wrong, where, and the calls that led there.
pub(crate) fn paragraph(failure: &Failure, names: &dyn Names, format: &TextFormat) -> String {
    let site = failure_site(failure, names);
    let mut heading = format!("✗ {} in {}", failure_word(failure), failure_thread(failure));
    if let Some(site) = &site {
        heading.push_str(&format!(" at {site}"));
    }
    let mut text = format.alarm(&heading);
    text.push('\n');
    for line in printable(&name_addresses(&failure.message, names)).lines() {
        text.push_str(&format!("  {line}\n"));
    }
    if blocked_thread(failure).is_some() {
        // The calls are those of another thread.
        return text;
    }
    let mut frames: Vec<SourcePlace> = failure.stack.iter().filter_map(|&pc| names.place(pc, 0)).collect();
    // Libraries, and what called `main`, are of no interest unless nothing else is known.
    if frames.iter().any(|frame| frame.line.is_some()) {
        frames.retain(|frame| frame.line.is_some());
    }
    if frames.iter().any(|frame| !frame.in_system) {
        frames.retain(|frame| !frame.in_system);
    }
    if frames.len() > 1 {
        let function =
            |frame: &SourcePlace| frame.function.as_deref().map_or_else(|| "?".to_string(), shortened);
        let widest = frames.iter().map(|frame| function(frame).chars().count()).max().unwrap_or(0);
        let is_same = |a: &SourcePlace, b: &SourcePlace| function(a) == function(b) && a.label == b.label;
        for (depth, same) in frames.chunk_by(is_same).enumerate() {
            let lead = if depth == 0 { "in" } else { "by" };
            let again = if same.len() > 1 { format!(", {} times", same.len()) } else { String::new() };
            let line = format!("  {lead} {:widest$}  {}{again}\n", function(&same[0]), same[0]);
            text.push_str(&format.dim(&line));
        }
    }
    text
}
