//! `threadbare check`.

use std::path::PathBuf;

use threadbare_explore::{Check, Examined, Found, check};
use threadbare_report::{
    Coverage, Finding, FindingText, JsonReport, Level, Rule, SarifResult, Verdict, finding_text,
};
use threadbare_target::{Program, Symbols};
use threadbare_trace::Schedule;

use crate::args::CheckArgs;
use crate::conditions::Conditions;
use crate::error::CliError;
use crate::found::{self, Kept, Shelf};
use crate::names::ExecutionNames;
use crate::progress::Bar;
use crate::rerun::{self, Stage};
use crate::suppressions::Suppressions;
use crate::{hunt, keep, output, stop};

/// Executions that are examined where nobody says how many.
pub const EXECUTIONS: u64 = 100;

/// One finding as it is told.
struct Told {
    text: FindingText,
    schedule: Option<PathBuf>,
    fails: bool,
    count: u64,
}

/// Reports what could go wrong; returns the exit status.
pub fn run(args: &CheckArgs) -> Result<u8, CliError> {
    let hunt = &args.hunt;
    let options = hunt::options(hunt, EXECUTIONS)?;
    let suppressions = Suppressions::read(args.suppressions.as_deref())?;
    let (program, cflags) = hunt::prepare(hunt)?;
    let stop = stop::flag()?;
    let result = {
        let bar = Bar::new(options.executions, hunt.output.quiet);
        check(&program, &options, &|progress| bar.show(progress), &stop)?
    };
    for warning in &result.warnings {
        output::say(&format!("warning: {warning}"));
    }
    let conditions = Conditions::of(&options, &program);
    let head = hunt::schedule_head(&program, cflags, &conditions, &options);
    let mut stage = Stage::set(&program, &conditions)?;
    let (told, silenced) = tell_all(args, &result, &stage, &head, &suppressions)?;
    let failures = keep_failures(args, &result, &mut stage, &head)?;
    if !hunt.output.json_on_stdout() {
        output::print(&words(args, &result, &told, &failures, silenced))?;
    }
    output::write_json(&hunt.output, &json(args, &program, &result, &told, &failures))?;
    let failed = failures.iter().filter_map(|kept| kept.sarif.clone());
    let results: Vec<SarifResult> = told.iter().map(sarif_result).chain(failed).collect();
    output::write_sarif(&hunt.output, "check", &results)?;
    Ok(if told.is_empty() && failures.is_empty() { crate::NOTHING } else { crate::FOUND })
}

/// Puts every finding into words and keeps the schedules of those that happened.
fn tell_all(
    args: &CheckArgs,
    result: &Check,
    stage: &Stage,
    head: &Schedule,
    suppressions: &Suppressions,
) -> Result<(Vec<Told>, usize), CliError> {
    let mut told = Vec::new();
    let mut silenced = 0;
    for examined in &result.findings {
        let names = ExecutionNames::new(stage.symbols(), &examined.run);
        let text = finding_text(&examined.finding, &names, examined.confirmed.is_some());
        if suppressions.silence(&text) {
            silenced += 1;
            continue;
        }
        let schedule = keep_schedule(args, examined, stage.symbols(), head)?;
        told.push(Told { text, schedule, fails: examined.fails(), count: examined.finding.count });
    }
    Ok((told, silenced))
}

fn keep_schedule(
    args: &CheckArgs,
    examined: &Examined,
    symbols: &Symbols,
    head: &Schedule,
) -> Result<Option<PathBuf>, CliError> {
    let Some(run) = &examined.confirmed else { return Ok(None) };
    let names = ExecutionNames::new(symbols, run);
    let failure = run.outcome.failure().map(|failure| (failure.kind, failure.message.clone()));
    let switches = rerun::to_schedule(&run.switches, &names);
    let schedule = Schedule { failure, switches, ..head.clone() };
    let name = format!("{}-{}", keep::file_stem(&args.hunt.program), examined.finding.kind.word());
    let trace = found::recorded(run, &names, &schedule);
    keep::keep(&args.hunt.out, &name, &schedule, &trace, &run.output).map(Some)
}

fn keep_failures(
    args: &CheckArgs,
    result: &Check,
    stage: &mut Stage,
    head: &Schedule,
) -> Result<Vec<Kept>, CliError> {
    let name = keep::file_stem(&args.hunt.program);
    let minimise = !args.hunt.no_minimise;
    let shelf = Shelf { folder: &args.hunt.out, name: &name, minimise, head: head.clone() };
    let look = output::look(&args.hunt.output);
    let keep = |(execution, run): &(u64, _)| {
        let found = Found { execution: *execution, policy: "check".into(), run: Clone::clone(run), count: 1 };
        found::keep(&found, Some(&mut *stage), &shelf, &look)
    };
    result.failures.iter().map(keep).collect()
}

