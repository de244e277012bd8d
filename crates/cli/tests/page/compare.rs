//! Strategies side by side, in a browser.

use serde_json::Value;

use super::example;
use super::support::Desk;
use super::support::browser::Browser;
use super::views::Opened;

/// Every strategy has its figures and its box, every trial its mark, and the CSV file is the one of `--csv`.
pub fn comparison(page: &Opened<'_>, report: &Value, desk: &Desk) {
    page.view("compare");
    let strategies = report["strategies"].as_array().expect("strategies");
    let rows = page.rows("#strategies");
    assert_eq!(rows.len(), strategies.len());
    for (row, strategy) in rows.iter().zip(strategies) {
        assert_eq!(row[0], strategy["strategy"].as_str().expect("a name"));
        assert_eq!(row[1], format!("{}/{}", strategy["failed"], strategy["trials"]));
        for (cell, key) in row[2..9].iter().zip(["mean", "median", "q1", "q3", "sd", "min", "max"]) {
            let is_bound = strategy["lower_bounds"][key] == true;
            assert_eq!(cell.starts_with("≥ "), is_bound, "{key} of {row:?}");
            let shown = cell.trim_start_matches("≥ ").replace(',', "").parse::<f64>().expect("a number");
            let expected = strategy["executions"][key].as_f64().expect("a number");
            assert!((shown - expected).abs() <= expected * 0.005, "{key} of {row:?}: {expected}");
        }
    }
    let is_bound = |strategy: &Value| strategy["lower_bounds"]["mean"] == true;
    assert!(strategies.iter().any(is_bound) && !strategies.iter().all(is_bound), "both are shown");
    assert_eq!(page.number("document.querySelectorAll('.box').length"), strategies.len() as u64);
    let trials = page.number("document.querySelectorAll('.box circle, .box path[fill=none]').length");
    assert_eq!(trials, report["trials"].as_array().expect("trials").len() as u64);
    boxes_hold_their_trials(page);
    let csv = page.0.script("return current.view.csv()");
    let written = std::fs::read_to_string(desk.path("trials.csv")).expect("the CSV file");
    assert_eq!(csv.as_str(), Some(written.as_str()));
    page.view("coverage");
    let trials = report["trials"].as_array().expect("trials");
    for strategy in strategies.iter().map(|it| it["strategy"].as_str().expect("a name")) {
        let own = || trials.iter().filter(|trial| trial["strategy"] == strategy);
        let inside =
            |what: &str| format!("figure:first-child .chart[role=img] {what}[data-strategy={strategy:?}]");
        let numbers = |what: &str, name: &str| -> Vec<u64> {
            let found = page.0.script(&format!(
                "return [...document.querySelectorAll({:?})].map((it) => Number(it.dataset.{name}))",
                inside(what)
            ));
            serde_json::from_value(found).expect("numbers")
        };
        let last = own().filter_map(|trial| trial["executions"].as_u64()).max();
        assert_eq!(
            numbers(".curve", "end"),
            Vec::from_iter(last),
            "the line of {strategy} ends with its trials"
        );
        let saturations =
            own().filter_map(|trial| trial["coverage"]["map"]["saturation"]["executions"].as_u64());
        let mut saturations: Vec<u64> = saturations.collect();
        saturations.sort_unstable();
        let median = saturations.get(saturations.len().saturating_sub(1) / 2).copied();
        assert_eq!(numbers(".saturation", "at"), Vec::from_iter(median), "{strategy}");
        let colour = |what: &str, property: &str| {
            page.0.script(&format!(
                "const it = document.querySelector({:?}); return it && getComputedStyle(it).{property}",
                inside(what)
            ))
        };
        if median.is_some() {
            assert_eq!(colour(".saturation", "color"), colour(".curve", "stroke"), "{strategy}");
        }
    }
    let marked = "document.querySelectorAll('figure:first-child .chart .saturation').length";
    assert!(page.number(marked) > 0, "some strategy is saturated");
}

/// Boxes and trials end within the axis, whatever its scale: trials that found nothing at the largest figure, and all
/// of it left of the mark of significance.
fn boxes_hold_their_trials(page: &Opened<'_>) {
    let beyond = "(() => {
        const middle = (it) => it.getBoundingClientRect().left + it.getBoundingClientRect().width / 2;
        const most = (list, place) => Math.max(...[...list].map(place));
        const right = (it) => it.getBoundingClientRect().right;
        const end = most(document.querySelectorAll('.chart .grid'), right);
        return [...document.querySelectorAll('.box')].map((box) => {
            const whisker = most(box.querySelectorAll('line'), right);
            const triangles = [...box.querySelectorAll('.unfailed')].map(middle);
            const mark = box.querySelector('.significance')?.getBoundingClientRect().left ?? Infinity;
            return [whisker <= end + 1, triangles.every((it) => Math.abs(it - whisker) < 3), whisker < mark];
        });
    })()";
    for _ in 0..2 {
        let kept = page.0.script(&format!("return {beyond}"));
        let kept: Vec<[bool; 3]> = serde_json::from_value(kept).expect("truths");
        assert!(kept.len() > 1 && kept.iter().all(|it| *it == [true; 3]), "{kept:?}");
        page.0.script("document.querySelector('#csv').previousElementSibling.click()");
    }
    assert!(page.number("document.querySelectorAll('.box .unfailed').length") > 0, "some found nothing");
}

#[test]
fn a_comparison_without_a_trial_has_no_figures() {
    let Some(browser) = Browser::start() else { return };
    let desk = Desk::new();
    let compare =
        ["compare", &example("lost_update.c"), "--strategies", "pos,random", "--runs", "1", "--quiet"];
    assert_eq!(desk.run(&compare).code, Some(1));
    let record = desk.path(".threadbare/lost_update-compare.campaign.json");
    let mut changed: Value =
        serde_json::from_slice(&std::fs::read(&record).expect("a record")).expect("JSON");
    let report = &mut changed["report"];
    report["interrupted"] = true.into();
    report["trials"] = Value::Array(Vec::new());
    for strategy in report["strategies"].as_array_mut().expect("strategies") {
        (strategy["trials"], strategy["failed"]) = (0.into(), 0.into());
        for figures in ["executions", "time_s"] {
            let figures = strategy[figures].as_object_mut().expect("figures");
            figures.values_mut().for_each(|figure| *figure = 0.0.into());
        }
    }
    std::fs::write(&record, changed.to_string()).expect("written");
    assert_eq!(desk.run(&["report", ".threadbare"]).code, Some(0));
    browser.open(&desk.path(".threadbare/report.html"));
    let page = Opened(&browser);
    page.view("compare");
    for row in page.rows("#strategies") {
        assert_eq!((row[1].as_str(), &row[2..10]), ("0/0", &["–"; 8].map(String::from)[..]));
    }
    assert_eq!(page.number("document.querySelectorAll('.box').length"), 2);
    assert_eq!(page.number("document.querySelectorAll('.box :not(text)').length"), 0, "nothing is drawn");
}
