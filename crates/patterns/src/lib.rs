//! The seventeen memory-access patterns (papers: "Adaptive Randomized Scheduling for Concurrency Bug
//! Detection", Table I, after Falcon and Unicorn).
//!
//! A pattern is a sequence of at most four accesses by two threads to at most two variables. Threads
//! are roles: the one that begins is a, the other one is b; the variable of the first access is x.
//! An occurrence never steps over a write: between two accesses of the pattern to the same
//! variable that follow each other, nobody else writes it.
//!
//! [`Matcher`] finds them in a trace as it grows; [`TraceMatcher`] does so from raw events.

mod ending;
mod key;
mod limits;
mod links;
mod matcher;
mod object;
mod objects;
mod occurrence;
mod region;
mod set;
mod trace;
mod word;

use std::fmt;

pub use key::{ObjectId, PatternKey, SiteId, mix};
pub use limits::{Dropped, Limits};
pub use matcher::Matcher;
pub use objects::{ModuleRange, Objects, VariableChange};
pub use occurrence::{MemoryAccess, Occurrence};
pub use set::PatternSet;
pub use trace::TraceMatcher;

/// Who makes a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PatternRole {
    /// The thread that begins.
    A,
    /// The other thread.
    B,
}

/// What a step touches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Variable {
    /// The variable of the first step.
    X,
    /// The other variable.
    Y,
}

/// How a step touches it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessType {
    /// It reads.
    Reads,
    /// It writes.
    Writes,
}

impl AccessType {
    /// The manner of a step that writes or not.
    pub fn of(writes: bool) -> AccessType {
        if writes { AccessType::Writes } else { AccessType::Reads }
    }
}

/// One step of a pattern.
pub type PatternStep = (PatternRole, AccessType, Variable);

/// A pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// Its number, from 1 to 17.
    pub id: u8,
    /// Its steps.
    pub steps: &'static [PatternStep],
}

use AccessType::{Reads as R, Writes as W};
use PatternRole::{A, B};
use Variable::{X, Y};

/// All patterns, in the order of their numbers.
pub const PATTERNS: [Pattern; 17] = [
    Pattern { id: 1, steps: &[(A, R, X), (B, W, X)] },
    Pattern { id: 2, steps: &[(A, W, X), (B, R, X)] },
    Pattern { id: 3, steps: &[(A, W, X), (B, W, X)] },
    Pattern { id: 4, steps: &[(A, R, X), (B, W, X), (A, R, X)] },
    Pattern { id: 5, steps: &[(A, W, X), (B, W, X), (A, R, X)] },
    Pattern { id: 6, steps: &[(A, W, X), (B, R, X), (A, W, X)] },
    Pattern { id: 7, steps: &[(A, R, X), (B, W, X), (A, W, X)] },
    Pattern { id: 8, steps: &[(A, W, X), (B, W, X), (A, W, X)] },
    Pattern { id: 9, steps: &[(A, W, X), (B, W, X), (B, W, Y), (A, W, Y)] },
    Pattern { id: 10, steps: &[(A, W, X), (B, W, Y), (B, W, X), (A, W, Y)] },
    Pattern { id: 11, steps: &[(A, W, X), (B, W, Y), (A, W, Y), (B, W, X)] },
    Pattern { id: 12, steps: &[(A, W, X), (B, R, X), (B, R, Y), (A, W, Y)] },
    Pattern { id: 13, steps: &[(A, W, X), (B, R, Y), (B, R, X), (A, W, Y)] },
    Pattern { id: 14, steps: &[(A, R, X), (B, W, X), (B, W, Y), (A, R, Y)] },
    Pattern { id: 15, steps: &[(A, R, X), (B, W, Y), (B, W, X), (A, R, Y)] },
    Pattern { id: 16, steps: &[(A, R, X), (B, W, Y), (A, R, Y), (B, W, X)] },
    Pattern { id: 17, steps: &[(A, W, X), (B, R, Y), (A, W, Y), (B, R, X)] },
];

/// The pattern with exactly these steps.
pub fn find(steps: &[PatternStep]) -> Option<Pattern> {
    PATTERNS.into_iter().find(|pattern| pattern.steps == steps)
}

