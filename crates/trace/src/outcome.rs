//! How an execution ended.

use crate::ThreadId;

macro_rules! failure_kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal => $word:literal,)*) => {
        /// The ways a program goes wrong. The words are part of the JSON contract.
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
    /// No thread can go on.
    Deadlock = 5 => "deadlock",
    /// The step limit was reached, or all threads only spin.
    Hang = 6 => "hang",
    /// Access to a freed heap block, or a second free.
    UseAfterFree = 7 => "use-after-free",
    /// A synchronization primitive was used against its rules.
    Misuse = 8 => "misuse",
    /// The program ended with a non-zero status.
    Exit = 9 => "exit",
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

/// How one execution ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The program ended as it should.
    Passed,
    /// The program went wrong.
    Failed(Failure),
    /// The tool could not keep the program under control; the sentence says why.
    Uncontrolled(String),
}

impl Outcome {
    /// The failure, if there was one.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Outcome::Failed(failure) => Some(failure),
            _ => None,
        }
    }
}
