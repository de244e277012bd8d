//! How a copy of the program ended, from what it left behind.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use threadbare_trace::{Failure, FailureKind, Outcome, ThreadId};
use threadbare_wire::{Control, STACK_DEPTH, Status, flags};

use crate::execution::UnheardPanic;
use crate::harness::why_failed;
use crate::panic::{Panic, ending_panic, first_panics, panic, panics};
use crate::signal;

/// The exit status of a Rust program whose main thread panicked.
const PANICKED: i32 = 101;

/// The failure the runtime recorded, if any.
pub(crate) fn recorded_failure(control: &Control) -> Option<Failure> {
    let kind = FailureKind::from_number(control.failure_kind)?;
    let (thread, stack) = noted_calls(control);
    Some(Failure { kind, message: control.message.read(), thread, stack })
}

/// How an execution ended.
pub(crate) struct End {
    /// Its outcome.
    pub outcome: Outcome,
    /// What the user should know about it besides.
    pub remark: Option<String>,
    /// The panics of threads of which the test never asked how they ended, if it failed for them alone.
    pub unheard_panics: Vec<UnheardPanic>,
}

impl From<Outcome> for End {
    fn from(outcome: Outcome) -> End {
        End { outcome, remark: None, unheard_panics: Vec::new() }
    }
}

/// How an execution ended that nobody had to end from outside. A test `wanted` panics at these places.
pub(crate) fn read(control: &Control, wait_status: i32, output: &[u8], wanted: &[String]) -> End {
    if control.uncontrolled != 0 {
        return Outcome::Uncontrolled(control.message.read()).into();
    }
    if control.cut != 0 {
        return Outcome::Cut(control.message.read()).into();
    }
    if let Some(mut failure) = recorded_failure(control) {
        match failure.kind {
            FailureKind::Exception | FailureKind::Abort if let Some(message) = terminate_message(output) => {
                failure.kind = FailureKind::Exception;
                failure.message = message;
            }
            FailureKind::Abort => {
                failure.message = aborting_panics(failure.thread, output).unwrap_or(failure.message);
            }
            FailureKind::Exception | FailureKind::Exit => {}
            FailureKind::Assertion
            | FailureKind::Segfault
            | FailureKind::Deadlock
            | FailureKind::Hang
            | FailureKind::UseAfterFree
            | FailureKind::Misuse => failure.message = after_panics(failure.message, output),
        }
        return Outcome::Failed(failure).into();
    }
    let status = ExitStatus::from_raw(wait_status);
    let failed = |kind, message| {
        let thread = ThreadId::MAIN;
        Outcome::Failed(Failure { kind, message, thread, stack: Vec::new() }).into()
    };
    if let Some(number) = status.signal() {
        let (name, meaning) = signal::describe(number);
        return match number {
            libc::SIGKILL => {
                let reason = "the program was killed from outside (SIGKILL), perhaps for want of memory";
                Outcome::Uncontrolled(reason.to_string()).into()
            }
            libc::SIGABRT => {
                let panic = panic(output).map(|panic| panic.message);
                failed(FailureKind::Abort, panic.unwrap_or_else(|| "the program aborted".to_string()))
            }
            // Whatever else ends a program is fatal to it like a bad access.
            _ => failed(
                FailureKind::Segfault,
                format!("the program was ended by {name} ({meaning}, signal {number})"),
            ),
        };
    }
    let bad_code = status.code().filter(|code| *code != 0 && control.plan.flags & flags::ANY_EXIT == 0);
    if let Some(code) = bad_code {
        return Outcome::Failed(bad_exit(control, code, output)).into();
    }
    match Status::from_number(control.status) {
        Status::Ended => {
            let unheard_panics = unheard_panics(control, output, wanted);
            let outcome = unheard_failure(&unheard_panics).map_or(Outcome::Passed, Outcome::Failed);
            End { outcome, remark: None, unheard_panics }
        }
        Status::Absent | Status::Starting | Status::Serving | Status::Running => {
            let how = "the program ended without `exit`, by a direct system call or by replacing itself";
            End { remark: Some(how.to_string()), ..Outcome::Passed.into() }
        }
    }
}

/// The failure of a program that ended with a status other than 0.
fn bad_exit(control: &Control, code: i32, output: &[u8]) -> Failure {
    let kind = FailureKind::Exit;
    let message = format!("the program ended with exit status {code}");
    let is_test = control.plan.flags & flags::RUST_TEST != 0;
    if code == PANICKED {
        let panic = ending_panic(output, |thread| has_bit(control.joined, thread));
        let thread = panic.as_ref().and_then(|panic| panic.thread).unwrap_or(ThreadId::MAIN);
        let why = if is_test { why_failed(panic.as_ref(), output) } else { None };
        let why = why.or_else(|| panic.map(|panic| format!("{}\n{message}", panic.message)));
        if let Some(message) = why {
            return Failure { kind, message, thread, stack: Vec::new() };
        }
    }
    // The runtime has noted who called `exit`, if anybody did.
    let (thread, stack) = noted_calls(control);
    Failure { kind, message, thread, stack }
}

