//! The truth that fixtures state in their comments.

use std::collections::{BTreeMap, BTreeSet};

/// What a read on a line comes to.
#[derive(Clone, Default, Debug)]
pub struct Truth {
    /// Marks of branches and writes that it must reach, if they exist.
    pub reaches: Vec<String>,
    /// Marks that it may reach.
    pub may_reach: Vec<String>,
    /// Whether it decides what is used.
    pub steers: bool,
    /// Whether it is lost.
    pub unknown: bool,
}

/// What a fixture says.
#[derive(Default)]
pub struct Statements {
    /// For each line that reads.
    pub reads: BTreeMap<u32, Truth>,
    /// For each mark, its lines.
    pub marks: BTreeMap<String, BTreeSet<u32>>,
}

/// Reads a fixture's comments.
pub fn statements(source: &str) -> Statements {
    let mut found = Statements::default();
    for (line, text) in (1..).zip(source.lines()) {
        let Some((_, comment)) = text.split_once("//") else { continue };
        let (reads, words) = match comment.trim_start_matches('?').strip_prefix(':') {
            Some(words) => (true, words),
            None => (false, comment),
        };
        let mut truth = Truth::default();
        for word in words.split_whitespace() {
            if let Some(mark) = word.strip_prefix('[') {
                found.marks.entry(mark.trim_end_matches(']').to_string()).or_default().insert(line);
            } else if word == "steers" {
                truth.steers = true;
            } else if word == "unknown" {
                truth.unknown = true;
            } else if let Some(mark) = word.strip_suffix('?') {
                truth.may_reach.push(mark.to_string());
            } else {
                truth.reaches.push(word.to_string());
            }
        }
        if reads {
            found.reads.insert(line, truth);
        }
    }
    found
}
