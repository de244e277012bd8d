//! A finding in words.

use threadbare_analysis::{Access, Cause, Finding, FindingKind, Inconsistent, Seen, Unexpected};
use threadbare_trace::EventKind;

use crate::describe::value_text;
use crate::{Names, Place};

/// What people and files are told of a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FindingText {
    /// The kind by its word.
    pub kind: &'static str,
    /// A line that names it: `race on counter`.
    pub heading: String,
    /// What happens, in one sentence.
    pub sentence: String,
    /// The object concerned.
    pub object: String,
    /// The places concerned, as they are written, without repeats.
    pub sites: Vec<String>,
    /// The same as places in the source.
    pub places: Vec<Place>,
    /// Each of them with its line of source, where the file can be read.
    pub sources: Vec<(String, String)>,
    /// The number of the memory-access pattern.
    pub pattern: Option<u8>,
}

/// Puts a finding into words; `happened` says whether a run showed it.
pub fn finding_text(finding: &Finding, names: &dyn Names, happened: bool) -> FindingText {
    let kind = finding.kind.word();
    let object = name_of(finding.at, finding.object, names);
    let mut places: Vec<Place> = Vec::new();
    for access in &finding.accesses {
        if let Some(place) = names.place(access.pc, access.context)
            && places.iter().all(|known| known.label != place.label)
        {
            places.push(place);
        }
    }
    let sources =
        places.iter().filter_map(|place| Some((place.label.clone(), names.source(place)?))).collect();
    let heading = match finding.kind {
        FindingKind::Race => format!("race on {object}"),
        FindingKind::Atomicity => format!("atomicity violation on {object}"),
        FindingKind::Order => format!("order violation on {object}"),
        FindingKind::Deadlock => format!("deadlock over {}", locks(finding, names)),
        FindingKind::LockDiscipline => format!("no lock protects {object} everywhere"),
    };
    FindingText {
        kind,
        heading,
        sentence: sentence(finding, &object, names, happened),
        object,
        sites: places.iter().map(|place| place.label.clone()).collect(),
        places,
        sources,
        pattern: finding.pattern,
    }
}

/// What separates a failing execution from `compared` passing ones, in one sentence.
pub fn cause_text(cause: &Cause, compared: usize, names: &dyn Names) -> String {
    let object = cause.accesses.first().map_or_else(String::new, |it| name_of(it.event, it.object, names));
    let mut text = sequence(&cause.accesses, &object, names);
    text.push_str(&match (cause.in_passing, compared) {
        (_, 0) => String::new(),
        (0, _) => format!("; none of {compared} passing executions does that"),
        (some, _) => format!("; {some} of {compared} passing executions do that too"),
    });
    text
}

/// A read that saw what it sees in no passing execution, in one sentence.
pub fn unexpected_text(unexpected: &Unexpected, names: &dyn Names) -> String {
    let [first, second] = &unexpected.accesses;
    let read = &unexpected.accesses[unexpected.read];
    let object = name_of(read.event, read.object, names);
    let shown = |value: u64| value_text(read.event, value, unexpected.size, names);
    let value = shown(unexpected.value);
    let (mine, theirs) = (site(first, names), site(second, names));
    let mut text = match unexpected.read {
        0 => format!(
            "{} read {object} = {value} at {mine} before {} {} it at {theirs}",
            first.thread,
            second.thread,
            verb(second.kind)
        ),
        _ => format!(
            "{} {} {object} at {mine}, then {} read {value} from it at {theirs}",
            first.thread,
            verb(first.kind),
            second.thread
        ),
    };
    const SHOWN: usize = 4;
    let mut usual: Vec<String> = unexpected.usual.iter().take(SHOWN).map(|value| shown(*value)).collect();
    if unexpected.usual.len() > SHOWN {
        usual.push("others".to_string());
    }
    let last = usual.pop().unwrap_or_default();
    let usual = if usual.is_empty() { last } else { format!("{} or {last}", usual.join(", ")) };
    let compared = unexpected.compared;
    text.push_str(&format!("; the {compared} passing executions that get there read {usual}"));
    text
}

