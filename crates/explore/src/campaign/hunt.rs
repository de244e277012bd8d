//! Looking for executions that fail: the campaign with an account of failures.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use threadbare_detect::Finding;
use threadbare_target::{Execution, Program};

use super::given_up::{Ending, within};
use super::in_process::{self, Repeated};
use super::observer::{Examiner, Unexamined};
use super::progress::Progress;
use super::results::{Campaign, CampaignVerdict, Ledger};
use super::unheard_panics::is_unheard;
use super::{Conduct, Phase, conduct};
use crate::coverage::{Coverage, Measuring};
use crate::dead_registers::with_dead_registers;
use crate::error::ExploreError;
use crate::options::{ORDERED_IS_NOT_ALL, Options, Timers};
use crate::runner::{Launch, Servers};
use crate::strategies::{STATES, by_name};
use crate::strategy::Strategy;

/// The largest batch: executions of which no trace is kept cost little memory, and strategies that learn from
/// each say themselves how many they plan.
const LARGEST_BATCH: u64 = 64;

/// Looks for a failing interleaving of the program.
///
/// `progress` is called now and then; `stop` ends the campaign and keeps what was found.
pub fn hunt(
    program: &Program,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &Arc<AtomicBool>,
) -> Result<Campaign, ExploreError> {
    hunt_measured(program, options, &mut options.measuring()?, progress, stop)
}

/// The same for one of several campaigns whose coverage counts together: `measuring` goes from one to the next. Where one is given up, what
/// was measured is lost.
pub fn hunt_measured(
    program: &Program,
    options: &Options,
    measuring: &mut Measuring,
    progress: &dyn Fn(&Progress),
    stop: &Arc<AtomicBool>,
) -> Result<Campaign, ExploreError> {
    let is_first = !measuring.has_begun();
    let (program, own, stopped) = (program.clone(), options.clone(), Arc::clone(stop));
    let mut measured = std::mem::take(measuring);
    let campaign = move |progress: &dyn Fn(&Progress)| {
        let result = hunt_to_the_end(&program, &own, &mut measured, progress, &stopped);
        (result, measured)
    };
    match within(options.time, stop, is_first, progress, campaign)? {
        Ending::Whole((result, measured)) => {
            *measuring = measured;
            result
        }
        Ending::GivenUp(heard) => Ok(Campaign::given_up(heard)),
    }
}

fn hunt_to_the_end(
    program: &Program,
    options: &Options,
    measuring: &mut Measuring,
    progress: &dyn Fn(&Progress),
    stop: &Arc<AtomicBool>,
) -> Result<Campaign, ExploreError> {
    if options.executions == 0 {
        return Err(ExploreError::NoExecutions);
    }
    let rest = match in_process::run(program, options, progress, stop)? {
        Repeated::Done(campaign) => return Ok(*campaign),
        Repeated::Rest(rest) => Some(rest),
        Repeated::NotAtAll => None,
    };
    let looked_at = (options.strategy == STATES).then(|| with_dead_registers(program));
    let servers = Servers::new(looked_at.as_ref().unwrap_or(program), options, 0, stop).sampled(options);
    let Some(rest) = rest else { return run_measured(&servers, options, measuring, progress, stop) };
    let mut campaign = run_measured(&servers, &rest.options(options), measuring, progress, stop)?;
    rest.add_to(&mut campaign);
    Ok(campaign)
}

/// Runs a campaign on whatever the launcher starts.
pub(crate) fn run<L: Launch>(
    launch: &L,
    options: &Options,
    progress: &dyn Fn(&Progress),
    stop: &AtomicBool,
) -> Result<Campaign, ExploreError> {
    run_measured(launch, options, &mut options.measuring()?, progress, stop)
}

fn run_measured<L: Launch>(
    launch: &L,
    options: &Options,
    measuring: &mut Measuring,
    progress: &dyn Fn(&Progress),
    stop: &AtomicBool,
) -> Result<Campaign, ExploreError> {
    if options.executions == 0 {
        return Err(ExploreError::NoExecutions);
    }
    let mut strategy = by_name(options)?;
    let examiner: Arc<dyn Examiner> =
        if options.keep_going { Arc::new(Unexamined) } else { Arc::new(UntilFailure) };
    let phase = Phase { executions: options.executions, largest_batch: LARGEST_BATCH, examiner };
    let mut ledger = Ledger::of(options);
    let mut coverage = Coverage::of(measuring, options.until_saturated);
    conduct(launch, options, progress, stop, |campaign| {
        let result = campaign.follow(strategy.as_mut(), &phase, &mut [&mut coverage, &mut ledger]);
        campaign.report_progress();
        // What was found counts for more than what went wrong afterwards.
        match result {
            Err(error) if ledger.found.is_empty() => return Err(error),
            Err(error) => ledger.warn(&format!("the campaign ended early: {error}")),
            Ok(()) => {}
        }
        close(campaign, ledger, &coverage, strategy.as_ref())
    })
}

/// Ends the campaign at the first failure that is one whatever other executions do; the ledger knows of the others.
struct UntilFailure;

impl Examiner for UntilFailure {
    fn ends_with(&self, run: &Execution, _found: &[Finding]) -> bool {
        run.outcome.failure().is_some() && !is_unheard(run)
    }
}

fn close(
    campaign: &Conduct<'_>,
    mut ledger: Ledger,
    coverage: &Coverage<'_>,
    strategy: &dyn Strategy,
) -> Result<Campaign, ExploreError> {
    let doubts = strategy.doubts();
    let messages = doubts.iter().map(|doubt| doubt.message.clone());
    for warning in messages.chain(strategy.warnings(&campaign.options.strategy)) {
        ledger.warn(&warning);
    }
    ledger.judge_control(campaign.is_stopped())?;
    let is_all = campaign.options.timers() == Timers::Loose;
    if strategy.exhausted() && !is_all {
        ledger.warn(ORDERED_IS_NOT_ALL);
    }
    let exhausted = campaign.is_complete() && strategy.exhausted() && is_all;
    let account = ledger.close(campaign.elapsed(), campaign.is_stopped());
    Ok(Campaign {
        verdict: match account.verdict {
            CampaignVerdict::Clean if exhausted => CampaignVerdict::Exhausted,
            verdict => verdict,
        },
        exhausted,
        doubts,
        snapshots: strategy.snapshots(),
        coverage: coverage.account(),
        effort: strategy.effort(),
        bound: if exhausted { strategy.bound() } else { None },
        shared_locations: campaign.history().shared().len(),
        saturated: coverage.is_enough(),
        workers: campaign.workers(),
        ..account
    })
}