/// What a person reads.
fn words(args: &CheckArgs, result: &Check, told: &[Told], failures: &[Kept], silenced: usize) -> String {
    let mut text = String::new();
    for (number, told) in told.iter().enumerate() {
        let state = match (&told.schedule, told.fails) {
            (Some(_), true) => "confirmed: the program fails of it",
            (Some(_), false) => "confirmed: it was made to happen",
            (None, _) => "predicted",
        };
        text.push_str(&format!("{}. {} ({state})\n", number + 1, told.text.heading));
        text.push_str(&format!("   {}\n", told.text.sentence));
        for (place, source) in &told.text.sources {
            text.push_str(&format!("   {place:20}  {}\n", source.trim()));
        }
        if let Some(schedule) = &told.schedule {
            text.push_str(&format!("   threadbare replay {}\n", schedule.display()));
        }
        text.push('\n');
    }
    for kept in failures {
        let site = kept.report.site.as_deref().unwrap_or("an unknown place");
        text.push_str(&format!(
            "Failure: {} at {site}\n   threadbare replay {}\n\n",
            kept.report.kind,
            kept.schedule.display()
        ));
    }
    let counted = |number: usize, what: &str| match number {
        0 => format!("no {what}"),
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    };
    if result.interrupted {
        text.push_str(
            "It was interrupted: more may be left, and what was predicted was not driven to happen.\n",
        );
    }
    let quiet = if silenced == 0 { String::new() } else { format!(", {silenced} silenced") };
    text.push_str(&format!(
        "{}{quiet} and {} in {}: {} executions, up to {} threads, {:.2} s.\n",
        counted(told.len(), "finding"),
        counted(failures.len(), "failure"),
        args.hunt.program.display(),
        result.executions,
        result.threads,
        result.elapsed.as_secs_f64()
    ));
    text
}

fn json(args: &CheckArgs, program: &Program, result: &Check, told: &[Told], failures: &[Kept]) -> JsonReport {
    let failures: Vec<_> = failures.iter().map(|kept| kept.report.clone()).collect();
    JsonReport {
        tool: "threadbare",
        version: env!("CARGO_PKG_VERSION"),
        command: "check",
        program: program.name.clone(),
        strategy: args.hunt.strategy.clone(),
        seed: args.hunt.seed,
        verdict: match (failures.is_empty(), told.is_empty()) {
            (false, _) => Verdict::Failure,
            (true, false) => Verdict::Findings,
            (true, true) => Verdict::Clean,
        },
        executions: result.executions,
        steps: result.steps,
        threads: result.threads,
        elapsed_s: JsonReport::seconds(result.elapsed),
        executions_per_s: JsonReport::rate(result.executions, result.elapsed),
        snapshots: 0,
        failure: failures.first().cloned(),
        findings: told.iter().map(json_finding).collect(),
        coverage: Coverage::default(),
        exhausted: false,
        interrupted: result.interrupted,
        failed_executions: failures.iter().map(|failure| (failure.kind, failure.count)).collect(),
        failures,
        replay: None,
        warnings: result.warnings.clone(),
    }
}

fn json_finding(told: &Told) -> Finding {
    Finding {
        kind: told.text.kind,
        object: told.text.object.clone(),
        sites: told.text.sites.clone(),
        pattern: told.text.pattern.map(u32::from),
        confirmed: told.schedule.is_some(),
        message: told.text.sentence.clone(),
        schedule: told.schedule.as_ref().map(|path| path.display().to_string()),
        count: told.count,
    }
}

fn sarif_result(told: &Told) -> SarifResult {
    let mut places = told.text.places.iter().cloned();
    SarifResult {
        rule: match told.text.kind {
            "race" => Rule::Race,
            "atomicity" => Rule::Atomicity,
            "deadlock" => Rule::Deadlock,
            _ => Rule::LockDiscipline,
        },
        level: if told.schedule.is_some() { Level::Error } else { Level::Warning },
        message: told.text.sentence.clone(),
        place: places.next(),
        related: places.map(|place| (place, "the other side".to_string())).collect(),
        stack: Vec::new(),
        flow: Vec::new(),
        identity: [told.text.kind.to_string(), told.text.object.clone()]
            .into_iter()
            .chain(told.text.sites.iter().cloned())
            .collect(),
        properties: told.schedule.iter().map(|path| ("schedule", path.display().to_string())).collect(),
    }
}
