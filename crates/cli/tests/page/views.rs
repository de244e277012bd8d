//! What a browser shows, compared with what the JSON says: a function for each view.

use serde_json::Value;

use super::support::Desk;
use super::support::browser::Browser;

/// A page that is open.
pub struct Opened<'a>(pub &'a Browser);

impl Opened<'_> {
    pub fn text(&self, selector: &str) -> String {
        let found =
            self.0.script(&format!("return document.querySelector({selector:?})?.textContent ?? null"));
        found.as_str().unwrap_or_else(|| panic!("nothing on the page is {selector}")).to_string()
    }

    pub fn number(&self, script: &str) -> u64 {
        self.0.script(&format!("return {script}")).as_u64().unwrap_or_else(|| panic!("no number: {script}"))
    }

    /// The texts of the cells of a table's rows.
    pub fn rows(&self, selector: &str) -> Vec<Vec<String>> {
        let script = format!(
            "return [...document.querySelectorAll({:?})].map((row) => [...row.cells].map((cell) => cell.textContent))",
            format!("{selector} tbody tr")
        );
        serde_json::from_value(self.0.script(&script)).expect("rows of texts")
    }

    /// Chooses a campaign by its title.
    pub fn choose(&self, title: &str) {
        let chosen = self.0.script(&format!(
            "const list = document.getElementById('pick-campaign');
             const at = [...list.options].findIndex((it) => it.text === {title:?});
             list.value = at; list.dispatchEvent(new Event('change')); return at"
        ));
        assert!(chosen.as_i64().is_some_and(|at| at >= 0), "{title} cannot be chosen");
    }

    /// Clicks the tab of a view.
    pub fn view(&self, key: &str) {
        self.0.point(&format!("#tab-{key}"), true);
        assert_eq!(
            self.0.script(&format!("return document.getElementById('tab-{key}').ariaSelected")),
            "true"
        );
        self.is_content();
    }

    /// Nothing went wrong in the page so far, and nothing of its data became markup.
    pub fn is_content(&self) {
        assert_eq!(self.0.complaints(), [""; 0]);
        let hacked =
            self.0.script("return [typeof window.hacked, document.images.length, document.scripts.length]");
        assert_eq!(hacked, serde_json::json!(["undefined", 0, 2]));
    }

    /// The head says what the object says.
    pub fn says(&self, report: &Value) {
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
            let word = if value == 1 { key.trim_end_matches('s') } else { key };
            assert!(facts.contains(&format!("{}{word}", with_commas(value))), "{key} {value} in {facts}");
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

/// Whether it is said what the schedule needs.
fn says_what_it_needs(page: &Opened<'_>, failure: &Value) {
    assert_eq!(failure["minimal"], true, "{failure}");
    let shown = page.text("#main");
    assert_eq!(shown.contains("it needs no preemption"), failure["preemptions"] == 0, "{shown}");
    assert_eq!(shown.contains("no preemption can be left out"), failure["preemptions"] != 0, "{shown}");
}

/// The lanes are those of the trace, and keys and pointer do what they promise.
pub fn interleaving(browser: &Browser, page: &Opened<'_>, desk: &Desk, report: &Value) {
    page.says(report);
    page.view("interleaving");
    let failure = &report["failures"][0];
    assert_eq!(
        page.text(".failure-title"),
        format!("assertion at {}", failure["site"].as_str().expect("a site"))
    );
    assert_eq!(page.text(".message"), failure["message"].as_str().expect("a message"));
    assert!(page.text("main").contains(failure["cause"].as_str().expect("a cause")));
    says_what_it_needs(page, failure);
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
    selection_is_in_sight(browser);
    numbers_are_in_sight(browser);
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
    assert!(page.text(".tip").contains("counter"), "hovering shows the step");
    browser.press("?");
    assert_eq!(page.number("document.querySelectorAll('dialog[open]').length"), 1);
    assert!(page.text("#help dl").contains("this help"), "{}", page.text("#help dl"));
    assert!(!page.text("#help").contains("[object"));
    browser.script("document.getElementById('help').close()");
    page.is_content();
}

/// The lane of what is selected is in the window of its pane, however narrow that is.
fn selection_is_in_sight(browser: &Browser) {
    let in_sight = "(() => {
        const mark = document.querySelector('.step.selected .mark').getBoundingClientRect();
        const room = document.querySelector('.step.selected').closest('.lanes').getBoundingClientRect();
        return mark.left >= room.left && mark.right <= room.right;
    })()";
    assert_eq!(browser.script(&format!("return {in_sight}")), Value::Bool(true));
}

/// However far a pane is scrolled to the side, the numbers of its steps are in its window.
fn numbers_are_in_sight(browser: &Browser) {
    let kept = browser.script(
        "const holder = document.querySelector('#pane-main .lanes');
         const body = holder.querySelector('.numbers').ownerSVGElement;
         body.style.minWidth = `${holder.clientWidth + 300}px`;
         const at = () => holder.querySelector('.number').getBoundingClientRect().left - holder.getBoundingClientRect().left;
         const moved = [0, 200].map((left) => {
             holder.scrollLeft = left;
             holder.dispatchEvent(new Event('scroll'));
             return [holder.scrollLeft, Math.round(at())];
         });
         body.style.minWidth = '';
         holder.scrollLeft = 0;
         return moved",
    );
    let kept: [[i64; 2]; 2] = serde_json::from_value(kept).expect("numbers");
    assert_eq!((kept[0][0], kept[1][0]), (0, 200));
    assert_eq!(kept[0][1], kept[1][1], "they stay where they were");
}

/// A text, or the placeholder for none.
pub fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or("without a name").to_string()
}

/// Every finding is there with its words, its steps and its command, and can be sorted.
pub fn findings(browser: &Browser, page: &Opened<'_>, report: &Value) {
    page.view("findings");
    let findings = report["findings"].as_array().expect("findings");
    let copied = page.0.script("return bugReport(current.campaign)");
    let copied = copied.as_str().expect("a text");
    assert_eq!(page.number("document.querySelectorAll('.finding').length"), findings.len() as u64);
    for (place, finding) in findings.iter().enumerate() {
        let shown = page.text(&format!("[data-finding='{place}']"));
        assert!(shown.contains(finding["message"].as_str().expect("a message")), "{shown}");
        if let Some(schedule) = finding["schedule"].as_str() {
            assert!(copied.contains(&format!("Again: threadbare replay {schedule}")), "{copied}");
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

/// Every input has its row.
pub fn suite_table(page: &Opened<'_>, report: &Value) {
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
    let left = report["coverage"]["cfp"]["uncovered"].as_array().expect("a list");
    let listed = page.rows("[data-criterion=cfp] .uncovered");
    assert!(!left.is_empty() && listed.len() == left.len(), "{listed:?} of {left:?}");
    for (row, pair) in listed.iter().zip(left) {
        for (cell, function) in row.iter().zip(pair["functions"].as_array().expect("names")) {
            assert!(cell.contains(&format!(" in {}", text_of(function))), "{row:?}: {pair}");
        }
    }
}

/// What would be markup is shown as text.
pub fn hostile_text(page: &Opened<'_>, report: &Value) {
    page.says(report);
    page.view("interleaving");
    says_what_it_needs(page, &report["failures"][0]);
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
