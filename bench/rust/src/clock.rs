//! Processor time: on a machine that has other work to do, the time on the wall says little.

use std::fs;

/// Clock ticks of the kernel's accounts.
const TICKS_PER_SECOND: f64 = 100.0;

/// The processor time of this process and of those children that have ended, theirs included, and of the children of
/// its living children that have ended.
pub fn processor_seconds() -> f64 {
    let own = of_process("self", 11..15);
    let mut total = own;
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    for task in tasks {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        total += children.split_whitespace().map(|child| of_process(child, 11..15)).sum::<f64>();
    }
    total
}

/// The sum of some fields of a process's account: user and system time, its own and that of its ended children.
fn of_process(process: &str, fields: std::ops::Range<usize>) -> f64 {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let words: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = words.get(fields).unwrap_or_default();
    ticks.iter().filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS_PER_SECOND
}
