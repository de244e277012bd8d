//! Repeating a closure inside one copy of the program, instead of one copy for each execution.

use threadbare_sched::Counts;

/// What a closure leaves behind, so that its next call would not begin as the first did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Leak {
    /// Nothing that is known of.
    Nothing = 0,
    /// Threads that have not ended.
    Threads = 1,
    /// Other values in memory that was there before it.
    Memory = 2,
    /// Files that it may have changed.
    Files = 3,
}

impl Leak {
    /// The leak with this number; a number of nobody's is none.
    pub fn from_number(number: u32) -> Leak {
        [Leak::Threads, Leak::Memory, Leak::Files]
            .into_iter()
            .find(|leak| *leak as u32 == number)
            .unwrap_or(Leak::Nothing)
    }
}

/// What the program says of its closure, what the driver asks for, and how far the copy got.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Repetition {
    /// 1 if the snapshot is taken before a closure that may be repeated.
    pub offered: u32,
    /// The strategy that the program asks for, by number; 0 for none.
    pub wished_strategy: u32,
    /// The most executions that the program asks for; 0 if it leaves that to others.
    pub wished_executions: u64,
    /// The seed that the program asks for, if `has_seed` is 1.
    pub wished_seed: u64,
    /// See `wished_seed`.
    pub has_seed: u32,
    /// Who decides in each repetition: a `threadbare_sched::ClosureStrategy` by number.
    pub strategy: u32,
    /// The seed of the campaign.
    pub seed: u64,
    /// The number of the first repetition, counted from 1 in the campaign.
    pub first: u64,
    /// How many repetitions to make at most.
    pub count: u64,
    /// Steps after which no further repetition is begun.
    pub enough_steps: u64,
    /// Repetitions begun in this copy.
    pub begun: u64,
    /// Repetitions that ended without a failure.
    pub passed: u64,
    /// The steps of those.
    pub passed_steps: u64,
    /// A [`Leak`] by number.
    pub leak: u32,
    /// Always 0.
    pub spare: u32,
    /// For a leak in memory: where.
    pub leak_at: u64,
    /// What repetitions have reported of the program; kept from one copy to the next.
    pub counts: Counts,
}
