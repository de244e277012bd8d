//! Accesses one after the other, in words.

use threadbare_analysis::{Access, Cause};
use threadbare_trace::EventKind;

use crate::{Names, Place};

/// What separates failing executions from passing ones, in one sentence.
pub fn cause_text(cause: &Cause, names: &dyn Names) -> String {
    let last = if cause.last_is_pending { "before " } else { "then " };
    let mut text = told(&cause.accesses, last, names);
    let compared = cause.passing;
    text.push_str(&match cause.in_passing {
        _ if compared == 0 => String::new(),
        0 if compared == 1 => "; the one passing execution it was compared with does not do that".to_string(),
        0 => format!("; none of {compared} passing executions does that"),
        1 => format!("; 1 of {compared} passing executions does that too"),
        some => format!("; {some} of {compared} passing executions do that too"),
    });
    text
}

/// Accesses of one thread that follow each other and do the same.
struct Clause<'a> {
    accesses: Vec<&'a Access>,
    objects: Vec<String>,
}

/// Accesses one after the other: `T1 read x at a.c:1, T2 wrote it at a.c:2, then T1 wrote it at a.c:3`. Where there
/// are two variables each is named, and what a thread does to both is said once:
/// `T1 wrote x at a.c:1, T2 read x and y at a.c:5–6, then T1 wrote y at a.c:2`.
pub(crate) fn sequence(accesses: &[Access], names: &dyn Names) -> String {
    told(accesses, "then ", names)
}

/// The same with another word in front of the last part.
fn told(accesses: &[Access], before_last: &str, names: &dyn Names) -> String {
    let objects: Vec<String> = accesses.iter().map(|it| name_of(it.event, it.object, names)).collect();
    let has_two = objects.iter().any(|object| *object != objects[0]);
    let mut clauses: Vec<Clause<'_>> = Vec::new();
    for (access, object) in accesses.iter().zip(&objects) {
        let verb = verb(access.kind);
        match clauses.last_mut().filter(|it| has_two && it.accesses[0].thread == access.thread) {
            Some(clause) if self::verb(clause.accesses[0].kind) == verb => {
                clause.accesses.push(access);
                if !clause.objects.contains(object) {
                    clause.objects.push(object.clone());
                }
            }
            _ => {
                let name = if has_two || clauses.is_empty() { object.clone() } else { "it".to_string() };
                clauses.push(Clause { accesses: vec![access], objects: vec![name] });
            }
        }
    }
    let last = clauses.len().saturating_sub(1);
    let parts = clauses.iter().enumerate().map(|(place, clause)| {
        let then = if place > 0 && place == last { before_last } else { "" };
        let Clause { accesses, objects } = clause;
        let (thread, verb) = (accesses[0].thread, verb(accesses[0].kind));
        format!("{then}{thread} {verb} {} at {}", objects.join(" and "), sites(accesses, names))
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Where accesses are, each place once: `a.c:5–6` or `a.c:5 and 9` for lines of one file.
fn sites(accesses: &[&Access], names: &dyn Names) -> String {
    let place = |access: &Access| names.place(access.pc, access.context);
    if let [first, second] = accesses
        && let (Some(first), Some(second)) = (place(first), place(second))
        && let Some(lines) = lines(&first, &second)
    {
        return lines;
    }
    let mut labels: Vec<String> = accesses.iter().map(|access| site(access, names)).collect();
    labels.dedup();
    labels.join(" and ")
}

/// Two lines of one file.
fn lines(first: &Place, second: &Place) -> Option<String> {
    let (begin, end) = (first.line?, second.line?);
    let in_one_file = first.file.is_some() && first.file == second.file;
    let word = if end == begin + 1 { "–" } else { " and " };
    (in_one_file && begin != end && first.label.ends_with(&format!(":{begin}")))
        .then(|| format!("{}{word}{end}", first.label))
}

pub(crate) fn name_of(at: usize, address: u64, names: &dyn Names) -> String {
    names.object_at(at, address).unwrap_or_else(|| "memory without a name".to_string())
}

pub(crate) fn site(access: &Access, names: &dyn Names) -> String {
    names.place(access.pc, access.context).map_or_else(|| "an unknown place".to_string(), |it| it.label)
}

pub(crate) fn verb(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Free => "freed",
        EventKind::AtomicUpdate => "updated",
        _ if kind.writes() => "wrote",
        _ => "read",
    }
}
