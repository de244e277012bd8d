//! What Rust's test harness prints around a test, and what it says of one that failed.

use crate::panic::Panic;

/// How the harness announces the one test that it runs.
const BEGIN: &str = "running 1 test\n";
/// What is between a test's name and what the test prints.
const NAMED: &str = " ... ";
/// What the harness says of a test that failed.
const FAILED: &str = "FAILED\n";
/// What an `Err` that a test returns begins with.
const ERROR: &str = "Error: ";

/// What a test printed itself, without the harness's text around it. Output of anything else stays as it is.
pub fn test_output(output: &str) -> &str {
    let begun = output.trim_start().strip_prefix(BEGIN).and_then(|rest| rest.strip_prefix("test "));
    let own = begun.and_then(|rest| rest.split_once(NAMED)).map_or(output, |(_, own)| own);
    let ended =
        ["FAILED\n\nfailures:\n", "ok\n\ntest result: "].iter().filter_map(|end| own.rfind(end)).max();
    match ended.filter(|_| own.contains("\ntest result: ")) {
        Some(end) => own[..end].trim(),
        None if begun.is_some() => own.trim(),
        None => output,
    }
}

/// Why a test failed, as far as it and the harness said: a panic, the wrong panic or none where one is expected, or
/// an error that it returned. `panic` is the one that it ended with, if any.
pub(crate) fn why_failed(panic: Option<&Panic>, output: &[u8]) -> Option<String> {
    let panic = panic.map(|panic| panic.message.clone());
    let text = String::from_utf8_lossy(output);
    match (remark(&text), panic) {
        (Some(remark), Some(panic)) if remark.starts_with("panic ") => Some(format!("{panic}\n{remark}")),
        (Some(remark), _) => Some(remark),
        (None, Some(panic)) => Some(panic),
        (None, None) => returned(&text),
    }
}

/// What the harness remarks on a test that should panic.
fn remark(text: &str) -> Option<String> {
    let (_, after) = text.rsplit_once(" stdout ----\n")?;
    let remarks = ["note: test did not panic as expected", "note: panic did not contain expected string"];
    let start = remarks.iter().find_map(|remark| after.find(remark))?;
    let remark = after[start..].strip_prefix("note: ")?.split("\n\n").next()?;
    Some(remark.trim_end().to_string())
}

/// The error that a test returned.
fn returned(text: &str) -> Option<String> {
    let (before, _) = text.rsplit_once(FAILED)?;
    let begins = |at: &usize| before[..*at].ends_with('\n') || before[..*at].ends_with(NAMED);
    let start = before.match_indices(ERROR).map(|(at, _)| at).filter(begins).last()?;
    Some(format!("the test returned an error\n{}", before[start..].trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panic::panic;

    fn reason(output: &[u8]) -> Option<String> {
        why_failed(panic(output).as_ref(), output)
    }

    fn failed(said: &str, remarks: &str) -> String {
        format!(
            "\nrunning 1 test\ntest queue::grows ... {said}FAILED\n\nfailures:\n{remarks}\nfailures:\n    queue::grows\n\n\
             test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s\n\n"
        )
    }

    #[test]
    fn an_error_that_a_test_returns_is_reported() {
        let output = failed("so far\nError: nothing there\n\nCaused by:\n    a hole\n", "");
        let why = "the test returned an error\nError: nothing there\n\nCaused by:\n    a hole";
        assert_eq!(reason(output.as_bytes()).as_deref(), Some(why));
        assert_eq!(test_output(&output), "so far\nError: nothing there\n\nCaused by:\n    a hole");
        assert_eq!(reason(b"Error: of a program\n"), None, "which is no test");
    }

    #[test]
    fn a_panic_that_did_not_come_is_reported() {
        let remark =
            "\n---- queue::grows stdout ----\nnote: test did not panic as expected at src/lib.rs:66:4\n";
        let output = failed("", remark);
        let why = "test did not panic as expected at src/lib.rs:66:4";
        assert_eq!((reason(output.as_bytes()).as_deref(), test_output(&output)), (Some(why), ""));
        let end = output.split_once(NAMED).expect("the name").1;
        assert_eq!(test_output(&format!("the last words\n{end}")), "the last words", "of a long output");
    }

    #[test]
    fn a_panic_that_is_another_one_is_reported_with_what_was_expected() {
        let said =
            "\nthread 'main' panicked at src/lib.rs:69:65:\nonly one\nnote: run with `RUST_BACKTRACE=1`\n";
        let remark = "\n---- queue::grows stdout ----\nnote: panic did not contain expected string\n      \
                      panic message: \"only one\"\n expected substring: \"both\"\n";
        let why = "thread 'main' panicked at src/lib.rs:69:65\nonly one\npanic did not contain expected string\n      \
                   panic message: \"only one\"\n expected substring: \"both\"";
        assert_eq!(reason(failed(said, remark).as_bytes()).as_deref(), Some(why));
    }

    #[test]
    fn what_others_print_stays() {
        assert_eq!(test_output("running 1 test\nbench\n"), "running 1 test\nbench\n");
        assert_eq!(test_output("\nrunning 1 test\ntest a ... thread pool\n"), "thread pool");
    }
}
