//! What a step inside Rust's standard library is to the program that called it: an exchange of a number in a lock's word
//! is a lock that is taken.

/// What the library does with a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StdOperation {
    /// Takes a lock, or looks whether it can.
    Lock,
    /// Takes one that others may take as well.
    ReadLock,
    /// Gives a lock back.
    Unlock,
    /// Gives a lock back, waits for a notification, and takes the lock again.
    Wait,
    /// Makes one more handle of something counted.
    Clone,
    /// Gives up such a handle.
    Drop,
}

/// What code is part of, from the inside out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    /// A function of Rust's library that does something for the program.
    Operation(StdOperation),
    /// The program's own source.
    Program,
    /// Whatever was called by one of these.
    Other,
}

/// Parts of functions' readable names, and their ends.
const FUNCTIONS: [(&str, &[&str], StdOperation); 8] = [
    ("sync::mutex::futex::Mutex", &["lock", "try_lock", "lock_contended"], StdOperation::Lock),
    ("sync::mutex::futex::Mutex", &["unlock"], StdOperation::Unlock),
    ("sync::rwlock::futex::RwLock", &["write", "try_write", "write_contended"], StdOperation::Lock),
    ("sync::rwlock::futex::RwLock", &["read", "try_read", "read_contended"], StdOperation::ReadLock),
    ("sync::rwlock::futex::RwLock", &["write_unlock", "read_unlock"], StdOperation::Unlock),
    ("::condvar::Condvar", &["wait", "wait_timeout"], StdOperation::Wait),
    ("alloc::sync::Arc<", &["clone"], StdOperation::Clone),
    ("alloc::sync::Arc<", &["drop"], StdOperation::Drop),
];

impl StdOperation {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            StdOperation::Lock => "lock",
            StdOperation::ReadLock => "read-lock",
            StdOperation::Unlock => "unlock",
            StdOperation::Wait => "wait",
            StdOperation::Clone => "clone",
            StdOperation::Drop => "drop",
        }
    }

    /// What the function of this readable name does, if it is one of these.
    pub(crate) fn of(function: &str) -> Option<StdOperation> {
        let last = function.rsplit("::").next()?;
        let known = FUNCTIONS.iter().find(|(part, ends, _)| ends.contains(&last) && function.contains(part));
        known.map(|(.., operation)| *operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_whether_they_are_of_a_type_or_of_a_trait() {
        let names = [
            ("<std::sys::sync::mutex::futex::Mutex>::lock", Some(StdOperation::Lock)),
            ("std::sys::sync::mutex::futex::Mutex::unlock", Some(StdOperation::Unlock)),
            ("<alloc::sync::Arc<T,A> as core::ops::drop::Drop>::drop", Some(StdOperation::Drop)),
            ("std::sync::poison::condvar::Condvar::wait", Some(StdOperation::Wait)),
            ("std::sync::poison::mutex::Mutex<T>::lock", None),
            ("mine::lock", None),
        ];
        for (name, operation) in names {
            assert_eq!(StdOperation::of(name), operation, "{name}");
        }
    }
}
