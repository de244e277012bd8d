//! `threadbare replay`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use threadbare_detect::{Finding, FindingKind};
use threadbare_diagnose::{
    Conditions, ExecutionNames, Replayer, describe_failure, from_schedule, recorded, trace_hash,
};
use threadbare_explore::{find_shown, pointed_out};
use threadbare_report::{
    Coverage, FailureReport, JsonReport, ReplayReport, SarifResult, Verdict, about_switch, failure_phrase,
    finding_text, name_addresses,
};
use threadbare_target::{Execution, Program, ProgramError, SourceLanguage, Symbols, fingerprint, resolve_in};
use threadbare_trace::{Outcome, Schedule, ShownFinding};

use crate::args::ReplayArgs;
use crate::ending::Ending;
use crate::error::CliError;
use crate::findings::{Findings, ReportedFinding};
use crate::trust::Demands;
use crate::{failures, output, signals};

/// Runs a schedule again; returns the exit status.
pub fn run(args: &ReplayArgs) -> Result<u8, CliError> {
    output::check_json(&args.output)?;
    args.trace.as_deref().map_or(Ok(()), output::check_target)?;
    let schedule = read(&args.schedule)?;
    let (conditions, unknown) = Conditions::of_schedule(&schedule);
    for option in unknown {
        output::say(&format!("warning: the schedule's option `{option}` is not known and was left out"));
    }
    let stop = signals::stop_flag_of_showing()?;
    let program = program(args, &schedule, &conditions)?;
    if fingerprint(&program.executable).is_ok_and(|now| now != schedule.binary) {
        output::say(&format!(
            "warning: `{}` has changed since the schedule was made; it may take another path",
            program.name
        ));
    }
    let mut replayer = Replayer::start(&program, &conditions, &stop, None)?;
    if schedule.shows.is_some() {
        replayer.record_all();
    }
    let runs = Runs::make(&mut replayer, &schedule, args.times, &stop)?;
    let mut ending = Ending::of(runs.failed + runs.showed > 0);
    report(args, &schedule, &runs, replayer.symbols(), &mut ending);
    ending.status()
}

fn read(path: &Path) -> Result<Schedule, CliError> {
    let bytes = std::fs::read(path).map_err(|source| CliError::Read { path: path.to_path_buf(), source })?;
    Schedule::parse(&String::from_utf8_lossy(&bytes))
        .map_err(|problem| CliError::Schedule { path: path.to_path_buf(), problem })
}

/// The folder in which the program named in a schedule is to be found: this one, or else where the schedule lies or was
/// made. A program that was built from the same source elsewhere would be another one.
fn start(path: &Path, schedule: &Schedule) -> PathBuf {
    let here = Path::new(".");
    let made = Some(Path::new(&schedule.folder)).filter(|folder| folder.is_absolute());
    let folders: Vec<&Path> =
        [here].into_iter().chain(path.ancestors().skip(1).take(2)).chain(made).collect();
    let holding: Vec<&Path> =
        folders.into_iter().filter(|folder| folder.join(&schedule.program).exists()).collect();
    let is_it =
        |folder: &&&Path| fingerprint(&folder.join(&schedule.program)).is_ok_and(|it| it == schedule.binary);
    holding.iter().find(is_it).or(holding.first()).copied().unwrap_or(here).to_path_buf()
}

