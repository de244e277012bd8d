//! What was covered, in a browser.

use serde_json::Value;

use super::example;
use super::support::Desk;
use super::support::browser::Browser;
use super::views::{Opened, text_of};

/// A criterion is drawn over executions and over time, with its figures.
pub fn coverage(page: &Opened<'_>, report: &Value, criterion: &str) {
    page.view("coverage");
    let shown = page.text(&format!("[data-criterion={criterion:?}]"));
    let coverage = &report["coverage"][criterion];
    let covered = coverage["covered"].as_u64().expect("a number");
    let total = coverage["required"].as_u64().or(coverage["estimated"].as_u64()).expect("a number");
    assert!(shown.contains(&format!("{covered} pairs of {total} ")), "{covered} of {total}: {shown}");
    assert_eq!(
        page.number(&format!(
            "document.querySelectorAll('[data-criterion={criterion:?}] figure .curve').length"
        )),
        2,
        "over executions and over time"
    );
    let points = coverage["history"].as_array().expect("a history").len() as u64;
    assert_eq!(
        page.number(&format!(
            "document.querySelectorAll('[data-criterion={criterion:?}] figure:first-child tbody tr').length"
        )),
        points
    );
}

/// Campaigns that differ in their strategies are drawn into one chart, and what is left to try is listed.
pub fn overlay(page: &Opened<'_>, own: &Value, other: &Value) {
    page.view("coverage");
    let inside = |what: &str| format!("document.querySelectorAll('[data-criterion=map] {what}').length");
    assert_eq!(page.number(&inside("figure:first-child .chart .curve")), 2);
    let patterns = page.0.script(
        "return [...document.querySelectorAll('[data-criterion=map] figure:first-child .chart .curve')].map((it) => it.getAttribute('stroke-dasharray'))",
    );
    assert_ne!(patterns[0], patterns[1], "readable without colour");
    let legend = page.text("[data-criterion=map] .legend");
    assert!(legend.contains("pos (this campaign)") && legend.contains("random"), "{legend}");
    let rows = page.rows("[data-criterion=map] .strategies");
    for (row, report) in rows.iter().zip([own, other]) {
        assert!(row[0].starts_with(report["strategy"].as_str().expect("a name")), "{row:?}");
        assert_eq!(row[1], report["coverage"]["map"]["covered"].to_string());
        assert_eq!(row[3], report["executions"].to_string());
    }
    let left = own["coverage"]["map"]["uncovered"].as_array().expect("a list");
    let listed = page.rows("[data-criterion=map] .uncovered");
    let of_two = left.iter().filter(|it| it["objects"].is_array()).count();
    assert!(of_two > 0 && of_two < left.len() && left.len() - of_two <= 200, "{of_two} of {}", left.len());
    assert_eq!(listed.len(), left.len() - of_two + of_two.min(200));
    for (row, pattern) in listed.iter().zip(left) {
        let variables = match pattern["objects"].as_array() {
            Some(both) => both.iter().map(text_of).collect::<Vec<_>>().join(", "),
            None => text_of(&pattern["object"]),
        };
        assert_eq!((&row[0], &row[1]), (&variables, &pattern["pattern"].to_string()));
        for (place, site) in pattern["sites"].as_array().expect("sites").iter().enumerate() {
            assert!(row[2 + place].contains(&text_of(site)), "{row:?}: {pattern}");
        }
    }
    assert!(page.text("[data-criterion=map]").contains("not all of them are possible"));
}

#[test]
fn where_nothing_is_to_be_covered_nothing_is_new_or_saturated() {
    let desk = Desk::new();
    let hunt =
        ["hunt", &example("lost_update.c"), "--coverage", "sp,map", "--keep-going", "--executions", "40"];
    let answer = desk.run(&[&hunt[..], &["--saturation-window", "10"]].concat());
    assert!(
        answer.stdout.contains("Coverage (sp): 0 synchronization pairs of 0 required.\n"),
        "{}",
        answer.stdout
    );
    assert!(answer.stdout.contains("estimated; the last new one in execution "), "{}", answer.stdout);
    let Some(browser) = Browser::start() else { return };
    assert_eq!(desk.run(&["report", ".threadbare"]).code, Some(0));
    browser.open(&desk.path(".threadbare/report.html"));
    let page = Opened(&browser);
    page.view("coverage");
    let shown = page.text("[data-criterion=sp]");
    assert!(
        shown.contains("0 pairs of 0 required.") && !shown.to_lowercase().contains("saturated"),
        "{shown}"
    );
    assert!(page.text("[data-criterion=map] .legend").contains("the first failure"));
}
