//! What Rust says when it panics, out of what a program printed.

use threadbare_trace::ThreadId;
use threadbare_wire::PROCESS_NUMBER;

/// One panic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Panic {
    /// The thread, where its number was printed.
    pub thread: Option<ThreadId>,
    /// Who panicked, where and why; the first line ends with the place.
    pub message: String,
}

/// The panic that a program ended with. One that only passes on the end of another thread, by unwrapping what
/// `join` or a poisoned lock returned, is passed over in favour of the one before.
pub(crate) fn panic(output: &[u8]) -> Option<Panic> {
    let all = panics(output);
    all.iter().rev().find(|panic| !panic.passes_on()).or(all.last()).cloned()
}

/// The panic that a program ended with, and others that it printed if the last one came of a poisoned lock. The panic that
/// poisoned it is what went wrong, unless somebody knew of it and continued: a thread that has joined its thread (`is_joined`),
/// or the same thread.
pub(crate) fn ending_panic(output: &[u8], is_joined: impl Fn(ThreadId) -> bool) -> Option<Panic> {
    const MOST_OTHERS: usize = 3;
    let all = panics(output);
    let last = all.last().filter(|last| last.message.contains(POISONED));
    let Some(last) = last else { return panic(output) };
    let is_known = |thread: ThreadId| is_joined(thread) || last.thread == Some(thread);
    let is_blamed = |panic: &&Panic| !panic.passes_on() && !panic.thread.is_some_and(is_known);
    let blamed = all.iter().rev().find(is_blamed).unwrap_or(last);
    let others = all.iter().filter(|panic| *panic != blamed).take(MOST_OTHERS);
    let message = others.fold(blamed.message.clone(), |message, other| message + "\n" + &other.message);
    Some(Panic { thread: blamed.thread, message })
}

/// The panics that do not only pass on others.
pub(crate) fn first_panics(output: &[u8]) -> Vec<Panic> {
    panics(output).into_iter().filter(|panic| !panic.passes_on()).collect()
}

/// What is printed when the result of a poisoned lock is unwrapped.
const POISONED: &str = "PoisonError";

impl Panic {
    /// File, line and column.
    pub(crate) fn place(&self) -> &str {
        let first = self.message.lines().next().unwrap_or_default();
        first.rsplit_once(" panicked at ").map_or(first, |(_, place)| place)
    }

    fn passes_on(&self) -> bool {
        ["Any { .. }", POISONED, "a scoped thread panicked"].iter().any(|it| self.message.contains(it))
    }
}

/// All panics that were printed.
pub(crate) fn panics(output: &[u8]) -> Vec<Panic> {
    // What the harness says next is right below the last one.
    let text = String::from_utf8_lossy(output).replace("\nFAILED\n\nfailures:\n", "\n\nfailures:\n");
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len()).filter_map(|at| panic_at(&lines[at..])).collect()
}

/// The panic that begins in the first of these lines.
fn panic_at(lines: &[&str]) -> Option<Panic> {
    let (who, place) = lines.first()?.strip_prefix("thread ")?.split_once(" panicked at ")?;
    // Newer versions print the thread's number as well.
    let (name, number) = match who.rsplit_once(" (") {
        Some((name, number)) => (name, number.strip_suffix(')').and_then(|number| number.parse().ok())),
        None => (who, None),
    };
    let thread = number.and_then(|number: i32| match number.checked_sub(PROCESS_NUMBER)? {
        0 => Some(ThreadId::MAIN),
        later => Some(ThreadId(u16::try_from(later - 1).ok()?)),
    });
    let ends =
        |line: &&&str| line.is_empty() || line.starts_with("note: ") || line.starts_with("stack backtrace:");
    let mut message = format!("thread {name} panicked at {}", place.trim_end_matches(':'));
    for line in lines[1..].iter().take_while(|line| !ends(line)) {
        message.push('\n');
        message.push_str(line);
    }
    Some(Panic { thread, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_reported_with_its_place_and_its_reason() {
        let output =
            b"hello\n\nthread 'main' panicked at src/bank.rs:19:5:\nassertion `left == right` failed\n  \
            left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1`\n";
        let found = panic(output).expect("a panic");
        let message = "thread 'main' panicked at src/bank.rs:19:5\nassertion `left == right` failed\n  left: 1\n right: 2";
        assert_eq!((found.message.as_str(), found.thread), (message, None));
        assert_eq!(panic(b"thread pool is ready\n"), None);
    }

    #[test]
    fn a_panic_that_passes_on_another_is_replaced_by_the_original() {
        let output = format!(
            "thread 'checker' ({}) panicked at w.rs:10:9:\ntoo late\nstack backtrace:\n   0: x\n\n\
             thread 'main' ({PROCESS_NUMBER}) panicked at w.rs:14:14:\nfailed: Any {{ .. }}\n",
            PROCESS_NUMBER + 2
        );
        let found = panic(output.as_bytes()).expect("a panic");
        assert_eq!(found.thread, Some(ThreadId(1)));
        assert_eq!(found.message, "thread 'checker' panicked at w.rs:10:9\ntoo late");
    }

    #[test]
    fn a_panic_at_a_poisoned_lock_comes_first_only_if_the_thread_that_poisoned_it_was_joined() {
        let poisoning = "thread '<unnamed>' panicked at w.rs:10:9\nwith the lock held";
        let meeting = "thread 'main' panicked at w.rs:14:14\nthe lock: PoisonError { .. }";
        let line = |message: &str, number: i32| {
            message.replace("' panicked", &format!("' ({number}) panicked")).replacen('\n', ":\n", 1)
        };
        let output = format!(
            "{}\n\n{}\nFAILED\n\nfailures:\n",
            line(poisoning, PROCESS_NUMBER + 2),
            line(meeting, PROCESS_NUMBER)
        );
        let message = |joined: &[ThreadId]| {
            ending_panic(output.as_bytes(), |thread| joined.contains(&thread)).expect("a panic")
        };
        let unseen = message(&[]);
        assert_eq!((unseen.thread, unseen.message), (Some(ThreadId(1)), format!("{poisoning}\n{meeting}")));
        let seen = message(&[ThreadId(1)]);
        assert_eq!((seen.thread, seen.message), (Some(ThreadId::MAIN), format!("{meeting}\n{poisoning}")));
    }
}
