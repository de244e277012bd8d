//! The page of a campaign: opened in a real browser and compared with the JSON, and made of what is damaged or hostile.

mod support;

use std::path::{Path, PathBuf};

use serde_json::Value;
use support::browser::Browser;
use support::{Desk, repository};

const SUITE: &str = r#"
program = "two.c"
[[input]]
name = "one"
args = ["1"]
[[input]]
name = "two"
args = ["2"]
"#;

/// Two functions that the argument chooses from.
const TWO: &str = r#"
#include <pthread.h>
int x, y;
void add(void) { x = x + 1; }
void take(void) { y = y - 1; add(); }
void *adds(void *unused) { add(); return unused; }
void *takes(void *unused) { take(); return unused; }
int main(int count, char **words) {
    pthread_t a, b;
    void *(*routine)(void *) = words[1][0] == '1' ? adds : takes;
    pthread_create(&a, 0, routine, 0);
    pthread_create(&b, 0, routine, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"#;

/// A name that would be markup if it were not text.
const HOSTILE_NAME: &str = "\"><img src=x onerror=hacked=1>.c";

/// Source, messages and output that would be markup, or orders to a terminal, if they were not text.
const HOSTILE: &str = "#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
int shared; /* </script><script>hacked=1</script> \u{1b}[31m \u{2028} */
void *work(void *unused) {
    shared++; /* \u{1b}[2J\u{7} <img src=x onerror=hacked=1> */
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    fwrite(\"</script><img src=x onerror=hacked=1>\\0\\xff\\x1b[2J\\n\", 1, 45, stdout);
    fflush(stdout);
    abort();
}
";

fn example(name: &str) -> String {
    repository("examples").join(name).display().to_string()
}

/// Runs a command in the folder, and returns its JSON object.
fn json(desk: &Desk, args: &[&str], code: i32) -> Value {
    let mut all = args.to_vec();
    all.extend(["--json", "-"]);
    let answer = desk.run(&all);
    assert_eq!(answer.code, Some(code), "{args:?}: {}", answer.stderr);
    answer.json()
}

/// A page that is open.
struct Opened<'a>(&'a Browser);

impl Opened<'_> {
    fn text(&self, selector: &str) -> String {
        let found =
            self.0.script(&format!("return document.querySelector({selector:?})?.textContent ?? null"));
        found.as_str().unwrap_or_else(|| panic!("nothing on the page is {selector}")).to_string()
    }

    fn number(&self, script: &str) -> u64 {
        self.0.script(&format!("return {script}")).as_u64().unwrap_or_else(|| panic!("no number: {script}"))
    }

    /// The texts of the cells of a table's rows.
    fn rows(&self, selector: &str) -> Vec<Vec<String>> {
        let script = format!(
            "return [...document.querySelectorAll({:?})].map((row) => [...row.cells].map((cell) => cell.textContent))",
            format!("{selector} tbody tr")
        );
        serde_json::from_value(self.0.script(&script)).expect("rows of texts")
    }

    /// Chooses a campaign by its title.
    fn choose(&self, title: &str) {
        let chosen = self.0.script(&format!(
            "const list = document.getElementById('pick-campaign');
             const at = [...list.options].findIndex((it) => it.text === {title:?});
             list.value = at; list.dispatchEvent(new Event('change')); return at"
        ));
        assert!(chosen.as_i64().is_some_and(|at| at >= 0), "{title} cannot be chosen");
    }

    /// Clicks the tab of a view.
    fn view(&self, key: &str) {
        self.0.point(&format!("#tab-{key}"), true);
        assert_eq!(
            self.0.script(&format!("return document.getElementById('tab-{key}').ariaSelected")),
            "true"
        );
        self.is_content();
    }

    /// Nothing went wrong in the page so far, and nothing of its data became markup.
    fn is_content(&self) {
        assert_eq!(self.0.complaints(), [""; 0]);
        let hacked =
            self.0.script("return [typeof window.hacked, document.images.length, document.scripts.length]");
        assert_eq!(hacked, serde_json::json!(["undefined", 0, 2]));
    }

    /// The head says what the object says.
    fn says(&self, report: &Value) {
        let badge = self.text("#verdict");
        let word = match report["verdict"].as_str().expect("a verdict") {
            "failure" => "failure found",
            "findings" => "findings",
            "clean" => "nothing found",
            _ => "exhausted",
        };
        assert!(badge.contains(word), "{badge}");
        let facts = self.text("#facts");
        for key in ["executions", "steps", "threads"] {
            let value = report[key].as_u64().expect("a number");
            assert!(facts.contains(&format!("{}{key}", with_commas(value))), "{key} {value} in {facts}");
        }
    }
}

/// `1,234,567`.
fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|it| std::str::from_utf8(it).unwrap()).collect();
    parts.join(",")
}

