use std::thread;

use parking_lot::{Condvar, Mutex, RwLock};

#[test]
fn right() {
    let (queue, signal, table) = (Mutex::new(Vec::new()), Condvar::new(), RwLock::new(0));
    thread::scope(|scope| {
        for number in 0..2 {
            let (queue, signal, table) = (&queue, &signal, &table);
            scope.spawn(move || {
                *table.write() += 1;
                queue.lock().push(number);
                signal.notify_one();
            });
        }
        let mut taken = 0;
        let mut guard = queue.lock();
        while taken < 2 {
            while guard.is_empty() {
                signal.wait(&mut guard);
            }
            taken += guard.drain(..).count();
        }
    });
    assert_eq!(*table.read(), 2);
}

/// Two locks in opposite orders.
#[test]
fn wrong() {
    let (left, right) = (Mutex::new(1), Mutex::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let left = left.lock();
            *right.lock() += *left;
        });
        let right = right.lock();
        *left.lock() += *right;
    });
}