fn program(args: &ReplayArgs, schedule: &Schedule, conditions: &Conditions) -> Result<Program, CliError> {
    let (start, path) = match &args.program {
        Some(path) => (PathBuf::from("."), path.clone()),
        None if schedule.program.is_empty() => {
            return Err(CliError::NoProgram { path: args.schedule.clone() });
        }
        None => (start(&args.schedule, schedule), PathBuf::from(&schedule.program)),
    };
    check_trust(args, schedule, &path)?;
    // What is built lies beside the schedule, as it did when the schedule was made.
    let folder = match args.schedule.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut program =
        resolve_in(&start, &path, &schedule.cflags, folder).map_err(|problem| match problem {
            ProgramError::Missing(_) if args.program.is_none() => CliError::Moved { problem },
            problem => problem.into(),
        })?;
    program.args.clone_from(&schedule.args);
    program.stdin.clone_from(&conditions.stdin);
    program.until_idle = conditions.until_idle;
    program.env.clone_from(&conditions.env);
    program.folder.clone_from(&conditions.folder);
    program.is_test = conditions.is_test;
    program.wanted_panics.clone_from(&conditions.wanted_panics);
    if let Some(folder) = program.folder.take_if(|folder| !folder.is_dir()) {
        output::say(&format!(
            "warning: the folder `{}` that the program ran in is not there; it runs in the current one",
            folder.display()
        ));
    }
    Ok(program)
}

/// Refuses what a schedule that was not made here asks for, unless the user trusts it.
fn check_trust(args: &ReplayArgs, schedule: &Schedule, program: &Path) -> Result<(), CliError> {
    if args.trust {
        return Ok(());
    }
    let is_built = SourceLanguage::of(program).is_some();
    let demands = Demands::of(schedule);
    let demands = if is_built { demands } else { demands.and_then(Demands::without_building) };
    match demands {
        Some(demands) if !demands.are_known() => {
            Err(CliError::Untrusted { path: args.schedule.clone(), demands: demands.sentence() })
        }
        _ => Ok(()),
    }
}

/// What came of all runs together.
struct Runs {
    /// The first run, which is the one shown.
    first: Execution,
    made: u64,
    /// How many were cut.
    cut: u64,
    /// How many went wrong in any way.
    failed: u64,
    /// How many showed the schedule's finding.
    showed: u64,
    /// How many went as the schedule says.
    reproduced: u64,
    /// Whether all had the same trace.
    alike: bool,
    hash: String,
    steps: u64,
    elapsed: Duration,
    interrupted: bool,
}

impl Runs {
    fn make(
        replayer: &mut Replayer,
        schedule: &Schedule,
        times: u64,
        stop: &AtomicBool,
    ) -> Result<Runs, CliError> {
        let begin = Instant::now();
        let switches = from_schedule(schedule);
        let first = replayer.follow(&switches)?;
        let hash = trace_hash(&first, replayer.symbols());
        let mut runs = Runs {
            made: 0,
            cut: 0,
            failed: 0,
            showed: 0,
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
            let run = replayer.follow(&switches)?;
            runs.alike &= trace_hash(&run, replayer.symbols()) == runs.hash;
            runs.count(&run, schedule);
        }
        runs.elapsed = begin.elapsed();
        Ok(runs)
    }

    fn count(&mut self, run: &Execution, schedule: &Schedule) {
        self.made += 1;
        self.cut += u64::from(matches!(run.outcome, Outcome::Cut(_)));
        self.steps += run.steps;
        let failure = run.outcome.failure();
        let shows = finding(schedule, run).is_some();
        let as_expected = match &schedule.failure {
            Some((kind, _)) => failure.is_some_and(|failure| failure.kind == *kind),
            None if schedule.shows.is_some() => shows,
            None => failure.is_some(),
        };
        self.failed += u64::from(failure.is_some());
        self.showed += u64::from(shows);
        self.reproduced += u64::from(as_expected);
    }
}

/// The schedule's finding, if the run shows it.
fn finding(schedule: &Schedule, run: &Execution) -> Option<Finding> {
    schedule.shows.as_ref().and_then(|shown| find_shown(shown, run))
}

