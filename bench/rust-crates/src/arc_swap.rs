use std::sync::Arc;
use std::thread;

use arc_swap::ArcSwap;

#[test]
fn right() {
    let shared = ArcSwap::from_pointee((1, 1));
    thread::scope(|scope| {
        scope.spawn(|| shared.store(Arc::new((2, 2))));
        scope.spawn(|| {
            let pair = shared.load();
            assert_eq!(pair.0, pair.1);
        });
    });
    assert_eq!(**shared.load(), (2, 2));
}

#[test]
fn right_rcu() {
    let shared = ArcSwap::from_pointee(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| shared.rcu(|seen| **seen + 1));
        }
    });
    assert_eq!(**shared.load(), 2);
}

/// Loads and stores in two steps.
#[test]
fn wrong() {
    let shared = ArcSwap::from_pointee(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let seen = **shared.load();
                shared.store(Arc::new(seen + 1));
            });
        }
    });
    assert_eq!(**shared.load(), 2);
}
