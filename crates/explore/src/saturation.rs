//! When a campaign need not continue: coverage no longer grows (Sherman, Dwyer and Elbaum, "Saturation-based testing of
//! concurrent programs", as used in §3.3 of the paper on synchronization pairs).
//!
//! A line is fitted to the coverage of the last executions. While coverage grows steadily the line explains
//! nearly all of it (r² close to 1); when its coefficient of determination falls below a threshold, coverage
//! is saturated. Coverage that did not change at all is, too; and before the window is full nothing can be said.

use std::collections::VecDeque;
use std::time::Duration;

/// How many of the last executions count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Window {
    /// So many executions.
    Executions(u64),
    /// The executions of so much time. What comes out then depends on the machine.
    Time(Duration),
}

/// When coverage counts as saturated.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SaturationRule {
    /// How many of the last executions count.
    pub window: Window,
    /// The value of r² below which it is saturated.
    pub coefficient: f64,
}

impl Default for SaturationRule {
    /// The paper's coefficient, and a window of 100 executions.
    fn default() -> SaturationRule {
        SaturationRule { window: Window::Executions(100), coefficient: 0.1 }
    }
}

/// The sums over a window from which a regression follows. They are whole numbers, so points can be taken out again
/// without a trace.
#[derive(Clone, Copy, Default, Debug)]
struct Sums {
    count: i128,
    x: i128,
    y: i128,
    xx: i128,
    xy: i128,
    yy: i128,
}

impl Sums {
    fn add(&mut self, (x, y): (i128, i128), sign: i128) {
        self.count += sign;
        self.x += sign * x;
        self.y += sign * y;
        self.xx += sign * x * x;
        self.xy += sign * x * y;
        self.yy += sign * y * y;
    }

    /// The coefficient of determination of a straight line; 0 where all points lie at the same height, which no
    /// slope explains.
    fn r_squared(&self) -> f64 {
        let spread_x = self.count * self.xx - self.x * self.x;
        let spread_y = self.count * self.yy - self.y * self.y;
        let both = self.count * self.xy - self.x * self.y;
        if spread_x == 0 || spread_y == 0 {
            return 0.0;
        }
        (both as f64 / spread_x as f64) * (both as f64 / spread_y as f64)
    }
}

/// Watches the coverage of one criterion.
#[derive(Clone, Debug)]
pub(crate) struct Saturation {
    rule: SaturationRule,
    points: VecDeque<(i128, i128)>,
    sums: Sums,
    is_full: bool,
}

impl Saturation {
    pub(crate) fn new(rule: SaturationRule) -> Saturation {
        Saturation { rule, points: VecDeque::new(), sums: Sums::default(), is_full: false }
    }

    /// Records how much was covered after an execution.
    pub(crate) fn observe(&mut self, executions: u64, elapsed: Duration, covered: u64) {
        let x = match self.rule.window {
            Window::Executions(_) => i128::from(executions),
            Window::Time(_) => elapsed.as_micros() as i128,
        };
        let point = (x, i128::from(covered));
        self.points.push_back(point);
        self.sums.add(point, 1);
        let width = match self.rule.window {
            Window::Executions(width) => i128::from(width.max(1)),
            Window::Time(width) => width.as_micros() as i128,
        };
        self.is_full |= match self.rule.window {
            Window::Executions(_) => self.points.len() as i128 >= width,
            Window::Time(_) => x >= width,
        };
        while let Some(oldest) = self.points.front().copied().filter(|(oldest, _)| x - oldest >= width) {
            self.points.pop_front();
            self.sums.add(oldest, -1);
        }
    }

    /// Whether it is saturated now.
    pub(crate) fn holds(&self) -> bool {
        self.is_full && self.sums.r_squared() < self.rule.coefficient
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(window: u64) -> SaturationRule {
        SaturationRule { window: Window::Executions(window), coefficient: 0.1 }
    }

    /// After which execution it first holds.
    fn first(rule: SaturationRule, covered: &[u64]) -> Option<u64> {
        let mut watch = Saturation::new(rule);
        (1..).zip(covered).find_map(|(execution, covered)| {
            watch.observe(execution, Duration::from_secs(execution), *covered);
            watch.holds().then_some(execution)
        })
    }

    fn r_squared(covered: &[u64]) -> f64 {
        let mut watch = Saturation::new(rule(covered.len() as u64));
        (1..)
            .zip(covered)
            .for_each(|(execution, covered)| watch.observe(execution, Duration::ZERO, *covered));
        watch.sums.r_squared()
    }

    #[test]
    fn the_coefficient_is_that_of_the_textbook() {
        assert_eq!(r_squared(&[1, 2, 3, 4]), 1.0);
        // x: 1 2 3 4 5, y: 2 4 5 4 5. Means 3 and 4; Sxy = 6, Sxx = 10, Syy = 6: r² = 36/60.
        assert!((r_squared(&[2, 4, 5, 4, 5]) - 0.6).abs() < 1e-12);
        // One step after three quarters of four: Sxy = 1.5, Sxx = 5, Syy = 0.75: r² = 2.25/3.75.
        assert!((r_squared(&[0, 0, 0, 1]) - 0.6).abs() < 1e-12);
        assert_eq!(r_squared(&[7, 7, 7]), 0.0);
    }

    #[test]
    fn steady_growth_is_not_saturated_and_no_growth_is() {
        let growing: Vec<u64> = (1..=50).collect();
        assert_eq!(first(rule(10), &growing), None);
        assert_eq!(first(rule(4), &[5, 5, 5, 5, 5]), Some(4));
        // 1 2 3 4 4 4 4: the first window of four that has only fours ends at the seventh.
        assert_eq!(first(rule(4), &[1, 2, 3, 4, 4, 4, 4]), Some(7));
    }

    #[test]
    fn fewer_executions_than_the_window_say_nothing() {
        assert_eq!(first(rule(10), &[0; 9]), None);
        assert_eq!(first(rule(10), &[0; 10]), Some(10));
    }

    /// A step of height one with a share f of the window after it has r² = 3 f (1 - f), for long windows.
    #[test]
    fn a_lone_step_counts_until_it_has_nearly_left_the_window() {
        let mut covered = vec![0; 50];
        covered.extend([1; 100]);
        // In a window of 100 it is below 0.1 when fewer than 4 executions are left before the step: from 147 on.
        let mut watch = Saturation::new(rule(100));
        let mut held = Vec::new();
        for (execution, covered) in (1..).zip(&covered) {
            watch.observe(execution, Duration::ZERO, *covered);
            held.push(watch.holds());
        }
        assert_eq!(held.iter().position(|holds| *holds), Some(146));
        assert!(held[146..].iter().all(|holds| *holds));
    }

    #[test]
    fn a_window_of_time_is_full_when_the_time_has_passed() {
        let window = Window::Time(Duration::from_secs(4));
        // One execution a second: the window holds four of them.
        assert_eq!(first(SaturationRule { window, coefficient: 0.1 }, &[1, 2, 2, 2]), None);
        assert_eq!(first(SaturationRule { window, coefficient: 0.1 }, &[1, 2, 2, 2, 2]), Some(5));
    }

    #[test]
    fn a_larger_coefficient_is_saturated_sooner() {
        let covered = [1, 2, 3, 4, 4, 4, 4];
        let lax = SaturationRule { coefficient: 0.7, ..rule(4) };
        assert_eq!(first(lax, &covered), Some(6));
    }
}
