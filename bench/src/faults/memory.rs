//! A long execution, and how much memory the tool and all that it starts take for it.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::Tally;
use super::commands::Scene;
use crate::Result;

/// Two threads that make some ten million steps.
const LONG: &str = r"
#include <pthread.h>
static int x;
static void *work(void *none) { for (long i = 0; i < 2500000; i++) x++; return none; }
int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, work, 0);
    pthread_create(&second, 0, work, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
";

/// The commands, and how many MiB each may take.
const COMMANDS: [(&[&str], u64); 2] =
    [(&["hunt", "--executions", "3"], 300), (&["check", "--executions", "2"], 1000)];

/// Measures each command.
pub fn of_long_executions(scene: &Scene) -> Result<Tally> {
    let mut tally = Tally::default();
    fs::write(scene.path("long.c"), LONG)?;
    let built = scene.command(&["cc", "-O0", "-g", "long.c", "-o", "long"]).output()?;
    if !built.status.success() {
        return Err("the program with long executions does not build".into());
    }
    for (command, limit) in COMMANDS {
        let args = [command, &["long", "--max-steps", "20000000", "--time", "60", "--jobs", "1", "--quiet"]]
            .concat();
        let peak = peak_of(scene.command(&args))?;
        println!("    {} of ten million steps: {peak} MiB of {limit}", command[0]);
        let failure = (peak > limit).then(|| format!("{} took {peak} MiB, more than {limit}", command[0]));
        tally.count(failure);
    }
    Ok(tally)
}

/// The most memory in MiB that a command and its descendants had at once. What several of them share counts once.
fn peak_of(mut command: Command) -> Result<u64> {
    const LOOK: Duration = Duration::from_millis(20);
    let mut tool = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let mut peak = 0;
    while tool.try_wait()?.is_none() {
        peak = peak.max(family(tool.id()).into_iter().map(proportional_kib).sum());
        thread::sleep(LOOK);
    }
    Ok(peak / 1024)
}

/// A process and its descendants.
fn family(process: u32) -> Vec<u32> {
    let mut all = vec![process];
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().filter_map(|it| it.ok());
    for task in tasks {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        all.extend(children.split_ascii_whitespace().filter_map(|it| it.parse().ok()).flat_map(family));
    }
    all
}

fn proportional_kib(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0)
}
