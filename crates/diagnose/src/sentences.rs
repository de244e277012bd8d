//! The cause of a failure in one sentence.

use threadbare_detect::Access;
use threadbare_report::{Names, object_name, past_tense, sequence_ending, site, value_text};
use threadbare_trace::EventKind;

use crate::causes::{Cause, Inconsistent, MissedWakeup, ReadValue, Unexpected, WhyMissed};

/// A read that saw what it sees in no passing execution, in one sentence.
pub fn unexpected_text(unexpected: &Unexpected, names: &dyn Names) -> String {
    let [first, second] = &unexpected.accesses;
    let read = &unexpected.accesses[unexpected.read];
    let object = object_name(read.event, read.object, names);
    let shown = |value: u64| value_text(read.event, value, unexpected.size, names);
    let value = shown(unexpected.value);
    let (mine, theirs) = (site(first, names), site(second, names));
    let mut text = match unexpected.read {
        0 => format!(
            "{} read {object} = {value} at {mine} before {} {} it at {theirs}",
            first.thread,
            second.thread,
            past_tense(second.kind)
        ),
        _ => format!(
            "{} {} {object} at {mine}, then {} read {value} from it at {theirs}",
            first.thread,
            past_tense(first.kind),
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
    let part = |seen: &ReadValue| {
        let object = object_name(seen.read.event, seen.read.object, names);
        let value = value_text(seen.read.event, seen.value, seen.size, names);
        let source = match &seen.write {
            Some(write) => {
                format!("which {} {} at {}", write.thread, past_tense(write.kind), site(write, names))
            }
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
pub fn missed_wakeup_text(missed: &MissedWakeup, names: &dyn Names) -> String {
    let finding = &missed.finding;
    let object = object_name(finding.at, finding.object, names);
    let at = |access: &Access| site(access, names);
    let [first, rest @ ..] = &finding.accesses[..] else { return String::new() };
    let verb = match first.kind {
        EventKind::CondBroadcast => "broadcast on",
        EventKind::CondSignal => "signalled",
        EventKind::SemPost => "raised",
        // Only a futex wake is left of the kinds that wake a thread; see `wakes` of `causes/missed_wakeup.rs`.
        _ => "woke",
    };
    let changed = rest.first().map_or_else(String::new, |write| {
        let what = object_name(write.event, write.object, names);
        format!(", not even {}, which wrote {what} at {} meanwhile", write.thread, at(write))
    });
    let waiter = missed.thread;
    match (missed.why, rest.first()) {
        (WhyMissed::TooEarly, Some(wait)) => format!(
            "{} {verb} {object} at {} when nobody waited for it, then {waiter} waited for it at {}",
            first.thread,
            at(first),
            at(wait)
        ),
        (WhyMissed::WokeAnother(other), Some(wait)) => format!(
            "{} {verb} {object} at {}, which woke {other}, while {waiter} waited for it too, at {}, and nobody \
             woke {waiter} later",
            first.thread,
            at(first),
            at(wait)
        ),
        (WhyMissed::NotHere, _) => {
            format!("{waiter} waits for {object} at {}, and nobody wakes it any more{changed}", at(first))
        }
        _ => format!(
            "{waiter} waits for {object} at {}, and nobody ever wakes it{changed}; nobody does in {} other \
             executions either",
            at(first),
            missed.compared
        ),
    }
}

/// What separates failing executions from passing ones, in one sentence.
pub fn cause_text(cause: &Cause, names: &dyn Names) -> String {
    let last = if cause.last_is_pending { "before " } else { "then " };
    let mut text = sequence_ending(&cause.accesses, last, names);
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
