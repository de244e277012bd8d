//! A finding in words.

use serde::{Deserialize, Serialize};
use threadbare_detect::{Access, Finding, FindingKind};
use threadbare_trace::{EventKind, SignalMask, signal_name};

use crate::access_sequence::{object_name, past_tense, sequence, site};
use crate::{Names, SourcePlace};

/// One of the steps that a finding is about.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AccessText {
    /// Who makes it.
    pub thread: u16,
    /// What it does, by the word of its kind.
    #[serde(alias = "deed")]
    pub operation: String,
    /// What it does it to.
    pub object: String,
    /// Where, as it is written.
    pub site: String,
}

/// What people and files are shown of a finding.
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
    pub places: Vec<SourcePlace>,
    /// Each of them with its line of source, where the file can be read.
    pub sources: Vec<(String, String)>,
    /// The number of the memory-access pattern.
    pub pattern: Option<u8>,
    /// The steps that it is about, in order.
    pub accesses: Vec<AccessText>,
}

/// Puts a finding into words; `happened` says whether a run showed it.
pub fn finding_text(finding: &Finding, names: &dyn Names, happened: bool) -> FindingText {
    let kind = finding.kind.word();
    let object = object_name(finding.at, finding.object, names);
    let mut places: Vec<SourcePlace> = Vec::new();
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
        FindingKind::Race => match with_handler(finding) {
            Some((_, _, signal)) => format!("race on {object} with the handler of {}", signal_name(signal)),
            None => format!("race on {object}"),
        },
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
        accesses: finding.accesses.iter().map(|access| access_text(access, names)).collect(),
    }
}

fn access_text(access: &Access, names: &dyn Names) -> AccessText {
    AccessText {
        thread: access.thread.0,
        operation: access.kind.word().to_string(),
        object: object_name(access.event, access.object, names),
        site: site(access, names),
    }
}

fn locks(finding: &Finding, names: &dyn Names) -> String {
    let all: Vec<String> = finding.locks.iter().map(|lock| object_name(finding.at, *lock, names)).collect();
    all.join(", ")
}

/// If a race is one of a thread with a signal handler that interrupts it: the thread's access, the handler's, and
/// the signal. A handler is known by the mask that it holds.
fn with_handler(finding: &Finding) -> Option<(&Access, &Access, i32)> {
    let [a, b] = &finding.accesses[..] else { return None };
    let masks = finding.locks.iter().filter_map(|lock| SignalMask::at(*lock));
    let mut found = masks.filter_map(|mask| match mask.thread {
        thread if thread == a.thread => Some((a, b, mask.signal)),
        thread if thread == b.thread => Some((b, a, mask.signal)),
        _ => None,
    });
    found.next()
}

fn sentence(finding: &Finding, object: &str, names: &dyn Names, happened: bool) -> String {
    let at = |access: &Access| site(access, names);
    match (finding.kind, &finding.accesses[..]) {
        (FindingKind::Race, _) if let Some((thread, handler, signal)) = with_handler(finding) => {
            let signal = signal_name(signal);
            let how = if happened { "came there" } else { "can come there" };
            format!(
                "{} {} {object} at {} without blocking {signal}, which {how}: its handler {} {} it at {}",
                thread.thread,
                past_tense(thread.kind),
                at(thread),
                handler.thread,
                past_tense(handler.kind),
                at(handler)
            )
        }
        (FindingKind::Race, [a, b]) => {
            let how = if happened { "at the same time as" } else { "with nothing to order it against when" };
            format!(
                "{} {} {object} at {}, {how} {} {} it at {}",
                a.thread,
                past_tense(a.kind),
                at(a),
                b.thread,
                past_tense(b.kind),
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
            format!("{}{can}", sequence(accesses, names))
        }
        (FindingKind::Deadlock, accesses) => {
            let parts: Vec<String> = accesses
                .chunks(2)
                .filter_map(|pair| match pair {
                    [taken, wanted] if taken.object == wanted.object => Some(format!(
                        "{} took {} at {} and never releases it, so {} waits for it at {} for ever",
                        taken.thread,
                        object_name(taken.event, taken.object, names),
                        at(taken),
                        wanted.thread,
                        at(wanted)
                    )),
                    [held, wanted] => Some(format!(
                        "{} holds {} (from {}) and wants {} at {}",
                        held.thread,
                        object_name(held.event, held.object, names),
                        at(held),
                        object_name(wanted.event, wanted.object, names),
                        at(wanted)
                    )),
                    _ => None,
                })
                .collect();
            parts.join("; ")
        }
        (FindingKind::LockDiscipline | FindingKind::Race, accesses) => {
            let parts: Vec<String> = accesses
                .iter()
                .map(|it| format!("{} {} it at {}", it.thread, past_tense(it.kind), at(it)))
                .collect();
            format!("no lock is held at every access to {object}: {}", parts.join(", "))
        }
    }
}
