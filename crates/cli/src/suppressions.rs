//! Findings that are not to be reported again.
//!
//! A file has one rule a line, `KIND TEXT`: findings of that kind (`*` for all) whose object or one
//! of whose places contains the text are silenced; `#` begins a comment. A comment in the source
//! does the same for its own line and the next: `threadbare: ignore`, or `threadbare: ignore(race)`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use threadbare_report::{FindingText, SourcePlace};

use crate::error::CliError;

/// What to be silent about.
#[derive(Default)]
pub struct Suppressions {
    rules: Vec<(String, String)>,
    /// The comments in source files, which many findings are in.
    comments: RefCell<HashMap<String, Comments>>,
}

/// The comments of a file, by line: what follows the words that make it one.
type Comments = HashMap<u32, String>;

/// The kinds that a rule can name.
const KINDS: [&str; 6] = ["*", "race", "atomicity", "order", "deadlock", "lock-discipline"];

impl Suppressions {
    /// Reads a file, if there is one.
    pub fn read(path: Option<&Path>) -> Result<Suppressions, CliError> {
        let Some(path) = path else { return Ok(Suppressions::default()) };
        let text = std::fs::read_to_string(path)
            .map_err(|source| CliError::Read { path: path.to_path_buf(), source })?;
        Self::parse(&text).map_err(|line| {
            CliError::Usage(format!(
                "{}: line {line} is no suppression; write a kind ({}) and a text",
                path.display(),
                KINDS.join(", ")
            ))
        })
    }

    /// Reads rules; the number of the first line that is none, if there is one.
    fn parse(text: &str) -> Result<Suppressions, usize> {
        let mut rules = Vec::new();
        for (index, line) in text.lines().enumerate() {
            // Within a word it is part of a name, as in `heap list.c:40 T0#2`.
            let line = line.split(" #").next().unwrap_or_default().trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match line.split_once(char::is_whitespace) {
                Some((kind, what)) if KINDS.contains(&kind) => {
                    rules.push((kind.to_string(), what.trim().to_string()));
                }
                _ => return Err(index + 1),
            }
        }
        Ok(Suppressions { rules, ..Suppressions::default() })
    }

    /// Whether this finding is to be left out.
    pub fn silence(&self, finding: &FindingText) -> bool {
        let by_rule = self.rules.iter().any(|(kind, text)| {
            (kind == "*" || kind == finding.kind)
                && (finding.object.contains(text.as_str())
                    || finding.sites.iter().any(|site| site.contains(text.as_str())))
        });
        by_rule || finding.places.iter().any(|place| self.is_silenced_in_source(place, finding.kind))
    }

    fn is_silenced_in_source(&self, place: &SourcePlace, kind: &str) -> bool {
        let (Some(file), Some(line)) = (&place.file, place.line) else { return false };
        let mut files = self.comments.borrow_mut();
        let comments = files.entry(file.clone()).or_insert_with(|| comments_of(file));
        let is_for_it = |rest: &String| {
            rest.strip_prefix('(')
                .and_then(|list| list.split_once(')'))
                .is_none_or(|(list, _)| list.split(',').any(|word| word.trim() == kind))
        };
        [line, line.saturating_sub(1)].iter().filter_map(|line| comments.get(line)).any(is_for_it)
    }
}

fn comments_of(file: &str) -> Comments {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let comment = |text: &str| Some(text.split_once("threadbare: ignore")?.1.to_string());
    (1..).zip(text.lines()).filter_map(|(line, text)| Some((line, comment(text)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: &'static str, object: &str, site: &str) -> FindingText {
        FindingText {
            kind,
            heading: String::new(),
            sentence: String::new(),
            object: object.into(),
            sites: vec![site.into()],
            places: Vec::new(),
            sources: Vec::new(),
            pattern: None,
            accesses: Vec::new(),
        }
    }

    #[test]
    fn rules_match_by_kind_and_by_object_or_place() {
        let rules = Suppressions::parse("# known\nrace counter\n* old.c:  # all of it\n").unwrap();
        assert!(rules.silence(&finding("race", "counter", "a.c:1")));
        assert!(!rules.silence(&finding("atomicity", "counter", "a.c:1")));
        assert!(rules.silence(&finding("deadlock", "lock", "old.c:7")));
        assert!(!rules.silence(&finding("race", "other", "a.c:1")));
        assert_eq!(Suppressions::parse("race x\nnonsense\n").err(), Some(2));
    }
}