/// The finding as text, for the files.
fn findings(
    found: Option<&Finding>,
    shown: Option<&ShownFinding>,
    runs: &Runs,
    names: &ExecutionNames<'_>,
    path: &Path,
) -> Findings {
    // Whether it makes the program fail was tried out when it was found.
    let is_cause = shown.is_some_and(|shown| shown.is_cause);
    let mut findings = Findings::default();
    if let Some(found) = found {
        let text = finding_text(found, names, true);
        let schedule = Some(path.to_path_buf());
        findings.add(ReportedFinding {
            text,
            confirmed: is_cause || matches!(found.kind, FindingKind::Race | FindingKind::Deadlock),
            seen: true,
            schedule,
            fails: runs.failed > 0 && is_cause,
            is_cause: false,
            count: runs.showed,
            follows_from: None,
            inputs: Vec::new(),
        });
    }
    findings
}

fn report(args: &ReplayArgs, schedule: &Schedule, runs: &Runs, symbols: &Symbols, ending: &mut Ending) {
    let names = ExecutionNames::new(symbols, &runs.first);
    let divergence = divergence(schedule, &runs.first, &names);
    let found = finding(schedule, &runs.first);
    if !runs.alike {
        output::say("warning: the runs had different traces: the program depends on something uncontrolled");
    }
    if args.hash {
        ending.note(output::print(&format!("{}\n", runs.hash)));
    } else if !args.output.json_on_stdout() {
        let mut text = String::new();
        if !args.output.quiet {
            let shown = schedule.shows.as_ref();
            let marked = shown.map_or_else(Vec::new, |shown| pointed_out(shown, &runs.first.events));
            text.push_str(&failures::show(&runs.first, &marked, &names, &output::text_format(&args.output)));
            text.push('\n');
        }
        text.push_str(&conclusion(schedule, runs, divergence.as_ref()));
        ending.note(output::print(&text));
    }
    let failure = describe_failure(&runs.first, &names, symbols).map(|mut failure| {
        failure.execution = schedule.execution;
        failure.schedule = Some(args.schedule.display().to_string());
        failure.reproduced = runs.reproduced == runs.made;
        failure.trace = args.trace.as_ref().map(|path| path.display().to_string());
        failure
    });
    let findings = findings(found.as_ref(), schedule.shows.as_ref(), runs, &names, &args.schedule);
    write_files(args, schedule, &runs.first, &names, failure.as_ref(), &findings, ending);
    let report = JsonReport {
        tool: "threadbare",
        version: env!("CARGO_PKG_VERSION"),
        command: "replay",
        program: args.program.as_ref().map_or_else(|| schedule.program.clone(), |p| p.display().to_string()),
        strategy: "replay".into(),
        seed: schedule.seed,
        verdict: Verdict::of(runs.failed > 0, runs.showed > 0, runs.interrupted),
        executions: runs.made,
        cut: runs.cut,
        steps: runs.steps,
        threads: runs.first.threads,
        elapsed_s: JsonReport::seconds(runs.elapsed),
        executions_per_s: JsonReport::rate(runs.made, runs.elapsed),
        snapshots: 0,
        failed_executions: failure.iter().map(|failure| (failure.kind, runs.made)).collect(),
        failures: failure.iter().cloned().collect(),
        failure,
        findings: findings.json(),
        coverage: Coverage::default(),
        exhausted: false,
        memory_model: Default::default(),
        saturated: false,
        interrupted: runs.interrupted,
        replay: Some(ReplayReport {
            times: runs.made,
            reproduced: runs.reproduced,
            diverged_at: divergence.as_ref().map(|divergence| divergence.number),
            divergence: divergence.map(|divergence| divergence.what),
            trace_hash: runs.hash.clone(),
        }),
        generated: None,
        suite: None,
        total: None,
        doubts: Vec::new(),
        warnings: runs.first.warnings.clone(),
    };
    ending.note(output::write_json(&args.output, &report));
}

/// Writes the trace and the SARIF file where they were asked for.
fn write_files(
    args: &ReplayArgs,
    schedule: &Schedule,
    run: &Execution,
    names: &ExecutionNames<'_>,
    failure: Option<&FailureReport>,
    findings: &Findings,
    ending: &mut Ending,
) {
    if args.trace.is_none() && args.output.sarif.is_none() {
        return;
    }
    let trace = recorded(run, names, schedule);
    if let Some(path) = &args.trace {
        ending.note(output::write_whole(path, &trace.to_bytes()));
    }
    let failure = failure.and_then(|failure| failures::sarif_result(&trace, failure));
    let results: Vec<SarifResult> = findings.sarif().into_iter().chain(failure).collect();
    ending.note(output::write_sarif(&args.output, "replay", &results));
}

