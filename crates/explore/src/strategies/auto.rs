//! The default: a portfolio, because no single way of sampling finds every bug quickly.

use threadbare_sched::{Journal, Parameters, Portfolio};
use threadbare_target::Execution;

use crate::error::ExploreError;
use crate::history::History;
use crate::strategies::sampled::{draw, is_profiled};
use crate::strategy::{Plan, Strategy};

/// The portfolio for processes; see [`Portfolio::for_processes`].
pub(crate) struct Auto {
    portfolio: Portfolio,
}

impl Auto {
    pub(crate) fn new(seed: u64, probability: f64) -> Auto {
        Auto { portfolio: Portfolio::for_processes(seed, probability) }
    }
}

fn is_journaled(plan: &Plan) -> bool {
    matches!(plan.policy.parameters, Parameters::Journaled(_))
}

impl Strategy for Auto {
    fn plan(&mut self, first: u64, count: usize, history: &History) -> Vec<Plan> {
        let plan = |index| {
            let plan = draw(&mut self.portfolio, index, history);
            Plan { profile: is_profiled(index), trace: is_journaled(&plan), ..plan }
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
