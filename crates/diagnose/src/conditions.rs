//! What a run depends on besides the program and its schedule, and how a schedule file says it.

use std::path::PathBuf;
use std::time::Duration;

use threadbare_explore::{Options, Timers};
use threadbare_target::{Execution, Manner, Program};
use threadbare_trace::Schedule;

/// The most steps of an execution: more would not fit the shared memory of one worker.
pub const MOST_STEPS: u64 = 100_000_000;
/// The longest time that makes sense, in seconds: a year; beyond it a number is a slip of the finger.
pub const MOST_SECONDS: f64 = 31_536_000.0;

/// How a schedule file says that sleeps and waits may end by time at any point.
const LOOSE_TIME: &str = "timers-loose";
/// How it says that each thread allocates from a heap of its own.
const THREAD_HEAPS: &str = "thread-heaps";
/// How it names a place where the test wants a thread to panic.
const WANTED_PANIC: &str = "wanted-panic";

fn step_limit(text: &str) -> Option<u64> {
    text.parse().ok().filter(|steps| (1..=MOST_STEPS).contains(steps))
}

fn seconds(text: &str) -> Option<Duration> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && *number <= MOST_SECONDS)?;
    Some(Duration::from_secs_f64(number))
}

/// The conditions under which a program is run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conditions {
    /// Steps after which an execution counts as hung.
    pub max_steps: u64,
    /// The most events of an execution that are kept. It changes no execution, only what is known of it.
    pub most_events: u64,
    /// Whether condition waits may wake without a signal.
    pub spurious: bool,
    /// Whether the program's threads are OS threads.
    pub os_threads: bool,
    /// Whether a non-zero exit status is no failure.
    pub any_exit: bool,
    /// Whether a loop is taken to wait only when it comes back to a state that it was in.
    pub exact_loops: bool,
    /// How executions are made.
    pub manner: Manner,
    /// Real time without a step after which an execution is given up.
    pub stall: Duration,
    /// For how long nobody outside may come before an execution has passed.
    pub until_idle: Option<Duration>,
    /// What the program reads.
    pub stdin: Option<PathBuf>,
    /// What the program finds in its environment besides what is there.
    pub env: Vec<(String, String)>,
    /// The folder it runs in, if not the current one.
    pub folder: Option<PathBuf>,
    /// Whether it runs one test of Rust's test harness.
    pub is_test: bool,
    /// Where threads panic because the test wants them to.
    pub wanted_panics: Vec<String>,
}

impl Conditions {
    /// Has the lines of a schedule file say how an execution was made.
    pub fn note_manner(options: &mut Vec<String>, run: &Execution) {
        options.retain(|option| option != LOOSE_TIME && option != THREAD_HEAPS);
        options.extend(run.manner.loose_time.then(|| LOOSE_TIME.to_string()));
        options.extend(run.manner.thread_heaps.then(|| THREAD_HEAPS.to_string()));
    }

    /// The conditions of a campaign.
    pub fn of(options: &Options, program: &Program) -> Conditions {
        Conditions {
            max_steps: options.max_steps,
            most_events: options.most_events(),
            spurious: options.spurious,
            os_threads: options.os_threads,
            any_exit: options.any_exit,
            exact_loops: options.exact_loops(),
            manner: Manner { loose_time: options.timers() == Timers::Loose, thread_heaps: false },
            stall: options.stall,
            until_idle: program.until_idle,
            stdin: program.stdin.clone(),
            env: program.env.clone(),
            folder: program.folder.clone(),
            is_test: program.is_test,
            wanted_panics: program.wanted_panics.clone(),
        }
    }

    /// The lines of a schedule file.
    pub fn to_options(&self) -> Vec<String> {
        let mut options = vec![format!("max-steps {}", self.max_steps)];
        let mut flag = |set: bool, word: &str| options.extend(set.then(|| word.to_string()));
        flag(self.spurious, "spurious");
        flag(self.os_threads, "os-threads");
        flag(self.any_exit, "any-exit");
        flag(self.exact_loops, "exact-loops");
        flag(self.manner.loose_time, LOOSE_TIME);
        flag(self.manner.thread_heaps, THREAD_HEAPS);
        flag(self.is_test, "test");
        options.extend(self.wanted_panics.iter().map(|place| format!("{WANTED_PANIC} {place}")));
        options.push(format!("stall {}", self.stall.as_secs_f64()));
        options.extend(self.until_idle.map(|limit| format!("until-idle {}", limit.as_secs_f64())));
        options.extend(self.stdin.iter().map(|path| format!("stdin {}", path.display())));
        options.extend(self.env.iter().map(|(name, value)| format!("env {name}={value}")));
        options.extend(self.folder.iter().map(|path| format!("folder {}", path.display())));
        options
    }

    /// Reads the lines of a schedule file; also gives those that are not understood.
    pub fn of_schedule(schedule: &Schedule) -> (Conditions, Vec<String>) {
        let mut conditions = Conditions {
            max_steps: 1_000_000,
            most_events: Options::default().most_events(),
            spurious: false,
            os_threads: false,
            any_exit: false,
            exact_loops: false,
            manner: Manner::default(),
            stall: Duration::from_secs(10),
            until_idle: None,
            stdin: None,
            env: Vec::new(),
            folder: None,
            is_test: false,
            wanted_panics: Vec::new(),
        };
        let unknown = schedule.options.iter().filter(|option| conditions.take(option).is_none()).cloned();
        let unknown = unknown.collect();
        (conditions, unknown)
    }

    fn take(&mut self, option: &str) -> Option<()> {
        let (key, value) = option.split_once(' ').unwrap_or((option, ""));
        match key {
            "max-steps" => self.max_steps = step_limit(value)?,
            "spurious" => self.spurious = true,
            "os-threads" => self.os_threads = true,
            "any-exit" => self.any_exit = true,
            "exact-loops" => self.exact_loops = true,
            LOOSE_TIME => self.manner.loose_time = true,
            THREAD_HEAPS => self.manner.thread_heaps = true,
            "test" => self.is_test = true,
            WANTED_PANIC => self.wanted_panics.push(value.to_string()),
            "stall" => self.stall = seconds(value)?,
            "until-idle" => self.until_idle = Some(seconds(value)?),
            "stdin" => self.stdin = Some(PathBuf::from(value)),
            "env" => {
                let (name, value) = value.split_once('=')?;
                self.env.push((name.to_string(), value.to_string()));
            }
            "folder" => self.folder = Some(PathBuf::from(value)),
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_survive_a_schedule_file() {
        let conditions = Conditions {
            max_steps: 77,
            manner: Manner { loose_time: true, thread_heaps: true },
            most_events: Options::default().most_events(),
            spurious: true,
            os_threads: true,
            any_exit: true,
            exact_loops: true,
            stall: Duration::from_millis(2500),
            until_idle: Some(Duration::from_millis(250)),
            stdin: Some("in put.txt".into()),
            env: vec![("MODE".into(), "fast=1 and\nmore".into()), ("EMPTY".into(), String::new())],
            folder: Some("/some where".into()),
            is_test: true,
            wanted_panics: vec!["src/a pool.rs:7:9".into()],
        };
        let mut schedule = Schedule { options: conditions.to_options(), ..Schedule::default() };
        schedule.options.push("from-the-future 3".into());
        let text = schedule.to_text();
        let (read, unknown) = Conditions::of_schedule(&Schedule::parse(&text).expect("our own text"));
        assert_eq!((read, unknown), (conditions, vec!["from-the-future 3".to_string()]));
    }
}
