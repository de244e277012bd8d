//! The strategies, one file or folder each.

pub(crate) mod ars;
pub(crate) mod auto;
pub(crate) mod dfs;
pub(crate) mod map_random;
pub(crate) mod mcr;
pub(crate) mod pcr;
pub(crate) mod reach;
pub(crate) mod sampled;
pub(crate) mod total;
pub(crate) mod tsa;
