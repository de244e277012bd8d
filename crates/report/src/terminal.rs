//! The interleaving as a person reads it.

use std::collections::BTreeMap;

use threadbare_trace::{EventKind, Outcome, SwitchReason, SwitchRecord, ThreadId};

use crate::lanes::{self, Line};
use crate::locks_held::{HeldLocks, LockNames};
use crate::names::PrintableNames;
use crate::timeline::{self, Row};
use crate::{Interleaving, Names, TextFormat, about_switch, event_text, failure};

/// The mark before a step that is pointed out.
const MARK: &str = "● ";

/// The interleaving of one execution: the table of steps, then how it ended.
pub fn interleaving(execution: &Interleaving<'_>, names: &dyn Names, format: &TextFormat) -> String {
    let names: &dyn Names = &PrintableNames(names);
    let rows = timeline::rows(execution, names, format);
    let titles = titles(execution, &rows, names);
    let mut held = HeldLocks::of(execution.events, names);
    let failing =
        execution.outcome.failure().map(|failure| held.at_end(failure::failure_thread(failure)).to_vec());
    let failing = failing.unwrap_or_default();
    let shown = rows.iter().filter_map(|row| match row {
        Row::Step { index, .. } => Some(held.during(*index)),
        _ => None,
    });
    let locks = LockNames::of(shown.flatten().chain(&failing), names);
    let holds = |event: usize| locks.text(held.during(event));
    let mut lines: Vec<Line> =
        rows.iter().map(|row| line(row, row.is_one_of(execution.marked), names, &holds)).collect();
    if let Some(failure) = execution.outcome.failure() {
        lines.push(Line::Step {
            number: String::new(),
            holds: locks.text(&failing),
            site: failure::failure_site(failure, names).map_or_else(String::new, |site| site.to_string()),
            thread: failure::failure_thread(failure),
            text: format!("✗ {}", failure::failure_word(failure)),
            source: failure::failure_site(failure, names)
                .and_then(|site| names.source(&site))
                .map_or_else(String::new, |text| text.trim().to_string()),
        });
    }
    let mut text = lanes::draw(&titles, &lines, format);
    text.push('\n');
    if lacks_lines(&rows, names) {
        text.push_str("No source line is known: compile with `-g`, and do not strip the program.\n\n");
    }
    match execution.outcome {
        Outcome::Failed(failure) => text.push_str(&failure::paragraph(failure, names, format)),
        Outcome::Passed => text.push_str("The program ended as it should.\n"),
        Outcome::Cut(why) => text.push_str(&format!("It was cut: {why}\n")),
        Outcome::Uncontrolled(why) => text.push_str(&format!("Control was lost: {why}\n")),
    }
    text
}

/// Whether the steps have places, and none of them a line.
fn lacks_lines(rows: &[Row], names: &dyn Names) -> bool {
    let mut places = rows.iter().filter_map(|row| match row {
        Row::Step { event, .. } => names.place(event.pc, event.context),
        _ => None,
    });
    places.next().is_some_and(|first| first.line.is_none()) && places.all(|place| place.line.is_none())
}

/// The threads that have something in the table, each with the function it runs.
pub(crate) fn titles(
    execution: &Interleaving<'_>,
    rows: &[Row],
    names: &dyn Names,
) -> Vec<(ThreadId, String)> {
    let mut titles: BTreeMap<ThreadId, String> = BTreeMap::new();
    let shown = rows.iter().filter_map(|row| match row {
        Row::Step { event, .. } => Some(event.thread),
        Row::Folded { thread, .. } => Some(*thread),
        Row::Switch(_) | Row::LeftOut { .. } => None,
    });
    for thread in shown.chain(execution.outcome.failure().map(failure::failure_thread)) {
        titles.entry(thread).or_insert_with(|| {
            if thread == ThreadId::MAIN { format!("{thread} main") } else { thread.to_string() }
        });
    }
    for event in execution.events.iter().filter(|event| event.kind() == Some(EventKind::Start)) {
        if let (Some(title), Some(routine)) = (titles.get_mut(&event.thread), names.routine(event.old)) {
            *title = format!("{} {routine}", event.thread);
        }
    }
    titles.into_iter().collect()
}

fn line(row: &Row, is_marked: bool, names: &dyn Names, holds: &dyn Fn(usize) -> String) -> Line {
    match row {
        Row::Switch(switch) => Line::Across(format!("── {}", switch_text(switch, names))),
        Row::LeftOut { count } => {
            let steps = if *count == 1 { "step" } else { "steps" };
            Line::Across(format!("… {count} {steps} left out (--full shows them)"))
        }
        Row::Folded { thread, count } => {
            Line::Note { thread: *thread, text: format!("… {count} more steps") }
        }
        Row::Step { index, number, event, times } => {
            let place = names.place(event.pc, event.context);
            let mut text = event_text(*index, event, names);
            if *times > 1 {
                text.push_str(&format!(" ({times} times)"));
            }
            if is_marked {
                text.insert_str(0, MARK);
            }
            let source = place.as_ref().and_then(|place| names.source(place));
            Line::Step {
                number: number.to_string(),
                site: place.map_or_else(String::new, |place| place.to_string()),
                thread: event.thread,
                text,
                holds: holds(*index),
                source: source.map_or_else(String::new, |text| text.trim().to_string()),
            }
        }
    }
}

/// Why another thread is scheduled: `T1 → T2: T1 has ended`.
pub(crate) fn switch_text(switch: &SwitchRecord, names: &dyn Names) -> String {
    let SwitchRecord { from, to, .. } = switch;
    let about = about_switch(switch, names);
    let why = match switch.why() {
        Some(SwitchReason::Chosen) => format!("the policy chose; {from} stops before {about}"),
        Some(SwitchReason::Blocked) => format!("{from} is blocked at {about}"),
        Some(SwitchReason::Ended) => format!("{from} has ended"),
        Some(SwitchReason::Yielded) => format!("{from} yielded at {about}"),
        Some(SwitchReason::Starting) => format!("{to} is new and runs up to its first operation"),
        Some(SwitchReason::Started) => format!("{from} is ready, its creator continues"),
        None => format!("for reason {}, before {about}", switch.reason),
    };
    format!("{from} → {to}: {why}")
}
