//! What becomes of the tool where something goes wrong around it: it is killed, the disk is full, the system refuses, files are damaged, time is
//! up. Prints what was tried and what failed.

mod commands;
mod files;
mod memory;
mod refusals;
mod seccomp;

use clap::Args;

use crate::Result;

/// How much is tried.
#[derive(Args)]
pub struct FaultArgs {
    /// How often the tool is killed, and as often asked to end, at random moments
    #[arg(long, default_value_t = 40)]
    kills: u64,
    /// How many damaged files of each format are read
    #[arg(long, default_value_t = 20_000)]
    mutations: u64,
    /// How many seconds commands get that have to keep their time
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// The seed of all that is random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only these parts: kills, signals, deadlines, refusals, limits, disks, memory, files
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// What came of one kind of fault.
#[derive(Default)]
pub struct Tally {
    tried: u64,
    failed: Vec<String>,
}

impl Tally {
    /// Counts one trial, which failed if there is something to say.
    fn count(&mut self, failure: Option<String>) {
        self.tried += 1;
        self.failed.extend(failure);
    }
}

/// Tries everything; says whether nothing failed.
pub fn print(args: &FaultArgs) -> Result<bool> {
    let scene = commands::Scene::new(args.seed)?;
    let mut is_well = true;
    let mut part = |name: &str, what: &dyn Fn() -> Result<Tally>| -> Result<()> {
        if !args.only.is_empty() && !args.only.iter().any(|only| only == name) {
            return Ok(());
        }
        const SHOWN: usize = 20;
        let tally = what()?;
        println!("{name:10} {:8} tried  {:5} failed", tally.tried, tally.failed.len());
        tally.failed.iter().take(SHOWN).for_each(|failure| println!("    {failure}"));
        is_well &= tally.failed.is_empty();
        Ok(())
    };
    part("kills", &|| scene.kills(args.kills))?;
    part("signals", &|| scene.signals(args.kills))?;
    part("deadlines", &|| scene.deadlines(args.seconds))?;
    part("refusals", &|| refusals::refused_calls(&scene))?;
    part("limits", &|| refusals::limits(&scene))?;
    part("disks", &|| refusals::disks(&scene))?;
    part("memory", &|| memory::of_long_executions(&scene))?;
    part("files", &|| files::damaged(&scene, args.mutations, args.seed))?;
    Ok(is_well)
}
