//! The loop and the strategies, on toy programs instead of processes.

mod ars;
mod campaign;
mod checkpoints;
mod compare;
mod coverage;
mod dfs;
mod mcr;
mod observers;
mod oracle;
mod reach;
mod reduction;
mod strategies;
pub(crate) mod toy_runner;
mod tsa;
mod verify;

use std::sync::atomic::AtomicBool;

use crate::campaign::results::Campaign;
use crate::campaign::run;
use crate::error::ExploreError;
use crate::options::Options;
use toy_runner::Lab;

/// A campaign with one strategy and a budget.
fn options(strategy: &str, executions: u64) -> Options {
    Options { strategy: strategy.to_string(), executions, ..Options::default() }
}

fn campaign(lab: &Lab, options: &Options) -> Result<Campaign, ExploreError> {
    run(lab, options, &|_| {}, &AtomicBool::new(false))
}
