//! `threadbare check`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use threadbare_diagnose::{Conditions, ExecutionNames, recorded, to_schedule};
use threadbare_explore::{Check, Examined, Found, MAX_STEPS_OF_TRACES, Options, Progress, check, shown};
use threadbare_report::{CampaignRecord, JsonReport, SarifResult, Verdict};
use threadbare_target::{Execution, Program, Symbols, compilers};
use threadbare_trace::{Schedule, ShownFinding};

use crate::args::CheckArgs;
use crate::artifacts::Artifacts;
use crate::clock::{Clock, LONG};
use crate::coverage::Account;
use crate::coverage_args::window_phrase;
use crate::ending::Ending;
use crate::error::CliError;
use crate::failures::{self, Diagnosing, KeptFailure, Search};
use crate::findings::{Findings, ReportedFinding, texts};
use crate::progress::{Bar, Phase};
use crate::safekeeping::Safekeeping;
use crate::suppressions::Suppressions;
use crate::{artifacts, hunt, output, page, signals};

/// Executions that are examined where nobody says how many.
pub const EXECUTIONS: u64 = 100;

/// Reports what could go wrong; returns the exit status.
pub fn run(args: &CheckArgs) -> Result<u8, CliError> {
    let hunt = &args.hunt;
    let options = Options {
        max_steps: hunt.max_steps.unwrap_or(MAX_STEPS_OF_TRACES),
        ..hunt::options(hunt, EXECUTIONS)?
    };
    let suppressions = Suppressions::read(args.suppressions.as_deref())?;
    let stop = signals::stop_flag()?;
    let (program, cflags) = hunt::prepare(hunt, &stop)?;
    let conditions = Conditions::of(&options, &program);
    let head = hunt::schedule_head(&program, cflags, &conditions, &options);
    let name = artifacts::file_stem(&hunt.program);
    let bar = Bar::new(options.executions, hunt.output.quiet);
    let safe = Safekeeping::new(&hunt.out, &name, &head, (!hunt.output.quiet).then_some(&bar));
    let clock = Clock::start(hunt.time, &stop);
    let announces = Safekeeping::announces(&hunt.output, hunt.keep_going);
    let on_progress = |progress: &Progress| {
        bar.show(progress);
        safe.observe(progress);
        safe.observe_findings(progress, announces, &clock);
    };
    let result = check(&program, &options, &on_progress, &stop)?;
    bar.finish();
    for warning in &result.warnings {
        output::say(&format!("warning: {warning}"));
    }
    let symbols = Symbols::new(&result.modules);
    let mut findings = record_all(args, &result, &symbols, &suppressions, &safe, &clock);
    let failures = keep_failures(args, &result, &program, &conditions, &safe, &stop);
    for kept in &failures {
        match &kept.cause {
            Some(cause) if suppressions.silence(cause) => findings.silenced += 1,
            Some(cause) => {
                findings.add_cause(cause, kept.schedule.as_deref(), kept.report.count, kept.is_sure, &[])
            }
            None => {}
        }
    }
    let mut ending = Ending::of(!findings.is_empty() || !failures.is_empty());
    if !hunt.output.json_on_stdout() {
        ending.note(output::print(&render_text(args, &result, &findings, &failures)));
    }
    let report = json(args, &program, &result, &findings, &failures);
    ending.note(output::write_json(&hunt.output, &report));
    let record = record(&program, &result, &report, &findings);
    ending.note(page::save_record(&hunt.out, page::subject(hunt), record, hunt.html.as_deref()));
    let failed = failures.iter().filter_map(|kept| kept.sarif.clone());
    let results: Vec<SarifResult> = findings.sarif().into_iter().chain(failed).collect();
    ending.note(output::write_sarif(&hunt.output, "check", &results));
    safe.clear_findings();
    ending.status()
}

/// What is kept of it for a page.
pub fn record(program: &Program, result: &Check, report: &JsonReport, findings: &Findings) -> CampaignRecord {
    CampaignRecord {
        compilers: compilers(&program.executable),
        findings: findings.cards(),
        uncovered: Account::with_places(&result.coverage, &result.modules).uncovered_places(),
        ..hunt::record(report)
    }
}

