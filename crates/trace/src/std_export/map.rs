//! What the numbers of an STD trace stand for: a text with tabs between its columns.

use std::fmt::Write as _;

use super::Writer;

/// The text of the map.
pub(super) fn text(writer: &Writer<'_>) -> String {
    let mut text = String::from("# What the numbers of the trace stand for.\n");
    let mut line = |sort: &str, number: String, name: &str, more: &str| {
        let _ = write!(text, "{sort}\t{number}\t{}", plain(name));
        if !more.is_empty() {
            let _ = write!(text, "\t{}", plain(more));
        }
        text.push('\n');
    };
    line("program", "-".into(), &writer.file.program, &writer.file.args.join(" "));
    for thread in &writer.threads {
        let main = if thread.index() == 0 { "main" } else { "-" };
        line("thread", thread.to_string(), writer.file.routine_of(*thread).unwrap_or(main), "");
    }
    for (index, name) in writer.cells.names().enumerate() {
        line("variable", format!("V{}", index + 1), name, "");
    }
    for (index, name) in writer.locks.names().iter().enumerate() {
        line("lock", format!("L{}", index + 1), name, "");
    }
    line("location", "0".into(), "code without a name", "");
    for (index, (name, function)) in writer.locations.names.iter().enumerate() {
        line("location", (index + 1).to_string(), name, function.as_deref().unwrap_or_default());
    }
    for ([sort, what, why], count) in &writer.notes {
        line(sort, count.to_string(), what, why);
    }
    text
}

/// A name that keeps to its column and line.
fn plain(name: &str) -> String {
    name.replace(['\t', '\n', '\r'], " ")
}
