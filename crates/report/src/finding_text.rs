//! A finding in words.

use serde::{Deserialize, Serialize};
use threadbare_analysis::{Access, Finding, FindingKind, Inconsistent, Seen, Unexpected, Unwoken, Why};
use threadbare_trace::{EventKind, SignalMask, signal_name};

use crate::describe::value_text;
use crate::sequence::{name_of, sequence, site, verb};
use crate::{Names, Place};

/// One of the steps that a finding is about.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AccessText {
    /// Who makes it.
    pub thread: u16,
    /// What it does, by the word of its kind.
    pub deed: String,
    /// What it does it to.
    pub object: String,
    /// Where, as it is written.
    pub site: String,
}

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
    /// The steps that it is about, in order.
    pub accesses: Vec<AccessText>,
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
        deed: access.kind.word().to_string(),
        object: name_of(access.event, access.object, names),
        site: site(access, names),
    }
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

/// Why a thread waits for ever, in one sentence.
pub fn unwoken_text(unwoken: &Unwoken, names: &dyn Names) -> String {
    let finding = &unwoken.finding;
    let object = name_of(finding.at, finding.object, names);
    let at = |access: &Access| site(access, names);
    let [first, rest @ ..] = &finding.accesses[..] else { return String::new() };
    let verb = match first.kind {
        EventKind::CondBroadcast => "broadcast on",
        EventKind::CondSignal => "signalled",
        EventKind::SemPost => "raised",
        _ => "woke",
    };
    let changed = rest.first().map_or_else(String::new, |write| {
        let what = name_of(write.event, write.object, names);
        format!(", not even {}, which wrote {what} at {} meanwhile", write.thread, at(write))
    });
    let waiter = unwoken.thread;
    match (unwoken.why, rest.first()) {
        (Why::TooEarly, Some(wait)) => format!(
            "{} {verb} {object} at {} when nobody waited for it, then {waiter} waited for it at {}",
            first.thread,
            at(first),
            at(wait)
        ),
        (Why::WokeAnother(other), Some(wait)) => format!(
            "{} {verb} {object} at {}, which woke {other}, while {waiter} waited for it too, at {}, and nobody \
             woke {waiter} later",
            first.thread,
            at(first),
            at(wait)
        ),
        (Why::NotHere, _) => {
            format!("{waiter} waits for {object} at {}, and nobody wakes it any more{changed}", at(first))
        }
        _ => format!(
            "{waiter} waits for {object} at {}, and nobody ever wakes it{changed}; nobody does in {} other \
             executions either",
            at(first),
            unwoken.compared
        ),
    }
}

fn locks(finding: &Finding, names: &dyn Names) -> String {
    let all: Vec<String> = finding.locks.iter().map(|lock| name_of(finding.at, *lock, names)).collect();
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
                verb(thread.kind),
                at(thread),
                handler.thread,
                verb(handler.kind),
                at(handler)
            )
        }
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
            format!("{}{can}", sequence(accesses, names))
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
