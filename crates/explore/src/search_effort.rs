//! How much a strategy has solved for, and how often executions showed what they aimed at.

/// What a strategy did besides executing.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SearchEffort {
    /// Questions to the constraint solver.
    pub questions: u64,
    /// Questions that did not have to be asked because the reason against them was known.
    pub spared: u64,
    /// Executions that aimed at something.
    pub aimed: u64,
    /// Those of them that showed it.
    pub met: u64,
    /// How often each rule of a controller decided which thread to schedule; see `threadbare_sched::Tsa`.
    pub rules: [u64; 3],
    /// States that executions came to, where those are told apart.
    pub states: u64,
    /// The largest graph that test cases were taken from.
    pub graph: GraphSize,
}

/// How large a graph is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct GraphSize {
    /// Its nodes.
    pub nodes: u64,
    /// The memory that they take.
    pub bytes: u64,
}
