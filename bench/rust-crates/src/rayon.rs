use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

#[test]
fn right() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let sum: u32 = pool.install(|| (1..=4u32).into_par_iter().map(|number| number * number).sum());
    assert_eq!(sum, 30);
    let (left, right) = pool.join(|| 1, || 2);
    assert_eq!((left, right), (1, 2));
}

/// Adds in two steps.
#[test]
fn wrong() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let sum = AtomicU32::new(0);
    pool.install(|| {
        rayon::join(|| sum.store(sum.load(SeqCst) + 1, SeqCst), || sum.store(sum.load(SeqCst) + 1, SeqCst))
    });
    assert_eq!(sum.into_inner(), 2);
}
