//! A finding in words.

use threadbare_analysis::{Access, Finding, FindingKind};

use crate::sequence::{name_of, sequence, site, verb};
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

fn locks(finding: &Finding, names: &dyn Names) -> String {
    let all: Vec<String> = finding.locks.iter().map(|lock| name_of(finding.at, *lock, names)).collect();
    all.join(", ")
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
        (FindingKind::Atomicity, accesses) => {
            let can = if happened { "" } else { " can happen" };
            format!("{}{can}", sequence(accesses, names))
        }
        (FindingKind::Deadlock, accesses) => {
            let parts: Vec<String> = accesses
                .chunks(2)
                .filter_map(|pair| match pair {
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
