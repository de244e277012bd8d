//! `threadbare hunt`.

use std::path::Path;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use threadbare_coverage::CRITERIA;
use threadbare_diagnose::{Conditions, LeftOut};
use threadbare_explore::strategies::{Claim, Row, StrategyOptions};
use threadbare_explore::{
    CHECKPOINT_GAP, Campaign, CampaignVerdict, DEFAULT_MEMORY, Doubt, ExploreError, MAX_STEPS,
    MAX_STEPS_OF_TRACES, Options, Progress, Timers, hunt, strategies,
};
use threadbare_report::{CampaignRecord, DoubtReport, JsonReport, Verdict, failure_phrase};
use threadbare_target::{Program, SourceLanguage, compilers, fingerprint, resolve};
use threadbare_trace::Schedule;

use crate::args::{HuntArgs, Threads};
use crate::coverage::Account;
use crate::coverage_args::window_phrase;
use crate::ending::Ending;
use crate::error::CliError;
use crate::failures::{self, Diagnosing, KeptFailure, Search};
use crate::progress::{Bar, Phase};
use crate::safekeeping::Safekeeping;
use crate::{artifacts, output, page, signals};

/// Executions that are made where nobody says how many.
const EXECUTIONS: u64 = 10_000;

/// Looks for a failing interleaving; returns the exit status.
pub fn run(args: &HuntArgs) -> Result<u8, CliError> {
    let options = options(args, EXECUTIONS)?;
    let stop = signals::stop_flag()?;
    let (program, cflags) = prepare(args, &stop)?;
    let conditions = Conditions::of(&options, &program);
    let head = schedule_head(&program, cflags, &conditions, &options);
    let name = artifacts::file_stem(&args.program);
    let bar = Bar::new(options.executions, args.output.quiet);
    let announces = Safekeeping::announces(&args.output, args.keep_going);
    let safe = Safekeeping::new(&args.out, &name, &head, announces.then_some(&bar));
    let on_progress = |progress: &Progress| {
        bar.show(progress);
        safe.observe(progress);
    };
    let campaign = hunt(&program, &options, &on_progress, &stop)?;
    bar.finish();
    for warning in &campaign.warnings {
        output::say(&format!("warning: {warning}"));
    }
    let begin = Instant::now();
    let kept = keep_all(args, &program, &conditions, &safe, &campaign, &stop);
    let mut ending = Ending::of(!campaign.found.is_empty());
    if !args.output.json_on_stdout() {
        ending.note(output::print(&render_text(args, &program, &campaign, &kept, begin.elapsed())));
    }
    let report = json(args, &campaign, &kept);
    ending.note(output::write_json(&args.output, &report));
    let record = CampaignRecord {
        compilers: compilers(&program.executable),
        uncovered: Account::with_places(&campaign.coverage, &campaign.modules).uncovered_places(),
        ..record(&report)
    };
    ending.note(page::save_record(&args.out, page::subject(args), record, args.html.as_deref()));
    let results: Vec<_> = kept.iter().filter_map(|kept| kept.sarif.clone()).collect();
    ending.note(output::write_sarif(&args.output, "hunt", &results));
    ending.status()
}

/// What is kept of a campaign, from the JSON object.
pub fn record(report: &JsonReport) -> CampaignRecord {
    let mut kept = serde_json::to_value(report).unwrap_or_default();
    // The page has its own list of what is not covered, with source, and of a bounded length.
    let criteria = kept["coverage"].as_object_mut().into_iter().flat_map(|it| it.values_mut());
    criteria.filter_map(Value::as_object_mut).for_each(|it| drop(it.remove("uncovered")));
    kept.get_mut("groups").and_then(Value::as_object_mut).and_then(|it| it.remove("uncovered"));
    CampaignRecord {
        report: kept,
        failures: report.failures.iter().map(page::failure_files).collect(),
        ..CampaignRecord::default()
    }
}