/// The pattern of two accesses to one variable by different threads.
pub fn pair(first_writes: bool, second_writes: bool) -> Option<u8> {
    find(&[(A, AccessType::of(first_writes), X), (B, AccessType::of(second_writes), X)])
        .map(|pattern| pattern.id)
}

/// The pattern of a local access, a remote one and another local one.
pub fn triple(first_writes: bool, remote_writes: bool, last_writes: bool) -> Option<u8> {
    let steps = [
        (A, AccessType::of(first_writes), X),
        (B, AccessType::of(remote_writes), X),
        (A, AccessType::of(last_writes), X),
    ];
    find(&steps).map(|pattern| pattern.id)
}

/// The pattern of a local access, a remote one and another local one that no serial order of the two threads
/// explains: the four cases of CTrigger. Of three writes the last one wins in a serial order too.
#[inline]
pub fn unserializable(first_writes: bool, remote_writes: bool, last_writes: bool) -> Option<u8> {
    match (first_writes, remote_writes, last_writes) {
        (false, true, false) => Some(4),
        (true, true, false) => Some(5),
        (true, false, true) => Some(6),
        (false, true, true) => Some(7),
        _ => None,
    }
}

impl Pattern {
    /// The pattern with this number.
    pub fn with_id(id: u8) -> Option<Pattern> {
        PATTERNS.get(usize::from(id).checked_sub(1)?).copied()
    }

    /// Whether it is about two variables.
    pub fn has_two_variables(&self) -> bool {
        self.steps.iter().any(|(_, _, variable)| *variable == Y)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (role, manner, variable)) in self.steps.iter().enumerate() {
            let role = if *role == A { 'a' } else { 'b' };
            let manner = if *manner == R { "reads" } else { "writes" };
            let variable = if *variable == X { 'x' } else { 'y' };
            write!(f, "{}{role} {manner} {variable}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_numbered_distinct_and_canonical() {
        for (index, pattern) in PATTERNS.iter().enumerate() {
            assert_eq!(usize::from(pattern.id), index + 1);
            assert_eq!(Pattern::with_id(pattern.id), Some(*pattern));
            assert_eq!(find(pattern.steps), Some(*pattern));
            assert_eq!((pattern.steps[0].0, pattern.steps[0].2), (A, X));
            assert!(pattern.steps.iter().any(|step| step.0 == B));
        }
        assert_eq!((Pattern::with_id(0), Pattern::with_id(18)), (None, None));
    }

    /// Each access in a pattern conflicts with the one before it to the same variable.
    #[test]
    fn neighbours_on_a_variable_conflict() {
        for pattern in PATTERNS {
            for variable in [X, Y] {
                let on: Vec<&PatternStep> = pattern.steps.iter().filter(|step| step.2 == variable).collect();
                for two in on.windows(2) {
                    assert!(two[0].0 != two[1].0 && (two[0].1 == W || two[1].1 == W), "{pattern}");
                }
            }
        }
    }

    /// Runs the three accesses in the three possible orders and compares what reads see and what
    /// is left: only the unserializable ones differ from both serial orders.
    #[test]
    fn unserializable_triples_are_those_no_serial_order_explains() {
        let effect = |order: [usize; 3], writes: [bool; 3]| {
            let (mut memory, mut seen) = (9, [0; 3]);
            for access in order {
                if writes[access] {
                    memory = access;
                } else {
                    seen[access] = memory;
                }
            }
            (seen, memory)
        };
        for bits in 0..8 {
            let [p, r, c] = [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0];
            let torn = effect([0, 1, 2], [p, r, c]);
            let explained = torn == effect([1, 0, 2], [p, r, c]) || torn == effect([0, 2, 1], [p, r, c]);
            assert_eq!(unserializable(p, r, c), if explained { None } else { triple(p, r, c) });
        }
    }

    #[test]
    fn patterns_read_like_sentences() {
        assert_eq!(PATTERNS[6].to_string(), "a reads x, b writes x, a writes x");
    }
}
