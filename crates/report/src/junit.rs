//! Results of tests as JUnit XML, which build servers read.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use crate::tests_json::{TestReport, TestStatus};

/// The file's text, with a suite for every executable.
pub fn junit(name: &str, elapsed: Duration, tests: &[TestReport]) -> Result<String, SerializeError> {
    let mut report = Report::new(name);
    report.set_time(elapsed);
    let mut executables: Vec<&str> = tests.iter().map(|test| test.executable.as_str()).collect();
    executables.sort_unstable();
    executables.dedup();
    for executable in executables {
        let mut suite = TestSuite::new(executable);
        let own: Vec<&TestReport> = tests.iter().filter(|test| test.executable == executable).collect();
        suite.set_time(Duration::from_secs_f64(own.iter().map(|test| test.elapsed_s.max(0.0)).sum()));
        suite.add_test_cases(own.into_iter().map(case));
        report.add_test_suite(suite);
    }
    report.to_string()
}

fn case(test: &TestReport) -> TestCase {
    let mut status = match test.status {
        TestStatus::Passed => TestCaseStatus::success(),
        TestStatus::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        TestStatus::Unable => TestCaseStatus::non_success(NonSuccessKind::Error),
        TestStatus::NothingToExplore | TestStatus::Ignored | TestStatus::Long | TestStatus::Interrupted => {
            TestCaseStatus::skipped()
        }
    };
    let reason = test.message.as_deref().or(match test.status {
        TestStatus::NothingToExplore => Some("nothing to explore: it starts no thread"),
        TestStatus::Ignored => Some("ignored"),
        TestStatus::Long => Some("no execution came to its end"),
        TestStatus::Interrupted => Some("interrupted"),
        _ => None,
    });
    if let Some(reason) = reason {
        status.set_message(reason);
    }
    if test.status == TestStatus::Failed {
        let kind = test.failure.as_ref().map(|failure| failure.kind);
        let kind = kind.or(test.findings.first().map(|finding| finding.kind));
        status.set_type(kind.unwrap_or("exit"));
        status.set_description(test.text.clone());
    }
    let mut case = TestCase::new(test.name.clone(), status);
    case.set_classname(test.executable.clone()).set_time(Duration::from_secs_f64(test.elapsed_s.max(0.0)));
    case
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(name: &str, status: TestStatus) -> TestReport {
        TestReport {
            executable: "queue".into(),
            name: name.into(),
            status,
            executions: 3,
            cut: 0,
            steps: 9,
            threads: 2,
            elapsed_s: 0.5,
            exhausted: false,
            failure: None,
            findings: Vec::new(),
            message: (status == TestStatus::Failed).then(|| "a <panic> & more".to_string()),
            text: "T1 | T2\u{1b}[0m".into(),
        }
    }

    #[test]
    fn failures_are_reported_and_what_was_not_explored_does_not_count_as_passed() {
        let all = [
            test("good", TestStatus::Passed),
            test("bad", TestStatus::Failed),
            test("one", TestStatus::NothingToExplore),
            test("long", TestStatus::Long),
        ];
        let text = junit("crate", Duration::from_secs(1), &all).expect("XML");
        for part in [
            r#"<testsuite name="queue" tests="4" disabled="2" errors="0" failures="1""#,
            r#"<failure message="a &lt;panic&gt; &amp; more" type="exit">T1 | T2</failure>"#,
            r#"<skipped message="nothing to explore: it starts no thread"/>"#,
            r#"<skipped message="no execution came to its end"/>"#,
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