/// Renders the text of every finding and keeps the schedules of those that happened.
pub fn record_all(
    args: &CheckArgs,
    result: &Check,
    symbols: &Symbols,
    suppressions: &Suppressions,
    safe: &Safekeeping<'_>,
    clock: &Clock,
) -> Findings {
    let mut unwritten = 0;
    let mut findings = Findings::default();
    let mut headings = Vec::new();
    for (examined, text) in result.findings.iter().zip(texts(&result.findings, symbols)) {
        let count = examined.finding.count;
        headings.push(text.heading.clone());
        if suppressions.silence(&text) {
            findings.silenced += 1;
        } else if !findings.count_again(&text, count, &[]) {
            let name = artifacts::file_stem(&args.hunt.program);
            let (folder, head) = (&args.hunt.out, safe.head);
            let keep = || keep_schedule(folder, &name, examined, &text.sentence, symbols, head, clock);
            let schedule = match &examined.confirmed {
                Some(run) if is_long(run) && clock.is_over() => {
                    let known = safe
                        .of_run(run)
                        .and_then(|it| artifacts::link(folder, &format!("{name}-{}", text.kind), &it).ok());
                    if known.is_none() && clock.is_late() {
                        unwritten += 1;
                        None
                    } else {
                        known.or_else(keep)
                    }
                }
                _ => keep(),
            };
            let follows_from = examined.follows_from.and_then(|place| headings.get(place).cloned());
            findings.add(ReportedFinding {
                text,
                confirmed: examined.is_confirmed(),
                seen: examined.confirmed.is_some(),
                schedule,
                fails: examined.fails,
                is_cause: false,
                count,
                follows_from,
                inputs: Vec::new(),
            });
        }
    }
    if unwritten > 0 {
        let schedules = output::counted(unwritten, "schedule");
        output::say(&format!(
            "warning: {schedules} of long executions that show findings could not be written in time; --time allows more"
        ));
    }
    findings
}

/// Whether an execution takes long to be written down.
fn is_long(run: &Execution) -> bool {
    run.events.len() > LONG
}

/// Keeps the schedule of a finding that happened; where that is not possible, it is printed.
pub fn keep_schedule(
    folder: &Path,
    name: &str,
    examined: &Examined,
    sentence: &str,
    symbols: &Symbols,
    head: &Schedule,
    clock: &Clock,
) -> Option<PathBuf> {
    let run = examined.confirmed.as_ref()?;
    let names = ExecutionNames::new(symbols, run);
    let failure = run.outcome.failure().map(|failure| (failure.kind, failure.message.clone()));
    let switches = to_schedule(&run.switches, &names);
    // Its event numbers are of that run only if they are known there.
    let is_settled = Arc::ptr_eq(run, &examined.run);
    let is_cause = examined.fails;
    let shows =
        is_settled.then(|| ShownFinding { is_cause, ..shown(&examined.finding, &run.events, sentence) });
    let mut schedule = Schedule { failure, shows, switches, ..head.clone() };
    Conditions::note_manner(&mut schedule.options, run);
    let name = format!("{name}-{}", examined.finding.kind.word());
    if is_long(run) && clock.is_over() {
        return artifacts::save_schedule(folder, &name, &schedule)
            .inspect_err(|error| failures::print_instead(error, &schedule))
            .ok();
    }
    let trace = recorded(run, &names, &schedule);
    let (original, long_original, printed) = (None, None, &run.output[..]);
    let artifacts = Artifacts { schedule: &schedule, trace: &trace, original, long_original, printed };
    artifacts::save(folder, &name, &artifacts)
        .inspect_err(|error| failures::print_instead(error, &schedule))
        .ok()
}

/// Diagnoses the failures that were met, and keeps them.
pub fn keep_failures(
    args: &CheckArgs,
    result: &Check,
    program: &Program,
    conditions: &Conditions,
    safe: &Safekeeping<'_>,
    stop: &Arc<AtomicBool>,
) -> Vec<KeptFailure> {
    let minimise = !args.hunt.no_minimise;
    let phase = Phase::new(args.hunt.output.quiet);
    let Check { executions, steps, elapsed, ref passing, .. } = *result;
    let diagnosing = Diagnosing {
        program,
        conditions,
        minimise,
        explain: true,
        phase: &phase,
        safe,
        search: Search { executions, steps, elapsed, passing },
        time: Some(args.hunt.time),
        explain_time: args.hunt.explain_time,
        stop,
    };
    let format = output::text_format(&args.hunt.output);
    let found: Vec<Found> = result.failures.iter().map(|met| met.as_found("check")).collect();
    let kept = diagnosing.keep_all(&found, &format);
    phase.finish();
    kept
}