#[test]
fn every_view_shows_what_the_json_says() {
    let Some(browser) = Browser::start() else { return };
    let desk = Desk::new();
    desk.file("two.c", TWO);
    desk.file("suite.toml", SUITE);
    desk.file(HOSTILE_NAME, HOSTILE);
    let lost_update = example("lost_update.c");
    let hunt = json(&desk, &["hunt", &lost_update, "--html", "one.html"], 1);
    let check = json(&desk, &["check", &example("bank_transfer.cpp"), "--coverage", "sp,def-use"], 1);
    let verify = json(&desk, &["verify", &example("deadlock.c"), "--executions", "60"], 1);
    let trials =
        ["compare", &lost_update, "--strategies", "pos,round-robin", "--runs", "5", "--executions", "50"];
    let mut compare_args = trials.to_vec();
    compare_args.extend(["--coverage", "map", "--csv", "trials.csv"]);
    let compare = json(&desk, &compare_args, 1);
    let suite = json(&desk, &["suite", "suite.toml", "--runs", "2"], 1);
    let hostile = json(&desk, &["hunt", HOSTILE_NAME], 1);
    let answer = desk.run(&["report", ".threadbare"]);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
    let size = std::fs::metadata(desk.path(".threadbare/report.html")).expect("a page").len();
    assert!(size < 1_000_000, "{size} bytes");

    let page = Opened(&browser);
    browser.open(&desk.path("one.html"));
    page.is_content();
    page.says(&hunt);
    browser.open(&desk.path(".threadbare/report.html"));
    page.is_content();
    assert_eq!(page.number("document.getElementById('pick-campaign').options.length"), 6);

    page.choose("lost_update.c · hunt");
    interleaving(&browser, &page, &desk, &hunt);
    page.choose("bank_transfer.cpp · check");
    page.says(&check);
    coverage(&page, &check, "sp");
    coverage(&page, &check, "def-use");
    findings(&browser, &page, &check);
    page.choose("deadlock.c · verify");
    graph(&page, &verify);
    page.choose("lost_update.c · compare");
    comparison(&page, &compare, &desk);
    page.choose("two.c · suite");
    suite_table(&page, &suite);
    page.choose(&format!("{HOSTILE_NAME} · hunt"));
    hostile_text(&page, &hostile);
    // Whatever was shown, a narrow window loses nothing to the side, and both looks are there.
    browser.resize(500, 900);
    for title in ["lost_update.c · hunt", "lost_update.c · compare", "two.c · suite", "deadlock.c · verify"]
    {
        page.choose(title);
        let keys = browser.script("return current.views.map(([key]) => key)");
        for key in keys.as_array().expect("views").iter().filter_map(Value::as_str) {
            page.view(key);
            let over = page.number("Math.max(0, document.documentElement.scrollWidth - window.innerWidth)");
            assert_eq!(over, 0, "{key} of {title} is wider than the window");
        }
    }
    let before = browser.script("return getComputedStyle(document.body).backgroundColor");
    browser.point("#theme", true);
    assert_ne!(browser.script("return getComputedStyle(document.body).backgroundColor"), before);
    page.is_content();
}

