//! `#[threadbare::test]` under plain `cargo test`: the body runs once, as it is.

use std::sync::atomic::{AtomicUsize, Ordering};

static RUNS: AtomicUsize = AtomicUsize::new(0);

#[threadbare::test]
fn the_body_runs() {
    assert_eq!(RUNS.fetch_add(1, Ordering::SeqCst), 0, "and only once");
}

#[threadbare::test(executions(100), seed(1), strategy(threadbare::HuntStrategy::Pos))]
#[should_panic(expected = "as it should")]
fn options_and_other_attributes_go_along() {
    panic!("as it should");
}

#[test]
fn a_panic_of_the_closure_comes_through() {
    let panicked = std::panic::catch_unwind(|| threadbare::hunt(|| panic!("down")));
    assert_eq!(*panicked.unwrap_err().downcast::<&str>().unwrap(), "down");
}

#[threadbare::test(executions(10))]
fn a_result_may_be_returned() -> Result<(), std::num::ParseIntError> {
    assert_eq!("7".parse::<u32>()?, 7);
    Ok(())
}

#[test]
fn an_error_of_the_closure_comes_through() {
    let returned =
        threadbare::Hunt::new().run_returning(|| -> Result<(), String> { Err("down".to_string()) });
    assert_eq!(returned, Err("down".to_string()));
}
