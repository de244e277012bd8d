//! What a person found out about failures of published C and C++ programs.

use serde::Deserialize;

use super::Run;
use crate::Result;

/// How the run of a program ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// No execution failed, and nothing was found.
    Passed,
    /// There is nothing to explore.
    NoThread,
    /// Some execution fails, in this way (`delayed …` if only where a thread is slower than a sleep); or a finding, `race` and so on.
    Failed(String),
    /// It uses something that the tool says it does not control.
    Refused,
    /// No execution came to its end.
    Cut,
    /// It fails, or does not end, when it is run as it is.
    FailsWithoutUs,
    /// It is not made to be built alone.
    NotBuilt,
}

/// All judgements.
#[derive(Deserialize)]
pub struct Judgements {
    #[serde(default, rename = "judgement")]
    all: Vec<Judgement>,
}

/// Of one way in which something fails.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Judgement {
    /// The program, or `glibc`.
    program: String,
    /// The tests.
    tests: Vec<String>,
    /// In which way they fail: the kind of the failure or finding.
    ends: String,
    /// Whose fault it is.
    verdict: Verdict,
    /// What speaks for it.
    reason: String,
}

/// Whose fault a failure is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    /// The program has a bug, or does what the standard leaves undefined.
    Program,
    /// It takes for granted how fast threads are.
    Timing,
    /// It is a false alarm.
    Ours,
}

impl Judgements {
    /// Those that are kept beside those of the crates.
    pub fn kept() -> Result<Judgements> {
        Ok(toml::from_str(include_str!("../judged-c.toml"))?)
    }

    fn on(&self, run: &Run) -> Option<&Judgement> {
        let Way::Failed(kind) = &run.way else { return None };
        let is_about = |it: &&Judgement| it.program == run.program && it.tests.contains(&run.test);
        self.all.iter().filter(is_about).find(|it| it.ends == *kind)
    }

    /// Whether somebody has to look at it.
    pub fn wants(&self, run: &Run) -> bool {
        matches!(run.way, Way::Failed(_)) && self.on(run).is_none()
    }

    /// What is to be said of it, if anything.
    pub fn remark(&self, run: &Run) -> Option<String> {
        let Run { program, test, message, .. } = run;
        let ended = match &run.way {
            Way::Passed | Way::NoThread => return None,
            Way::Failed(kind) => kind,
            Way::Refused => "refused",
            Way::Cut => "cut",
            Way::FailsWithoutUs => "fails without us",
            Way::NotBuilt => "not built",
        };
        let judged = match (self.on(run), self.wants(run)) {
            (Some(judgement), _) => {
                let whose = match judgement.verdict {
                    Verdict::Program => "true of the program",
                    Verdict::Timing => "asserts timing",
                    Verdict::Ours => "OUR DEFECT",
                };
                format!(" {whose}: {}", judgement.reason)
            }
            (None, true) => " NOT JUDGED".to_string(),
            (None, false) => String::new(),
        };
        let message = message.trim().replace('\n', "\n    ");
        Some(format!("{program} {test}: {ended}:{judged}\n    {message}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(test: &str, kind: &str) -> Run {
        Run {
            program: "glibc",
            test: test.to_string(),
            way: Way::Failed(kind.to_string()),
            message: String::new(),
        }
    }

    #[test]
    fn a_judgement_holds_for_its_tests_and_one_way_to_fail() {
        let judgements: Judgements = toml::from_str(
            "[[judgement]]\nprogram = 'glibc'\ntests = ['tst-join1']\nends = 'misuse'\nverdict = 'program'\n\
             reason = 'it unlocks what another thread holds'",
        )
        .expect("a file of judgements");
        assert!(!judgements.wants(&failed("tst-join1", "misuse")));
        assert!(judgements.wants(&failed("tst-join1", "deadlock")));
        assert!(judgements.wants(&failed("tst-join2", "misuse")));
        assert!(!judgements.wants(&Run { way: Way::Refused, ..failed("tst-join2", "") }));
    }

    #[test]
    fn whatever_is_judged_has_a_reason() {
        for judgement in &Judgements::kept().expect("judgements").all {
            assert!(!judgement.reason.trim().is_empty(), "{:?} has no reason", judgement.tests);
        }
    }
}
