//! Counts the processes below this one, and their memory, while something runs.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Between two counts.
const PAUSE: Duration = Duration::from_millis(50);

/// The most that was seen at any one time.
#[derive(Clone, Copy, Default)]
pub struct Census {
    /// Processes below this one.
    pub processes: usize,
    /// Their memory, what they share counted once, in bytes.
    pub theirs: u64,
    /// The memory of this process, in bytes.
    pub own: u64,
}

/// Does something, and counts until it is done.
pub fn during<T>(work: impl FnOnce() -> T) -> (T, Census) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let counting = scope.spawn(|| {
            let mut most = Census::default();
            while !done.load(Ordering::Relaxed) {
                let now = count();
                most.processes = most.processes.max(now.processes);
                most.theirs = most.theirs.max(now.theirs);
                most.own = most.own.max(now.own);
                thread::sleep(PAUSE);
            }
            most
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        (result, counting.join().unwrap_or_default())
    })
}

/// Processes that end in the middle of it are left out.
fn count() -> Census {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parents: Vec<(u32, u32)> = numbers.filter_map(|number| Some((number, parent(number)?))).collect();
    let mut below = vec![std::process::id()];
    let mut place = 0;
    while let Some(&process) = below.get(place) {
        below.extend(parents.iter().filter(|(_, parent)| *parent == process).map(|(child, _)| child));
        place += 1;
    }
    Census {
        processes: below.len() - 1,
        theirs: below[1..].iter().map(|process| memory(*process)).sum(),
        own: memory(below[0]),
    }
}

fn parent(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it may hold anything, but no one else writes a closing bracket behind it.
    let (_, behind) = stat.rsplit_once(')')?;
    behind.split_whitespace().nth(1)?.parse().ok()
}

/// The proportional share of a process, in bytes.
fn memory(process: u32) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
