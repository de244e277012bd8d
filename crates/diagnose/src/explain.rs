//! What a failing execution did that passing ones do not.

use threadbare_detect::{Access, Certainty, Finding, FindingKind, observed_deadlock};
use threadbare_explore::{Verdict, directed, shown, trials};
use threadbare_report::{FindingText, finding_text};
use threadbare_target::{Execution, Symbols};
use threadbare_trace::{Event, Failure, ShownFinding};

use crate::causes::{
    Cause, Compared, Inconsistent, Unexpected, causes, inconsistent, missed_wakeup, pending, unexpected,
    use_after_free,
};
use crate::comparison_runs::{ComparisonRuns, OtherExecutions};
use crate::names::ExecutionNames;
use crate::own_lines::{LocatedExecution, OwnLines};
use crate::sentences::{cause_text, inconsistent_text, missed_wakeup_text, unexpected_text};

/// The longest trace whose cause is looked for: where it is long, so are the others, and no pattern is short enough to
/// read.
const LONGEST_COMPARED: usize = 20_000;
/// How many of the most suspicious patterns are made to happen, to see whether the program fails with them, and how often.
const TRIED: usize = 6;
const ATTEMPTS: u64 = 3;
/// Among how many of those that distinguish failing executions from passing ones the cause is chosen.
const CHOSEN_FROM: usize = 16;
/// With how many of them it is tried whether the program passes once nothing but the pattern is prevented.
const PREVENTED: usize = 4;

/// The cause of a failure; all of it is empty where none is known.
#[derive(Default)]
pub struct Explanation {
    /// What distinguishes it from passing executions, in one sentence; none where the failure's own message does.
    pub sentence: Option<String>,
    /// The same as a finding, if it is about accesses or locks.
    pub finding: Option<FindingText>,
    /// What a schedule is to say of it.
    pub shown: Option<ShownFinding>,
    /// No passing execution does that.
    pub sure: bool,
}

impl Explanation {
    fn about(finding: &Finding, sentence: String, sure: bool, names: &ExecutionNames<'_>) -> Explanation {
        let mut text = finding_text(finding, names, true);
        text.sentence.clone_from(&sentence);
        let shown = Some(shown(finding, names.events(), &sentence));
        Explanation { sentence: Some(sentence), finding: Some(text), shown, sure }
    }
}

/// Says why an execution failed.
///
/// Some failures have an end to begin at: the lock or the signal that a blocked thread waits for, the memory that was
/// released. Otherwise passing executions say what is peculiar to this one; see [`compared`].
pub fn explain(
    run: &Execution,
    comparisons: Option<&mut ComparisonRuns>,
    symbols: &Symbols,
    names: &ExecutionNames<'_>,
) -> Option<Explanation> {
    let failure = run.outcome.failure()?;
    if let Some(finding) = observed_deadlock(&run.events, failure) {
        // Who holds what is in the failure's message.
        let text = finding_text(&finding, names, true);
        let shown = Some(shown(&finding, &run.events, &text.sentence));
        return Some(Explanation { sentence: None, finding: Some(text), shown, sure: true });
    }
    if let Some(ends) = use_after_free(&run.events, failure) {
        let finding = happened(FindingKind::Order, Some(2), &ends[0], ends.to_vec());
        let sentence = finding_text(&finding, names, true).sentence;
        return Some(Explanation::about(&finding, sentence, true, names));
    }
    let comparisons = comparisons?;
    if run.events.len() > LONGEST_COMPARED {
        return None;
    }
    let others = comparisons.others(run);
    let all = others.passing.iter().chain(&others.failing);
    let missed = missed_wakeup(&run.events, failure, all.map(|run| &run.events[..]));
    let missed = missed.map(|it| {
        (it.is_sure(), Explanation::about(&it.finding, missed_wakeup_text(&it, names), it.is_sure(), names))
    });
    match missed {
        Some((true, sure)) => Some(sure),
        other => {
            let compared = compared(run, failure, comparisons, symbols, names);
            let unsure = other.map(|(_, unsure)| unsure).filter(|_| !others.passing.is_empty());
            compared.or(unsure).or_else(|| never_passes(&others))
        }
    }
}

