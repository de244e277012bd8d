//! All interleavings of a toy program by brute force, written independently of the toy machine.

use std::collections::BTreeMap;

use threadbare_sched::toy::{Toy, ToyStep as Step};

/// Every interleaving as a word such as `0110`, with the number of its preemptions: switches
/// away from a thread that was enabled.
pub fn interleavings(toy: &Toy) -> BTreeMap<String, u32> {
    let mut all = BTreeMap::new();
    extend(toy, &mut Vec::new(), 0, &mut all);
    all
}

fn extend(toy: &Toy, order: &mut Vec<usize>, preemptions: u32, all: &mut BTreeMap<String, u32>) {
    let ready: Vec<usize> = (0..toy.threads.len()).filter(|&thread| is_enabled(toy, order, thread)).collect();
    if ready.is_empty() {
        let word = order.iter().map(|&thread| char::from(b'0' + thread as u8)).collect();
        assert!(all.insert(word, preemptions).is_none());
        return;
    }
    // Main is the one that runs first.
    let current = order.last().copied().unwrap_or(0);
    for &thread in &ready {
        let preempts = thread != current && ready.contains(&current);
        order.push(thread);
        extend(toy, order, preemptions + u32::from(preempts), all);
        order.pop();
    }
}

/// Whether a thread is enabled after these steps, by replaying the order from the start.
fn is_enabled(toy: &Toy, order: &[usize], thread: usize) -> bool {
    let made = |of: usize, upto: usize| order[..upto].iter().filter(|&&t| t == of).count();
    let Some(step) = toy.threads[thread].get(made(thread, order.len())) else { return false };
    let Step::Lock(lock) = step else { return true };
    let mut held = 0i32;
    for (at, &t) in order.iter().enumerate() {
        match toy.threads[t][made(t, at)] {
            Step::Lock(other) if other == *lock => held += 1,
            Step::Unlock(other) if other == *lock => held -= 1,
            _ => {}
        }
    }
    held == 0
}
