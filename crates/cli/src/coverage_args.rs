//! The options about coverage, and about when it is saturated.

use std::time::Duration;

use clap::{Args, ValueEnum};
use threadbare_explore::{SaturationRule, Window};

use crate::numbers::{probability, saturation_window};
use crate::output::counted;

/// What is measured where a campaign is to end by saturation and nobody says by which criterion.
const DEFAULT: [&str; 2] = ["sp", "map"];

/// Options about coverage that commands share.
#[derive(Args, Debug)]
pub struct CoverageArgs {
    /// Measure what the executions cover, by one or several of: sp, sp-refined, map, def-use,
    /// concurrent-pairs; `threadbare hunt --help` says what they count
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "Coverage")]
    coverage: Vec<String>,

    /// List the pairs and patterns that no execution has shown, with their lines: what to try next
    #[arg(long, help_heading = "Coverage")]
    pub uncovered: bool,

    /// End when coverage no longer grows (by --coverage, else sp,map), even if budget is left
    #[arg(long, value_enum, value_name = "WHEN", help_heading = "Coverage")]
    until: Option<Until>,

    /// How far to look back for growth: a number of executions, or a time such as 120s
    #[arg(long, value_name = "N", default_value = "100", value_parser = saturation_window)]
    #[arg(allow_negative_numbers = true, help_heading = "Coverage")]
    saturation_window: Window,

    /// Saturated is what a straight line explains to less than this share (r²)
    #[arg(long, value_name = "X", default_value_t = 0.1, value_parser = probability)]
    #[arg(allow_negative_numbers = true, help_heading = "Coverage")]
    saturation_coefficient: f64,
}

/// What ends a campaign besides its budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Until {
    /// All that is measured is saturated.
    Saturated,
}

impl CoverageArgs {
    /// The criteria; where something is to be drawn, there has to be one.
    pub fn criteria(&self, is_drawn: bool) -> Vec<String> {
        let is_needed = self.coverage.is_empty() && (self.until_saturated() || self.uncovered || is_drawn);
        if is_needed { DEFAULT.map(String::from).to_vec() } else { self.coverage.clone() }
    }

    /// When they are saturated.
    pub fn rule(&self) -> SaturationRule {
        SaturationRule { window: self.saturation_window, coefficient: self.saturation_coefficient }
    }

    /// Whether that ends the campaign.
    pub fn until_saturated(&self) -> bool {
        self.until == Some(Until::Saturated)
    }
}

/// What the help says about criteria.
pub const CRITERIA_HELP: &str = "\
COVERAGE
  sp             synchronization pairs: two places that take the same lock one after the other;
                 what is required is estimated from the first execution
  sp-refined     the same, estimated with joins, barriers and condition variables as well
  map            memory-access patterns
  def-use        a place that writes shared memory, and one that reads the value
  concurrent-pairs
                 two places that different threads executed one right after the other

  Coverage is saturated when, over the last executions (--saturation-window), it grows so little
  that a straight line does not explain it (--saturation-coefficient).";

/// The length of a window as a phrase.
pub fn window_phrase(window: Window) -> String {
    match window {
        Window::Executions(executions) => counted(executions as usize, "execution"),
        Window::Time(time) => format!("{} s", Duration::as_secs_f64(&time)),
    }
}
