//! The progress bar, and the lines that replace it in a pipe.

use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use threadbare_explore::{CompareProgress, Progress};

use crate::output;

/// A narrower window has no room for a bar beside the figures.
const NARROW: usize = 50;
/// What a bar takes of a window.
const BAR: usize = 12;

/// How wide the window is.
fn width() -> usize {
    const USUAL: usize = 80;
    terminal_size::terminal_size_of(std::io::stderr()).map_or(USUAL, |(width, _)| usize::from(width.0))
}

/// How far a campaign is, with as many figures as a window of this width has room for, the most wanted first.
fn campaign_line(progress: &Progress, width: usize) -> String {
    let Progress { executions, budget, failures, elapsed, time, coverage, best, .. } = progress;
    let rate = if elapsed.is_zero() { 0.0 } else { *executions as f64 / elapsed.as_secs_f64() };
    let failures = match failures {
        0 => "no failure".to_string(),
        1 => "1 failure".to_string(),
        many => format!("{many} failures"),
    };
    let covered = coverage.iter().map(|it| format!("{} {}/{}", it.name, it.covered, it.total));
    let covered = covered.collect::<Vec<_>>().join(" ");
    let by_count = (rate > 0.0).then(|| budget.saturating_sub(*executions) as f64 / rate);
    let by_time = time.map(|time| time.saturating_sub(*elapsed).as_secs_f64());
    let left = by_count.into_iter().chain(by_time).reduce(f64::min);
    let parts = [
        Some(format!("{executions}/{budget}")),
        Some(failures),
        left.map(|seconds| format!("{} left", span(seconds))),
        Some(format!("{rate:.0}/s")),
        Some(covered).filter(|text| !text.is_empty()),
        best.as_ref().map(|name| format!("best {name}")),
    ];
    let room = if width < NARROW { width } else { width - BAR };
    let mut line = String::new();
    for part in parts.into_iter().flatten() {
        let joint = if line.is_empty() { "" } else { ", " };
        if line.chars().count() + joint.len() + part.chars().count() >= room {
            break;
        }
        line.push_str(joint);
        line.push_str(&part);
    }
    line
}

/// How far something that is counted is. While nothing has ended, nobody knows how long the rest takes.
fn counted_line(done: u64, length: u64, unit: &str, message: &str, elapsed: Option<Duration>) -> String {
    let left = elapsed.filter(|_| done > 0).map(|elapsed| {
        let seconds = elapsed.as_secs_f64() * length.saturating_sub(done) as f64 / done as f64;
        format!("{} left", span(seconds))
    });
    let parts = [Some(format!("{done}/{length} {unit}")), Some(message.to_string()), left];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// A time that is easy to read: `45 s`, `3 min`.
fn span(seconds: f64) -> String {
    match seconds {
        ..100.0 => format!("{seconds:.0} s"),
        ..6000.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.0} h", seconds / 3600.0),
    }
}

/// How often a line is written to a pipe.
const BETWEEN_LINES: Duration = Duration::from_secs(10);
/// As much as a line in a file may have.
const WIDTH_OF_A_LINE: usize = 120;

/// Says when it is time for another line.
struct Pace {
    begin: Instant,
    next: Mutex<Duration>,
}

impl Pace {
    fn new() -> Pace {
        Pace { begin: Instant::now(), next: Mutex::new(BETWEEN_LINES) }
    }

    /// Whether a line is due after this time; then the next one has to wait.
    fn is_due(&self, elapsed: Duration) -> bool {
        let Ok(mut next) = self.next.lock() else { return false };
        let is_due = elapsed >= *next;
        if is_due {
            *next = elapsed + BETWEEN_LINES;
        }
        is_due
    }
}

/// A bar on standard error, or a line now and then where that is no terminal.
pub struct Bar {
    bar: ProgressBar,
    /// What is counted.
    unit: &'static str,
    /// None on a terminal, and when asked to be quiet.
    lines: Option<Pace>,
}

impl Bar {
    /// A bar of executions; nothing when asked to be quiet.
    pub fn new(budget: u64, quiet: bool) -> Bar {
        let template = if width() < NARROW { "{msg}" } else { "{wide_bar} {msg}" };
        Bar::with(budget, "executions", quiet, template)
    }

    /// The same for trials.
    pub fn of_trials(trials: u64, quiet: bool) -> Bar {
        Bar::counting(trials, "trials", quiet)
    }

    /// The same for tests.
    pub fn of_tests(tests: u64, quiet: bool) -> Bar {
        Bar::counting(tests, "tests", quiet)
    }

    /// The same for the inputs of a suite.
    pub fn of_inputs(inputs: u64, quiet: bool) -> Bar {
        Bar::counting(inputs, "inputs", quiet)
    }

    /// One more input is done, in this phase.
    pub fn step(&self, what: &str) {
        self.bar.inc(1);
        self.set(what, None);
    }

    /// Names the current phase.
    pub fn say(&self, what: &str) {
        self.bar.set_message(self.line(what, None));
        self.bar.tick();
    }

    fn counting(length: u64, unit: &'static str, quiet: bool) -> Bar {
        let bar = Bar::with(length, unit, quiet, "{wide_bar} {msg}");
        bar.bar.set_message(bar.line("", None));
        bar
    }