/// The thread that the runtime noted, and its calls.
fn noted_calls(control: &Control) -> (ThreadId, Vec<u64>) {
    let depth = (control.stack_len as usize).min(STACK_DEPTH);
    (control.failure_thread, control.stack[..depth].to_vec())
}

/// The panics by which a thread has brought the process down: it may have panicked once more on the way out.
fn aborting_panics(thread: ThreadId, output: &[u8]) -> Option<String> {
    let last = panic(output)?;
    let own = panics(output).into_iter().filter(|panic| panic.thread == Some(thread));
    let own: Vec<String> = own.map(|panic| panic.message).collect();
    Some(if own.is_empty() { last.message } else { own.join("\n") })
}

/// The message of a failure that came after panics: these say more of what went wrong than where threads are blocked
/// because of them.
fn after_panics(message: String, output: &[u8]) -> String {
    const MOST: usize = 3;
    let mut lines: Vec<String> =
        first_panics(output).into_iter().take(MOST).map(|panic| panic.message).collect();
    if lines.is_empty() {
        return message;
    }
    lines.push(format!("afterwards: {message}"));
    lines.join("\n")
}

/// The panics by which threads of a test ended and that the test never observed. A thread whose panic is caught
/// continues, and most threads in which panics are caught wait for more work.
fn unheard_panics(control: &Control, output: &[u8], wanted: &[String]) -> Vec<UnheardPanic> {
    if control.plan.flags & flags::RUST_TEST == 0 || control.unheard == 0 {
        return Vec::new();
    }
    let is_unheard = |thread: &ThreadId| has_bit(control.unheard, *thread);
    let of_thread = |panic: Panic| {
        let thread = panic.thread.filter(is_unheard)?;
        Some(UnheardPanic { thread, place: panic.place().to_string(), message: panic.message })
    };
    let panics = panics(output).into_iter().filter_map(of_thread);
    panics.filter(|panic| !wanted.contains(&panic.place)).collect()
}

/// The failure of a test that passed, but for panics that it never observed.
pub fn unheard_failure(panics: &[UnheardPanic]) -> Option<Failure> {
    const MOST: usize = 3;
    let mut messages: Vec<&str> = Vec::new();
    for panic in panics {
        if messages.len() < MOST && !messages.contains(&panic.message.as_str()) {
            messages.push(&panic.message);
        }
    }
    let message = format!("{}\nthe test did not look at how the thread ended", messages.join("\n"));
    panics.first().map(|first| Failure {
        kind: FailureKind::Exit,
        message,
        thread: first.thread,
        stack: Vec::new(),
    })
}

/// Whether a thread's bit is among these.
fn has_bit(threads: u64, thread: ThreadId) -> bool {
    1u64.checked_shl(u32::from(thread.0)).is_some_and(|bit| threads & bit != 0)
}

/// An execution that had to be ended from outside.
pub(crate) fn stalled(thread: ThreadId, after: Duration, unseen_loop: Option<&str>) -> Outcome {
    let why = match unseen_loop {
        Some(place) => format!(
            "it goes round at {place} by instructions that nobody announces (`lock` or `pause` in inline assembly), so no other thread can \
             end the loop; the compiler's atomic operations are seen"
        ),
        None => "it computes for long, or waits in a call that threadbare does not control; --stall SECONDS gives it more time".into(),
    };
    Outcome::Cut(format!("{thread} made no scheduling point for {} s: {why}", after.as_secs_f64().ceil()))
}

/// An execution that took too much of the time that there is for all.
pub(crate) fn too_long(limit: Duration) -> Outcome {
    let seconds = limit.as_secs_f64().ceil();
    Outcome::Cut(format!("it took longer than {seconds} s; --time SECONDS gives it more time"))
}

/// What the C++ library prints when nobody catches an exception.
fn terminate_message(output: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(output);
    let after = |mark: &str| text.rfind(mark).map(|at| &text[at + mark.len()..]);
    if let Some(rest) = after("terminate called after throwing an instance of '") {
        let name = rest.split('\'').next()?;
        let what = rest.split_once("what():").and_then(|(_, what)| what.lines().next()).map(str::trim);
        return Some(match what {
            Some(what) if !what.is_empty() => format!("uncaught exception {name}: {what}"),
            _ => format!("uncaught exception {name}"),
        });
    }
    after("terminate called without an active exception").map(|_| {
        "std::terminate was called without an exception (a joinable std::thread was destroyed?)".into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_and_text_of_an_exception_are_found_in_the_output() {
        let output = b"hello\nterminate called after throwing an instance of 'std::runtime_error'\n  what():  no luck\n";
        assert_eq!(terminate_message(output).unwrap(), "uncaught exception std::runtime_error: no luck");
        let output = b"terminate called after throwing an instance of 'int'\n";
        assert_eq!(terminate_message(output).unwrap(), "uncaught exception int");
        assert_eq!(terminate_message(b"terminated"), None);
    }
}
