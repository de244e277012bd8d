//! loom: systematic, so it needs no seed; it tells no more than five threads apart.
//!
//! Each question is answered by a process of its own: where loom gives up, it takes the process along.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use loom::model::Builder;

use crate::clock::processor_seconds;
use crate::peers;

fn builder(bound: Option<usize>) -> Builder {
    let mut builder = Builder::new();
    builder.preemption_bound = bound;
    builder.max_branches = 100_000;
    builder
}

/// Asks a process of its own; none if loom cannot tell.
pub fn ask(question: &str, program: &str, bound: Option<usize>, limit: f64) -> Option<f64> {
    let bound = bound.map_or("none".to_string(), |bound| bound.to_string());
    let output = Command::new(std::env::current_exe().ok()?)
        .args(["--loom", question, program, &bound, &limit.to_string()])
        .stderr(Stdio::null())
        .output()
        .ok()?;
    String::from_utf8(output.stdout).ok()?.lines().last()?.parse().ok()
}

/// Answers in such a process: the question, the program, the bound and the limit.
pub fn answer(words: &[String]) {
    let [question, program, bound, limit] = words else { return };
    let (bound, limit) = (bound.parse().ok(), limit.parse().unwrap_or(1.0));
    let answer = match question.as_str() {
        "speed" => speed(program, bound, limit),
        _ => first_failure(program, bound, limit as u64).map(|count| count as f64),
    };
    if let Some(answer) = answer {
        println!("{answer}");
    }
}

/// Executions a second of a program that does not fail.
fn speed(program: &str, bound: Option<usize>, seconds: f64) -> Option<f64> {
    let body = peers::loom::program(program)?;
    let made = Arc::new(AtomicU64::new(0));
    let begin = processor_seconds();
    while processor_seconds() - begin < seconds {
        let counted = Arc::clone(&made);
        let mut builder = builder(bound);
        builder.max_duration = Some(Duration::from_secs_f64(seconds));
        let counting = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            body();
        };
        if catch_unwind(AssertUnwindSafe(|| builder.check(counting))).is_err() {
            return None;
        }
    }
    Some(made.load(Ordering::Relaxed) as f64 / (processor_seconds() - begin))
}

/// The execution that fails first, if one of so many does.
fn first_failure(program: &str, bound: Option<usize>, most: u64) -> Option<u64> {
    let body = peers::loom::program(program)?;
    let begun = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&begun);
    let mut builder = builder(bound);
    builder.max_permutations = Some(most as usize);
    let counting = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        body();
    };
    let failed = catch_unwind(AssertUnwindSafe(|| builder.check(counting))).is_err();
    failed.then(|| begun.load(Ordering::Relaxed))
}
