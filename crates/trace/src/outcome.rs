//! How an execution ended.

use crate::ThreadId;

macro_rules! failure_kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal => $word:literal,)*) => {
        /// The ways a program fails. The words are part of the JSON contract.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum FailureKind { $($(#[$doc])* $name = $number,)* }

        impl FailureKind {
            /// Every kind, in the order of their numbers.
            pub const ALL: &[FailureKind] = &[$(FailureKind::$name),*];

            /// The kind with this number, if there is one.
            pub fn from_number(number: u8) -> Option<FailureKind> {
                match number { $($number => Some(FailureKind::$name),)* _ => None }
            }

            /// The word shown to people and written to JSON.
            pub fn word(self) -> &'static str {
                match self { $(FailureKind::$name => $word,)* }
            }

            /// The kind that goes by this word.
            pub fn from_word(word: &str) -> Option<FailureKind> {
                Self::ALL.iter().copied().find(|kind| kind.word() == word)
            }
        }
    };
}

failure_kinds! {
    /// A failed `assert`.
    Assertion = 1 => "assertion",
    /// A call of `abort`.
    Abort = 2 => "abort",
    /// A fatal signal: bad memory access, illegal instruction, division by zero.
    Segfault = 3 => "segfault",
    /// A C++ exception that nobody caught.
    Exception = 4 => "exception",
    /// No thread is runnable, and not all have ended.
    Deadlock = 5 => "deadlock",
    /// All threads only spin, and nothing will ever change.
    Hang = 6 => "hang",
    /// Access to a freed heap block, or a second free.
    UseAfterFree = 7 => "use-after-free",
    /// A synchronization primitive was used against its rules.
    Misuse = 8 => "misuse",
    /// The program ended with a non-zero status.
    Exit = 9 => "exit",
}

impl FailureKind {
    /// Whether threads make no progress any more, as opposed to one of them having done something wrong.
    pub fn is_lack_of_progress(self) -> bool {
        use FailureKind::*;
        match self {
            Deadlock | Hang => true,
            Assertion | Abort | Segfault | Exception | UseAfterFree | Misuse | Exit => false,
        }
    }

    /// Whether this is how a Rust program ends that panicked.
    pub fn is_how_panics_end(self) -> bool {
        use FailureKind::*;
        match self {
            Abort | Exit => true,
            Assertion | Segfault | Exception | Deadlock | Hang | UseAfterFree | Misuse => false,
        }
    }
}

/// One failure of the tested program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// The sentence a person reads; may span lines (a deadlock's cycle).
    pub message: String,
    /// The thread in which it showed.
    pub thread: ThreadId,
    /// Return addresses from the failing point outwards, in the program's own code.
    pub stack: Vec<u64>,
}

/// A thread that waits in a deadlock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The thread.
    pub thread: ThreadId,
    /// The code of the operation that cannot be made.
    pub pc: u64,
    /// The calls in progress there.
    pub context: u32,
    /// What it waits for.
    pub awaits: Awaited,
}

/// What a thread waits for in a deadlock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// A lock, or a word that is used like one, by its address.
    Lock(u64),
    /// A signal on a condition variable.
    Signal(u64),
    /// A semaphore to be raised.
    Semaphore(u64),
    /// The end of another thread: a consequence, not a cause.
    End,
    /// Something else.
    Other,
}

impl Waiting {
    /// Whether it only waits for another thread to end.
    pub fn for_end(&self) -> bool {
        self.awaits == Awaited::End
    }
}

impl Failure {
    /// The threads that wait for each other, as the runtime's message lists them: a line for each, with its
    /// place marked by `<pc 0x… in 7>`. Messages whose places have their names already list none.
    pub fn waiting(&self) -> Vec<Waiting> {
        let waiting = |line: &str| {
            let (thread, rest) = line.strip_prefix('T')?.split_once(' ')?;
            let (before, mark) = rest.rsplit_once("<pc 0x")?;
            let (pc, context) = mark.strip_suffix('>')?.split_once(" in ")?;
            let (_, what) = before.split_once("waits for ")?;
            let object = what.split_once("<obj 0x").and_then(|(_, rest)| rest.split_once('>'));
            let object = object.and_then(|(digits, _)| u64::from_str_radix(digits, 16).ok());
            let is = |word: &str| what.split('<').next().is_some_and(|words| words.ends_with(word));
            let awaits = match object {
                Some(lock) if is("lock ") || is("futex ") => Awaited::Lock(lock),
                Some(semaphore) if is("semaphore ") => Awaited::Semaphore(semaphore),
                Some(condition) if is("a signal on ") => Awaited::Signal(condition),
                None if what.ends_with(" to end, at ") => Awaited::End,
                _ => Awaited::Other,
            };
            Some(Waiting {
                awaits,
                thread: ThreadId(thread.parse().ok()?),
                pc: u64::from_str_radix(pc, 16).ok()?,
                context: context.parse().ok()?,
            })
        };
        self.message.lines().filter_map(waiting).collect()
    }

