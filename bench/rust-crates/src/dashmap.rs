use std::thread;

use dashmap::DashMap;

#[test]
fn right() {
    let map = DashMap::with_shard_amount(2);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| *map.entry("key").or_insert(0) += 1);
        }
    });
    assert_eq!(*map.get("key").unwrap(), 2);
}

/// Reads, releases the lock, and writes.
#[test]
fn wrong() {
    let map = DashMap::with_shard_amount(2);
    map.insert("key", 0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let seen = *map.get("key").unwrap();
                map.insert("key", seen + 1);
            });
        }
    });
    assert_eq!(*map.get("key").unwrap(), 2);
}
