//! `threadbare verify`.

use threadbare_explore::{Graphs, GroupsPoint, Verification, verify};
use threadbare_report::{
    CampaignRecord, Coverage, CoverageStep, GraphReport, GroupsReport, JsonReport, Names as _, SarifResult,
    TotalReport, Verdict,
};
use threadbare_target::{Program, Symbols};

use crate::conditions::Conditions;
use crate::error::CliError;
use crate::findings::Findings;
use crate::found::Kept;
use crate::names::ExecutionNames;
use crate::output::counted;
use crate::progress::Bar;
use crate::rerun::Stage;
use crate::suppressions::Suppressions;
use crate::verify_args::VerifyArgs;
use crate::{check, hunt, keep, output, page, stop};

/// Executions after which it ends where nobody says how many.
const EXECUTIONS: u64 = 100_000;

/// Tries out every way that threads can go; returns the exit status.
pub fn run(args: &VerifyArgs) -> Result<u8, CliError> {
    let hunt = &args.check.hunt;
    if hunt.strategy != "auto" {
        let advice = "leave out --strategy, or use `threadbare hunt`";
        return Err(CliError::Usage(format!(
            "`verify` goes its own way through all interleavings: {advice}"
        )));
    }
    let mut options = hunt::options(hunt, EXECUTIONS)?;
    options.strategy = "total".to_string();
    let suppressions = Suppressions::read(args.check.suppressions.as_deref())?;
    let stop = stop::flag()?;
    args.graph.as_deref().map_or(Ok(()), output::check_target)?;
    let (program, cflags) = hunt::prepare(hunt, &stop)?;
    let result = {
        let bar = Bar::new(options.executions, hunt.output.quiet);
        verify(&program, &options, &|progress| bar.show(progress), &stop)?
    };
    for warning in &result.check.warnings {
        output::say(&format!("warning: {warning}"));
    }
    let conditions = Conditions::of(&options, &program);
    let head = hunt::schedule_head(&program, cflags, &conditions, &options);
    let mut stage = Stage::set(&program, &conditions)?;
    let findings = check::tell_all(&args.check, &result.check, &stage, &head, &suppressions)?;
    let failures = check::keep_failures(&args.check, &result.check, &mut stage, &head)?;
    if !hunt.output.json_on_stdout() {
        output::print(&words(args, &result, &findings, &failures))?;
    }
    if let Some(path) = &args.graph {
        output::write_whole(path, drawn(&result.graphs, stage.symbols()).as_bytes())?;
    }
    let report = json(args, &program, &result, &findings, &failures);
    output::write_json(&hunt.output, &report)?;
    let record = CampaignRecord {
        graphs: page::graph_cards(&result.graphs, stage.symbols()),
        ..check::record(&program, &result.check, &report, &findings)
    };
    page::keep(&hunt.out, &keep::file_stem(&hunt.program), record, hunt.html.as_deref())?;
    let failed = failures.iter().filter_map(|kept| kept.sarif.clone());
    let results: Vec<SarifResult> = findings.sarif().into_iter().chain(failed).collect();
    output::write_sarif(&hunt.output, "verify", &results)?;
    Ok(if findings.is_empty() && failures.is_empty() { crate::NOTHING } else { crate::FOUND })
}

/// The graphs, one after the other.
fn drawn(graphs: &Graphs, symbols: &Symbols) -> String {
    let Some(run) = &graphs.run else { return String::new() };
    let names = ExecutionNames::new(symbols, run);
    let object = |address: u64| names.object(address).unwrap_or_else(|| format!("{address:#x}"));
    let site = |pc: u64| names.place(pc, 0).map_or_else(|| format!("{pc:#x}"), |place| place.to_string());
    graphs.graphs.iter().map(|graph| graph.dot(&object, &site)).collect()
}

/// What a person reads.
fn words(args: &VerifyArgs, result: &Verification, findings: &Findings, failures: &[Kept]) -> String {
    let mut text = check::words(&args.check, &result.check, findings, failures);
    let cases = counted(result.test_cases as usize, "test case");
    let groups = counted(result.groups as usize, "race-equivalent group");
    text.push_str(&match (result.exhausted, result.left) {
        (true, _) => format!("{cases} for {groups}; there is no other: exhausted.\n"),
        (false, 0) => {
            format!("{cases} for {groups}; nothing is left to try, but what the warnings name was left out.\n")
        }
        (false, left) => {
            let left = counted(left as usize, "question");
            format!("{cases} for {groups}; {left} left: not exhausted (--executions and --time say when to stop).\n")
        }
    });
    if result.sampled > 0 {
        text.push_str(&format!(
            "{} more by chance, since nothing is claimed.\n",
            counted(result.sampled as usize, "execution")
        ));
    }
    let (made, saved) = result.checks;
    text.push_str(&format!(
        "{} of critical sections or accesses can come at the same time (seen again: {saved}); dependency graphs: {} nodes, {}.\n",
        counted(made as usize, "pair"),
        result.graphs.nodes(),
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
    failures: &[Kept],
) -> JsonReport {
    let report = check::json(&args.check, program, &result.check, findings, failures);
    let verdict = match report.verdict {
        Verdict::Clean if result.exhausted => Verdict::Exhausted,
        other => other,
    };
    let groups = GroupsReport { tested: result.groups, left: result.left, history: history(result) };
    JsonReport {
        command: "verify",
        strategy: "total".to_string(),
        verdict,
        exhausted: result.exhausted,
        coverage: Coverage { groups: serde_json::to_value(&groups).ok(), ..report.coverage.clone() },
        total: Some(TotalReport {
            test_cases: result.test_cases,
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
