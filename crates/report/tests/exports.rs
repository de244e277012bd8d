//! What viewers and scripts read of a trace.

mod support;

use std::collections::HashMap;

use serde_json::Value;
use support::{deadlock, guarded, lost_update, recorded};
use threadbare_report::{write_perfetto, write_trace_json};
use threadbare_trace::TraceFile;

type Export = fn(&TraceFile, &mut dyn std::io::Write) -> std::io::Result<()>;

fn text(export: Export, file: &TraceFile) -> String {
    let mut bytes = Vec::new();
    export(file, &mut bytes).expect("memory takes everything");
    String::from_utf8(bytes).expect("JSON is text")
}

fn json(export: Export, file: &TraceFile) -> Value {
    serde_json::from_str(&text(export, file)).expect("valid JSON")
}

#[test]
fn a_lost_update_for_viewers() {
    insta::assert_snapshot!(text(write_perfetto, &recorded(&lost_update())));
}

#[test]
fn a_lost_update_for_scripts() {
    insta::assert_snapshot!(text(write_trace_json, &recorded(&lost_update())));
}

#[test]
fn slices_spans_and_arrows_fit_together() {
    for parts in [lost_update(), deadlock()] {
        let trace = json(write_perfetto, &recorded(&parts));
        let events = trace["traceEvents"].as_array().expect("a list of events");
        let of = |phase: &str| events.iter().filter(|event| event["ph"] == phase).collect::<Vec<_>>();
        assert_eq!(of("X").len(), parts.0.len(), "a slice for each event");
        assert_eq!(of("i").len(), 1, "the failure");
        assert_eq!((of("s").len(), of("b").len()), (of("f").len(), of("e").len()), "ends for all beginnings");
        // Slices on one track neither overlap nor go back in time.
        let mut ends: HashMap<u64, u64> = HashMap::new();
        for slice in of("X") {
            let number = |key: &str| slice[key].as_u64().expect("a number");
            let end = ends.insert(number("tid"), number("ts") + number("dur"));
            assert!(end.unwrap_or(0) <= number("ts"), "{slice}");
        }
        // An arrow's ends lie in slices of their tracks, the first one before the second.
        let in_a_slice = |end: &Value| {
            of("X").iter().any(|slice| {
                let range = slice["ts"].as_u64()..slice["ts"].as_u64().map(|ts| ts + 10);
                slice["tid"] == end["tid"] && range.contains(&end["ts"].as_u64())
            })
        };
        for (from, to) in of("s").into_iter().zip(of("f")) {
            assert_eq!(from["id"], to["id"]);
            assert!(from["ts"].as_u64() < to["ts"].as_u64() && in_a_slice(from) && in_a_slice(to));
        }
    }
}

#[test]
fn a_condition_wait_lets_the_lock_go_for_its_time() {
    let trace = json(write_perfetto, &recorded(&deadlock()));
    let events = trace["traceEvents"].as_array().expect("a list of events");
    let spans = events.iter().filter(|event| event["cat"] == "lock" && event["tid"] == 2);
    let spans: Vec<_> = spans.map(|span| (span["ph"].as_str(), span["ts"].as_u64())).collect();
    assert_eq!(
        spans,
        [(Some("b"), Some(0)), (Some("e"), Some(20)), (Some("b"), Some(30)), (Some("e"), Some(50))]
    );
}

#[test]
fn the_json_object_names_the_locks_held_during_an_event() {
    let trace = json(write_trace_json, &recorded(&guarded()));
    let held = |event: usize| {
        let locks = trace["events"][event]["locks"].as_array().expect("a list");
        let name = |lock: &Value| format!("{} {}", lock["mode"], lock["name"]).replace('"', "");
        locks.iter().map(name).collect::<Vec<_>>()
    };
    // T1 reads under both locks, T2 reads under none and writes under one, T1 writes under both again.
    assert_eq!(held(2), ["shared right", "exclusive left"]);
    assert_eq!((held(4), held(6)), (vec![], vec!["exclusive left".to_string()]));
    assert_eq!(held(9), ["shared right", "exclusive left"]);
    // What an operation itself takes or gives up is not held throughout.
    assert_eq!(
        (held(0), held(1), held(3)),
        (vec![], vec!["shared right".into()], vec!["shared right".into()])
    );
}

#[test]
fn places_of_the_json_object_are_those_of_the_events() {
    let parts = lost_update();
    let trace = json(write_trace_json, &recorded(&parts));
    let events = trace["events"].as_array().expect("events");
    assert_eq!(
        (events.len(), trace["switches"].as_array().map(Vec::len)),
        (parts.0.len(), Some(parts.1.len()))
    );
    for (event, shown) in parts.0.iter().zip(events) {
        let place = &trace["places"][shown["place"].as_u64().expect("a place") as usize];
        assert_eq!(place["line"].as_u64(), Some(event.pc));
    }
    assert_eq!(trace["outcome"]["site"], "bank.c:25");
}

#[test]
fn nothing_at_all_is_valid_json_too() {
    for export in [write_perfetto as Export, write_trace_json] {
        json(export, &TraceFile::default());
    }
}
