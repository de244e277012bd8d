//! Driving the findings of one input to happen, in executions of the whole program.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use threadbare_detect::Finding;
use threadbare_sched::{Random, Rng};
use threadbare_target::{Execution, Program};

use crate::campaign::Progress;
use crate::campaign::given_up::{Ending, within};
use crate::campaign::observer::Unexamined;
use crate::check::{CONFIRMING, Check};
use crate::drive::{NobodyElse, examine, phase, servers};
use crate::error::ExploreError;
use crate::history::History;
use crate::options::Options;
use crate::strategies::sampled::{RoundRobin, probe};
use crate::strategy::{Plan, Strategy};

/// Executions in random order that are made beforehand: they show what is shared, and whether the program fails anyway.
const BEFOREHAND: u64 = 12;
/// One in so many of them takes turns instead.
const TURNS_EVERY: u64 = 4;

/// Tries to make findings happen, each with an execution in which it was seen; that may have left out functions, this does not: its
/// schedules are for everybody.
pub fn drive_to_happen(
    program: &Program,
    findings: Vec<(Finding, Arc<Execution>)>,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &Arc<AtomicBool>,
) -> Result<Check, ExploreError> {
    let program = Program { uninstrument: Arc::default(), ..program.clone() };
    let (own, untried) = (options.clone(), findings.iter().map(|(finding, _)| finding.key()).collect());
    let stopped = Arc::clone(stop);
    let campaign = move |progress: &dyn Fn(&Progress)| confirm(&program, findings, &own, progress, &stopped);
    match within(options.time, stop, true, progress, campaign)? {
        Ending::Whole(result) => result,
        // Those that were told of happened, and are tried again all the same.
        Ending::GivenUp(heard) => Ok(Check { untried, ..Check::given_up(heard) }),
    }
}

fn confirm(
    program: &Program,
    findings: Vec<(Finding, Arc<Execution>)>,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &Arc<AtomicBool>,
) -> Result<Check, ExploreError> {
    let launch = servers(program, options, stop);
    let (check, ()) = examine(&launch, options, progress, stop, |drive| {
        let mut beforehand = Beforehand { seed: options.seed };
        drive.spend_until(CONFIRMING);
        drive.follow(&mut beforehand, &phase(BEFOREHAND, Arc::new(Unexamined)), &mut NobodyElse)?;
        if drive.has_fixed_addresses() {
            return drive.confirm_all(findings);
        }
        if !findings.is_empty() {
            drive.account.check.warnings.push(
                "the system loads the program elsewhere each time, so findings could not be driven to happen"
                    .into(),
            );
        }
        Ok(())
    })?;
    Ok(check)
}

/// Executions at random, and some in which threads take turns.
struct Beforehand {
    seed: u64,
}

impl Strategy for Beforehand {
    fn plan(&mut self, first: u64, count: usize, _history: &History) -> Vec<Plan> {
        let plan = |number: u64| {
            let plan = match number % TURNS_EVERY {
                0 => RoundRobin::plan(Rng::derive(self.seed, number), (number / TURNS_EVERY) as u32),
                _ => Plan::new(Random, Rng::derive(self.seed, number), "random"),
            };
            Plan { flags: probe(number), ..plan }
        };
        (first..first + count as u64).map(plan).collect()
    }
}
