//! What a schedule shows besides a failure: the steps of a finding.

use std::fmt;

use crate::ThreadId;

/// A finding that happens when a schedule is followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownFinding {
    /// The kind of finding by its word.
    pub kind: String,
    /// The number of its memory-access pattern, if it has one.
    pub pattern: Option<u8>,
    /// The steps it is about: each a thread and its operation, counted from 1 in the thread.
    pub steps: Vec<(ThreadId, u32)>,
    /// What happens, in one sentence.
    pub sentence: String,
    /// It is what the failure is put down to.
    pub is_cause: bool,
}

impl fmt::Display for ShownFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if let Some(pattern) = self.pattern {
            write!(f, " of pattern {pattern}")?;
        }
        for (place, (thread, op)) in self.steps.iter().enumerate() {
            let joint = if place == 0 { " by" } else { "," };
            write!(f, "{joint} {thread} op {op}")?;
        }
        write!(f, ": {}", self.sentence)
    }
}

impl ShownFinding {
    /// The word before it in files.
    pub(crate) fn word(&self) -> &'static str {
        if self.is_cause { "cause" } else { "shows" }
    }

    /// Reads what follows such a word.
    pub(crate) fn read(word: &str, text: &str) -> Option<ShownFinding> {
        let is_cause = match word {
            "cause" => true,
            "shows" => false,
            _ => return None,
        };
        Some(ShownFinding { is_cause, ..ShownFinding::parse(text)? })
    }

    /// Reads what `Display` wrote.
    fn parse(text: &str) -> Option<ShownFinding> {
        let (head, sentence) = text.split_once(": ")?;
        let (what, steps) = head.split_once(" by ")?;
        let (kind, pattern) = match what.split_once(" of pattern ") {
            Some((kind, number)) => (kind, Some(number.parse().ok()?)),
            None => (what, None),
        };
        let step = |text: &str| {
            let (thread, op) = text.split_once(" op ")?;
            Some((ThreadId(thread.strip_prefix('T')?.parse().ok()?), op.parse().ok()?))
        };
        let steps = steps.split(", ").map(step).collect::<Option<_>>()?;
        let (kind, sentence) = (kind.to_string(), sentence.to_string());
        Some(ShownFinding { kind, pattern, steps, sentence, is_cause: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_survives_its_own_text() {
        for pattern in [None, Some(17)] {
            let shown = ShownFinding {
                kind: "lock-discipline".into(),
                pattern,
                steps: vec![(ThreadId(1), 14), (ThreadId(2), 9)],
                sentence: "T1 wrote a, b: by T2".into(),
                is_cause: false,
            };
            assert_eq!(ShownFinding::parse(&shown.to_string()), Some(shown));
        }
    }

    #[test]
    fn what_is_no_finding_is_refused() {
        for text in [
            "",
            "race",
            "race: no steps",
            "race by T1: no op",
            "race by 1 op 2: x",
            "race of pattern z by T1 op 2: x",
        ] {
            assert_eq!(ShownFinding::parse(text), None, "{text}");
        }
    }
}
