//! Campaigns that measure synchronization pairs, for all techniques of the paper.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use threadbare_coverage::PairSets;
use threadbare_explore::strategies::StrategyOptions;
use threadbare_explore::{CoveragePoint, Options, STRATEGIES, SaturationRule, Window, hunt, signed_ranks};
use threadbare_target::Program;

use crate::Result;

/// The random techniques: what the paper calls them, and what they are here.
pub const RANDOM: [(&str, &str); 3] =
    [("RND-y", "delay-yield"), ("RND-s10", "delay-10ms"), ("RND-s100", "delay-100ms")];

/// The directed techniques: as the project has it, without Rule 3, and as the paper has it.
const DIRECTED: [&str; 3] = ["tsa", "tsa-h", "tsa-paper"];

/// The probabilities of a delay.
const PROBABILITIES: [f64; 5] = [0.1, 0.2, 0.3, 0.4, 0.5];

/// The criteria: first that of the paper, then the finer estimate.
const CRITERIA: [&str; 2] = ["sp", "sp-refined"];

/// A strategy with its parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct Technique {
    /// The strategy.
    pub strategy: &'static str,
    /// The probability of a delay, where it delays.
    pub probability: f64,
}

impl Technique {
    /// What it is called in a table.
    pub fn label(&self) -> String {
        if RANDOM.iter().any(|(_, strategy)| *strategy == self.strategy) {
            format!("{} {}", self.strategy, self.probability)
        } else {
            self.strategy.to_string()
        }
    }
}

/// All techniques that this build has.
pub fn techniques() -> Vec<Technique> {
    let directed = DIRECTED.map(|strategy| Technique { strategy, probability: 0.0 });
    let random = RANDOM
        .iter()
        .flat_map(|(_, strategy)| PROBABILITIES.map(|probability| Technique { strategy, probability }));
    directed.into_iter().chain(random).filter(|it| STRATEGIES.contains(&it.strategy)).collect()
}

/// How campaigns are run.
#[derive(Clone, Copy)]
pub struct Budget {
    /// Campaigns of each technique.
    pub runs: u64,
    /// Executions of each.
    pub executions: u64,
    /// The executions that have to be without growth.
    pub window: u64,
    /// Campaigns that run side by side.
    pub jobs: usize,
}

/// One campaign.
pub struct Trial {
    /// Requirements covered in the end.
    pub covered: u64,
    /// A point for each execution that covered more.
    pub history: Vec<CoveragePoint>,
    /// Where it was saturated.
    pub saturation: Option<CoveragePoint>,
    /// How often each rule of the controller decided.
    pub rules: [u64; 3],
}

/// All campaigns of one technique.
pub struct Tried {
    /// The technique.
    pub technique: Technique,
    /// Its campaigns, by seed.
    pub trials: Vec<Trial>,
}

impl Tried {
    /// The mean of something over those campaigns that have it; none if none has.
    pub fn mean(&self, of: impl Fn(&Trial) -> Option<f64>) -> Option<f64> {
        let all: Vec<f64> = self.trials.iter().filter_map(of).collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    }

    /// The mean number of requirements covered in the end.
    pub fn covered(&self) -> f64 {
        self.mean(|it| Some(it.covered as f64)).unwrap_or(0.0)
    }

    /// The mean of what was covered at some time.
    pub fn covered_at(&self, is_before: impl Fn(&CoveragePoint) -> bool) -> f64 {
        let covered = |it: &Trial| {
            it.history
                .iter()
                .take_while(|point| is_before(point))
                .last()
                .map_or(0.0, |point| point.covered as f64)
        };
        self.mean(|it| Some(covered(it))).unwrap_or(0.0)
    }

    /// Where campaigns were saturated, on average; none unless all were.
    pub fn saturation(&self) -> Option<Saturated> {
        self.trials.iter().all(|it| it.saturation.is_some()).then_some(())?;
        Some(Saturated {
            covered: self.mean(|it| Some(it.saturation?.covered as f64))?,
            executions: self.mean(|it| Some(it.saturation?.executions as f64))?,
            seconds: self.mean(|it| Some(it.saturation?.elapsed.as_secs_f64()))?,
        })
    }

    /// The probability that this one covers more, or less, than another one if there is no difference (p-value).
    pub fn p_against(&self, other: &Tried) -> f64 {
        let pairs = self.trials.iter().zip(&other.trials);
        let differences: Vec<i64> =
            pairs.map(|(own, other)| own.covered as i64 - other.covered as i64).collect();
        signed_ranks(&differences).p
    }