/// What a person reads.
pub fn render_text(
    args: &CheckArgs,
    result: &Check,
    findings: &Findings,
    failures: &[KeptFailure],
) -> String {
    let quiet = args.hunt.output.quiet;
    let mut text =
        if quiet { findings.headlines() } else { findings.numbered_list(args.hunt.output.full, "--full") };
    if findings.lack_lines() && !quiet {
        text.push_str("No source line is known: compile with `-g`, and do not strip the program.\n\n");
    }
    for kept in failures {
        let report = &kept.report;
        let site = report.site.as_ref().map_or_else(String::new, |site| format!(" at {site}"));
        let often =
            format!("{} of {}", report.count, output::counted(result.executions as usize, "execution"));
        text.push_str(&format!("Failure: {}{site} ({often})\n", report.kind));
        if quiet {
            continue;
        }
        for line in report.message.lines() {
            text.push_str(&format!("   {line}\n"));
        }
        if let Some(cause) = &report.cause {
            text.push_str(&format!("   Cause: {cause}.\n"));
        }
        if let Some(delay) = &kept.report.delay {
            text.push_str(&format!("   {}\n", delay.sentence()));
        }
        kept.left_out.iter().for_each(|what| text.push_str(&format!("   {}\n", what.sentence())));
        text.push_str(&format!("   {}\n\n", failures::again(kept.schedule.as_deref())));
    }
    if result.interrupted {
        text.push_str(
            "It was interrupted: more may be left, and what was predicted was not driven to happen.\n",
        );
    }
    if result.given_up {
        text.push_str(
            "Executions were cut again and again because they made no step for long: nothing more was tried. \
             --stall SECONDS says how long.\n",
        );
    }
    let silenced = match findings.silenced {
        0 => String::new(),
        silenced => format!(", {silenced} silenced"),
    };
    text.push_str(&format!(
        "{}{silenced} and {} in {}: {}, up to {}, {:.2} s.\n",
        output::counted(findings.len(), "finding"),
        output::counted(failures.len(), "failure"),
        args.hunt.program.display(),
        output::counted(result.executions as usize, "execution"),
        output::counted(result.threads as usize, "thread"),
        result.elapsed.as_secs_f64()
    ));
    if result.saturated {
        let window = window_phrase(args.hunt.coverage.rule().window);
        text.push_str(&format!("Coverage is saturated: it hardly grew in {window}.\n"));
    }
    text.push_str(&covered(args, result).sentences());
    text
}

/// What was covered.
fn covered<'a>(args: &CheckArgs, result: &'a Check) -> Account<'a> {
    Account::of(&result.coverage, &args.hunt.coverage, &result.modules)
}

pub fn json(
    args: &CheckArgs,
    program: &Program,
    result: &Check,
    findings: &Findings,
    failures: &[KeptFailure],
) -> JsonReport {
    let failures: Vec<_> = failures.iter().map(|kept| kept.report.clone()).collect();
    JsonReport {
        tool: "threadbare",
        version: env!("CARGO_PKG_VERSION"),
        command: "check",
        program: program.name.clone(),
        strategy: args.hunt.strategy.clone(),
        seed: args.hunt.seed,
        verdict: Verdict::of(!failures.is_empty(), !findings.is_empty(), result.interrupted),
        executions: result.executions,
        cut: result.cut,
        steps: result.steps,
        threads: result.threads,
        elapsed_s: JsonReport::seconds(result.elapsed),
        executions_per_s: JsonReport::rate(result.executions, result.elapsed),
        snapshots: 0,
        failure: failures.first().cloned(),
        findings: findings.json(),
        coverage: covered(args, result).json(),
        saturated: result.saturated,
        exhausted: false,
        memory_model: Default::default(),
        interrupted: result.interrupted,
        failed_executions: threadbare_report::failed_executions(&failures),
        failures,
        replay: None,
        generated: None,
        suite: None,
        total: None,
        doubts: hunt::doubts(&result.doubts),
        warnings: result.warnings.clone(),
    }
}
