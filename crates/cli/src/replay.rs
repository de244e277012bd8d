//! `threadbare replay`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use threadbare_report::{
    Coverage, FailureReport, JsonReport, ReplayReport, Verdict, about_switch, failure_phrase, name_addresses,
};
use threadbare_target::{Execution, Program, ProgramError, Symbols, fingerprint, resolve};
use threadbare_trace::{FailureKind, Schedule};

use crate::args::ReplayArgs;
use crate::conditions::Conditions;
use crate::error::CliError;
use crate::names::ExecutionNames;
use crate::rerun::{self, Stage};
use crate::{found, output, stop};

/// Runs a schedule again; returns the exit status.
pub fn run(args: &ReplayArgs) -> Result<u8, CliError> {
    output::check_json(&args.output)?;
    args.trace.as_deref().map_or(Ok(()), output::check_target)?;
    let schedule = read(&args.schedule)?;
    let (conditions, unknown) = Conditions::of_schedule(&schedule);
    for option in unknown {
        output::say(&format!("warning: the schedule's option `{option}` is not known and was left out"));
    }
    let program = program(args, &schedule, &conditions)?;
    if fingerprint(&program.executable).is_ok_and(|now| now != schedule.binary) {
        output::say(&format!(
            "warning: `{}` has changed since the schedule was made; it may go another way",
            program.name
        ));
    }
    let stop = stop::flag()?;
    let mut stage = Stage::set(&program, &conditions)?;
    let runs = Runs::make(&mut stage, &schedule, args.times, &stop)?;
    tell(args, &schedule, &runs, stage.symbols())?;
    Ok(if runs.failed > 0 { crate::FOUND } else { crate::NOTHING })
}

fn read(path: &Path) -> Result<Schedule, CliError> {
    let bytes = std::fs::read(path).map_err(|source| CliError::Read { path: path.to_path_buf(), source })?;
    Schedule::parse(&String::from_utf8_lossy(&bytes))
        .map_err(|problem| CliError::Schedule { path: path.to_path_buf(), problem })
}

/// The program named in a schedule: from here, or else from where the schedule was made.
fn beside(schedule: &Path, program: PathBuf) -> PathBuf {
    if program.exists() {
        return program;
    }
    let folders = schedule.ancestors().skip(1).take(2);
    folders.map(|folder| folder.join(&program)).find(|path| path.exists()).unwrap_or(program)
}

fn program(args: &ReplayArgs, schedule: &Schedule, conditions: &Conditions) -> Result<Program, CliError> {
    let path = match &args.program {
        Some(path) => path.clone(),
        None if schedule.program.is_empty() => {
            return Err(CliError::NoProgram { path: args.schedule.clone() });
        }
        None => beside(&args.schedule, PathBuf::from(&schedule.program)),
    };
    // What is built lies beside the schedule, as it did when the schedule was made.
    let folder = match args.schedule.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut program = resolve(&path, &schedule.cflags, folder).map_err(|problem| match problem {
        ProgramError::Missing(_) if args.program.is_none() => CliError::Moved { problem },
        problem => problem.into(),
    })?;
    program.args.clone_from(&schedule.args);
    program.stdin.clone_from(&conditions.stdin);
    Ok(program)
}

/// What came of all runs together.
struct Runs {
    /// The first run, which is the one shown.
    first: Execution,
    made: u64,
    /// How many went wrong in any way.
    failed: u64,
    /// How many went wrong as the schedule says.
    reproduced: u64,
    /// Whether all had the same trace.
    alike: bool,
    hash: String,
    steps: u64,
    elapsed: Duration,
    interrupted: bool,
}

impl Runs {
    fn make(stage: &mut Stage, schedule: &Schedule, times: u64, stop: &AtomicBool) -> Result<Runs, CliError> {
        let begin = Instant::now();
        let switches = rerun::from_schedule(schedule);
        let first = stage.follow(&switches)?;
        let hash = found::trace_hash(&first, stage.symbols());
        let mut runs = Runs {
            made: 0,
            failed: 0,
            reproduced: 0,
            alike: true,
            hash,
            steps: 0,
            elapsed: Duration::ZERO,
            interrupted: false,
            first: first.clone(),
        };
        runs.count(&first, schedule);
        while runs.made < times {
            if stop.load(Ordering::SeqCst) {
                runs.interrupted = true;
                break;
            }
            let run = stage.follow(&switches)?;
            runs.alike &= found::trace_hash(&run, stage.symbols()) == runs.hash;
            runs.count(&run, schedule);
        }
        runs.elapsed = begin.elapsed();
        Ok(runs)
    }

    fn count(&mut self, run: &Execution, schedule: &Schedule) {
        self.made += 1;
        self.steps += run.steps;
        if let Some(failure) = run.outcome.failure() {
            self.failed += 1;
            let expected = schedule.failure.as_ref().is_none_or(|(kind, _)| *kind == failure.kind);
            self.reproduced += u64::from(expected);
        }
    }
}

