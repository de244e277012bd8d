//! Numbers on the command line, refused with a reason.

use std::time::Duration;

use threadbare_diagnose::{MOST_SECONDS, MOST_STEPS};
use threadbare_explore::Window;

const MOST_WORKERS: usize = 256;
/// Every two trials of two strategies are compared with each other.
const MOST_TRIALS: u64 = 10_000;
/// All executions of the window are remembered.
const MOST_WINDOW: u64 = 1_000_000;
const MOST_DEPTH: u32 = 100;
const MOST_WIDTH: usize = 100;

/// A count of 1 or more.
pub fn at_least_one(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(0) => Err("give 1 or more".into()),
        Ok(number) => Ok(number),
        Err(_) => Err("give a whole number, 1 or more".into()),
    }
}

/// An amount of memory.
pub fn memory(text: &str) -> Result<u64, String> {
    /// With less, hardly any execution could be kept.
    const LEAST: u64 = 16 << 20;
    let (number, unit) = match text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic()) {
        number if number.len() == text.len() => (number, 1),
        number => match text[number.len()..].to_ascii_uppercase().as_str() {
            "K" | "KB" | "KIB" => (number, 1 << 10),
            "M" | "MB" | "MIB" => (number, 1 << 20),
            "G" | "GB" | "GIB" => (number, 1 << 30),
            _ => (text, 1),
        },
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    bytes.filter(|bytes| *bytes >= LEAST).ok_or_else(|| "give 16M or more, as in 512M or 2G".into())
}

/// A whole number.
pub fn whole(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("give a whole number from 0 to {}", u64::MAX))
}

/// A number of preemptions.
pub fn preemptions(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("give a whole number from 0 to {}", u32::MAX))
}

/// How many ordering constraints a failure may need.
pub fn depth(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(number @ 1..=MOST_DEPTH) => Ok(number),
        _ => Err(format!("give a whole number from 1 to {MOST_DEPTH}")),
    }
}

/// How many threads a generated test may have, and how many calls each of its parts.
const MOST_SUFFIXES: usize = 8;
const MOST_CALLS: usize = 8;

fn between(text: &str, least: usize, most: usize) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("give a whole number from {least} to {most}"))
}

/// A number of threads of a test.
pub fn suffixes(text: &str) -> Result<usize, String> {
    between(text, 2, MOST_SUFFIXES)
}

/// A number of calls of each thread.
pub fn calls(text: &str) -> Result<usize, String> {
    between(text, 1, MOST_CALLS)
}

/// A number of calls before the threads.
pub fn prefix(text: &str) -> Result<usize, String> {
    between(text, 0, MOST_CALLS)
}

/// How wide a search is.
pub fn width(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=MOST_WIDTH) => Ok(number),
        _ => Err(format!("give a whole number from 1 to {MOST_WIDTH}")),
    }
}

/// A number of steps.
pub fn step_limit(text: &str) -> Result<u64, String> {
    match at_least_one(text)? {
        number if number > MOST_STEPS => Err(format!("give at most {MOST_STEPS}")),
        number => Ok(number),
    }
}

/// A number of workers.
pub fn worker_count(text: &str) -> Result<usize, String> {
    match usize::try_from(at_least_one(text)?) {
        Ok(number) if number <= MOST_WORKERS => Ok(number),
        _ => Err(format!("give at most {MOST_WORKERS}")),
    }
}

/// A number of trials.
pub fn trial_count(text: &str) -> Result<u64, String> {
    match at_least_one(text)? {
        number if number > MOST_TRIALS => Err(format!("give at most {MOST_TRIALS}")),
        number => Ok(number),
    }
}

/// A time in seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= MOST_SECONDS => Ok(Duration::from_secs_f64(number)),
        _ => Err("give a number of seconds greater than 0 and at most a year".into()),
    }
}

/// How many of the last executions count: a number of executions, or seconds with an `s`.
pub fn saturation_window(text: &str) -> Result<Window, String> {
    let window = match text.strip_suffix('s') {
        Some(time) => seconds(time).ok().map(Window::Time),
        None => text.parse().ok().filter(|number| (2..=MOST_WINDOW).contains(number)).map(Window::Executions),
    };
    window
        .ok_or_else(|| format!("give a number of executions from 2 to {MOST_WINDOW}, or seconds as in 120s"))
}

/// A probability.
pub fn probability(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("give a number from 0 to 1".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_of_memory_may_have_a_unit() {
        for (text, bytes) in
            [("16777216", 16 << 20), ("64M", 64 << 20), ("512mib", 512 << 20), ("2G", 2 << 30)]
        {
            assert_eq!(memory(text), Ok(bytes), "{text}");
        }
        for text in ["0", "1M", "-5G", "G", "", "5T", "1.5G", "99999999999G", "1"] {
            assert!(memory(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["0", "-1", "", "x", "1.5", "1e3", "99999999999999999999"] {
            assert!(at_least_one(text).is_err(), "{text}");
        }
        for text in ["0", "-1", "nan", "inf", "1e300", "", "ten"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        for text in ["-0.1", "1.1", "nan", "half"] {
            assert!(probability(text).is_err(), "{text}");
        }
        for text in ["-1", "x", "", "0.5", "18446744073709551616"] {
            assert!(whole(text).is_err() && preemptions(text).is_err(), "{text}");
        }
        assert!(depth("0").is_err() && depth("101").is_err() && depth("-1").is_err());
        assert!(worker_count("257").is_err() && step_limit("100000001").is_err());
        for text in ["0", "1", "-5", "x", "", "s", "0s", "1000001", "2.5"] {
            assert!(saturation_window(text).is_err(), "{text}");
        }
        assert!(trial_count("10001").is_err() && trial_count("0").is_err());
    }

    #[test]
    fn sense_is_taken() {
        assert_eq!(at_least_one("7"), Ok(7));
        assert_eq!((whole("0"), preemptions("0"), depth("100")), (Ok(0), Ok(0), Ok(100)));
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(probability("1"), Ok(1.0));
        assert_eq!(saturation_window("20"), Ok(Window::Executions(20)));
        assert_eq!(saturation_window("1.5s"), Ok(Window::Time(Duration::from_millis(1500))));
        assert_eq!((worker_count("2"), step_limit("100000000")), (Ok(2), Ok(100_000_000)));
    }
}
