//! What a failure is put down to.

mod support;

use support::{Desk, repository};

fn cause(program: &str) -> String {
    let desk = Desk::new();
    let program = repository(program).display().to_string();
    let answer = desk.run(&["hunt", &program, "--json", "-", "--executions", "2000"]);
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    answer.json()["failure"]["cause"].as_str().unwrap_or_default().to_string()
}

#[track_caller]
fn names_in_order(text: &str, words: &[&str]) {
    let mut rest = text;
    for word in words {
        let place = rest.find(word).unwrap_or_else(|| panic!("`{word}` is missing in: {text}"));
        rest = &rest[place + word.len()..];
    }
}

#[test]
fn a_lost_update_is_three_accesses_to_one_variable() {
    let text = cause("examples/lost_update.c");
    names_in_order(
        &text,
        &["read counter", "wrote it", "then", "wrote it", "none of", "passing executions does that"],
    );
}

#[test]
fn values_that_belong_together_are_two_variables() {
    let text = cause("subjects/ars/test_array/test_array.c");
    names_in_order(&text, &["wrote cells[0]", "read cells[0] and cells[1]", "before T1 wrote cells[1]"]);
}

/// The writer is about to take a lock when the reader fails, and the value it would write after it is known
/// to be shared from other executions only.
#[test]
fn a_write_that_comes_too_late_is_named_although_it_never_came() {
    let text = cause("subjects/ars/two_stage/two_stage.c");
    names_in_order(
        &text,
        &["T1 wrote data1", "T2 read data1 and data2", "before T1 wrote data2 at two_stage.c:22"],
    );
}

#[test]
fn memory_that_was_freed_too_early_is_named() {
    let text = cause("examples/use_after_free.c");
    names_in_order(&text, &["freed message", "then T1 read it"]);
}
