//! The sorts of results.

use serde_json::{Value, json};
use threadbare_trace::FailureKind;

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident = $id:literal, $level:literal => $short:literal, $help:literal;)*) => {
        /// A sort of finding or failure. The ids are the words of the JSON object.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Rule { $($(#[$doc])* $name,)* }

        impl Rule {
            /// Every rule, in the order of their indices.
            pub const ALL: &[Rule] = &[$(Rule::$name),*];

            /// The word it goes by.
            pub fn id(self) -> &'static str {
                match self { $(Rule::$name => $id,)* }
            }

            /// What SARIF says about the rule itself.
            pub(super) fn descriptor(self) -> Value {
                let (name, level, short, help) = match self {
                    $(Rule::$name => (stringify!($name), $level, $short, $help),)*
                };
                json!({
                    "id": self.id(),
                    "name": name,
                    "shortDescription": { "text": short },
                    "fullDescription": { "text": help },
                    "help": { "text": help },
                    "defaultConfiguration": { "level": level },
                    "properties": { "tags": ["concurrency"] },
                })
            }
        }
    };
}

rules! {
    /// Two unordered accesses, one of them a write.
    Race = "race", "warning" => "Data race",
        "Two threads access the same memory, at least one of them writes, and neither a common lock nor \
         synchronization orders the accesses. Protect both with the same lock, or make them atomic.";
    /// Another thread can get between accesses that belong together.
    Atomicity = "atomicity", "warning" => "Atomicity violation",
        "A thread accesses memory twice as if nothing could happen in between, but another thread's access can. \
         Keep the lock over both accesses.";
    /// Accesses come in an order with which the program fails.
    Order = "order", "error" => "Order violation",
        "The program relies on one thread's access coming before another's, but nothing makes it so. Make the \
         later one wait: join the thread, or use a condition variable, a semaphore or a barrier.";
    /// No thread is runnable, or locks are taken in orders that can lead there.
    Deadlock = "deadlock", "warning" => "Deadlock",
        "Threads wait for each other in a cycle, or take locks in orders that allow it. Take the locks in one \
         order everywhere.";
    /// Shared memory that no lock protects consistently.
    LockDiscipline = "lock-discipline", "note" => "Inconsistent locking",
        "Memory shared by several threads is not always accessed under the same lock. Decide which lock \
         protects it, and hold it at every access.";
    /// A failed `assert`.
    Assertion = "assertion", "error" => "Failed assertion in an interleaving",
        "An assertion of the program does not hold in the interleaving shown. Replay its schedule to see why.";
    /// A call of `abort`.
    Abort = "abort", "error" => "Abort in an interleaving",
        "The program aborts in the interleaving shown. Replay its schedule to see why.";
    /// A fatal signal.
    Segfault = "segfault", "error" => "Fatal signal in an interleaving",
        "The program is ended by a fatal signal in the interleaving shown. Replay its schedule to see why.";
    /// A C++ exception that nobody caught.
    Exception = "exception", "error" => "Uncaught exception in an interleaving",
        "An exception is not caught in the interleaving shown. Replay its schedule to see where it comes from.";
    /// Nothing will ever change.
    Hang = "hang", "error" => "Hang in an interleaving",
        "In the interleaving shown all runnable threads only spin, for ever: no thread is left to change what they read.";
    /// Access to a freed heap block.
    UseAfterFree = "use-after-free", "error" => "Use after free in an interleaving",
        "A thread accesses or frees a heap block that was freed before. Let the last user free it.";
    /// A synchronization primitive was used against its rules.
    Misuse = "misuse", "error" => "Misuse of a synchronization primitive",
        "A synchronization primitive is used against its rules, such as a mutex unlocked by a thread that does \
         not hold it.";
    /// The program ended with a non-zero status.
    Exit = "exit", "error" => "Non-zero exit status in an interleaving",
        "The program ends with a non-zero status in the interleaving shown. Replay its schedule to see why.";
}

impl Rule {
    /// The rule's place in the list of rules.
    pub(super) fn index(self) -> usize {
        Rule::ALL.iter().position(|rule| *rule == self).unwrap_or_default()
    }
}

impl From<FailureKind> for Rule {
    fn from(kind: FailureKind) -> Rule {
        match kind {
            FailureKind::Assertion => Rule::Assertion,
            FailureKind::Abort => Rule::Abort,
            FailureKind::Segfault => Rule::Segfault,
            FailureKind::Exception => Rule::Exception,
            FailureKind::Deadlock => Rule::Deadlock,
            FailureKind::Hang => Rule::Hang,
            FailureKind::UseAfterFree => Rule::UseAfterFree,
            FailureKind::Misuse => Rule::Misuse,
            FailureKind::Exit => Rule::Exit,
        }
    }
}
