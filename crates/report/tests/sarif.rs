//! SARIF output: valid by the official schema, and as promised.

mod support;

use serde_json::Value;
use support::{Bank, deadlock, lost_update, recorded};
use threadbare_report::{FlowStep, Level, Names as _, Rule, SarifResult, SourcePlace, failure_result, sarif};
use threadbare_trace::{FailureKind, ThreadId};

/// The schema of the standard, as the `serde-sarif` package carries it.
const SCHEMA: &str = include_str!("sarif-schema-2.1.0.json");

fn validator() -> jsonschema::Validator {
    // The pattern for languages has a bracket too many, which strict readers of patterns refuse.
    let schema = SCHEMA.replace("[a-zA-Z]{2}]?$", "[a-zA-Z]{2}?$");
    let schema = serde_json::from_str(&schema).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is a schema")
}

fn valid(text: &str) -> Value {
    let validator = validator();
    let log = serde_json::from_str(text).expect("SARIF is JSON");
    let problems: Vec<String> =
        validator.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(problems.is_empty(), "{problems:#?}\n{text}");
    log
}

fn race() -> SarifResult {
    let place = |line: u64| Bank.place(line, 0).expect("a line of the bank");
    let step = |thread: u16, line: u64, text: &str| FlowStep {
        thread: ThreadId(thread),
        place: Some(place(line)),
        text: text.into(),
    };
    SarifResult {
        rule: Rule::Race,
        level: Level::Warning,
        message: "balance is read in T1 while T2 writes it".into(),
        place: Some(SourcePlace { column: Some(7), ..place(8) }),
        related: vec![(place(9), "the write".into())],
        stack: vec![],
        flow: vec![step(1, 8, "read balance = 0"), step(2, 9, "write balance 0 → 1")],
        identity: vec!["deposit".into(), "balance".into()],
        properties: vec![("schedule", ".threadbare/bank-1.schedule".into())],
    }
}

#[test]
fn a_race_and_a_failure_are_valid_and_as_promised() {
    let failure = failure_result(&recorded(&lost_update())).expect("a failure");
    assert_eq!(
        failure.message,
        "This interleaving ends in a failed assertion in T0: bank.c:25: main: Assertion `balance == 2' failed."
    );
    let log = valid(&sarif(&[race(), failure], "0.0.0", "hunt"));
    let results = &log["runs"][0]["results"];
    assert_eq!(results[1]["locations"][0]["physicalLocation"]["region"]["startLine"], 25);
    insta::assert_snapshot!(serde_json::to_string_pretty(&results[0]).expect("JSON"));
}

#[test]
fn no_results_are_valid() {
    let log = valid(&sarif(&[], "0.0.0", "check"));
    assert_eq!(log["runs"][0]["results"], Value::Array(vec![]));
}

#[test]
fn results_that_know_little_are_valid() {
    let nameless = SourcePlace { label: "lib.so+0x12".into(), ..SourcePlace::default() };
    let lineless = SourcePlace { file: Some("/a b/ü.c".into()), line: Some(0), ..nameless.clone() };
    let outside = SourcePlace { line: Some(3), column: Some(0), ..lineless.clone() };
    for rule in Rule::ALL {
        for level in [Level::Error, Level::Warning, Level::Note] {
            for place in [None, Some(&nameless), Some(&lineless), Some(&outside)] {
                let bare = SarifResult {
                    rule: *rule,
                    level,
                    place: place.cloned(),
                    related: place.map(|place| (place.clone(), String::new())).into_iter().collect(),
                    stack: place.into_iter().cloned().collect(),
                    flow: vec![FlowStep { thread: ThreadId(1), place: place.cloned(), text: "step".into() }],
                    identity: vec![],
                    properties: vec![],
                    ..race()
                };
                let log = valid(&sarif(&[bare], "0.0.0", "check"));
                let result = &log["runs"][0]["results"][0];
                let index = result["ruleIndex"].as_u64().expect("an index") as usize;
                assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
            }
        }
    }
}

#[test]
fn the_schema_check_would_notice_mistakes() {
    let validator = validator();
    let mut log: Value = serde_json::from_str(&sarif(&[race()], "0.0.0", "check")).expect("JSON");
    assert!(validator.is_valid(&log));
    log["runs"][0]["results"][0]["level"] = "terrible".into();
    assert!(!validator.is_valid(&log));
}

#[test]
fn steps_keep_their_order_over_all_threads() {
    let file = recorded(&deadlock());
    let result = failure_result(&file).expect("a failure");
    assert_eq!(result.rule, Rule::Deadlock);
    let log = valid(&sarif(&[result], "0.0.0", "hunt"));
    let flows = log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"].as_array().expect("thread flows");
    let mut steps: Vec<(u64, &str)> = flows
        .iter()
        .flat_map(|flow| flow["locations"].as_array().expect("steps"))
        .map(|step| {
            let text = step["location"]["message"]["text"].as_str().expect("words");
            (step["executionOrder"].as_u64().expect("a number"), text)
        })
        .collect();
    steps.sort_unstable();
    let words: Vec<&str> = steps.iter().map(|(_, text)| *text).collect();
    assert_eq!(
        words,
        [
            "lock left",
            "wait ready, releasing left",
            "signal ready (1 waiting)",
            "wake ready, holding left",
            "lock right"
        ]
    );
}

#[test]
fn a_fingerprint_does_not_depend_on_lines() {
    let print = |result: &SarifResult| {
        let log: Value =
            serde_json::from_str(&sarif(std::slice::from_ref(result), "0", "check")).expect("JSON");
        log["runs"][0]["results"][0]["partialFingerprints"].clone()
    };
    let moved = SarifResult { place: Bank.place(11, 0), ..race() };
    let other = SarifResult { identity: vec!["deposit".into(), "total".into()], ..race() };
    assert_eq!(print(&race()), print(&moved));
    assert_ne!(print(&race()), print(&other));
}

#[test]
fn every_kind_of_failure_has_the_rule_of_its_word() {
    for kind in FailureKind::ALL {
        assert_eq!(Rule::from(*kind).id(), kind.word());
    }
}