fn never_passes(others: &OtherExecutions) -> Option<Explanation> {
    let sentence = (others.passing.is_empty() && others.tried > 0).then(|| {
        format!(
            "none of {} other executions passed: it seems to fail in any order of the threads",
            others.tried
        )
    })?;
    Some(Explanation { sentence: Some(sentence), finding: None, shown: None, sure: false })
}

/// Compares a failing execution with passing ones, in random order and near its own, and with those in which the most
/// suspicious patterns were made to happen.
///
/// A pattern of accesses that no passing execution shows says most; then a value that no passing
/// execution reads, or two that none reads together; then a pattern that few passing executions show.
fn compared(
    run: &Execution,
    failure: &Failure,
    comparisons: &mut ComparisonRuns,
    symbols: &Symbols,
    names: &ExecutionNames<'_>,
) -> Option<Explanation> {
    let mut others = comparisons.others_of(run);
    if others.passing.is_empty() {
        return None;
    }
    let mut comparison = Comparison { lines: OwnLines::of(symbols, run), run, failure };
    for mut cause in comparison.suspicious(&others, TRIED) {
        cause.accesses.iter_mut().for_each(|access| *access = comparison.lines.in_code(access));
        let finding = pattern_finding(&cause)?;
        for attempt in 0..ATTEMPTS {
            let tried = directed(&finding, &run.events, attempt).and_then(|mut plan| {
                plan.policy.seed = attempt + 1;
                comparisons.run(&plan)
            });
            tried.into_iter().for_each(|run| others.add(run));
        }
    }
    let mut patterns = comparison.suspicious(&others, CHOSEN_FROM);
    // What the program does itself explains more than what a library does because of it.
    let is_own =
        |cause: &Cause| !cause.accesses.iter().any(|access| comparison.lines.is_housekeeping(access));
    let own = patterns.iter().position(|cause| is_sure(cause) && is_own(cause));
    if let Some(own) = own {
        patterns[..=own].rotate_right(1);
    }
    let is_proven = comparison.prevent(&mut patterns, comparisons);
    let first_is_sure = patterns.first().is_some_and(is_sure);
    let mut pattern = patterns.into_iter().next();
    pattern.iter_mut().for_each(|cause| comparison.restore(&mut cause.accesses));
    let explanation = |cause: &Cause, sure| {
        Some(Explanation::about(&pattern_finding(cause)?, cause_text(cause, names), sure, names))
    };
    if let Some(cause) = pattern.as_ref().filter(|cause| is_proven || own.is_some() && is_sure(cause)) {
        return explanation(cause, true);
    }
    if let Some((finding, sentence)) = comparison.unusual(&others, names) {
        return Some(Explanation::about(&finding, sentence, true, names));
    }
    // What most passing executions do as well explains nothing.
    let cause = pattern.filter(|cause| first_is_sure || 4 * cause.in_passing <= cause.passing)?;
    explanation(&cause, first_is_sure)
}

/// Whether no passing execution shows a pattern, and most that fail do.
fn is_sure(cause: &Cause) -> bool {
    cause.in_passing == 0 && 2 * cause.in_failing >= cause.failing
}

/// A failing execution among others.
struct Comparison<'a> {
    lines: OwnLines<'a>,
    run: &'a Execution,
    failure: &'a Failure,
}

