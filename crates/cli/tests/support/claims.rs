//! What the strategies that can come to an end say of a program.

use serde_json::Value;

use super::Desk;

/// The strategies that can come to an end.
pub const CLAIMING: [&str; 5] = ["dfs", "states", "mcr", "total", "reach"];

/// The tool's report, with what all of these tests want.
pub fn run(desk: &Desk, args: &[&str]) -> Value {
    let common = ["--json", "-", "--quiet", "--jobs", "1", "--executions", "3000", "--no-minimise"];
    desk.run(&[args, &common].concat()).json()
}

/// What a command and a strategy say of a program.
pub fn verdicts(desk: &Desk, file: &str) -> Vec<(String, Value)> {
    let hunt = |strategy: &str| run(desk, &["hunt", file, "--strategy", strategy]);
    let mut all: Vec<(String, Value)> =
        CLAIMING.iter().map(|strategy| (strategy.to_string(), hunt(strategy))).collect();
    let common = ["--json", "-", "--quiet", "--jobs", "1", "--executions", "3000"];
    all.push(("verify".to_string(), desk.run(&[&["verify", file], &common[..]].concat()).json()));
    all
}

/// Some interleaving of the program fails: nobody may claim otherwise, and those find it who run all orders or states.
pub fn nobody_claims_and_failures_are_found(desk: &Desk, file: &str) {
    for (who, report) in verdicts(desk, file) {
        assert_ne!(report["verdict"], "exhausted", "{file}, {who}: {report:#}");
        let must_find = ["dfs", "states", "verify"].contains(&who.as_str());
        assert!(!must_find || report["verdict"] == "failure", "{file}, {who}: {report:#}");
    }
}

/// How many races `check` finds.
pub fn races(desk: &Desk, file: &str) -> usize {
    let report =
        desk.run(&["check", file, "--json", "-", "--quiet", "--jobs", "1", "--executions", "200"]).json();
    let findings = report["findings"].as_array().expect("findings");
    findings.iter().filter(|finding| finding["kind"] == "race").count()
}