fn tell(args: &ReplayArgs, schedule: &Schedule, runs: &Runs, symbols: &Symbols) -> Result<(), CliError> {
    let names = ExecutionNames::new(symbols, &runs.first);
    let parting = parting(schedule, &runs.first, &names);
    if !runs.alike {
        output::say("warning: the runs had different traces: the program depends on something uncontrolled");
    }
    if args.hash {
        output::print(&format!("{}\n", runs.hash))?;
    } else if !args.output.json_on_stdout() {
        let mut text = String::new();
        if !args.output.quiet {
            text.push_str(&found::show(&runs.first, &names, &output::look(&args.output)));
            text.push('\n');
        }
        text.push_str(&conclusion(schedule, runs, parting.as_ref()));
        output::print(&text)?;
    }
    let failure = found::describe(&runs.first, &names, symbols).map(|mut failure| {
        failure.execution = schedule.execution;
        failure.schedule = Some(args.schedule.display().to_string());
        failure.reproduced = runs.reproduced == runs.made;
        failure.trace = args.trace.as_ref().map(|path| path.display().to_string());
        failure
    });
    write_files(args, schedule, &runs.first, &names, failure.as_ref())?;
    let report = JsonReport {
        tool: "threadbare",
        version: env!("CARGO_PKG_VERSION"),
        command: "replay",
        program: args.program.as_ref().map_or_else(|| schedule.program.clone(), |p| p.display().to_string()),
        strategy: "replay".into(),
        seed: schedule.seed,
        verdict: if runs.failed > 0 { Verdict::Failure } else { Verdict::Clean },
        executions: runs.made,
        steps: runs.steps,
        threads: runs.first.threads,
        elapsed_s: JsonReport::seconds(runs.elapsed),
        executions_per_s: JsonReport::rate(runs.made, runs.elapsed),
        snapshots: 0,
        failed_executions: failure.iter().map(|failure| (failure.kind, runs.made)).collect(),
        failures: failure.iter().cloned().collect(),
        failure,
        findings: Vec::new(),
        coverage: Coverage::default(),
        exhausted: false,
        interrupted: runs.interrupted,
        replay: Some(ReplayReport {
            times: runs.made,
            reproduced: runs.reproduced,
            diverged_at: parting.as_ref().map(|(number, _)| *number),
            divergence: parting.map(|(_, what)| what),
            trace_hash: runs.hash.clone(),
        }),
        warnings: runs.first.warnings.clone(),
    };
    output::write_json(&args.output, &report)
}

/// Writes the trace and the SARIF file where they were asked for.
fn write_files(
    args: &ReplayArgs,
    schedule: &Schedule,
    run: &Execution,
    names: &ExecutionNames<'_>,
    failure: Option<&FailureReport>,
) -> Result<(), CliError> {
    if args.trace.is_none() && args.output.sarif.is_none() {
        return Ok(());
    }
    let trace = found::recorded(run, names, schedule);
    if let Some(path) = &args.trace {
        output::write_whole(path, &trace.to_bytes())?;
    }
    let result = failure.and_then(|failure| found::sarif_result(&trace, failure));
    output::write_sarif(&args.output, "replay", result.as_slice())
}

fn conclusion(schedule: &Schedule, runs: &Runs, parting: Option<&(u64, String)>) -> String {
    let of =
        if runs.made == 1 { String::new() } else { format!(" ({} of {} runs)", runs.reproduced, runs.made) };
    let phrase = |(kind, message): &(FailureKind, String)| failure_phrase(*kind, message);
    let expected = schedule.failure.as_ref().map_or("a failure", phrase);
    let mut text = match (runs.failed, runs.reproduced) {
        (0, _) if schedule.failure.is_none() => {
            format!(
                "The schedule is one of a finding, not of a failure: it was run again{of}, and the program passed.\n"
            )
        }
        (0, _) => {
            format!("The schedule's failure, {expected}, did not show again{of}: the program passed.\n")
        }
        (_, 0) => format!("The program failed, but not in the way of the schedule, {expected}{of}.\n"),
        _ => format!("The schedule's failure, {expected}, showed again{of}.\n"),
    };
    if let Some((number, what)) = parting {
        let all = schedule.switches.len();
        text.push_str(&format!("The run left the schedule at switch {number} of {all}: {what}\n"));
    }
    text
}

/// The first switch that did not happen as the schedule has it, and what happened instead.
fn parting(schedule: &Schedule, run: &Execution, names: &ExecutionNames<'_>) -> Option<(u64, String)> {
    let now = |index: usize| run.switches.get(index).map(|switch| about_switch(switch, names));
    // The runtime knows operations by number only; the sites tell when a number means something else.
    let moved = schedule.switches.iter().enumerate().find_map(|(index, switch)| {
        let site = now(index).filter(|site| *site != switch.site)?;
        let place = format!("{}'s operation {} was `{}`", switch.from, switch.op, switch.site);
        Some((index as u64 + 1, format!("{place} and is now `{site}`")))
    });
    let followed = run.divergence.as_ref().map(|(number, why)| {
        let index = (*number as usize).saturating_sub(1);
        let mut what = name_addresses(why, names);
        if let Some(switch) = schedule.switches.get(index) {
            what.push_str(&format!(" (expected at `{}`", switch.site));
            what.push_str(&now(index).map_or_else(|| ")".into(), |site| format!(", found `{site}`)")));
        }
        (*number, what)
    });
    match (moved, followed) {
        (Some(moved), Some(followed)) => Some(if moved.0 < followed.0 { moved } else { followed }),
        (moved, followed) => moved.or(followed),
    }
}