fn conclusion(schedule: &Schedule, runs: &Runs, divergence: Option<&Divergence>) -> String {
    let of =
        if runs.made == 1 { String::new() } else { format!(" ({} of {} runs)", runs.reproduced, runs.made) };
    let ended = if runs.failed == 0 { "the program passed" } else { "the program failed otherwise" };
    let mut text = match (&schedule.failure, &schedule.shows, runs.reproduced) {
        (Some((kind, message)), _, 0) => {
            let expected = failure_phrase(*kind, message);
            format!("The schedule's failure, {expected}, did not show again{of}: {ended}.\n")
        }
        (Some((kind, message)), _, _) => {
            // Of a deadlock the failure itself says it all.
            let why = schedule.shows.as_ref().filter(|shown| shown.kind != "deadlock");
            let why = why.map_or_else(String::new, |why| {
                let head = if why.is_cause { "Cause" } else { "It shows" };
                format!("{head} (marked ●): {}.\n", why.sentence)
            });
            format!("The schedule's failure, {}, showed again{of}.\n{why}", failure_phrase(*kind, message))
        }
        (None, Some(shown), 0) => {
            format!("The schedule's finding, that {}, did not show again{of}: {ended}.\n", shown.sentence)
        }
        (None, Some(shown), _) => {
            format!("The schedule's finding (marked ●) showed again{of}: {}.\n", shown.sentence)
        }
        (None, None, 0) => format!("The schedule was run again{of}: {ended}.\n"),
        (None, None, _) => format!("The schedule was run again{of}: the program failed.\n"),
    };
    if let Some(Divergence { number, what, only_renamed }) = divergence {
        let all = schedule.switches.len();
        text.push_str(&match only_renamed {
            true => format!(
                "The program has changed, but all {all} switches could be made; the first that reads \
                 otherwise is number {number}: {what}\n"
            ),
            false => format!("The run left the schedule at switch {number} of {all}: {what}\n"),
        });
    }
    text
}

/// Where a run diverges from its schedule.
struct Divergence {
    /// The number of the switch.
    number: u64,
    /// What is different.
    what: String,
    /// The run followed the schedule all the same; only the sites have other names.
    only_renamed: bool,
}

/// The first switch that did not happen as the schedule has it, and what happened instead.
fn divergence(schedule: &Schedule, run: &Execution, names: &ExecutionNames<'_>) -> Option<Divergence> {
    let now = |index: usize| run.switches.get(index).map(|switch| about_switch(switch, names));
    // The runtime knows operations by number only; the sites show when a number means something else.
    let moved = schedule.switches.iter().enumerate().find_map(|(index, switch)| {
        let site = now(index).filter(|site| **site != *switch.site)?;
        let place = format!("{}'s operation {} was `{}`", switch.from, switch.op, switch.site);
        let what = format!("{place} and is now `{site}`");
        Some(Divergence { number: index as u64 + 1, what, only_renamed: run.divergence.is_none() })
    });
    let followed = run.divergence.as_ref().map(|(number, why)| {
        let index = (*number as usize).saturating_sub(1);
        let mut what = name_addresses(why, names);
        if let Some(switch) = schedule.switches.get(index) {
            what.push_str(&format!(" (expected at `{}`", switch.site));
            what.push_str(&now(index).map_or_else(|| ")".into(), |site| format!(", found `{site}`)")));
        }
        Divergence { number: *number, what, only_renamed: false }
    });
    match (moved, followed) {
        (Some(moved), Some(followed)) => Some(if moved.number < followed.number { moved } else { followed }),
        (moved, followed) => moved.or(followed),
    }
}