impl Comparison<'_> {
    /// Where passing executions show the first of these patterns as well, prevents them one at a time and nothing else: the first without which the
    /// program passes comes to the front. Says whether there is one.
    fn prevent(&self, patterns: &mut [Cause], comparisons: &mut ComparisonRuns) -> bool {
        if patterns.first().is_none_or(is_sure) {
            return false;
        }
        for place in 0..PREVENTED.min(patterns.len()) {
            let mut cause = patterns[place].clone();
            cause.accesses.iter_mut().for_each(|access| *access = self.lines.in_code(access));
            let Some(finding) = pattern_finding(&cause) else { return false };
            let mut verdict = Verdict::default();
            for trial in trials(&finding, self.run) {
                let Some(run) = comparisons.run(&trial.plan) else { return false };
                verdict.enter(&finding, &trial, &run);
            }
            if verdict.failing().is_some() {
                patterns[..=place].rotate_right(1);
                return true;
            }
        }
        false
    }

    /// The patterns that distinguish the failing run, and others that failed in the same way, from those that passed; best
    /// first.
    fn suspicious(&mut self, others: &OtherExecutions, most: usize) -> Vec<Cause> {
        let passing: Vec<LocatedExecution> =
            others.passing.iter().map(|run| self.lines.locate(run)).collect();
        let same: Vec<LocatedExecution> =
            others.failing_like(self.failure).map(|run| self.lines.locate(run)).collect();
        let shown = self.lines.locate(self.run);
        // The later ones knew more of what is shared.
        let examples = passing.iter().rev().map(|run| &run.events[..]);
        let next = |run: &LocatedExecution| pending(&run.events, &run.switches, examples.clone());
        let failing: Vec<_> =
            std::iter::once(&shown).chain(&same).map(|run| (&run.events, next(run))).collect();
        let mut failing = failing.iter().map(|(events, pending)| Compared { events, pending });
        let passing = passing.iter().map(|run| Compared { events: &run.events, pending: &[] });
        let Some(first) = failing.next() else { return Vec::new() };
        causes(&first, self.failure.thread, failing, passing, most)
    }

    fn restore(&self, accesses: &mut [Access]) {
        for access in accesses {
            *access = self.lines.in_source(access);
        }
    }

    /// A value, or two, that no passing execution reads.
    fn unusual(&mut self, others: &OtherExecutions, names: &ExecutionNames<'_>) -> Option<(Finding, String)> {
        let Failure { kind, thread, .. } = *self.failure;
        if kind.is_lack_of_progress() {
            return None;
        }
        let passing: Vec<LocatedExecution> =
            others.passing.iter().map(|run| self.lines.locate(run)).collect();
        let passing = || passing.iter().map(|run| &run.events[..]);
        let shown: Vec<Event> = self.lines.locate(self.run).events;
        if let Some(mut read) = unexpected(&shown, thread, passing()) {
            self.restore(&mut read.accesses);
            return Some((order_violation(&read), unexpected_text(&read, names)));
        }
        let mut found = inconsistent(&shown, thread, passing())?;
        for seen in &mut found.seen {
            self.restore(std::slice::from_mut(&mut seen.read));
            self.restore(seen.write.as_mut_slice());
        }
        Some((inconsistency_finding(&found), inconsistent_text(&found, names)))
    }
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

/// A cause as a finding: two accesses came in the wrong order, more are an atomicity violation.
fn pattern_finding(cause: &Cause) -> Option<Finding> {
    let kind = if cause.accesses.len() > 2 { FindingKind::Atomicity } else { FindingKind::Order };
    Some(happened(kind, Some(cause.pattern), cause.accesses.first()?, cause.accesses.clone()))
}

fn order_violation(read: &Unexpected) -> Finding {
    let object = &read.accesses[read.read];
    happened(FindingKind::Order, Some(read.pattern), object, read.accesses.to_vec())
}

fn inconsistency_finding(found: &Inconsistent) -> Finding {
    let [first, second] = &found.seen;
    let accesses = [first.write, second.write, Some(first.read), Some(second.read)];
    happened(FindingKind::Atomicity, None, &first.read, accesses.into_iter().flatten().collect())
}
