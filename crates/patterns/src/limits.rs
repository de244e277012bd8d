//! How much is followed at most, and what was left out because of it.

/// Bounds that keep the time of one step and the memory of a matcher small whatever the program does.
/// With no bound reached, exactly the patterns of the definition are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// For two threads, a direction and a kind: the links (patterns 1 to 3) that can become part of a
    /// two-variable pattern, the most recently seen ones.
    pub partners: usize,
    /// The reads of one variable since its last write, by thread and site, the most recent ones.
    pub readers: usize,
    /// The accesses of one thread, by variable and site, that can be the second access of patterns 10, 13
    /// and 15, the most recent ones.
    pub recent: usize,
    /// The links that have crossed one access, the first ones.
    pub crossings: usize,
    /// The patterns in the set: beyond it, no two-variable patterns are added.
    pub patterns: usize,
    /// The words of one access to a range (`memcpy` and the like), from its beginning.
    pub words: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { partners: 64, readers: 64, recent: 64, crossings: 64, patterns: 1 << 22, words: 256 }
    }
}

/// What fell to the [`Limits`]: patterns with these may be missing. All zero means that none is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Dropped {
    /// Links that were forgotten as partners.
    pub partners: u64,
    /// Reads that were forgotten.
    pub readers: u64,
    /// Accesses that were no longer followed as a second one, although they may still have counted.
    pub recent: u64,
    /// Links whose crossing of an access was not noted.
    pub crossings: u64,
    /// Times that a two-variable pattern was not added.
    pub patterns: u64,
    /// Words of ranges that were not looked at.
    pub words: u64,
}

impl Dropped {
    /// Everything together.
    pub fn total(&self) -> u64 {
        self.partners + self.readers + self.recent + self.crossings + self.patterns + self.words
    }
}