/// Two reads that saw what they never see together in passing executions, in one sentence.
pub fn inconsistent_text(found: &Inconsistent, names: &dyn Names) -> String {
    let part = |seen: &Seen| {
        let object = name_of(seen.read.event, seen.read.object, names);
        let value = value_text(seen.read.event, seen.value, seen.size, names);
        let source = match &seen.write {
            Some(write) => format!("which {} {} at {}", write.thread, verb(write.kind), site(write, names)),
            None => "as it was in the beginning".to_string(),
        };
        format!("{object} = {value} at {}, {source}", site(&seen.read, names))
    };
    let [first, second] = &found.seen;
    format!(
        "{} read {}, and {}; none of the {} passing executions that get there reads these two together",
        first.read.thread,
        part(first),
        part(second),
        found.compared
    )
}

/// Accesses one after the other: `T1 read x at a.c:1, T2 wrote it at a.c:2, then T1 wrote it at a.c:3`.
fn sequence(accesses: &[Access], object: &str, names: &dyn Names) -> String {
    let parts: Vec<String> = (accesses.iter().enumerate())
        .map(|(place, access)| {
            let is_range = matches!(access.kind, EventKind::ReadRange | EventKind::WriteRange);
            let what =
                if is_range { object.to_string() } else { name_of(access.event, access.object, names) };
            let what = if place > 0 && what == object { "it" } else { &what };
            let then = if place > 0 && place == accesses.len() - 1 { "then " } else { "" };
            format!("{then}{} {} {what} at {}", access.thread, verb(access.kind), site(access, names))
        })
        .collect();
    parts.join(", ")
}

fn name_of(at: usize, address: u64, names: &dyn Names) -> String {
    names.object_at(at, address).unwrap_or_else(|| "memory without a name".to_string())
}

fn site(access: &Access, names: &dyn Names) -> String {
    names.place(access.pc, access.context).map_or_else(|| "an unknown place".to_string(), |it| it.label)
}

fn locks(finding: &Finding, names: &dyn Names) -> String {
    let all: Vec<String> = finding.locks.iter().map(|lock| name_of(finding.at, *lock, names)).collect();
    all.join(", ")
}

fn verb(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Free => "freed",
        EventKind::AtomicUpdate => "updated",
        _ if kind.writes() => "wrote",
        _ => "read",
    }
}

fn sentence(finding: &Finding, object: &str, names: &dyn Names, happened: bool) -> String {
    let at = |access: &Access| site(access, names);
    match (finding.kind, &finding.accesses[..]) {
        (FindingKind::Race, [a, b]) => {
            let how = if happened { "at the same time as" } else { "with nothing to order it against when" };
            format!(
                "{} {} {object} at {}, {how} {} {} it at {}",
                a.thread,
                verb(a.kind),
                at(a),
                b.thread,
                verb(b.kind),
                at(b)
            )
        }
        (FindingKind::Order, [signal, wait]) if wait.kind == EventKind::CondWait => format!(
            "{} signalled {object} at {} when nobody waited for it, then {} waited for it at {}",
            signal.thread,
            at(signal),
            wait.thread,
            at(wait)
        ),
        (FindingKind::Atomicity | FindingKind::Order, accesses) => {
            let can = if happened { "" } else { " can happen" };
            format!("{}{can}", sequence(accesses, object, names))
        }
        (FindingKind::Deadlock, accesses) => {
            let parts: Vec<String> = accesses
                .chunks(2)
                .filter_map(|pair| match pair {
                    [taken, wanted] if taken.object == wanted.object => Some(format!(
                        "{} took {} at {} and never gives it back, so {} waits for it at {} for ever",
                        taken.thread,
                        name_of(taken.event, taken.object, names),
                        at(taken),
                        wanted.thread,
                        at(wanted)
                    )),
                    [held, wanted] => Some(format!(
                        "{} holds {} (from {}) and wants {} at {}",
                        held.thread,
                        name_of(held.event, held.object, names),
                        at(held),
                        name_of(wanted.event, wanted.object, names),
                        at(wanted)
                    )),
                    _ => None,
                })
                .collect();
            parts.join("; ")
        }
        (_, accesses) => {
            let parts: Vec<String> = accesses
                .iter()
                .map(|it| format!("{} {} it at {}", it.thread, verb(it.kind), at(it)))
                .collect();
            format!("no lock is held at every access to {object}: {}", parts.join(", "))
        }
    }
}
