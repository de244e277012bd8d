//! What a step inside Rust's standard library is to the program that called it: an exchange of a number in a lock's word
//! is a lock that is taken.

/// What the library does with a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StdDeed {
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
    Deed(StdDeed),
    /// The program's own source.
    Program,
    /// Whatever was called by one of these.
    Other,
}

/// Parts of functions' readable names, and their ends.
const FUNCTIONS: [(&str, &[&str], StdDeed); 8] = [
    ("sync::mutex::futex::Mutex", &["lock", "try_lock", "lock_contended"], StdDeed::Lock),
    ("sync::mutex::futex::Mutex", &["unlock"], StdDeed::Unlock),
    ("sync::rwlock::futex::RwLock", &["write", "try_write", "write_contended"], StdDeed::Lock),
    ("sync::rwlock::futex::RwLock", &["read", "try_read", "read_contended"], StdDeed::ReadLock),
    ("sync::rwlock::futex::RwLock", &["write_unlock", "read_unlock"], StdDeed::Unlock),
    ("::condvar::Condvar", &["wait", "wait_timeout"], StdDeed::Wait),
    ("alloc::sync::Arc<", &["clone"], StdDeed::Clone),
    ("alloc::sync::Arc<", &["drop"], StdDeed::Drop),
];

impl StdDeed {
    /// As a person says it.
    pub fn word(self) -> &'static str {
        match self {
            StdDeed::Lock => "lock",
            StdDeed::ReadLock => "read-lock",
            StdDeed::Unlock => "unlock",
            StdDeed::Wait => "wait",
            StdDeed::Clone => "clone",
            StdDeed::Drop => "drop",
        }
    }

    /// What the function of this readable name does, if it is one of these.
    pub(crate) fn of(function: &str) -> Option<StdDeed> {
        let last = function.rsplit("::").next()?;
        let known = FUNCTIONS.iter().find(|(part, ends, _)| ends.contains(&last) && function.contains(part));
        known.map(|(.., deed)| *deed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_whether_they_are_of_a_type_or_of_a_trait() {
        let names = [
            ("<std::sys::sync::mutex::futex::Mutex>::lock", Some(StdDeed::Lock)),
            ("std::sys::sync::mutex::futex::Mutex::unlock", Some(StdDeed::Unlock)),
            ("<alloc::sync::Arc<T,A> as core::ops::drop::Drop>::drop", Some(StdDeed::Drop)),
            ("std::sync::poison::condvar::Condvar::wait", Some(StdDeed::Wait)),
            ("std::sync::poison::mutex::Mutex<T>::lock", None),
            ("mine::lock", None),
        ];
        for (name, deed) in names {
            assert_eq!(StdDeed::of(name), deed, "{name}");
        }
    }
}
