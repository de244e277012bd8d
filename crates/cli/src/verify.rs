//! `threadbare verify`.

use threadbare_diagnose::{Conditions, ExecutionNames};
use threadbare_explore::strategies::OF_VERIFY;
use threadbare_explore::{Checked, Graphs, GroupsPoint, Options, Progress, Verification, strategies, verify};
use threadbare_models::graph::Drawing;
use threadbare_report::{
    CampaignRecord, CheckpointsReport, Coverage, CoverageStep, GraphReport, GroupsReport, JsonReport,
    Names as _, Requirement, SarifResult, TotalReport, Verdict, graphs_svg,
};
use threadbare_target::{Program, Symbols};

use crate::clock::Clock;
use crate::ending::Ending;
use crate::error::CliError;
use crate::failures::KeptFailure;
use crate::findings::Findings;
use crate::open_questions::OpenQuestions;
use crate::output::counted;
use crate::progress::Bar;
use crate::safekeeping::Safekeeping;
use crate::suppressions::Suppressions;
use crate::verify_args::VerifyArgs;
use crate::{artifacts, check, hunt, output, page, signals};

/// Executions after which it ends where nobody says how many.
const EXECUTIONS: u64 = 100_000;

/// Tries out every way that threads can go; returns the exit status.
pub fn run(args: &VerifyArgs) -> Result<u8, CliError> {
    let hunt = &args.check.hunt;
    if hunt.strategy != strategies::DEFAULT {
        let advice = "leave out --strategy, or use `threadbare hunt`";
        return Err(CliError::Usage(format!(
            "`verify` goes its own way through all interleavings: {advice}"
        )));
    }
    let options = hunt::options_with(hunt, EXECUTIONS, &[OF_VERIFY])?;
    let options = Options { strategy: OF_VERIFY.to_string(), ..options };
    let suppressions = Suppressions::read(args.check.suppressions.as_deref())?;
    let stop = signals::stop_flag()?;
    args.graph.as_deref().map_or(Ok(()), output::check_target)?;
    let (program, cflags) = hunt::prepare(hunt, &stop)?;
    // States are told apart to the end of each loop.
    let conditions = Conditions { exact_loops: true, ..Conditions::of(&options, &program) };
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
    let result = verify(&program, &options, &on_progress, &stop)?;
    bar.finish();
    for warning in &result.check.warnings {
        output::say(&format!("warning: {warning}"));
    }
    let symbols = Symbols::new(&result.check.modules);
    let findings = check::record_all(&args.check, &result.check, &symbols, &suppressions, &safe, &clock);
    let failures = check::keep_failures(&args.check, &result.check, &program, &conditions, &safe, &stop);
    let mut ending = Ending::of(!findings.is_empty() || !failures.is_empty());
    let open = OpenQuestions::of(&result.open, &symbols);
    if !hunt.output.json_on_stdout() {
        let mut text = render_text(args, &result, &findings, &failures);
        if hunt.coverage.uncovered {
            text.push_str(&open.lines());
        }
        ending.note(output::print(&text));
    }
    if let Some(path) = &args.graph {
        let drawings = drawings(&result.graphs, &symbols);
        let picture = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"));
        let text = if picture { graphs_svg(&drawings) } else { drawings.iter().map(Drawing::dot).collect() };
        ending.note(output::write_whole(path, text.as_bytes()));
    }
    let listed = hunt.coverage.uncovered.then(|| open.requirements());
    let report = json(args, &program, &result, &findings, &failures, listed);
    ending.note(output::write_json(&hunt.output, &report));
    let mut record = CampaignRecord {
        graphs: page::graph_cards(&result.graphs, &symbols),
        ..check::record(&program, &result.check, &report, &findings)
    };
    record.uncovered.push(open.card());
    ending.note(page::save_record(&hunt.out, page::subject(hunt), record, hunt.html.as_deref()));
    let failed = failures.iter().filter_map(|kept| kept.sarif.clone());
    let results: Vec<SarifResult> = findings.sarif().into_iter().chain(failed).collect();
    ending.note(output::write_sarif(&hunt.output, "verify", &results));
    safe.clear_findings();
    ending.status()
}

