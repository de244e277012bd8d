//! How hard the solver tries, and has tried.

/// How hard to try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Conflicts of the search.
    pub conflicts: u64,
    /// Orders that are tried out.
    pub rounds: u32,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { conflicts: 50_000, rounds: 5_000 }
    }
}

/// What has been done so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Effort {
    /// Questions.
    pub questions: u64,
    /// Orders that were tried out.
    pub rounds: u64,
    /// Conflicts of the search.
    pub conflicts: u64,
}