    fn with(length: u64, unit: &'static str, quiet: bool, template: &str) -> Bar {
        let is_seen = std::io::stderr().is_terminal();
        let target =
            if is_seen && !quiet { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        Bar {
            bar: ProgressBar::with_draw_target(Some(length), target).with_style(style),
            unit,
            lines: (!is_seen && !quiet).then(Pace::new),
        }
    }

    /// Shows how far a campaign is.
    pub fn show(&self, progress: &Progress) {
        if !self.bar.is_hidden() {
            self.bar.set_position((share(progress) * self.bar.length().unwrap_or(0) as f64) as u64);
            self.bar.set_message(campaign_line(progress, width()));
        }
        self.write_line(|| campaign_line(progress, WIDTH_OF_A_LINE));
    }

    /// Takes the bar away, before results are printed.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Does something that writes lines, without the bar in between.
    pub fn suspend(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }

    /// Shows how many tests were run, in how many executions.
    pub fn show_tests(&self, tests: u64, executions: u64) {
        self.bar.set_position(tests);
        self.set(&output::counted(executions as usize, "execution"), None);
    }

    /// Shows how far a comparison is.
    pub fn show_trials(&self, progress: &CompareProgress) {
        self.bar.set_position(progress.trials as u64);
        self.set(&format!("{} failed", progress.failed), Some(self.bar.elapsed()));
    }

    /// Says how far it is; with the time that it took, also how long the rest takes.
    fn set(&self, message: &str, elapsed: Option<Duration>) {
        self.write_line(|| self.line(message, elapsed));
        self.bar.set_message(self.line(message, elapsed));
    }

    fn line(&self, message: &str, elapsed: Option<Duration>) -> String {
        counted_line(self.bar.position(), self.bar.length().unwrap_or(0), self.unit, message, elapsed)
    }

    /// A plain line, if it is time for one.
    fn write_line(&self, line: impl FnOnce() -> String) {
        if self.lines.as_ref().is_some_and(|pace| pace.is_due(pace.begin.elapsed())) {
            output::say(&line());
        }
    }
}

/// How much of a campaign is over: of its executions or of its time, whichever ends first.
fn share(progress: &Progress) -> f64 {
    let made = progress.executions as f64 / progress.budget.max(1) as f64;
    let spent =
        progress.time.map_or(0.0, |time| progress.elapsed.as_secs_f64() / time.as_secs_f64().max(1e-9));
    made.max(spent).min(1.0)
}

/// A line on standard error that names the current phase, if it is a terminal.
#[derive(Clone)]
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

    /// Names the current phase.
    pub fn show(&self, what: &'static str) {
        self.0.set_message(what);
    }

    /// Takes the line away, before results are printed.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use threadbare_explore::CoverageProgress;

    use super::*;

    fn progress() -> Progress {
        Progress {
            executions: 500,
            budget: 10_000,
            steps: 1,
            threads: 2,
            failures: 0,
            elapsed: Duration::from_secs(10),
            time: Some(Duration::from_secs(60)),
            coverage: vec![CoverageProgress { name: "sp", covered: 8, total: 10 }],
            best: Some("pos".to_string()),
            failed: None,
            found: Vec::new(),
        }
    }

    #[test]
    fn a_wide_window_shows_all_and_a_narrow_one_what_fits() {
        let wide = campaign_line(&progress(), 120);
        assert_eq!(wide, "500/10000, no failure, 50 s left, 50/s, sp 8/10, best pos");
        assert_eq!(campaign_line(&progress(), 50), "500/10000, no failure, 50 s left");
        for width in 0..120 {
            assert!(campaign_line(&progress(), width).chars().count() <= width, "{width}");
        }
    }

    #[test]
    fn a_count_shows_only_what_is_known() {
        let spent = Some(Duration::from_secs(30));
        assert_eq!(counted_line(0, 8, "trials", "", spent), "0/8 trials");
        assert_eq!(counted_line(0, 8, "trials", "0 failed", spent), "0/8 trials, 0 failed");
        assert_eq!(counted_line(2, 8, "trials", "1 failed", spent), "2/8 trials, 1 failed, 90 s left");
        assert_eq!(counted_line(3, 5, "inputs", "measured", None), "3/5 inputs, measured");
    }

    #[test]
    fn a_line_is_written_to_a_pipe_now_and_then() {
        let pace = Pace::new();
        let moments = [0, 9, 10, 11, 19, 20, 35, 44, 45].map(Duration::from_secs);
        let written = moments.map(|moment| pace.is_due(moment));
        assert_eq!(written, [false, false, true, false, false, true, true, false, true]);
    }

    #[test]
    fn what_ends_first_says_how_long_it_takes() {
        let soon = Progress { budget: 600, ..progress() };
        assert!(campaign_line(&soon, 120).contains("2 s left"));
        let unlimited = Progress { time: None, ..progress() };
        assert!(campaign_line(&unlimited, 120).contains("3 min left"));
        let begun = Progress { executions: 0, elapsed: Duration::ZERO, time: None, ..progress() };
        assert_eq!(campaign_line(&begun, 120), "0/10000, no failure, 0/s, sp 8/10, best pos");
    }
}
