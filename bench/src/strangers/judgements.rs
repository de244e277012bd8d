//! What a person found out about failures in the suites of published crates.

use serde::Deserialize;

use super::packages::Package;
use crate::Result;
use crate::cargo_threadbare::Test;

/// All judgements.
#[derive(Deserialize)]
pub struct Judgements {
    #[serde(default, rename = "judgement")]
    all: Vec<Judgement>,
}

/// Of one way in which one test fails.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// The crate.
    #[serde(rename = "crate")]
    name: String,
    /// Its version.
    version: String,
    /// Executable and name of the test, or what the names of several begin with, before a `*`.
    pub test: String,
    /// In which way it fails.
    ends: String,
    /// Whose fault it is.
    pub verdict: Verdict,
    /// What speaks for it.
    reason: String,
}

/// Whose fault a failure is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The crate has a bug.
    Crate,
    /// The crate does what it promises, but not all that the test takes for granted.
    Test,
    /// It is a false alarm, or the test can be run and was not.
    Ours,
}

impl Judgement {
    /// Whether it speaks of this test, whichever way it ends.
    pub fn is_about(&self, test: &Test) -> bool {
        let name = format!("{} {}", test.executable, test.name);
        match self.test.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == self.test,
        }
    }

    /// The verdict in words.
    pub fn shown(&self) -> String {
        let verdict = match self.verdict {
            Verdict::Crate => "a bug of the crate",
            Verdict::Test => "true of the test",
            Verdict::Ours => "OUR DEFECT",
        };
        format!("{verdict}: {}", self.reason)
    }
}

/// In which way a test failed: the failure's kind, or `race`, or what is said of it.
fn way(test: &Test) -> String {
    let end = test.end();
    if test.failure.is_none() && (end.ends_with(" data race") || end.ends_with(" data races")) {
        return "race".to_string();
    }
    end
}

impl Judgements {
    /// Those that are kept beside this file.
    pub fn kept() -> Result<Judgements> {
        Ok(toml::from_str(include_str!("judged.toml"))?)
    }

    /// Those on a package of this version.
    pub fn of<'a>(&'a self, package: &'a Package) -> impl Iterator<Item = &'a Judgement> {
        self.all.iter().filter(|it| it.name == package.name && it.version == package.version)
    }

    /// The one on how this test ended; the same test may fail in another way as well, which says nothing.
    pub fn on<'a>(&'a self, package: &'a Package, test: &Test) -> Option<&'a Judgement> {
        self.of(package).find(|it| it.is_about(test) && it.ends == way(test))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo_threadbare::Failure;
    use crate::strangers::packages::Packages;

    fn ended(name: &str, kind: &str) -> Test {
        Test {
            executable: "queue::stress".to_string(),
            name: name.to_string(),
            status: "failed".to_string(),
            executions: 1,
            elapsed_s: 0.0,
            failure: Some(Failure { kind: kind.to_string() }),
            message: None,
        }
    }

    #[test]
    fn a_judgement_holds_for_one_version_one_test_and_one_way_to_fail() {
        let judgements: Judgements = toml::from_str(
            "[[judgement]]\ncrate = 'queue'\nversion = '1.0.0'\ntest = 'queue::stress pops'\nends = 'deadlock'\n\
             verdict = 'crate'\nreason = 'pop forgets to wake'",
        )
        .expect("a file of judgements");
        let package = |version: &str| Package::new("queue", version);
        let is_judged = |version: &str, name: &str, kind: &str| {
            judgements.on(&package(version), &ended(name, kind)).is_some()
        };
        assert!(is_judged("1.0.0", "pops", "deadlock"));
        assert!(!is_judged("1.0.1", "pops", "deadlock"));
        assert!(!is_judged("1.0.0", "pushes", "deadlock"));
        assert!(!is_judged("1.0.0", "pops", "exit"));
    }

    #[test]
    fn a_judgement_may_hold_for_all_tests_that_begin_so_however_many_races_they_have() {
        let judgements: Judgements = toml::from_str(
            "[[judgement]]\ncrate = 'queue'\nversion = '1.0.0'\ntest = 'queue::stress *'\nends = 'race'\n\
             verdict = 'crate'\nreason = 'slots are read and written at once'",
        )
        .expect("a file of judgements");
        let race = |executable: &str, message: &str| {
            let (executable, message) = (executable.to_string(), Some(message.to_string()));
            let test = Test { executable, message, failure: None, ..ended("pops", "") };
            judgements.on(&Package::new("queue", "1.0.0"), &test).is_some()
        };
        assert!(race("queue::stress", "1 data race") && race("queue::stress", "2 data races"));
        assert!(!race("queue", "1 data race") && !race("queue::stress", "it could not be run"));
    }

    #[test]
    fn whatever_is_judged_is_pinned() {
        let packages = Packages::pinned().expect("pinned packages");
        for judgement in &Judgements::kept().expect("judgements").all {
            let is_pinned = packages.contain(&judgement.name, &judgement.version);
            assert!(is_pinned, "{} {} is not among the crates", judgement.name, judgement.version);
            assert!(!judgement.reason.trim().is_empty(), "{} has no reason", judgement.test);
        }
    }
}
