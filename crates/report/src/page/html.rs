//! The page itself: one file with its style, its program and its data.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::interleaving::PageInterleaving;
use super::record::CampaignRecord;
use crate::printable;

const STYLE: &str = concat!(
    include_str!("../../page/page.css"),
    include_str!("../../page/lanes.css"),
    include_str!("../../page/views.css"),
);

/// The program, in the order in which its parts need each other.
const PROGRAM: &str = concat!(
    include_str!("../../page/base.js"),
    include_str!("../../page/source.js"),
    include_str!("../../page/lanes.js"),
    include_str!("../../page/step.js"),
    include_str!("../../page/interleaving.js"),
    include_str!("../../page/charts.js"),
    include_str!("../../page/coverage.js"),
    include_str!("../../page/findings.js"),
    include_str!("../../page/compare.js"),
    include_str!("../../page/suite.js"),
    include_str!("../../page/graph.js"),
    include_str!("../../page/main.js"),
);

/// What a page is made of.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Page {
    /// The campaigns, in the order in which they can be chosen.
    pub campaigns: Vec<PageCampaign>,
}

/// One campaign with what its trace files show.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct PageCampaign {
    /// What people choose it by.
    pub title: String,
    /// What was kept of it.
    pub record: CampaignRecord,
    /// The executions that are drawn.
    pub interleavings: Vec<PageInterleavings>,
    /// What is missing on the page, and why, in whole sentences.
    pub notes: Vec<String>,
}

/// The executions of one failure or finding.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct PageInterleavings {
    /// What they show.
    pub title: String,
    /// `failure` or `finding`, and which of them in the campaign's list; none for a trace of its own.
    pub of: Option<(&'static str, usize)>,
    /// The one to look at first.
    pub main: Option<PageInterleaving>,
    /// The one that was found, before it was made shorter.
    pub original: Option<PageInterleaving>,
    /// What the program printed.
    pub output: Option<String>,
}

impl Page {
    /// The file's content. Whatever the data holds, none of it is taken for markup: the page reads it as JSON and
    /// shows it as text.
    pub fn to_html(&self) -> String {
        let mut data = serde_json::to_value(self).unwrap_or(Value::Null);
        make_safe(&mut data);
        let title = self.campaigns.first().map_or("", |campaign| &campaign.title);
        let policy = format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
            fingerprint(PROGRAM),
            fingerprint(STYLE)
        );
        let mut html = String::new();
        // Writing to a text does not fail.
        let _ = write!(
            html,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <title>{} · threadbare</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <noscript>This page is drawn by a script that it contains; allow it to run.</noscript>\n\
             <script type=\"application/json\" id=\"data\">{}</script>\n<script>{PROGRAM}</script>\n</body>\n</html>\n",
            as_markup(&printable(title)),
            as_json_in_markup(&data)
        );
        html
    }
}

/// Text between tags.
fn as_markup(text: &str) -> String {
    let text = text.replace(['\u{2028}', '\u{2029}'], " ");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// JSON in which nothing ends the element that it is in.
fn as_json_in_markup(data: &Value) -> String {
    let text = data.to_string();
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(safe, "\\u{:04x}", u32::from(letter));
            }
            _ => safe.push(letter),
        }
    }
    safe
}

/// A script's numbers are exact up to here.
const LARGEST_EXACT: u64 = 1 << 53;

/// Replaces control characters in all texts, and numbers that a script would round by their digits.
fn make_safe(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let std::borrow::Cow::Owned(changed) = printable(text) {
                *text = changed;
            }
        }
        Value::Number(number) if number.as_u64().is_some_and(|number| number > LARGEST_EXACT) => {
            *value = Value::String(number.to_string());
        }
        Value::Array(items) => items.iter_mut().for_each(make_safe),
        Value::Object(fields) => {
            let old = std::mem::take(fields);
            for (key, mut field) in old {
                make_safe(&mut field);
                fields.insert(printable(&key).into_owned(), field);
            }
        }
        _ => {}
    }
}

/// What the page's policy knows a script or a style by: nothing else runs.
fn fingerprint(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            (0..3).fold(0_u32, |bits, place| bits << 8 | u32::from(chunk.get(place).copied().unwrap_or(0)));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn base64_is_the_usual_one() {
        for (text, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(text.as_bytes()), coded);
        }
    }

    #[test]
    fn data_cannot_leave_its_element() {
        let hostile = "</script><script>alert(1)</script><!--\u{2028}&\"'><img onerror=x>\0\u{1b}[2J";
        let record = CampaignRecord { report: json!({ hostile: hostile }), ..CampaignRecord::default() };
        let campaign = PageCampaign { title: hostile.into(), record, ..PageCampaign::default() };
        let html = Page { campaigns: vec![campaign] }.to_html();
        assert_eq!(html.matches("<script").count(), 2);
        assert_eq!(html.matches("</script").count(), 2);
        assert!(!html.contains("<img") && !html.contains("alert(1)<") && !html.contains("<!--"));
        assert!(!html.contains(['\0', '\u{1b}', '\u{2028}']));
        let data = html.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next());
        let data: Value = serde_json::from_str(data.expect("the data")).expect("JSON");
        let shown = data["campaigns"][0]["title"].as_str().expect("a text");
        assert_eq!(shown, hostile.replace('\0', "\u{2400}").replace('\u{1b}', "\u{241b}"));
    }

    #[test]
    fn the_program_ends_no_element_and_loads_nothing() {
        for part in [PROGRAM, STYLE] {
            assert!(!part.to_lowercase().contains("</script") && !part.contains("</style"));
            let urls = part.matches("://").count() - part.matches("http://www.w3.org/").count();
            assert_eq!(urls, 0, "the page needs no network");
        }
        for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!PROGRAM.contains(way), "{way}");
        }
    }
}
