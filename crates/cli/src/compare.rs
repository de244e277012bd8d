//! `threadbare compare`.

use std::collections::BTreeMap;
use std::path::Path;

use threadbare_explore::{
    self as explore, Comparison, Contestant, Measure, Options, Summary, Trial, TrialEnd, Versus, compare,
    strategies,
};
use threadbare_report::{
    CampaignRecord, CompareReport, Figures, JsonReport, LowerBounds, StrategyReport, TrialReport, Verdict,
    VersusReport, compare_table,
};

use threadbare_target::compilers;

use crate::compare_args::CompareArgs;
use crate::coverage::Account;
use crate::ending::Ending;
use crate::error::CliError;
use crate::progress::Bar;
use crate::{hunt, output, page, signals};

/// Executions of a trial where nobody says how many.
const EXECUTIONS: u64 = 10_000;

/// Runs strategies side by side; returns the exit status.
pub fn run(args: &CompareArgs) -> Result<u8, CliError> {
    check(args)?;
    let options = hunt::options_with(&args.hunt, EXECUTIONS, &args.strategies)?;
    let stop = signals::stop_flag()?;
    let (program, _) = hunt::prepare(&args.hunt, &stop)?;
    let comparison = {
        let trials = args.runs * args.strategies.len() as u64;
        let bar = Bar::of_trials(trials, args.hunt.output.quiet);
        compare(&program, &args.strategies, args.runs, &options, &|it| bar.show_trials(it), &stop)?
    };
    let trials = || comparison.contestants.iter().flat_map(|it| &it.trials);
    let has_failed = trials().any(|trial| trial.measure.failed());
    let report = report(args, &options, &comparison);
    let mut ending = Ending::of(has_failed);
    let csv_on_stdout = args.csv.as_deref() == Some(Path::new("-"));
    if !args.hunt.output.json_on_stdout() && !csv_on_stdout {
        ending.note(output::print(&compare_table(&report)));
    }
    ending.note(output::write_text(args.hunt.output.json.as_deref(), || report.to_text()));
    ending.note(output::write_text(args.csv.as_deref(), || report.to_csv()));
    let record = CampaignRecord {
        compilers: compilers(&program.executable),
        report: serde_json::to_value(&report).unwrap_or_default(),
        ..CampaignRecord::default()
    };
    let hunt = &args.hunt;
    ending.note(page::save_record(&hunt.out, page::subject(hunt), record, hunt.html.as_deref()));
    ending.status()
}

/// Refuses what makes no sense, before anything is built.
fn check(args: &CompareArgs) -> Result<(), CliError> {
    for (place, name) in args.strategies.iter().enumerate() {
        strategies::find(name)?;
        if args.strategies[..place].contains(name) {
            return Err(CliError::Usage(format!("--strategies names `{name}` twice; name each one once")));
        }
    }
    let hunt = &args.hunt;
    let refused = [
        (hunt.strategy != strategies::DEFAULT, "--strategy", "; name strategies with --strategies"),
        (hunt.keep_going, "--keep-going", ": a trial ends at its first failure"),
        (hunt.no_minimise, "--no-minimise", ": no schedule is kept"),
        (hunt.explain_time.is_some(), "--explain-time", ": no failure is explained"),
        (hunt.output.sarif.is_some(), "--sarif", ": there are no findings to write"),
        (hunt.output.verbose, "--verbose", ": no interleaving is shown"),
        (hunt.coverage.uncovered, "--uncovered", ": trials do not show the same"),
        (hunt.output.full, "--full", ": no interleaving is shown"),
    ];
    if let Some((_, option, why)) = refused.into_iter().find(|(given, ..)| *given) {
        return Err(CliError::Usage(format!("compare does not take {option}{why}")));
    }
    let csv = args.csv.as_deref().filter(|path| *path != Path::new("-"));
    if csv.is_none() && args.csv.is_some() && hunt.output.json_on_stdout() {
        return Err(CliError::Usage("--json and --csv cannot both be `-`; give one of them a file".into()));
    }
    csv.map_or(Ok(()), output::check_target)
}

fn report(args: &CompareArgs, options: &Options, comparison: &Comparison) -> CompareReport {
    let strategies = comparison.contestants.iter().enumerate();
    let strategies: Vec<_> =
        strategies.map(|(place, it)| strategy(it, comparison.versus(place).as_ref())).collect();
    let trials =
        comparison.contestants.iter().flat_map(|it| it.trials.iter().map(|trial| trial_report(it, trial)));
    CompareReport {
        tool: "threadbare",
        version: env!("CARGO_PKG_VERSION"),
        command: "compare",
        program: args.hunt.program.display().to_string(),
        seed: options.seed,
        verdict: Verdict::of(strategies.iter().any(|it| it.failed > 0), false, comparison.interrupted),
        runs: args.runs,
        executions: options.executions,
        time_s: args.hunt.time.as_secs_f64(),
        strategies,
        trials: trials.collect(),
        elapsed_s: JsonReport::seconds(comparison.elapsed),
        interrupted: comparison.interrupted,
    }
}

fn strategy(it: &Contestant, versus: Option<&Versus>) -> StrategyReport {
    let (trials, failed) = (it.trials.len(), it.failed());
    StrategyReport {
        strategy: it.strategy.clone(),
        trials,
        failed,
        success_rate: if trials == 0 { 0.0 } else { failed as f64 / trials as f64 },
        executions: figures(&it.executions()),
        executions_are_lower_bounds: it.lower_bounds().mean,
        lower_bounds: lower_bounds(&it.lower_bounds()),
        time_s: figures(&it.seconds()),
        covered: covered(it),
        first_versus_this: versus.map(|it| VersusReport {
            p: it.test.p,
            p_corrected: it.corrected_p,
            method: it.test.method.word(),
            pairs: it.test.used,
            ties: it.test.zeros,
            rank_sum: it.test.rank_sum,
            cliffs_delta: it.delta,
            magnitude: it.magnitude.word(),
        }),
    }
}

/// What trials covered, by criterion.
fn covered(it: &Contestant) -> BTreeMap<&'static str, Figures> {
    let criteria = it.trials.first().map_or(&[][..], |trial| &trial.coverage).iter().enumerate();
    criteria.map(|(place, criterion)| (criterion.name, figures(&it.covered(place)))).collect()
}

fn figures(it: &Summary) -> Figures {
    Figures {
        mean: it.mean,
        median: it.median,
        sd: it.deviation,
        min: it.smallest,
        q1: it.lower_quartile,
        q3: it.upper_quartile,
        max: it.largest,
    }
}

fn lower_bounds(it: &explore::Censored) -> LowerBounds {
    LowerBounds {
        mean: it.mean,
        median: it.median,
        min: it.smallest,
        q1: it.lower_quartile,
        q3: it.upper_quartile,
        max: it.largest,
    }
}

fn trial_report(it: &Contestant, trial: &Trial) -> TrialReport {
    let (Measure::Failed(executions) | Measure::Unfailed(executions)) = trial.measure;
    TrialReport {
        strategy: it.strategy.clone(),
        run: trial.number,
        seed: trial.seed,
        failed: trial.measure.failed(),
        executions,
        steps: trial.steps,
        elapsed_s: JsonReport::seconds(trial.elapsed),
        end: match trial.end {
            TrialEnd::Failed(kind) => kind.word(),
            TrialEnd::Executions => "executions",
            TrialEnd::Time => "time",
            TrialEnd::Exhausted => "exhausted",
            TrialEnd::Saturated => "saturated",
        },
        coverage: Account::plain(&trial.coverage).by_name(),
        questions: trial.effort.questions,
    }
}