/// The graphs, with the names that people know.
fn drawings(graphs: &Graphs, symbols: &Symbols) -> Vec<Drawing> {
    let Some(run) = &graphs.run else { return Vec::new() };
    let names = ExecutionNames::new(symbols, run);
    let object = |address: u64| names.object(address).unwrap_or_else(|| format!("{address:#x}"));
    let site = |pc: u64| names.place(pc, 0).map_or_else(|| format!("{pc:#x}"), |place| place.to_string());
    graphs.graphs.iter().map(|graph| graph.drawing(&object, &site)).collect()
}

/// What a person reads.
fn render_text(
    args: &VerifyArgs,
    result: &Verification,
    findings: &Findings,
    failures: &[KeptFailure],
) -> String {
    let mut text = check::render_text(&args.check, &result.check, findings, failures);
    let cases = counted(result.test_cases as usize, "test case");
    let groups = counted(result.groups as usize, "race-equivalent group");
    text.push_str(&match (result.exhausted, result.left) {
        (true, _) => {
            let claim = strategies::claim_of(OF_VERIFY).clause(None);
            format!("{cases}, and {claim}: exhausted.\n")
        }
        (false, 0) => {
            format!("{cases}; no question is left, but what the warnings name could not be asked.\n")
        }
        (false, left) => {
            let left = counted(left as usize, "question");
            format!("{cases}; {left} left: not exhausted (--executions and --time say when to stop).\n")
        }
    });
    if result.sampled > 0 {
        text.push_str(&format!(
            "{} more at random, since nothing is claimed.\n",
            counted(result.sampled as usize, "execution")
        ));
    }
    let Checked { pairs, known, cleared } = result.checked;
    let known = if known == 1 { "once".to_string() } else { format!("{known} times") };
    text.push_str(&format!(
        "All executions together were of {groups}; {} of critical sections or accesses had to be checked for races \
         ({known} the answer was known, and {} could be left out).\n",
        counted(pairs as usize, "pair"),
        counted(cleared as usize, "execution"),
    ));
    if result.spared.executions > 0 {
        text.push_str(&format!(
            "{} went on from checkpoints, which saved {}.\n",
            counted(result.spared.executions as usize, "execution"),
            counted(result.spared.steps as usize, "step")
        ));
    }
    text.push_str(&format!(
        "Dependency graphs: {}, {}.\n",
        counted(result.graphs.nodes(), "node"),
        counted(result.graphs.guidelines(), "guideline")
    ));
    text
}

/// How the number of groups grew.
fn history(result: &Verification) -> Vec<CoverageStep> {
    let step = |point: &GroupsPoint| CoverageStep {
        executions: point.executions,
        elapsed_s: JsonReport::seconds(point.elapsed),
        covered: point.groups,
    };
    result.history.iter().map(step).collect()
}

fn json(
    args: &VerifyArgs,
    program: &Program,
    result: &Verification,
    findings: &Findings,
    failures: &[KeptFailure],
    uncovered: Option<Vec<Requirement>>,
) -> JsonReport {
    let report = check::json(&args.check, program, &result.check, findings, failures);
    let verdict = match report.verdict {
        Verdict::Clean | Verdict::Undecided if result.exhausted => Verdict::Exhausted,
        other => other,
    };
    let groups =
        GroupsReport { tested: result.groups, left: result.left, history: history(result), uncovered };
    JsonReport {
        command: "verify",
        strategy: OF_VERIFY.to_string(),
        verdict,
        exhausted: result.exhausted,
        memory_model: Default::default(),
        coverage: Coverage { groups: serde_json::to_value(&groups).ok(), ..report.coverage.clone() },
        total: Some(TotalReport {
            test_cases: result.test_cases,
            checkpoints: CheckpointsReport {
                executions: result.spared.executions,
                steps: result.spared.steps,
                copies: result.spared.copies,
            },
            groups,
            graph: GraphReport {
                nodes: result.graphs.nodes() as u64,
                bytes: result.graphs.bytes() as u64,
                affected_branches: result.graphs.affected as u64,
                guidelines: result.graphs.guidelines() as u64,
            },
        }),
        ..report
    }
}
