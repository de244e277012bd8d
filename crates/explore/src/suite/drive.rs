//! Driving the findings of one input to happen, in executions of the whole program.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use threadbare_detect::Finding;
use threadbare_sched::{Random, Rng};
use threadbare_target::{Execution, Program};

use crate::campaign::Progress;
use crate::check::Check;
use crate::drive::Drive;
use crate::error::ExploreError;
use crate::options::Options;
use crate::strategies::sampled::{RoundRobin, probe};
use crate::strategy::Plan;

/// Executions in random order that are made beforehand: they show what is shared, and whether the program fails anyway.
const BEFOREHAND: u64 = 12;
/// One in so many of them takes turns instead.
const TURNS_EVERY: u64 = 4;

/// Tries to make findings happen, each with an execution in which it was seen; that may have left out functions, this does not: its
/// schedules are for everybody.
pub fn drive_to_happen(
    program: &Program,
    findings: Vec<(Finding, Rc<Execution>)>,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &Arc<AtomicBool>,
) -> Result<Check, ExploreError> {
    let program = Program { uninstrument: Arc::default(), ..program.clone() };
    let mut drive = Drive::start(&program, options, stop)?;
    for number in 1..=BEFOREHAND {
        if drive.is_over() {
            break;
        }
        let plan = match number % TURNS_EVERY {
            0 => RoundRobin::plan(Rng::derive(options.seed, number), (number / TURNS_EVERY) as u32),
            _ => Plan::new(Random, Rng::derive(options.seed, number), "random"),
        };
        if drive.run(&Plan { flags: probe(number), ..plan })?.is_none() {
            break;
        }
    }
    if drive.has_fixed_addresses() {
        drive.confirm_all(findings, progress)?;
    } else if !findings.is_empty() {
        drive.check.warnings.push(
            "the system loads the program elsewhere each time, so findings could not be driven to happen"
                .into(),
        );
    }
    Ok(drive.end())
}
