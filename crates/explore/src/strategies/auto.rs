//! The default: a portfolio, because no single way of sampling finds every bug quickly.

use threadbare_sched::{Journal, Parameters, Portfolio};
use threadbare_target::Execution;
use threadbare_wire::flags;

use crate::error::ExploreError;
use crate::history::History;
use crate::strategies::sampled::{draw, is_profiled};
use crate::strategy::{Plan, Strategy};

/// Executions in which time passes only when no thread is runnable: what they do not find may want a thread to be delayed.
const ORDERED: u64 = 32;

/// After those, one of so many lets sleeps end at any point. It is odd, so that all samplers of the portfolio get their share.
const LOOSE_EVERY: u64 = 3;

/// One of so many hands out no heap address twice: whoever uses or frees a block that was given back does not find another one there, which would hide it. The
/// others do as programs by themselves, some of whose failures need that. It is odd, too.
const THREAD_HEAPS_EVERY: u64 = 5;

/// The portfolio for processes; see [`Portfolio::for_processes`].
pub(crate) struct Auto {
    portfolio: Portfolio,
    /// Some of the later executions let sleeps end at any point.
    is_mixed: bool,
}

impl Auto {
    pub(crate) fn new(seed: u64, probability: f64, is_mixed: bool) -> Auto {
        Auto { portfolio: Portfolio::for_processes(seed, probability), is_mixed }
    }
}

fn is_journaled(plan: &Plan) -> bool {
    matches!(plan.policy.parameters, Parameters::Journaled(_))
}

impl Strategy for Auto {
    fn plan(&mut self, first: u64, count: usize, history: &History) -> Vec<Plan> {
        let plan = |index| {
            let plan = draw(&mut self.portfolio, index, history);
            let is_loose = self.is_mixed && index > ORDERED && index.is_multiple_of(LOOSE_EVERY);
            let loose = if is_loose { flags::LOOSE_TIME } else { 0 };
            let heaps = if index.is_multiple_of(THREAD_HEAPS_EVERY) { flags::THREAD_HEAPS } else { 0 };
            let flags = plan.flags | loose | heaps;
            Plan { profile: is_profiled(index), trace: is_journaled(&plan), flags, ..plan }
        };
        (first..first + count as u64).map(plan).collect()
    }

    fn learn(
        &mut self,
        runs: &[(&Plan, &Execution)],
        _sharing_grew: bool,
        _is_over: &dyn Fn() -> bool,
    ) -> Result<(), ExploreError> {
        for (_, run) in runs.iter().filter(|(plan, _)| is_journaled(plan)) {
            self.portfolio.learn(&Journal::of(&run.events));
        }
        Ok(())
    }
}