/// Finds or builds the program, with its arguments and input; also gives the compiler's flags.
///
/// The compiler ends with the tool when a signal ends both; nothing is left of what it was writing.
pub fn prepare(args: &HuntArgs, stop: &AtomicBool) -> Result<(Program, Vec<String>), CliError> {
    let cflags = split_cflags(&args.cflags)?;
    output::check_json(&args.output)?;
    output::check_html(args.html.as_deref())?;
    if args.program.exists() {
        artifacts::check_folder(&args.out)?;
    }
    let stdin = args.stdin.as_deref().map(checked_input).transpose()?;
    let resolved = resolve(&args.program, &cflags, &args.out);
    if stop.load(Ordering::Relaxed) {
        return Err(CliError::InterruptedEarly);
    }
    let mut program = resolved?;
    if !cflags.is_empty() && SourceLanguage::of(&args.program).is_none() {
        output::say("warning: --cflags is for source files, and was not used");
    }
    program.args.clone_from(&args.args);
    program.stdin.clone_from(&stdin);
    program.until_idle = args.until_idle;
    Ok((program, cflags))
}

/// The head of a schedule file: all but switches and failure.
pub fn schedule_head(
    program: &Program,
    cflags: Vec<String>,
    conditions: &Conditions,
    options: &Options,
) -> Schedule {
    Schedule {
        program: program.name.clone(),
        folder: std::env::current_dir().map_or_else(|_| String::new(), |folder| folder.display().to_string()),
        args: program.args.clone(),
        cflags,
        options: conditions.to_options(),
        binary: fingerprint(&program.executable).unwrap_or_default(),
        strategy: options.strategy.clone(),
        seed: options.seed,
        ..Schedule::default()
    }
}

/// The campaign's options; `executions` is the number where none is given.
pub fn options(args: &HuntArgs, executions: u64) -> Result<Options, CliError> {
    options_with(args, executions, slice::from_ref(&args.strategy))
}

/// The same where the strategies are chosen in another way than by `--strategy`.
pub fn options_with<S: AsRef<str>>(
    args: &HuntArgs,
    executions: u64,
    names: &[S],
) -> Result<Options, CliError> {
    // Before anything is compiled: a slip of the finger should not cost a build.
    let rows: Vec<&Row> =
        names.iter().map(|name| strategies::find(name.as_ref())).collect::<Result<_, _>>()?;
    let criteria = args.coverage.criteria(args.html.is_some());
    if let Some(name) = criteria.iter().find(|name| !CRITERIA.contains(&name.as_str())) {
        return Err(ExploreError::UnknownCriterion(name.clone()).into());
    }
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let options = Options {
        strategy: args.strategy.clone(),
        seed: args.seed,
        executions: args.executions.unwrap_or(executions),
        time: Some(args.time),
        jobs: args.jobs.unwrap_or_else(cores),
        max_steps: args.max_steps.unwrap_or_else(|| {
            if rows.iter().all(|row| row.samples()) { MAX_STEPS } else { MAX_STEPS_OF_TRACES }
        }),
        measures_length: args.max_steps.is_none(),
        memory: args.memory_limit.unwrap_or_else(usual_memory),
        overlooked: None,
        keep_going: args.keep_going,
        strategy_options: StrategyOptions {
            pct_depth: args.pct_depth,
            delay_probability: args.probability,
            ars_width: args.ars_width,
            snapshots: !args.no_snapshots,
            preemption_bound: args.preemption_bound,
        },
        checkpoint_gap: (!args.no_checkpoints).then_some(CHECKPOINT_GAP),
        spurious: args.spurious,
        os_threads: args.threads == Threads::Os,
        any_exit: args.any_exit,
        // To wait for the outside is no step either.
        stall: args.stall + args.until_idle.unwrap_or_default(),
        coverage: criteria,
        saturation: args.coverage.rule(),
        until_saturated: args.coverage.until_saturated(),
        known: None,
        timers: args.timers.map(Timers::from),
        in_process: true,
        heeds_wishes: args.executions.is_none(),
    };
    for useless in Row::unread(&rows, &options) {
        output::say(&format!("warning: {useless}"));
    }
    Ok(options)
}

/// The memory that may be used where nobody says how much.
pub fn usual_memory() -> u64 {
    let about = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = about.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB"));
    let machine = total.and_then(|total| total.parse::<u64>().ok()).map_or(u64::MAX, |total| total * 1024);
    (machine / 4).min(DEFAULT_MEMORY)
}

fn split_cflags(given: &[String]) -> Result<Vec<String>, CliError> {
    let split = |text: &String| {
        shlex::split(text)
            .ok_or_else(|| CliError::Usage(format!("--cflags `{text}` has an open quote; close it")))
    };
    Ok(given.iter().map(split).collect::<Result<Vec<_>, _>>()?.concat())
}