fn interleaving(browser: &Browser, page: &Opened<'_>, desk: &Desk, report: &Value) {
    page.says(report);
    page.view("interleaving");
    let failure = &report["failures"][0];
    assert_eq!(
        page.text(".failure-title"),
        format!("assertion at {}", failure["site"].as_str().expect("a site"))
    );
    assert_eq!(page.text(".message"), failure["message"].as_str().expect("a message"));
    assert!(page.text("main").contains(failure["cause"].as_str().expect("a cause")));
    // The steps are those of the trace.
    let trace =
        desk.run(&["trace", "export", "--format", "json", failure["trace"].as_str().expect("a trace")]);
    let trace = trace.json();
    let texts: Vec<&str> =
        trace["events"].as_array().expect("events").iter().filter_map(|it| it["text"].as_str()).collect();
    let labels = browser.script(
        "return [...document.querySelectorAll('#pane-main [data-step]')].map((it) => it.getAttribute('aria-label'))",
    );
    let labels: Vec<String> = serde_json::from_value(labels).expect("labels");
    assert!(labels.len() > 5, "{labels:?}");
    for label in &labels {
        let text =
            label.split_once(": T").and_then(|(_, rest)| rest.split_once(' ')).map_or("", |(_, text)| text);
        assert!(texts.contains(&text), "{label} is not in the trace");
    }
    assert_eq!(page.number("document.querySelectorAll('#pane-main .failure').length"), 1);
    assert!(page.number("document.querySelectorAll('#pane-main .link.reads-from').length") >= 1);
    assert!(page.number("document.querySelectorAll('#pane-main .link.fork').length") >= 2);
    assert_eq!(page.number("document.querySelectorAll('#pane-original').length"), 1);
    // What the cause points out is chosen first; the source of its line is shown.
    assert_eq!(
        page.text(".inspector .here").trim_start_matches(char::is_numeric).trim(),
        "counter = counter + 1;"
    );
    let selected = || page.text(".inspector p").to_string();
    let first = selected();
    browser.press("\u{e015}");
    assert_ne!(selected(), first, "the arrow moves on");
    browser.press("\u{e013}");
    assert_eq!(selected(), first, "and back");
    let height = "document.querySelector('#pane-main .lanes > svg:last-child').height.baseVal.value | 0";
    let before = page.number(height);
    browser.press("+");
    assert!(page.number(height) > before);
    browser.press("-");
    assert_eq!(page.number(height), before);
    browser.press("/");
    assert_eq!(browser.script("return document.activeElement.id"), "filter");
    "write".chars().for_each(|letter| browser.press(&letter.to_string()));
    let writes = labels.iter().filter(|label| label.contains("write")).count() as u64;
    assert_eq!(page.number("document.querySelectorAll('#pane-main [data-step]').length"), writes);
    browser.press("\u{e00c}");
    assert_eq!(
        page.number("document.querySelectorAll('#pane-main [data-step]').length"),
        labels.len() as u64
    );
    browser.point("#pane-main [data-step='2'] .row", false);
    assert!(page.text(".tip").contains("counter"), "hovering tells the step");
    browser.press("?");
    assert_eq!(page.number("document.querySelectorAll('dialog[open]').length"), 1);
    browser.script("document.getElementById('help').close()");
    page.is_content();
}