    /// Who released the block that was used afterwards and where, if the message says so.
    pub fn released(&self) -> Option<(ThreadId, u64)> {
        let (before, after) = self.message.split_once(" freed at <pc 0x")?;
        let (_, thread) = before.rsplit_once(" T")?;
        let (pc, _) = after.split_once(" in ")?;
        Some((ThreadId(thread.parse().ok()?), u64::from_str_radix(pc, 16).ok()?))
    }

    /// Where Rust panicked, or which test should have, if the message says so: the file, the line and the column.
    pub fn panic_place(&self) -> Option<(&str, u32, u32)> {
        let line = self.message.lines().next()?;
        let marks = [" panicked at ", " did not panic as expected at "];
        let (_, place) = marks.iter().find_map(|mark| line.split_once(mark))?;
        let (place, column) = place.rsplit_once(':')?;
        let (file, line) = place.rsplit_once(':')?;
        Some((file, line.parse().ok()?, column.parse().ok()?))
    }

    /// What makes it the same failure in another execution: where it showed, or in a deadlock, where
    /// threads wait for each other. Which of them blocked last depends on the schedule.
    pub fn places(&self) -> Vec<u64> {
        let mut places: Vec<u64> = match self.kind {
            FailureKind::Deadlock => {
                self.waiting().iter().filter(|it| !it.for_end()).map(|it| it.pc).collect()
            }
            FailureKind::Assertion | FailureKind::Abort | FailureKind::Segfault | FailureKind::Exception => {
                Vec::new()
            }
            FailureKind::Hang | FailureKind::UseAfterFree | FailureKind::Misuse | FailureKind::Exit => {
                Vec::new()
            }
        };
        if places.is_empty() {
            places.extend(self.stack.first());
        }
        if places.is_empty() && self.kind.is_how_panics_end() {
            places.extend(self.panic_place().map(|(_, line, _)| u64::from(line)));
        }
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// How one execution ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The program ended as it should.
    Passed,
    /// The program went wrong.
    Failed(Failure),
    /// The execution was ended at its limit of steps or time, so nobody knows how it would have ended; the sentence says
    /// which limit.
    Cut(String),
    /// The tool could not keep the program under control; the sentence says why.
    Uncontrolled(String),
}

impl Outcome {
    /// The failure, if there was one.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Outcome::Failed(failure) => Some(failure),
            Outcome::Passed | Outcome::Cut(_) | Outcome::Uncontrolled(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deadlock(message: &str, last: u64) -> Failure {
        Failure {
            kind: FailureKind::Deadlock,
            message: message.to_string(),
            thread: ThreadId::MAIN,
            stack: vec![last],
        }
    }

    #[test]
    fn a_deadlock_is_known_by_where_threads_wait_for_each_other() {
        let message = "deadlock: T1 waits for T2 waits for T1\n\
                       T0 waits for T1 to end, at <pc 0x30 in 2>\n\
                       T1 holds <obj 0xa> and waits for lock <obj 0xb>, held by T2, at <pc 0x1f in 12>\n\
                       T2 holds <obj 0xb> and waits for lock <obj 0xa>, held by T1, at <pc 0x10 in 0>";
        let failure = deadlock(message, 0x1f);
        let first = Waiting { thread: ThreadId(0), pc: 0x30, context: 2, awaits: Awaited::End };
        assert_eq!(failure.waiting()[0], first);
        assert_eq!(failure.waiting()[1].awaits, Awaited::Lock(0xb));
        assert_eq!(failure.places(), [0x10, 0x1f]);
        assert_eq!(failure.places(), deadlock(message, 0x10).places());
        assert_eq!(deadlock("deadlock: T0 waits for T1 to end, at bank.c:7", 0x42).places(), [0x42]);
    }

    #[test]
    fn a_panic_says_where_it_was() {
        let message =
            "thread 'main' panicked at src/a b.rs:19:5\nno luck\nthe program ended with exit status 101";
        let kind = FailureKind::Exit;
        let failure = Failure { kind, message: message.into(), thread: ThreadId::MAIN, stack: Vec::new() };
        assert_eq!((failure.panic_place(), failure.places()), (Some(("src/a b.rs", 19, 5)), vec![19]));
    }
}