fn checked_input(path: &Path) -> Result<std::path::PathBuf, CliError> {
    let failed = |source| CliError::Read { path: path.to_path_buf(), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(failed(std::io::ErrorKind::IsADirectory.into()));
    }
    Ok(path.to_path_buf())
}

/// Runs each failure again on a fresh program, and keeps it.
fn keep_all(
    args: &HuntArgs,
    program: &Program,
    conditions: &Conditions,
    safe: &Safekeeping<'_>,
    campaign: &Campaign,
    stop: &Arc<AtomicBool>,
) -> Vec<KeptFailure> {
    if campaign.found.is_empty() {
        safe.clear_except(std::iter::empty());
        return Vec::new();
    }
    let phase = Phase::new(args.output.quiet);
    phase.show("running the failing schedule again…");
    let Campaign { executions, steps, elapsed, .. } = *campaign;
    let diagnosing = Diagnosing {
        program,
        conditions,
        minimise: !args.no_minimise,
        explain: true,
        phase: &phase,
        safe,
        search: Search { executions, steps, elapsed, passing: &[] },
        time: Some(args.time),
        explain_time: args.explain_time,
        stop,
    };
    let format = output::text_format(&args.output);
    let kept = diagnosing.keep_all(&campaign.found, &format);
    phase.finish();
    kept
}

/// What a person reads at the end.
fn render_text(
    args: &HuntArgs,
    program: &Program,
    campaign: &Campaign,
    kept: &[KeptFailure],
    explaining: Duration,
) -> String {
    let Some(first) = kept.first() else { return nothing_found(args, program, campaign) };
    let mut text = String::new();
    if !args.output.quiet {
        text.push_str(&first.shown);
        text.push('\n');
    }
    for kept in kept {
        text.push_str(&about(kept, args.seed, args.jobs == Some(1)));
    }
    let figures = figures(campaign);
    let figures = figures.trim_end_matches('.');
    text.push_str(&format!(
        "{figures}, and {:.2} s to run it again and explain it.\n",
        explaining.as_secs_f64()
    ));
    text.push_str(&covered(args, campaign).sentences());
    if !args.output.quiet {
        text.push_str(&circumstances(program));
    }
    text
}

/// What a bug report needs besides: who found it, with which command, in what which compiler made.
fn circumstances(program: &Program) -> String {
    let made_by = compilers(&program.executable).join("; ");
    let made_by = if made_by.is_empty() { "an unknown compiler".to_string() } else { made_by };
    let version = env!("CARGO_PKG_VERSION");
    let command = page::command_line();
    format!("threadbare {version}, on code by {made_by}: {command}\n")
}

/// What a person reads about one failure besides its interleaving; `is_alone` says that no two executions ran side by side.
pub fn about(kept: &KeptFailure, seed: u64, is_alone: bool) -> String {
    let mut text = String::new();
    let report = &kept.report;
    let site = report.site.as_ref().map_or_else(String::new, |site| format!(" at {site}"));
    text.push_str(&format!(
        "Found {}{site} in execution {} (policy {}, seed {}).\n",
        failure_phrase(kept.kind, &report.message),
        report.execution,
        report.policy,
        seed
    ));
    text.push_str(match report.reproduced {
        true if report.minimal => match report.preemptions {
            0 => "It needs no preemption: the threads only have to run in this order.\n",
            1 => "The schedule is minimised: it fails with one preemption, and not without it.\n",
            _ => "The schedule is minimised: none of its preemptions can be left out.\n",
        },
        true => "A second run of the same schedule failed in the same way.\n",
        false if kept.left_out.contains(&LeftOut::RunningAgain) => "",
        false if is_alone => "A second run of the same schedule did NOT fail in the same way.\n",
        // Programs that write files meet themselves where two executions run side by side.
        false => {
            "A second run of the same schedule did NOT fail in the same way; if the program writes \
             files, its executions may disturb each other: try --jobs 1.\n"
        }
    });
    if let Some(delay) = &report.delay {
        text.push_str(&format!("{}\n", delay.sentence()));
    }
    if let Some(cause) = &report.cause {
        text.push_str(&format!("Cause: {cause}.\n"));
    }
    kept.left_out.iter().for_each(|what| text.push_str(&format!("{}\n", what.sentence())));
    text.push_str(&format!("Again: {}\n", failures::again(kept.schedule.as_deref())));
    text
}

