//! A failing execution as a result.

use threadbare_trace::{Outcome, TraceFile};

use super::{FlowStep, Level, Rule, SarifResult};
use crate::timeline::{self, Row};
use crate::{
    Interleaving, Names, RecordedNames, SourcePlace, TextFormat, event_text, failure_phrase, failure_site,
};

/// The failure of an execution, with the interleaving that led to it; none if it passed.
pub fn failure_result(file: &TraceFile) -> Option<SarifResult> {
    let outcome = file.outcome.as_ref()?;
    let Outcome::Failed(failure) = outcome else { return None };
    let names = RecordedNames::new(file);
    let place = failure_site(failure, &names);
    // Messages of assertions begin with their place.
    let unsaid = |place: &&SourcePlace| !failure.message.contains(&place.label);
    let at = place.as_ref().filter(unsaid).map_or_else(String::new, |place| format!(" at {place}"));
    let message = format!(
        "This interleaving ends in {} in {}{at}: {}",
        failure_phrase(failure.kind, &failure.message),
        failure.thread,
        failure.message
    );
    let stack: Vec<SourcePlace> = failure.stack.iter().filter_map(|&pc| names.place(pc, 0)).collect();
    Some(SarifResult {
        rule: Rule::from(failure.kind),
        level: Level::Error,
        message,
        identity: identity(place.as_ref(), &names),
        place,
        related: Vec::new(),
        stack,
        flow: flow(file, outcome, &names),
        properties: Vec::new(),
    })
}

/// The steps that the table for people has, too.
fn flow(file: &TraceFile, outcome: &Outcome, names: &RecordedNames<'_>) -> Vec<FlowStep> {
    let execution = Interleaving { events: file.events(), switches: file.switches(), outcome, marked: &[] };
    let rows = timeline::rows(&execution, names, &TextFormat::default());
    let step = |row: &Row| match row {
        Row::Step { index, event, .. } => Some(FlowStep {
            thread: event.thread,
            place: names.place(event.pc, event.context),
            text: event_text(*index, event, names),
        }),
        _ => None,
    };
    rows.iter().filter_map(step).collect()
}

/// The function and the text of the line: they stay when lines above are added.
fn identity(place: Option<&SourcePlace>, names: &RecordedNames<'_>) -> Vec<String> {
    let Some(place) = place else { return Vec::new() };
    let line = names.source(place).map_or_else(|| place.label.clone(), |text| text.trim().to_string());
    place.function.iter().cloned().chain([line]).collect()
}
