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
/// `join` or a poisoned lock gave, gives way to the one before.
pub(crate) fn panic(output: &[u8]) -> Option<Panic> {
    let all = panics(output);
    all.iter().rev().find(|panic| !panic.passes_on()).or(all.last()).cloned()
}

/// The panics that do not only pass on others.
pub(crate) fn first_panics(output: &[u8]) -> Vec<Panic> {
    panics(output).into_iter().filter(|panic| !panic.passes_on()).collect()
}

impl Panic {
    fn passes_on(&self) -> bool {
        ["Any { .. }", "PoisonError", "a scoped thread panicked"].iter().any(|it| self.message.contains(it))
    }
}

/// All panics that were printed.
pub(crate) fn panics(output: &[u8]) -> Vec<Panic> {
    let text = String::from_utf8_lossy(output);
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
    fn a_panic_is_told_with_its_place_and_its_reason() {
        let output =
            b"hello\n\nthread 'main' panicked at src/bank.rs:19:5:\nassertion `left == right` failed\n  \
            left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1`\n";
        let found = panic(output).expect("a panic");
        let message = "thread 'main' panicked at src/bank.rs:19:5\nassertion `left == right` failed\n  left: 1\n right: 2";
        assert_eq!((found.message.as_str(), found.thread), (message, None));
        assert_eq!(panic(b"thread pool is ready\n"), None);
    }

    #[test]
    fn what_is_passed_on_gives_way_to_where_it_began() {
        let output = format!(
            "thread 'checker' ({}) panicked at w.rs:10:9:\ntoo late\nstack backtrace:\n   0: x\n\n\
             thread 'main' ({PROCESS_NUMBER}) panicked at w.rs:14:14:\nfailed: Any {{ .. }}\n",
            PROCESS_NUMBER + 2
        );
        let found = panic(output.as_bytes()).expect("a panic");
        assert_eq!(found.thread, Some(ThreadId(1)));
        assert_eq!(found.message, "thread 'checker' panicked at w.rs:10:9\ntoo late");
    }
}
