//! What the functions of Rust's standard library do that get a stub: the number that a stub hands to the runtime.
//!
//! The driver writes these numbers into the stubs when a program is linked, and the runtime reads them when the
//! program runs, so they are said here, once.

use std::fmt;

/// What a function of Rust's standard library does with the word that its first argument points to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u32)]
pub enum StdOp {
    /// Reads the word, and may change it.
    Observe = 0,
    /// Changes the word of a condition variable, which orders nothing.
    Notify = 1,
    /// Takes the word as a lock.
    Lock = 2,
    /// Reads the word, gives back the lock that its second argument points to, sleeps, and takes the lock again.
    CondvarWait = 3,
    /// Takes the word as a lock that others may take as well.
    LockShared = 4,
    /// Takes one from the count of a scope's threads, before it may wake the thread that waits for it to be zero.
    LeaveScope = 5,
    /// Reads what its first argument points to, after all others have come as well.
    BarrierWait = 6,
    /// Sleeps until it finds a token; its arguments do not say where.
    Park = 7,
    /// Adds one to the count of a scope's threads for the one that its caller is about to create.
    EnterScope = 8,
}

/// A number that stands for no [`StdOp`]: the program was linked by another version of the tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownStdOp(pub u32);

impl StdOp {
    /// All of them, in the order of their numbers.
    pub const ALL: [StdOp; 9] = [
        StdOp::Observe,
        StdOp::Notify,
        StdOp::Lock,
        StdOp::CondvarWait,
        StdOp::LockShared,
        StdOp::LeaveScope,
        StdOp::BarrierWait,
        StdOp::Park,
        StdOp::EnterScope,
    ];

    /// The number that a stub hands over.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// What a number stands for.
    pub fn from_number(number: u32) -> Result<StdOp, UnknownStdOp> {
        StdOp::ALL.get(number as usize).copied().ok_or(UnknownStdOp(number))
    }

    /// Whether the stub calls the runtime again when the function returns, to report what has become of the word.
    pub const fn reports_return(self) -> bool {
        match self {
            StdOp::Notify | StdOp::LeaveScope | StdOp::EnterScope => false,
            StdOp::Observe
            | StdOp::Lock
            | StdOp::CondvarWait
            | StdOp::LockShared
            | StdOp::BarrierWait
            | StdOp::Park => true,
        }
    }
}

impl fmt::Display for UnknownStdOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a stub of Rust's standard library has the unknown number {}; link the program again",
            self.0
        )
    }
}

impl std::error::Error for UnknownStdOp {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_for_what_it_was_made_of_and_others_for_nothing() {
        for op in StdOp::ALL {
            assert_eq!(StdOp::from_number(op.number()), Ok(op));
        }
        let beyond = StdOp::ALL.len() as u32;
        assert_eq!(StdOp::from_number(beyond), Err(UnknownStdOp(beyond)));
        assert_eq!(StdOp::from_number(u32::MAX), Err(UnknownStdOp(u32::MAX)));
    }
}
