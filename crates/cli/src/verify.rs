//! `threadbare verify`.

use threadbare_explore::{Verification, verify};
use threadbare_report::{JsonReport, SarifResult, TotalReport, Verdict};
use threadbare_target::Program;

use crate::conditions::Conditions;
use crate::error::CliError;
use crate::findings::Findings;
use crate::found::Kept;
use crate::progress::Bar;
use crate::rerun::Stage;
use crate::suppressions::Suppressions;
use crate::verify_args::VerifyArgs;
use crate::{check, hunt, output, stop};

/// Executions after which it ends where nobody says how many.
const EXECUTIONS: u64 = 100_000;

/// Tries out every way that threads can go; returns the exit status.
pub fn run(args: &VerifyArgs) -> Result<u8, CliError> {
    let hunt = &args.check.hunt;
    let mut options = hunt::options(hunt, EXECUTIONS)?;
    options.strategy = "total".to_string();
    let suppressions = Suppressions::read(args.check.suppressions.as_deref())?;
    let stop = stop::flag()?;
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
    output::write_json(&hunt.output, &json(args, &program, &result, &findings, &failures))?;
    let failed = failures.iter().filter_map(|kept| kept.sarif.clone());
    let results: Vec<SarifResult> = findings.sarif().into_iter().chain(failed).collect();
    output::write_sarif(&hunt.output, "verify", &results)?;
    Ok(if findings.is_empty() && failures.is_empty() { crate::NOTHING } else { crate::FOUND })
}

/// What a person reads.
fn words(args: &VerifyArgs, result: &Verification, findings: &Findings, failures: &[Kept]) -> String {
    let mut text = check::words(&args.check, &result.check, findings, failures);
    let cases = match result.test_cases {
        1 => "1 test case".to_string(),
        many => format!("{many} test cases"),
    };
    text.push_str(&match (result.exhausted, result.left) {
        (true, _) => format!("Every race-equivalent group is tested, in {cases}: exhausted.\n"),
        (false, 0) => format!("{cases}; nothing is left to try, but not everything can be claimed (see the warnings).\n"),
        (false, left) => {
            format!("{cases}; at least {left} are left: not exhausted. --executions and --time say when to stop.\n")
        }
    });
    text
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
    JsonReport {
        command: "verify",
        strategy: "total".to_string(),
        verdict,
        exhausted: result.exhausted,
        total: Some(TotalReport { test_cases: result.test_cases }),
        ..report
    }
}