    /// The share of decisions that Rule 3 made.
    pub fn rule_3(&self) -> f64 {
        let sum = |of: fn(&Trial) -> u64| self.trials.iter().map(of).sum::<u64>() as f64;
        sum(|it| it.rules[2]) / sum(|it| it.rules.iter().sum()).max(1.0)
    }
}

/// The point at which techniques were saturated: means.
#[derive(Clone, Copy)]
pub struct Saturated {
    /// Requirements covered.
    pub covered: f64,
    /// Executions until then.
    pub executions: f64,
    /// Time until then.
    pub seconds: f64,
}

/// What was measured of one program.
pub struct Measured {
    /// The techniques, in the order of [`techniques`].
    pub tried: Vec<Tried>,
    /// The estimate of the first campaign and what all of them covered: by the paper's conditions, and closer.
    pub estimates: [PairSets; 2],
}

impl Measured {
    /// A technique by its strategy.
    pub fn of(&self, strategy: &str) -> Option<&Tried> {
        self.tried.iter().find(|it| it.technique.strategy == strategy)
    }

    /// The variants of the random technique at this place of [`RANDOM`].
    pub fn variants(&self, place: usize) -> impl Iterator<Item = &Tried> {
        self.tried.iter().filter(move |it| it.technique.strategy == RANDOM[place].1)
    }

    /// The random variant that covers the most.
    pub fn best_random(&self) -> Option<&Tried> {
        let random =
            self.tried.iter().filter(|it| RANDOM.iter().any(|(_, name)| *name == it.technique.strategy));
        random.max_by(|a, b| a.covered().total_cmp(&b.covered()))
    }
}

#[derive(Default)]
struct Made {
    trials: BTreeMap<(usize, u64), Trial>,
    covered: PairSets,
    estimates: Option<[PairSets; 2]>,
    error: Option<String>,
}

/// Runs all campaigns on a program.
pub fn measure(program: &Program, budget: Budget) -> Result<Measured> {
    let techniques = techniques();
    let next = AtomicUsize::new(0);
    let made: Mutex<Made> = Mutex::default();
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let (place, run) = (index % techniques.len(), (index / techniques.len()) as u64 + 1);
            if run > budget.runs || made.lock().unwrap_or_else(PoisonError::into_inner).error.is_some() {
                return;
            }
            let result = campaign(program, &techniques[place], run, budget);
            let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
            match result {
                Ok((trial, [paper, refined])) => {
                    made.covered.add_covered(&paper);
                    if index == 0 {
                        made.estimates = Some([paper, refined]);
                    }
                    made.trials.insert((place, run), trial);
                }
                Err(error) => made.error = Some(error.to_string()),
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..budget.jobs.max(1) {
            scope.spawn(work);
        }
    });
    let Made { mut trials, covered, estimates, error } =
        made.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = error {
        return Err(error.into());
    }
    let mut estimates = estimates.ok_or("no campaign was run")?;
    estimates.iter_mut().for_each(|it| it.add_covered(&covered));
    let mut tried = Vec::new();
    for (place, technique) in techniques.into_iter().enumerate() {
        let trials = (1..=budget.runs).filter_map(|run| trials.remove(&(place, run))).collect();
        tried.push(Tried { technique, trials });
    }
    Ok(Measured { tried, estimates })
}

fn campaign(
    program: &Program,
    technique: &Technique,
    seed: u64,
    budget: Budget,
) -> Result<(Trial, [PairSets; 2])> {
    let options = Options {
        strategy: technique.strategy.to_string(),
        strategy_options: StrategyOptions {
            delay_probability: technique.probability,
            ..StrategyOptions::default()
        },
        seed,
        executions: budget.executions,
        keep_going: true,
        coverage: CRITERIA.map(String::from).to_vec(),
        saturation: SaturationRule { window: Window::Executions(budget.window), ..SaturationRule::default() },
        ..Options::default()
    };
    let result = hunt(program, &options, &|_| {}, &Arc::default())?;
    let rules = result.effort.rules;
    let [paper, refined] = <[_; 2]>::try_from(result.coverage).map_err(|_| "a criterion was not measured")?;
    let (Some(of_paper), Some(of_refined)) = (paper.pairs, refined.pairs) else {
        return Err("synchronization pairs were not listed".into());
    };
    let trial = Trial { covered: paper.covered, history: paper.history, saturation: paper.saturation, rules };
    Ok((trial, [of_paper, of_refined]))
}
