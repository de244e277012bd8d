use std::thread;

use crossbeam_deque::{Injector, Steal, Worker};

#[test]
fn right() {
    let worker = Worker::new_lifo();
    (0..3).for_each(|number| worker.push(Box::new(number)));
    let stealer = worker.stealer();
    let stolen = thread::spawn(move || {
        let mut all = Vec::new();
        loop {
            match stealer.steal() {
                Steal::Success(number) => all.push(*number),
                Steal::Retry => {}
                Steal::Empty => return all,
            }
        }
    });
    let mut all: Vec<i32> = std::iter::from_fn(|| worker.pop().map(|number| *number)).collect();
    all.extend(stolen.join().unwrap());
    all.sort();
    assert_eq!(all, [0, 1, 2]);
}

#[test]
fn right_injector() {
    let injector = Injector::new();
    thread::scope(|scope| {
        for number in 0..2 {
            let injector = &injector;
            scope.spawn(move || injector.push(Box::new(number)));
        }
    });
    let mut all: Vec<i32> = std::iter::from_fn(|| injector.steal().success().map(|number| *number)).collect();
    all.sort();
    assert_eq!(all, [0, 1]);
}

/// A steal may have to be tried again.
#[test]
fn wrong() {
    let worker = Worker::new_fifo();
    (0..2).for_each(|number| worker.push(number));
    let stealer = worker.stealer();
    let stolen = thread::spawn(move || stealer.steal().success());
    let kept = worker.pop();
    let stolen = stolen.join().unwrap();
    assert!(kept.is_some() && stolen.is_some());
}
