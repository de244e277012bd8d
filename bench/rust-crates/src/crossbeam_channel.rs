use std::thread;
use std::time::Duration;

use crossbeam_channel::{bounded, select, unbounded};

#[test]
fn right() {
    let (send, receive) = unbounded();
    thread::scope(|scope| {
        for number in 0..2 {
            let send = send.clone();
            scope.spawn(move || send.send(Box::new(number)).unwrap());
        }
        drop(send);
        let mut all: Vec<i32> = receive.iter().map(|number| *number).collect();
        all.sort();
        assert_eq!(all, [0, 1]);
    });
}

#[test]
fn right_bounded_and_select() {
    let (first, from_first) = bounded(0);
    let (second, from_second) = bounded(1);
    thread::scope(|scope| {
        scope.spawn(move || first.send(1).unwrap());
        scope.spawn(move || second.send(2).unwrap());
        let mut sum = 0;
        while sum < 3 {
            // A channel whose sender is gone is always ready.
            select! {
                recv(from_first) -> got => sum += got.unwrap_or(0),
                recv(from_second) -> got => sum += got.unwrap_or(0),
            }
        }
    });
}

#[test]
fn right_timeout() {
    let (send, receive) = bounded::<u32>(1);
    let waiter = thread::spawn(move || receive.recv_timeout(Duration::from_secs(60)).is_err());
    assert!(waiter.join().unwrap());
    drop(send);
}

/// Takes it for granted that something is there.
#[test]
fn wrong() {
    let (send, receive) = unbounded();
    thread::scope(|scope| {
        scope.spawn(move || send.send(1).unwrap());
        assert_eq!(receive.try_recv(), Ok(1));
    });
}
