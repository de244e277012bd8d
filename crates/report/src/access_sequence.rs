//! Accesses one after the other, in words.

use threadbare_detect::Access;
use threadbare_trace::EventKind;

use crate::{Names, SourcePlace};

/// Accesses of one thread that follow each other and do the same.
struct Clause<'a> {
    accesses: Vec<&'a Access>,
    objects: Vec<String>,
}

/// Accesses one after the other: `T1 read x at a.c:1, T2 wrote it at a.c:2, then T1 wrote it at a.c:3`. Where there
/// are two variables each is named, and what a thread does to both is said once:
/// `T1 wrote x at a.c:1, T2 read x and y at a.c:5–6, then T1 wrote y at a.c:2`.
pub fn sequence(accesses: &[Access], names: &dyn Names) -> String {
    sequence_ending(accesses, "then ", names)
}

/// The same with another word in front of the last part.
pub fn sequence_ending(accesses: &[Access], before_last: &str, names: &dyn Names) -> String {
    let objects: Vec<String> = accesses.iter().map(|it| object_name(it.event, it.object, names)).collect();
    let has_two = objects.iter().any(|object| *object != objects[0]);
    let mut clauses: Vec<Clause<'_>> = Vec::new();
    for (access, object) in accesses.iter().zip(&objects) {
        let verb = past_tense(access.kind);
        match clauses.last_mut().filter(|it| has_two && it.accesses[0].thread == access.thread) {
            Some(clause) if past_tense(clause.accesses[0].kind) == verb => {
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
        let (thread, verb) = (accesses[0].thread, past_tense(accesses[0].kind));
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
fn lines(first: &SourcePlace, second: &SourcePlace) -> Option<String> {
    let (begin, end) = (first.line?, second.line?);
    let in_one_file = first.file.is_some() && first.file == second.file;
    let word = if end == begin + 1 { "–" } else { " and " };
    (in_one_file && begin != end && first.label.ends_with(&format!(":{begin}")))
        .then(|| format!("{}{word}{end}", first.label))
}

/// What memory is called as of an event.
pub fn object_name(at: usize, address: u64, names: &dyn Names) -> String {
    names.object_at(at, address).unwrap_or_else(|| "memory without a name".to_string())
}

/// Where an access is made.
pub fn site(access: &Access, names: &dyn Names) -> String {
    names.place(access.pc, access.context).map_or_else(|| "an unknown place".to_string(), |it| it.label)
}

/// What a step did to memory.
pub fn past_tense(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Free => "freed",
        EventKind::AtomicUpdate => "updated",
        // `writes` knows all kinds; what neither writes nor reads is no access of a finding.
        _ if kind.writes() => "wrote",
        _ => "read",
    }
}
