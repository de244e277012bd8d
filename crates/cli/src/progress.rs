//! The progress bar.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use threadbare_explore::{CompareProgress, Progress};

/// A bar on standard error, if somebody is there to see it.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar that is hidden in a pipe, or when asked to be quiet.
    pub fn new(budget: u64, quiet: bool) -> Bar {
        Bar::with(budget, quiet, "{wide_bar} {pos}/{len} executions, {per_sec}, {msg}")
    }

    /// The same for trials.
    pub fn of_trials(trials: u64, quiet: bool) -> Bar {
        Bar::with(trials, quiet, "{wide_bar} {pos}/{len} trials, {msg}, {eta} left")
    }

    /// The same for tests.
    pub fn of_tests(tests: u64, quiet: bool) -> Bar {
        Bar::with(tests, quiet, "{wide_bar} {pos}/{len} tests, {msg}")
    }

    /// The same for the inputs of a suite.
    pub fn of_inputs(inputs: u64, quiet: bool) -> Bar {
        Bar::with(inputs, quiet, "{wide_bar} {pos}/{len} inputs, {msg}")
    }

    /// One more input is done, in what goes on now.
    pub fn step(&self, what: &str) {
        self.0.set_message(what.to_string());
        self.0.inc(1);
    }

    /// Says what goes on now.
    pub fn say(&self, what: &str) {
        self.0.set_message(what.to_string());
        self.0.tick();
    }

    fn with(length: u64, quiet: bool, template: &str) -> Bar {
        let hidden = quiet || !std::io::stderr().is_terminal();
        let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        Bar(ProgressBar::with_draw_target(Some(length), target).with_style(style))
    }

    /// Shows how far a campaign is.
    pub fn show(&self, progress: &Progress) {
        self.0.set_position(progress.executions);
        self.0.set_message(match progress.failures {
            0 => "no failure".to_string(),
            1 => "1 failure".to_string(),
            many => format!("{many} failures"),
        });
    }

    /// Shows how many tests were run, in how many executions.
    pub fn show_tests(&self, tests: u64, executions: u64) {
        self.0.set_position(tests);
        self.0.set_message(format!("{executions} executions"));
    }

    /// Shows how far a comparison is.
    pub fn show_trials(&self, progress: &CompareProgress) {
        self.0.set_position(progress.trials as u64);
        self.0.set_message(format!("{} failed", progress.failed));
    }
}

/// A line on standard error that says what goes on, if somebody is there to see it.
pub struct Phase(ProgressBar);

impl Phase {
    /// A line that is hidden in a pipe, or when asked to be quiet.
    pub fn new(quiet: bool) -> Phase {
        const TICK: Duration = Duration::from_millis(100);
        let hidden = quiet || !std::io::stderr().is_terminal();
        let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
        let line = ProgressBar::with_draw_target(None, target).with_style(style);
        if !hidden {
            line.enable_steady_tick(TICK);
        }
        Phase(line)
    }

    /// Says what goes on now.
    pub fn show(&self, what: &'static str) {
        self.0.set_message(what);
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
