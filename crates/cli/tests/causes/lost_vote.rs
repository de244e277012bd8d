// Votes are read and written back in two steps.
// cause: lost_vote::VOTES 9 10
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static VOTES: AtomicUsize = AtomicUsize::new(0);

fn vote() {
    let before = VOTES.load(Ordering::SeqCst);
    VOTES.store(before + 1, Ordering::SeqCst);
}

fn main() {
    let voters: Vec<_> = (0..3).map(|_| thread::spawn(vote)).collect();
    for voter in voters {
        voter.join().unwrap();
    }
    assert_eq!(VOTES.load(Ordering::SeqCst), 3);
}
