//! Strategies side by side, as people and programs read them.

use threadbare_report::{
    CompareReport, Figures, LowerBounds, StrategyReport, TrialReport, Verdict, VersusReport, compare_table,
};

fn figures(mean: f64) -> Figures {
    Figures { mean, median: 2.5, sd: 1.25, min: 1.0, q1: 2.0, q3: 4.25, max: 9.0 }
}

fn strategy(name: &str, failed: usize, versus: Option<VersusReport>) -> StrategyReport {
    StrategyReport {
        strategy: name.into(),
        trials: 10,
        failed,
        success_rate: failed as f64 / 10.0,
        executions: figures(3.0 + name.len() as f64),
        executions_are_lower_bounds: failed < 10,
        lower_bounds: LowerBounds {
            mean: failed < 10,
            max: failed < 10,
            q3: failed < 8,
            ..LowerBounds::default()
        },
        time_s: figures(0.0123),
        covered: Default::default(),
        first_versus_this: versus,
    }
}

fn versus(p: f64, delta: f64, magnitude: &'static str) -> Option<VersusReport> {
    Some(VersusReport {
        p,
        p_corrected: (2.0 * p).min(1.0),
        method: "exact",
        pairs: 9,
        ties: 1,
        rank_sum: 3.5,
        cliffs_delta: delta,
        magnitude,
    })
}

fn trial(strategy: &str, failed: bool, end: &'static str) -> TrialReport {
    TrialReport {
        strategy: strategy.into(),
        run: 1,
        seed: 77,
        failed,
        executions: 5,
        steps: 120,
        elapsed_s: 0.25,
        end,
        coverage: Default::default(),
        questions: 0,
    }
}

fn report() -> CompareReport {
    CompareReport {
        tool: "threadbare",
        version: "0.0.0",
        command: "compare",
        program: "bank.c".into(),
        seed: 1,
        verdict: Verdict::Failure,
        runs: 10,
        executions: 1000,
        time_s: 60.0,
        strategies: vec![
            strategy("ars", 10, None),
            strategy("random", 7, versus(0.0001, -0.875, "large")),
            strategy("pct", 10, versus(0.4, 0.1, "negligible")),
        ],
        trials: vec![trial("ars", true, "assertion"), trial("random", false, "time")],
        elapsed_s: 1.5,
        interrupted: true,
    }
}

#[test]
fn the_table_says_who_needs_fewer_and_how_to_read_it() {
    insta::assert_snapshot!(compare_table(&report()));
}

#[test]
fn one_strategy_is_compared_with_nothing() {
    let mut alone = report();
    alone.strategies.truncate(1);
    alone.trials.clear();
    alone.interrupted = false;
    insta::assert_snapshot!(compare_table(&alone));
}

#[test]
fn files_have_every_trial() {
    let text = report().to_csv();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "strategy,run,seed,failed,executions,steps,elapsed_s,end");
    assert_eq!(lines[1..], ["ars,1,77,true,5,120,0.25,assertion", "random,1,77,false,5,120,0.25,time"]);
    let object: serde_json::Value = serde_json::from_str(&report().to_text()).expect("JSON");
    assert_eq!(object["strategies"][1]["first_versus_this"]["magnitude"], "large");
    assert_eq!(
        (object["verdict"].as_str(), object["trials"][0]["end"].as_str()),
        (Some("failure"), Some("assertion"))
    );
}
