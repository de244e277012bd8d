//! What pcr, map-random and mcr get out of a number of executions: failing ones, and patterns covered over time.

use std::path::Path;
use std::sync::Arc;

use threadbare_explore::{CoveragePoint, Options, Wilcoxon, hunt, signed_ranks};
use threadbare_target::Program;

use crate::Result;
use crate::curves::{Curve, Graph, draw as draw_graphs};
use crate::pcr::STRATEGIES;

/// Points of a curve.
const POINTS: usize = 60;

/// What one campaign came to.
pub struct Campaigned {
    /// Executions that failed.
    pub failing: u64,
    /// Patterns covered.
    pub covered: u64,
    /// How many there are, by the estimate.
    pub estimated: u64,
    history: Vec<CoveragePoint>,
    seconds: f64,
}

/// All campaigns of one strategy.
pub struct Spent(Vec<Campaigned>);

impl Spent {
    /// The mean of something.
    pub fn mean(&self, of: fn(&Campaigned) -> f64) -> f64 {
        self.0.iter().map(of).sum::<f64>() / self.0.len().max(1) as f64
    }

    /// The probability of such a difference in failing executions if there is none (p-value).
    pub fn p_of_failing(&self, other: &Spent) -> f64 {
        let pairs = self.0.iter().zip(&other.0);
        let differences: Vec<i64> =
            pairs.map(|(own, other)| own.failing as i64 - other.failing as i64).collect();
        let Wilcoxon { p, .. } = signed_ranks(&differences);
        p
    }

    /// The mean of what was covered at some time.
    fn covered_at(&self, is_before: impl Fn(&CoveragePoint) -> bool) -> f64 {
        let covered = |it: &Campaigned| {
            it.history.iter().take_while(|point| is_before(point)).last().map_or(0, |point| point.covered)
        };
        self.0.iter().map(|it| covered(it) as f64).sum::<f64>() / self.0.len().max(1) as f64
    }
}

/// Runs campaigns that continue after failures.
pub fn spend(program: &Program, runs: u64, budget: u64) -> Result<Vec<Spent>> {
    let campaign = |strategy: &str, seed: u64| -> Result<Campaigned> {
        let options = Options {
            strategy: strategy.to_string(),
            seed,
            executions: budget,
            keep_going: true,
            coverage: vec!["map".to_string()],
            ..Options::default()
        };
        let result = hunt(program, &options, &|_| {}, &Arc::default())?;
        let covered = result.coverage.into_iter().next().ok_or("nothing was measured")?;
        Ok(Campaigned {
            failing: result.failures.iter().map(|(_, count)| count).sum(),
            covered: covered.covered,
            estimated: covered.total.number(),
            history: covered.history,
            seconds: result.elapsed.as_secs_f64(),
        })
    };
    STRATEGIES
        .iter()
        .map(|strategy| Ok(Spent((1..=runs).map(|seed| campaign(strategy, seed)).collect::<Result<_>>()?)))
        .collect()
}

/// Draws Figure 6: for each class the share of all patterns that anybody covered, over time and over executions.
pub fn draw(classes: &[(&str, &[Spent])], budget: u64, path: &Path) -> Result<()> {
    let mut rows = Vec::new();
    for (name, spent) in classes {
        let all = spent.iter().flat_map(|it| &it.0);
        let most = all.clone().map(|it| it.covered).max().unwrap_or(0).max(1) as f64;
        let longest = all.map(|it| it.seconds).fold(0.0, f64::max);
        let curves = |upto: f64, at: &dyn Fn(&Spent, f64) -> f64| -> Vec<Curve> {
            let curve = |(strategy, spent): (&&str, &Spent)| {
                let xs = (0..=POINTS).map(|number| upto * number as f64 / POINTS as f64);
                Curve { name: strategy.to_string(), points: xs.map(|x| (x, at(spent, x) / most)).collect() }
            };
            STRATEGIES.iter().zip(spent.iter()).map(curve).collect()
        };
        let over_time = curves(longest * 1000.0, &|spent, x| {
            spent.covered_at(|point| point.elapsed.as_secs_f64() * 1000.0 <= x)
        });
        let over_executions =
            curves(budget as f64, &|spent, x| spent.covered_at(|point| point.executions as f64 <= x));
        rows.push(vec![
            Graph { title: format!("{name}: milliseconds"), curves: over_time },
            Graph { title: format!("{name}: executions"), curves: over_executions },
        ]);
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, draw_graphs(&rows))?;
    println!("Figure 6 is drawn in {}.", path.display());
    Ok(())
}