/// What was covered.
fn covered<'a>(args: &HuntArgs, campaign: &'a Campaign) -> Account<'a> {
    Account::of(&campaign.coverage, &args.coverage, &campaign.modules)
}

fn nothing_found(args: &HuntArgs, program: &Program, campaign: &Campaign) -> String {
    // Who was interrupted has not shown that there is nothing.
    let begin = if campaign.interrupted { "Interrupted: nothing found so far" } else { "Nothing found" };
    let mut text = format!("{begin} in {} ", args.program.display());
    text.push_str(&format!("(strategy {}, seed {}): {} ", args.strategy, args.seed, figures(campaign)));
    text.push_str(&match campaign.exhausted {
        true => strategies::claim_of(&args.strategy).sentence(campaign.bound),
        _ if campaign.saturated => {
            let window = window_phrase(args.coverage.rule().window);
            format!("Coverage is saturated: it hardly grew in {window}. Other interleavings may be left.")
        }
        _ if campaign.interrupted => "Other interleavings are left.".to_string(),
        _ if campaign.executions < args.executions.unwrap_or(EXECUTIONS) && campaign.elapsed < args.time => {
            "The strategy has nothing more to try; other interleavings may be left.".to_string()
        }
        _ if campaign.executions < args.executions.unwrap_or(EXECUTIONS) => {
            format!(
                "The time limit of {} s ended it; other interleavings may be left.",
                args.time.as_secs_f64()
            )
        }
        _ => Claim::Nothing.sentence(None),
    });
    if campaign.exhausted && program.holds_rust_std() {
        text.push_str(
            " Inside the locks and condition variables of Rust's standard library, which is not instrumented, \
             threads were switched only where these begin and where they sleep.",
        );
    }
    text.push_str("\n`threadbare check` also reports races and the like that made none of them fail.\n");
    text.push_str(&covered(args, campaign).sentences());
    if !args.output.quiet {
        text.push_str(&circumstances(program));
    }
    text
}

fn figures(campaign: &Campaign) -> String {
    let count = |number: u64, what: &str| {
        if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
    };
    format!(
        "{}, {}, up to {}, {:.2} s.",
        count(campaign.executions, "execution"),
        count(campaign.steps, "step"),
        count(u64::from(campaign.threads), "thread"),
        campaign.elapsed.max(Duration::from_millis(10)).as_secs_f64()
    )
}

/// What executions depended on, for scripts.
pub fn doubts(doubts: &[Doubt]) -> Vec<DoubtReport> {
    let report = |doubt: &Doubt| DoubtReport {
        what: doubt.what.word(),
        site: doubt.site.clone(),
        message: doubt.message.clone(),
    };
    doubts.iter().map(report).collect()
}

fn json(args: &HuntArgs, campaign: &Campaign, kept: &[KeptFailure]) -> JsonReport {
    let failures: Vec<_> = kept.iter().map(|kept| kept.report.clone()).collect();
    JsonReport {
        tool: "threadbare",
        version: env!("CARGO_PKG_VERSION"),
        command: "hunt",
        program: args.program.display().to_string(),
        strategy: args.strategy.clone(),
        seed: args.seed,
        verdict: match campaign.verdict {
            CampaignVerdict::Failure => Verdict::Failure,
            CampaignVerdict::Clean => Verdict::nothing_found(campaign.interrupted),
            CampaignVerdict::Exhausted => Verdict::Exhausted,
        },
        executions: campaign.executions,
        cut: campaign.cut,
        steps: campaign.steps,
        threads: campaign.threads,
        elapsed_s: JsonReport::seconds(campaign.elapsed),
        executions_per_s: JsonReport::rate(campaign.executions, campaign.elapsed),
        snapshots: campaign.snapshots,
        failure: failures.first().cloned(),
        findings: Vec::new(),
        coverage: covered(args, campaign).json(),
        saturated: campaign.saturated,
        exhausted: campaign.exhausted,
        memory_model: Default::default(),
        interrupted: campaign.interrupted,
        failed_executions: campaign.failures.iter().map(|(kind, count)| (kind.word(), *count)).collect(),
        failures,
        replay: None,
        generated: None,
        suite: None,
        total: None,
        doubts: doubts(&campaign.doubts),
        warnings: campaign.warnings.clone(),
    }
}
