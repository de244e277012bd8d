//! The JSON object keeps its field names and its order.

use std::time::Duration;

use threadbare_report::{Coverage, FailureReport, FindingReport, JsonReport, Verdict};

fn sample() -> JsonReport {
    let failure = FailureReport {
        kind: "assertion",
        message: "balance == 2".into(),
        site: Some("bank.c:25".into()),
        execution: 17,
        schedule: Some(".threadbare/bank-1.schedule".into()),
        policy: "pct".into(),
        trace_hash: "00000000000000ff".into(),
        count: 3,
        reproduced: true,
        cause: Some("T1 read balance at bank.c:8, T2 wrote it at bank.c:9".into()),
        cause_finding: Some(FindingReport {
            kind: "order",
            object: "balance".into(),
            sites: vec!["bank.c:8".into(), "bank.c:9".into()],
            pattern: Some(1),
            confirmed: true,
            seen: true,
            message: "T1 read balance at bank.c:8, T2 wrote it at bank.c:9".into(),
            schedule: Some(".threadbare/bank-1.schedule".into()),
            count: 1,
            inputs: vec![],
        }),
        preemptions: 2,
        minimal: true,
        trace: Some(".threadbare/bank-1.trace".into()),
        inputs: vec![],
        original_events: None,
        delay: None,
    };
    JsonReport {
        tool: "threadbare",
        version: "0.0.0",
        command: "hunt",
        program: "bank.c".into(),
        strategy: "auto".into(),
        seed: 1,
        verdict: Verdict::Failure,
        executions: 17,
        cut: 0,
        steps: 4210,
        threads: 3,
        elapsed_s: JsonReport::seconds(Duration::from_nanos(410_000_400)),
        executions_per_s: JsonReport::rate(17, Duration::from_millis(410)),
        snapshots: 0,
        failure: Some(failure.clone()),
        findings: vec![],
        coverage: Coverage::default(),
        exhausted: false,
        memory_model: Default::default(),
        saturated: false,
        interrupted: false,
        failed_executions: [("assertion", 3)].into(),
        failures: vec![failure],
        replay: None,
        generated: None,
        suite: None,
        total: None,
        doubts: Vec::new(),
        warnings: vec![],
    }
}

#[test]
fn the_object_is_as_promised() {
    insta::assert_snapshot!(sample().to_text());
}

#[test]
fn no_time_is_no_rate() {
    assert_eq!(JsonReport::rate(5, Duration::ZERO), 0.0);
}
