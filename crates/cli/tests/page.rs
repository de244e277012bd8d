//! The page of a campaign: opened in a real browser and compared with the JSON, and made of what is damaged or hostile.

#[path = "page/compare.rs"]
mod compare;
#[path = "page/coverage.rs"]
mod coverage;
#[path = "page/damaged.rs"]
mod damaged;
#[path = "page/graph.rs"]
mod graph;
#[path = "page/views.rs"]
mod views;

mod support;

use std::path::{Path, PathBuf};

use compare::comparison;
use coverage::{coverage, overlay};
use graph::graph;
use serde_json::Value;
use support::browser::Browser;
use support::{Desk, repository};
use views::{Opened, findings, hostile_text, interleaving, suite_table};

const SUITE: &str = r#"
program = "two.c"
[[input]]
name = "one"
args = ["1"]
[[input]]
name = "two"
args = ["2"]
[[input]]
name = "three"
args = ["3"]
"#;

/// Functions that the argument chooses from.
const TWO: &str = r#"
#include <pthread.h>
int x, y, z;
void add(void) { x = x + 1; }
void take(void) { y = y - 1; add(); }
void reset(void) { z = 0; }
void *adds(void *unused) { add(); return unused; }
void *takes(void *unused) { take(); return unused; }
void *resets(void *unused) { reset(); return unused; }
int main(int count, char **words) {
    pthread_t a, b;
    void *(*routine)(void *) = words[1][0] == '1' ? adds : words[1][0] == '2' ? takes : resets;
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

#[test]
fn every_view_shows_what_the_json_says() {
    let Some(browser) = Browser::start() else { return };
    let desk = Desk::new();
    desk.file("two.c", TWO);
    desk.file("suite.toml", SUITE);
    desk.file(HOSTILE_NAME, HOSTILE);
    let lost_update = example("lost_update.c");
    let hunt = json(&desk, &["hunt", &lost_update, "--html", "one.html"], 1);
    let queue = example("bounded_queue.c");
    let covering = ["--coverage", "map", "--uncovered", "--executions", "5", "--strategy"];
    let [pos, random] = ["pos", "random"]
        .map(|strategy| json(&desk, &[&["hunt", &queue][..], &covering, &[strategy]].concat(), 0));
    let check = json(&desk, &["check", &example("bank_transfer.cpp"), "--coverage", "sp,def-use"], 1);
    let verify = json(&desk, &["verify", &example("deadlock.c"), "--executions", "3", "--uncovered"], 1);
    let trials =
        ["compare", &lost_update, "--strategies", "pos,round-robin", "--runs", "5", "--executions", "50"];
    let mut compare_args = trials.to_vec();
    compare_args.extend(["--coverage", "map", "--saturation-window", "10", "--csv", "trials.csv"]);
    let compare = json(&desk, &compare_args, 1);
    let suite = json(&desk, &["suite", "suite.toml", "--runs", "2", "--uncovered"], 1);
    let hostile = json(&desk, &["hunt", HOSTILE_NAME], 1);
    claim_a_long_original(&desk);
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
    assert_eq!(page.number("document.getElementById('pick-campaign').options.length"), 8);

    page.choose("lost_update.c · hunt");
    interleaving(&browser, &page, &desk, &hunt);
    page.choose("bounded_queue.c · hunt · pos");
    overlay(&page, &pos, &random);
    page.choose("bank_transfer.cpp · check");
    page.says(&check);
    coverage(&page, &check, "sp");
    coverage(&page, &check, "def-use");
    findings(&browser, &page, &check);
    page.choose("deadlock.c · verify");
    assert!(page.text("#long-original").contains("20,001 events"));
    assert!(page.text("#main").contains(LONG_REPLAY), "the way to what is not shown");
    graph(&page, &verify);
    page.choose("lost_update.c · compare");
    comparison(&page, &compare, &desk);
    page.choose("two.c · suite");
    suite_table(&page, &suite);
    address(&browser, &page, &desk.path(".threadbare/report.html"));
    page.choose(&format!("{HOSTILE_NAME} · hunt"));
    hostile_text(&page, &hostile);
    // Whatever was shown, a narrow window loses nothing to the side, and both looks are there.
    browser.resize(500, 900);
    for title in [
        "lost_update.c · hunt",
        "lost_update.c · compare",
        "two.c · suite",
        "deadlock.c · verify",
        "bounded_queue.c · hunt · pos",
    ] {
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

/// The tab and the address say what is shown, and the address leads back to it.
fn address(browser: &Browser, page: &Opened<'_>, file: &Path) {
    let shown =
        || browser.script("return [document.title, location.href, current.campaign.title, current.key]");
    page.view("suite");
    let before = shown();
    assert_eq!(before[0], "two.c · suite · Suite · threadbare");
    page.view("coverage");
    assert_ne!(shown()[1], before[1]);
    browser.open(Path::new("/dev/null"));
    let fragment = before[1].as_str().and_then(|it| it.split_once('#')).expect("a fragment").1;
    browser.open(&PathBuf::from(format!("{}#{fragment}", file.display())));
    assert_eq!(shown(), before);
    let picked = "document.getElementById('pick-campaign').selectedOptions[0].text";
    assert_eq!(browser.script(&format!("return {picked}")), "two.c · suite");
    // An address may also be changed while the page is open, to something that is not there.
    browser.script("location.hash = 'campaign=nothing&view=nowhere'");
    page.choose("two.c · suite");
    page.is_content();
}

/// What the record says of a failure that was found in a very long execution.
const LONG_REPLAY: &str = "threadbare replay long.original.schedule";

/// Has the record of the verification say so.
fn claim_a_long_original(desk: &Desk) {
    let path = desk.path(".threadbare/deadlock-verify-total.campaign.json");
    let mut record: Value = serde_json::from_slice(&std::fs::read(&path).expect("a record")).expect("JSON");
    record["failures"][0]["long_original"] = serde_json::json!({ "events": 20_001, "replay": LONG_REPLAY });
    std::fs::write(&path, record.to_string()).expect("written");
}

/// A campaign in a folder called `kept`.
fn campaign() -> Desk {
    let desk = Desk::new();
    let answer = desk.run(&["hunt", &example("lost_update.c"), "--out", "kept", "--quiet"]);
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    desk
}

/// The titles of the campaigns on the page of a folder.
fn titles(desk: &Desk, folder: &str) -> Vec<String> {
    let answer = desk.run(&["report", folder, "-o", "page.html"]);
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    let page = std::fs::read_to_string(desk.path("page.html")).expect("a page");
    let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next());
    let data: Value = serde_json::from_str(data.expect("the data")).expect("JSON");
    let campaigns = data["campaigns"].as_array().expect("campaigns").iter();
    campaigns.map(|it| it["title"].as_str().expect("a title").to_string()).collect()
}

#[test]
fn campaigns_of_programs_with_one_name_and_of_other_arguments_are_all_kept() {
    let desk = Desk::new();
    for folder in ["one", "other"] {
        std::fs::create_dir(desk.path(folder)).expect("a folder");
        desk.file(&format!("{folder}/two.c"), TWO);
    }
    let hunts: [&[&str]; 4] = [
        &["one/two.c", "--", "1"],
        &["other/two.c", "--", "1"],
        &["one/two.c", "--", "2 x"],
        &["one/two.c", "--strategy", "pos", "--", "1"],
    ];
    for hunt in hunts.iter().chain(&hunts) {
        let all = [&["hunt", "--executions", "3", "--quiet"], *hunt].concat();
        assert_eq!(desk.run(&all).code, Some(0), "{hunt:?}");
    }
    let titles = titles(&desk, ".threadbare");
    assert_eq!(titles.len(), 4, "each once, however often it was made: {titles:?}");
    assert_eq!(titles.iter().collect::<std::collections::BTreeSet<_>>().len(), 4, "{titles:?}");
    for part in ["two.c · hunt · pos", "two.c · hunt · auto · '2 x'", "/other/two.c", "/one/two.c"] {
        assert_eq!(titles.iter().filter(|title| title.contains(part)).count(), 1, "{part}: {titles:?}");
    }
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
fn a_campaign_that_was_interrupted_does_not_look_like_one_that_found_nothing() {
    let Some(browser) = Browser::start() else { return };
    let desk = Desk::new();
    let hunt = ["hunt", &example("bounded_queue.c"), "--executions", "5", "--quiet"];
    assert_eq!(desk.run(&hunt).code, Some(0));
    let record = desk.path(".threadbare/bounded_queue-hunt-auto.campaign.json");
    let page = Opened(&browser);
    for (interrupted, class, words) in [
        (false, "badge clean", "nothing found"),
        (true, "badge interrupted", "interrupted: nothing found so far"),
    ] {
        let mut changed: Value =
            serde_json::from_slice(&std::fs::read(&record).expect("a record")).expect("JSON");
        changed["report"]["interrupted"] = interrupted.into();
        std::fs::write(&record, changed.to_string()).expect("written");
        assert_eq!(desk.run(&["report", ".threadbare"]).code, Some(0));
        browser.open(&desk.path(".threadbare/report.html"));
        assert_eq!(browser.script("return document.getElementById('verdict').className"), class);
        assert!(page.text("#verdict").ends_with(words), "{}", page.text("#verdict"));
        let copied = browser.script("return bugReport(current.campaign)");
        assert!(
            copied.as_str().is_some_and(|it| it.lines().next().is_some_and(|line| line.ends_with(words))),
            "{copied}"
        );
        page.is_content();
    }
}

#[test]
fn where_no_browser_shows_it_the_page_is_named() {
    let desk = campaign();
    let page = std::path::absolute(desk.path("kept/report.html")).expect("a path").display().to_string();
    for browser in ["/nowhere/browser", "false"] {
        let answer =
            desk.command(&["report", "kept", "--open"]).env("BROWSER", browser).output().expect("it runs");
        let said = String::from_utf8_lossy(&answer.stderr).into_owned();
        assert_eq!(answer.status.code(), Some(0), "{said}");
        assert!(said.contains(&page) && said.contains(browser), "{said}");
    }
    let answer =
        desk.command(&["report", "kept", "--open"]).env("BROWSER", "true").output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&answer.stderr), "");
}

#[test]
fn a_summary_of_nothing_says_who_looked_and_how() {
    let desk = Desk::new();
    let queue = example("bounded_queue.c");
    let answer = desk.run(&["hunt", &queue, "--executions", "3", "--seed", "3"]);
    for part in ["Nothing found in ", concat!("threadbare ", env!("CARGO_PKG_VERSION")), "gcc (", "--seed 3"]
    {
        assert!(answer.stdout.contains(part), "`{part}` is not in: {}", answer.stdout);
    }
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
