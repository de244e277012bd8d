//! What a failing execution did that passing ones do not.

use std::rc::Rc;

use threadbare_analysis::{
    Access, Cause, Certainty, Compared, Finding, FindingKind, Inconsistent, Unexpected, cause, inconsistent,
    pending, stuck, unexpected,
};
use threadbare_explore::is_same_failure;
use threadbare_report::{FindingText, cause_text, finding_text, inconsistent_text, unexpected_text};
use threadbare_target::Execution;
use threadbare_trace::FailureKind;

use crate::names::ExecutionNames;
use crate::rerun::Others;

/// The cause of a failure.
pub struct Explanation {
    /// What tells it from passing executions, in one sentence; none where the failure's own message does.
    pub sentence: Option<String>,
    /// The same as a finding, if it is about accesses or locks.
    pub finding: Option<FindingText>,
    /// No passing execution does that.
    pub sure: bool,
}

/// Compares a failing execution with passing ones.
///
/// A pattern of accesses that no passing execution shows says most; then a value that no passing
/// execution reads, or two that none reads together; then a pattern that few passing executions show.
pub fn explain(run: &Execution, others: &Others, names: &ExecutionNames<'_>) -> Option<Explanation> {
    let failure = run.outcome.failure()?;
    let about = |finding: &Finding, sentence: String, sure: bool| {
        let mut text = finding_text(finding, names, true);
        text.sentence.clone_from(&sentence);
        Some(Explanation { sentence: Some(sentence), finding: Some(text), sure })
    };
    if let Some(finding) = stuck(&run.events, failure) {
        let text = finding_text(&finding, names, true);
        // Who holds what is in the failure's message; who signalled too early is not.
        let sentence = (finding.kind == FindingKind::Order).then(|| text.sentence.clone());
        return Some(Explanation { sentence, finding: Some(text), sure: true });
    }
    let passing = || others.passing.iter().map(|run| &run.events[..]);
    let pattern = if others.passing.is_empty() { None } else { suspicious(run, others) };
    if let Some(cause) = pattern.as_ref().filter(|cause| cause.in_passing == 0) {
        return about(&pattern_finding(cause)?, cause_text(cause, names), true);
    }
    if !matches!(failure.kind, FailureKind::Deadlock | FailureKind::Hang) {
        if let Some(read) = unexpected(&run.events, failure.thread, passing()) {
            return about(&order_violation(&read), unexpected_text(&read, names), true);
        }
        if let Some(found) = inconsistent(&run.events, failure.thread, passing()) {
            return about(&torn_apart(&found), inconsistent_text(&found, names), true);
        }
    }
    // What most passing executions do as well explains nothing.
    let cause = pattern.filter(|cause| 4 * cause.in_passing <= cause.passing)?;
    about(&pattern_finding(&cause)?, cause_text(&cause, names), false)
}

/// The pattern that tells a failing run, and others that failed in the same way, from those that passed.
fn suspicious(run: &Execution, others: &Others) -> Option<Cause> {
    let failure = run.outcome.failure()?;
    let is_same =
        |other: &&Rc<Execution>| other.outcome.failure().is_some_and(|it| is_same_failure(it, failure));
    let examples = others.passing.iter().map(|run| &run.events[..]);
    // The later ones knew more of what is shared.
    let next = |run: &Execution| pending(&run.events, &run.switches, examples.clone().rev());
    let same = others.failing.iter().filter(is_same).map(AsRef::as_ref);
    let failing: Vec<_> = std::iter::once(run).chain(same).map(|run| (&run.events, next(run))).collect();
    let mut failing = failing.iter().map(|(events, pending)| Compared { events, pending });
    let passing = examples.clone().map(|events| Compared { events, pending: &[] });
    cause(&failing.next()?, failing, passing)
}

/// A finding about accesses that happened.
fn happened(kind: FindingKind, pattern: Option<u8>, object: &Access, accesses: Vec<Access>) -> Finding {
    Finding {
        kind,
        certainty: Certainty::Observed,
        pattern,
        object: object.object,
        at: object.event,
        accesses,
        locks: Vec::new(),
        count: 1,
    }
}

/// A cause as a finding: two accesses came in the wrong order, more were torn apart.
fn pattern_finding(cause: &Cause) -> Option<Finding> {
    let kind = if cause.accesses.len() > 2 { FindingKind::Atomicity } else { FindingKind::Order };
    Some(happened(kind, Some(cause.pattern), cause.accesses.first()?, cause.accesses.clone()))
}

fn order_violation(read: &Unexpected) -> Finding {
    let object = &read.accesses[read.read];
    happened(FindingKind::Order, Some(read.pattern), object, read.accesses.to_vec())
}

fn torn_apart(found: &Inconsistent) -> Finding {
    let [first, second] = &found.seen;
    let accesses = [first.write, second.write, Some(first.read), Some(second.read)];
    happened(FindingKind::Atomicity, None, &first.read, accesses.into_iter().flatten().collect())
}
