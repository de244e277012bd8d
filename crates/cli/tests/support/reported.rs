//! Findings and failures by their lines.

use serde_json::Value;

use super::subject::Expected;

/// One reported finding or failure.
#[derive(Debug)]
pub struct Reported {
    pub kind: String,
    pub object: String,
    pub lines: Vec<u64>,
}

impl Reported {
    fn new(value: &Value, sites: &[&Value]) -> Reported {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let line = |site: &&Value| text(site).rsplit(':').next().and_then(|line| line.parse().ok());
        let mut lines: Vec<u64> = sites.iter().filter_map(line).collect();
        lines.sort_unstable();
        lines.dedup();
        Reported { kind: text(&value["kind"]), object: text(&value["object"]), lines }
    }

    /// Whether it is what was expected, or names the same bug.
    pub fn is(&self, expected: &Expected) -> bool {
        let named = |object: &String| *object == self.object || *object == without_numbers(&self.object);
        let itself = self.kind == expected.kind
            && self.lines == expected.lines
            && (expected.object.is_empty() || expected.object.iter().any(named));
        itself || expected.alternatives.iter().any(|other| self.is(other))
    }
}

/// `cells[3]` as `cells[]`, `node (heap, list.c:22 T1#2).next` as `node.next`, `heap log.c:26 T3#1` as `heap log.c:26`.
pub fn without_numbers(object: &str) -> String {
    let mut text = String::new();
    let mut rest = object;
    while let Some(at) = rest.find(['[', '(']) {
        let close = if rest[at..].starts_with('[') { ']' } else { ')' };
        text.push_str(rest[..at].trim_end());
        rest = rest[at..].split_once(close).map_or("", |(_, after)| after);
        if close == ']' {
            text.push_str("[]");
        }
    }
    text.push_str(rest);
    let is_block = |word: &&str| !word.starts_with('T') || !word.contains('#');
    text.split(' ').filter(is_block).collect::<Vec<_>>().join(" ")
}

/// All findings and failures of a JSON object.
pub fn reported(report: &Value) -> Vec<Reported> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut all = Vec::new();
    for finding in list(&report["findings"]) {
        let sites = list(&finding["sites"]);
        all.push(Reported::new(&finding, &sites.iter().collect::<Vec<_>>()));
    }
    for failure in list(&report["failures"]) {
        all.push(Reported::new(&failure, &[&failure["site"]]));
    }
    all
}