fn coverage(page: &Opened<'_>, report: &Value, criterion: &str) {
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

fn findings(browser: &Browser, page: &Opened<'_>, report: &Value) {
    page.view("findings");
    let findings = report["findings"].as_array().expect("findings");
    assert_eq!(page.number("document.querySelectorAll('.finding').length"), findings.len() as u64);
    for (place, finding) in findings.iter().enumerate() {
        let shown = page.text(&format!("[data-finding='{place}']"));
        assert!(shown.contains(finding["message"].as_str().expect("a message")), "{shown}");
        if let Some(schedule) = finding["schedule"].as_str() {
            assert!(shown.contains(&format!("threadbare replay {schedule}")), "{shown}");
        }
        assert!(
            page.number(&format!("document.querySelectorAll('[data-finding=\"{place}\"] .pattern').length"))
                == 1
        );
    }
    browser.point("[data-sort=object]", true);
    let order = browser
        .script("return [...document.querySelectorAll('.finding')].map((it) => Number(it.dataset.finding))");
    let order: Vec<usize> = serde_json::from_value(order).expect("numbers");
    let objects: Vec<&str> = order.iter().filter_map(|place| findings[*place]["object"].as_str()).collect();
    assert!(objects.is_sorted(), "{objects:?}");
}

fn graph(page: &Opened<'_>, report: &Value) {
    page.says(report);
    page.view("coverage");
    let groups = report["coverage"]["groups"]["tested"].as_u64().expect("a number");
    assert!(page.text("[data-criterion=groups]").contains(&format!("{groups} groups")));
    page.view("graph");
    let counted = page.text("#pick-graph");
    let shown: u64 = counted
        .split('—')
        .skip(1)
        .filter_map(|part| part.trim().split(' ').next()?.parse::<u64>().ok())
        .sum();
    assert_eq!(Some(shown), report["graph"]["guidelines"].as_u64(), "{counted}");
    assert!(page.number("document.querySelectorAll('#guidelines li').length") >= 2);
    assert!(page.number("document.querySelectorAll('.graph rect').length") >= 3);
}

fn comparison(page: &Opened<'_>, report: &Value, desk: &Desk) {
    page.view("compare");
    let strategies = report["strategies"].as_array().expect("strategies");
    let rows = page.rows("#strategies");
    assert_eq!(rows.len(), strategies.len());
    for (row, strategy) in rows.iter().zip(strategies) {
        assert_eq!(row[0], strategy["strategy"].as_str().expect("a name"));
        assert_eq!(row[1], format!("{}/{}", strategy["failed"], strategy["trials"]));
        let median = strategy["executions"]["median"].as_f64().expect("a number");
        assert_eq!(row[3].replace(',', "").parse::<f64>(), Ok(median));
    }
    assert_eq!(page.number("document.querySelectorAll('.box').length"), strategies.len() as u64);
    let trials = page.number("document.querySelectorAll('.box circle, .box path[fill=none]').length");
    assert_eq!(trials, report["trials"].as_array().expect("trials").len() as u64);
    let csv = page.0.script("return current.view.csv()");
    let written = std::fs::read_to_string(desk.path("trials.csv")).expect("the CSV file");
    assert_eq!(csv.as_str(), Some(written.as_str()));
    page.view("coverage");
    assert_eq!(
        page.number("document.querySelectorAll('figure:first-child .chart[role=img] .curve').length"),
        2
    );
}

fn suite_table(page: &Opened<'_>, report: &Value) {
    page.says(report);
    page.view("suite");
    let inputs = report["inputs"].as_array().expect("inputs");
    let rows = page.rows("#inputs");
    assert_eq!(rows.len(), inputs.len());
    for input in inputs {
        let name = input["name"].as_str().expect("a name");
        let row = rows.iter().find(|row| row[0] == name).expect("a row for each input");
        assert_eq!(
            (row[2].as_str(), row[3].as_str()),
            (&*input["pairs"].to_string(), &*input["new_pairs"].to_string())
        );
        assert_eq!(row[1].starts_with('✓'), input["selected"].as_bool().expect("a choice"));
    }
    assert!(page.text(".matrix").contains("take"));
    page.view("coverage");
    assert!(page.text("[data-criterion=cfp]").contains("pairs"));
}

fn hostile_text(page: &Opened<'_>, report: &Value) {
    page.says(report);
    page.view("interleaving");
    let message = report["failures"][0]["message"].as_str().expect("a message");
    assert!(message.contains("<img src=x"), "{message}");
    let shown = page.text(".message");
    assert!(shown.contains("</script><img src=x onerror=hacked=1>\u{2400}\u{fffd}\u{241b}[2J"), "{shown}");
    page.0.script("document.querySelectorAll('details').forEach((it) => { it.open = true })");
    page.0.point("#pane-main [data-step='2'] .row", true);
    let source = page.text(".inspector .source");
    assert!(source.contains("<img src=x onerror=hacked=1>") && !source.contains('\u{1b}'), "{source}");
    page.is_content();
}

/// What `report` says of a folder that it cannot make a whole page of.
fn refusal(desk: &Desk, folder: &str) -> String {
    let answer = desk.run(&["report", folder]);
    assert_eq!(answer.code, Some(2), "{}", answer.stdout);
    assert!(answer.stderr.starts_with("threadbare: "), "{}", answer.stderr);
    answer.stderr
}

/// A campaign in a folder called `kept`.
fn campaign() -> Desk {
    let desk = Desk::new();
    let answer = desk.run(&["hunt", &example("lost_update.c"), "--out", "kept", "--quiet"]);
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    desk
}

#[test]
fn a_folder_that_is_empty_or_damaged_is_named_with_what_is_missing() {
    let desk = campaign();
    std::fs::create_dir(desk.path("empty")).expect("a folder");
    assert!(refusal(&desk, "empty").contains("holds no campaign"));
    assert!(refusal(&desk, "nowhere").contains("nowhere"));
    assert!(refusal(&desk, "empty/../kept/lost_update-1.trace").contains("cannot be read"));
    assert_eq!(desk.run(&["report", "kept", "-o", "whole.html"]).code, Some(0));

    let record = desk.path("kept/lost_update-hunt.campaign.json");
    let whole = std::fs::read(&record).expect("a record");
    std::fs::write(&record, &whole[..whole.len() / 2]).expect("written");
    let said = refusal(&desk, "kept");
    assert!(said.contains("lost_update-hunt.campaign.json") && said.contains("damaged"), "{said}");
    let newer = String::from_utf8_lossy(&whole).replacen("\"record\":1", "\"record\":99", 1);
    std::fs::write(&record, newer).expect("written");
    assert!(refusal(&desk, "kept").contains("version 99"));

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
fn whatever_a_program_says_a_terminal_is_given_no_orders() {
    let desk = Desk::new();
    desk.file(HOSTILE_NAME, HOSTILE);
    let answer = desk.run(&["hunt", HOSTILE_NAME]);
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    assert!(answer.stdout.contains("shared++"), "the source is shown");
    let orders: Vec<char> = answer.stdout.chars().filter(|it| it.is_control() && *it != '\n').collect();
    assert_eq!(orders, [], "{}", answer.stdout);
    let replayed = desk.run(&["replay", &schedule(&desk)]);
    assert!(!replayed.stdout.contains('\u{1b}'), "{}", replayed.stdout);
}

fn schedule(desk: &Desk) -> String {
    let entries = std::fs::read_dir(desk.path(".threadbare")).expect("a folder");
    let paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let is_schedule =
        |path: &&PathBuf| path.extension() == Some(Path::new("x.schedule").extension().expect("one"));
    paths.iter().find(is_schedule).expect("a schedule").display().to_string()
}

#[test]
fn a_summary_has_what_a_bug_report_needs() {
    let desk = Desk::new();
    let answer = desk.run(&["hunt", &example("lost_update.c"), "--seed", "3"]);
    for part in [
        concat!("threadbare ", env!("CARGO_PKG_VERSION")),
        "gcc (",
        "--seed 3",
        "seed 3)",
        "a failed assertion at lost_update.c:28",
        "write counter 0 → 1",
        "Again: threadbare replay .threadbare/lost_update-1.schedule",
    ] {
        assert!(answer.stdout.contains(part), "`{part}` is not in: {}", answer.stdout);
    }
    assert_eq!(answer.stderr, "", "nothing but the summary in a pipe");
}
