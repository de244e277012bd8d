//! One failure, diagnosed: run again, minimised, explained, and described.

use std::rc::Rc;

use threadbare_explore::{Found, is_preemption, pointed_out};
use threadbare_report::{FailureReport, FindingText};
use threadbare_target::{Execution, Modules, Symbols};
use threadbare_trace::{FailureKind, Schedule, ShownFinding, TraceFile};

use crate::conditions::Conditions;
use crate::error::DiagnoseError;
use crate::explain::{Explanation, explain};
use crate::failure_report::describe_failure;
use crate::names::ExecutionNames;
use crate::original::Original;
use crate::recording::{recorded, to_schedule};
use crate::replayer::{Replayer, same_failure};

/// Other executions are made only if they have no more steps than this: those of a program that hangs take long.
const LONGEST_COMPARED: u64 = 1_000_000;

/// What is wanted of a diagnosis.
pub struct DiagnosisOptions<'a> {
    /// Leave out the switches that the failure does not need.
    pub minimise: bool,
    /// Look for the cause.
    pub explain: bool,
    /// The head of the schedule; switches and failure are filled in.
    pub head: Schedule,
    /// Called when a phase begins.
    pub on_phase: &'a dyn Fn(DiagnosisPhase),
}

/// What a diagnosis is busy with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiagnosisPhase {
    /// Switches are left out of the failing schedule.
    Minimising,
    /// The failing execution is compared with others.
    Explaining,
}

/// What was left out for lack of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeftOut {
    /// It was not run again, and so neither made shorter nor explained.
    RunningAgain,
    /// Not every preemption was tried to be left out.
    Minimising,
    /// No cause was looked for.
    Explaining,
    /// The failing execution was compared with fewer executions than usual.
    Comparing,
}

impl LeftOut {
    /// The same in a whole sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            LeftOut::RunningAgain => "It was not run again, and is shown as it was found.",
            LeftOut::Minimising => "There was no time to leave out every preemption that it does not need.",
            LeftOut::Explaining => "Every run takes so long that no cause was looked for.",
            LeftOut::Comparing => {
                "There was no time to compare it with more executions: the cause may be another one."
            }
        }
    }
}

/// What is known of a failure.
pub struct Diagnosis {
    /// The execution that is shown: exactly what a replay of the schedule gives, if it was reproduced.
    pub run: Execution,
    /// The symbols of its program.
    pub symbols: Rc<Symbols>,
    /// The schedule.
    pub schedule: Schedule,
    /// The trace of the execution.
    pub trace: TraceFile,
    /// The trace as it was found, before minimising.
    pub original: Option<TraceFile>,
    /// The schedule as it was found, where its trace would be too long.
    pub long_original: Option<Schedule>,
    /// What goes into the JSON object; it names no files yet.
    pub report: FailureReport,
    /// What went wrong.
    pub kind: FailureKind,
    /// The cause as a finding.
    pub cause: Option<FindingText>,
    /// No passing execution shows the cause.
    pub is_sure: bool,
    /// The events that the cause is about.
    pub marked: Vec<usize>,
    /// What was left out for lack of time.
    pub left_out: Vec<LeftOut>,
}

/// Runs a failure's schedule once more, minimises it and looks for its cause. Without a replayer, the execution that was found
/// is described as it is.
///
/// The second run is what is shown: it is exactly what a replay will show.
pub fn diagnose(
    found: &Found,
    replayer: Option<&mut Replayer>,
    options: &DiagnosisOptions<'_>,
) -> Result<Diagnosis, DiagnoseError> {
    let mut is_minimal = false;
    let mut again = None;
    let mut symbols = Rc::new(Symbols::new(&Modules::default()));
    let mut comparisons = None;
    let mut left_out = Vec::new();
    let mut original = None;
    left_out.extend(replayer.is_none().then_some(LeftOut::RunningAgain));
    if let Some(replayer) = replayer {
        replayer.set_manner(found.run.manner);
        let same = replayer.follow(&found.run.switches).ok();
        let takes_long = same.as_ref().is_some_and(|run| run.stalled || run.steps > LONGEST_COMPARED);
        let same = same.filter(|again| same_failure(&again.outcome, &found.run.outcome));
        again = same.map(|same| {
            // Every run of a hang takes as long as the hang does, unless it shows early.
            if hangs_long(&same) || !options.minimise {
                return same;
            }
            (options.on_phase)(DiagnosisPhase::Minimising);
            let found = Original::of(&same, replayer.symbols());
            let (shortest, minimal) = replayer.minimise(same);
            is_minimal = minimal;
            left_out.extend((!minimal).then_some(LeftOut::Minimising));
            original = Some(found).filter(|found| found.differs_from(&shortest.switches));
            shortest
        });
        symbols = Rc::clone(replayer.symbols());
        comparisons = (!takes_long).then(|| replayer.comparisons());
        left_out.extend(takes_long.then_some(LeftOut::Explaining));
    }
    let reproduced = again.is_some();
    let run = again.unwrap_or_else(|| Execution::clone(&found.run));
    let names = ExecutionNames::new(&symbols, &run);
    let (Some(mut report), Some(failure)) = (describe_failure(&run, &names, &symbols), run.outcome.failure())
    else {
        return Err(DiagnoseError::Uncontrolled("the failure has no description".into()));
    };
    let kind = failure.kind;
    let mut schedule = Schedule {
        execution: found.execution,
        failure: Some((kind, report.message.clone())),
        switches: to_schedule(&run.switches, &names),
        ..options.head.clone()
    };
    Conditions::note_manner(&mut schedule.options, &run);
    (options.on_phase)(DiagnosisPhase::Explaining);
    let mut comparisons = comparisons.filter(|_| reproduced);
    let explanation = match options.explain {
        true => explain(&run, comparisons.as_deref_mut(), &symbols, &names),
        false => None,
    };
    let Explanation { sentence, finding: cause, shown, sure: is_sure } = explanation.unwrap_or_default();
    let was_cut = comparisons.is_some_and(|comparisons| comparisons.was_cut());
    left_out.extend((was_cut && sentence.is_some()).then_some(LeftOut::Comparing));
    report.cause = sentence;
    let cause_of = |shown: ShownFinding| ShownFinding { is_cause: true, ..shown };
    schedule.shows = shown.filter(|shown| !shown.steps.is_empty()).map(cause_of);
    let marked = schedule.shows.as_ref().map_or_else(Vec::new, |shown| pointed_out(shown, &run.events));
    let trace = recorded(&run, &names, &schedule);
    report.original_events = original.as_ref().and_then(Original::long_events);
    let (original, long_original) = original.map_or((None, None), |it| it.files(&symbols, &schedule));
    report.execution = found.execution;
    report.policy.clone_from(&found.policy);
    report.count = found.count;
    report.reproduced = reproduced;
    report.minimal = is_minimal;
    report.preemptions = run.switches.iter().filter(|switch| is_preemption(switch)).count() as u64;
    drop(names);
    Ok(Diagnosis {
        run,
        symbols,
        schedule,
        trace,
        original,
        long_original,
        report,
        kind,
        cause,
        is_sure,
        marked,
        left_out,
    })
}

fn hangs_long(run: &Execution) -> bool {
    const MANY_STEPS: u64 = 20_000;
    let hangs = run.outcome.failure().is_some_and(|failure| failure.kind == FailureKind::Hang);
    hangs && (run.stalled || run.steps > MANY_STEPS)
}
