//! Pages of folders in which something is missing.

use serde_json::Value;

use super::campaign;
use super::support::Desk;
use super::support::browser::Browser;
use super::views::Opened;

/// What `report` says of a folder that it cannot make a whole page of.
fn refusal(desk: &Desk, folder: &str) -> String {
    let answer = desk.run(&["report", folder]);
    assert_eq!(answer.code, Some(2), "{}", answer.stdout);
    assert!(answer.stderr.starts_with("threadbare: "), "{}", answer.stderr);
    answer.stderr
}

#[test]
fn a_folder_that_is_empty_or_damaged_is_named_with_what_is_missing() {
    let desk = campaign();
    std::fs::create_dir(desk.path("empty")).expect("a folder");
    assert!(refusal(&desk, "empty").contains("holds no campaign"));
    assert!(refusal(&desk, "nowhere").contains("nowhere"));
    assert!(refusal(&desk, "empty/../kept/lost_update-1.trace").contains("cannot be read"));
    assert_eq!(desk.run(&["report", "kept", "-o", "whole.html"]).code, Some(0));

    let record = desk.path("kept/lost_update-hunt-auto.campaign.json");
    let whole = std::fs::read(&record).expect("a record");
    // Names were without strategies once.
    std::fs::rename(&record, desk.path("kept/lost_update-hunt.campaign.json")).expect("renamed");
    let answer = desk.run(&["report", "kept", "-o", "older.html"]);
    assert_eq!(
        (answer.code, answer.stdout.starts_with("1 campaign in ")),
        (Some(0), true),
        "{}",
        answer.stdout
    );
    std::fs::rename(desk.path("kept/lost_update-hunt.campaign.json"), &record).expect("renamed");
    std::fs::write(&record, &whole[..whole.len() / 2]).expect("written");
    let said = refusal(&desk, "kept");
    assert!(said.contains("lost_update-hunt-auto.campaign.json") && said.contains("damaged"), "{said}");
    let newer = String::from_utf8_lossy(&whole).replacen("\"record\":1", "\"record\":99", 1);
    std::fs::write(&record, newer).expect("written");
    assert!(refusal(&desk, "kept").contains("version 99"));

    for (path, value, expected) in [
        ("/report/failures/0/message", Value::from(7), "`report.failures[0].message` is not a text"),
        ("/report/verdict", Value::from("splendid"), "`report.verdict` is not a verdict"),
        ("/report/executions", Value::from("many"), "`report.executions` is not a number"),
        ("/report/coverage", Value::from(3), "`report.coverage` is not an object"),
        ("/report/failures", Value::from(Vec::<u8>::new()), "`report.failures` has 0, and 1 are kept"),
        ("/report/program", Value::Null, "`report.program` is missing"),
    ] {
        let mut damaged: Value = serde_json::from_slice(&whole).expect("JSON");
        *damaged.pointer_mut(path).expect("a value") = value;
        std::fs::write(&record, damaged.to_string()).expect("written");
        let said = refusal(&desk, "kept");
        assert!(said.contains("lost_update-hunt-auto.campaign.json") && said.contains(expected), "{said}");
    }

    std::fs::write(&record, &whole).expect("written");
    let trace = desk.path("kept/lost_update-1.trace");
    let bytes = std::fs::read(&trace).expect("a trace");
    std::fs::write(&trace, &bytes[..bytes.len() - 40]).expect("written");
    assert!(refusal(&desk, "kept").contains("`lost_update-1.trace` is no whole trace"));
    std::fs::remove_file(&trace).expect("removed");
    std::fs::remove_file(desk.path("kept/lost_update-1.schedule")).expect("removed");
    let said = refusal(&desk, "kept");
    assert!(said.contains("lost_update-1.trace") && said.contains("lost_update-1.schedule"), "{said}");
    assert!(said.contains("report.html"), "the rest is shown: {said}");
}

#[test]
fn a_failure_of_which_no_trace_was_kept_is_not_blamed_on_the_folder() {
    let Some(browser) = Browser::start() else { return };
    let desk = campaign();
    let path = desk.path("kept/lost_update-hunt-auto.campaign.json");
    let mut record: Value = serde_json::from_slice(&std::fs::read(&path).expect("a record")).expect("JSON");
    record["failures"][0] = serde_json::json!({});
    let failure = &mut record["report"]["failures"][0];
    (failure["site"], failure["trace"]) = (Value::Null, Value::Null);
    failure["message"] = "`x` failed in `work`".into();
    std::fs::write(&path, record.to_string()).expect("written");
    std::fs::remove_file(desk.path("kept/lost_update-1.trace")).expect("removed");
    let answer = desk.run(&["report", "kept"]);
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    browser.open(&desk.path("kept/report.html"));
    let shown = Opened(&browser).text(".note");
    assert!(shown.contains("assertion: `x` failed in `work`. No trace of it was kept."), "{shown}");
    assert!(!shown.contains("damaged"), "{shown}");
}
