//! The progress bar.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use threadbare_explore::Progress;

/// A bar on standard error, if somebody is there to see it.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar that is hidden in a pipe, or when asked to be quiet.
    pub fn new(budget: u64, quiet: bool) -> Bar {
        let hidden = quiet || !std::io::stderr().is_terminal();
        let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let template = "{wide_bar} {pos}/{len} executions, {per_sec}, {msg}";
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        Bar(ProgressBar::with_draw_target(Some(budget), target).with_style(style))
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
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
