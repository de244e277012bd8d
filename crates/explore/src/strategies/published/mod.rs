//! Strategies as they were published, where ours deviate: only the tables that compare with the papers need them.

pub(crate) mod ars;
pub(crate) mod total;
pub(crate) mod tsa;
